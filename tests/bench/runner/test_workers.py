"""Processes and a Dask cluster that run cells: the same results as at home, none left behind."""

import os
import sys
import time

import pytest
from joblib import cpu_count

from bench.runner.trials import (
    Dies,
    OneThread,
    Sleeps,
    Unsendable,
    alive,
    n_lines,
    replace_method,
    songs,
    trial,
    until,
    work_at_home,
    written,
)
from nldd.bench.runner.benchmark import WORKER_DIED, run_benchmark
from nldd.bench.runner.workers import DaskWorkers, make_workers
from nldd.datasets import Dataset
from nldd.exceptions import InputError, MissingExtraError

SONGS = {"songs": songs()}
METHODS = ("BR", "SMBR", "NLDD", "MLKNN", "ECC")


def test_number_of_workers_is_that_of_cores_or_as_told():
    assert make_workers("processes", 3).n_workers == 3
    assert make_workers("processes", -1).n_workers == cpu_count()
    with pytest.raises(InputError, match=r"processes, dask.*'threads'"):
        make_workers("threads", 1)


def test_missing_dask_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"nldd\[dask\]"):
        make_workers("dask", 2)


@pytest.mark.slow
def test_two_processes_write_what_no_other_process_writes(tmp_path, monkeypatch):
    protocol = trial(methods=METHODS, base="platt-svc", folds=2)
    records = run_benchmark(protocol, SONGS, tmp_path / "2", n_jobs=2)
    assert [record.error for record in records] == [None] * 10
    work_at_home(monkeypatch)
    run_benchmark(protocol, SONGS, tmp_path / "home")
    assert written(tmp_path / "2") == written(tmp_path / "home")


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_process_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch, n_jobs):
    """Nor does one that cannot be sent, and processes have one thread each."""
    (tmp_path / "fail").touch()
    for key, method in (("MLKNN", Dies), ("CBM", Unsendable), ("RFPCT", OneThread)):
        replace_method(monkeypatch, key, method)
    parameters = {"MLKNN": {"place": str(tmp_path)}}
    protocol = trial(methods=("CBM", "MLKNN", "RFPCT", "CC"), parameters=parameters)
    records = run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=n_jobs)
    failed = {(record.method, record.fold): record.error for record in records if record.error}
    unsent = {("CBM", fold): "TypeError('I stay at home')" for fold in range(3)}
    assert failed == {("MLKNN", 1): WORKER_DIED, **unsent}
    assert n_lines(tmp_path / "out") == 12


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.slow
def test_interruption_leaves_no_process_behind(tmp_path, monkeypatch):
    replace_method(monkeypatch, "MLKNN", Sleeps)
    (place := tmp_path / "place").mkdir()
    protocol = trial(methods=("MLKNN",), parameters={"MLKNN": {"place": str(place)}})

    def begun():
        return {int(file.name.partition("-")[2]) for file in place.iterdir()}

    def interrupt(state):
        if len(begun()) == 2:
            assert alive(begun()) == begun()
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=2, watch=interrupt)
    until(lambda: not alive(begun()), seconds=10)
    assert time.monotonic() - start < 120  # not the five minutes that they would have slept
    assert n_lines(tmp_path / "out") == 0


# A Dask cluster


def cluster(processes, n_workers=2):
    distributed = pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    # Any free port, since other tests may have a cluster too.
    place = {"protocol": "tcp", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    workers = {"n_workers": n_workers, "threads_per_worker": 1, "processes": processes}
    return distributed.LocalCluster(**place, **workers)


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_cluster_writes_what_is_written_at_home(tmp_path, monkeypatch, processes):
    protocol = trial(methods=METHODS if processes else ("BR", "MLKNN"), folds=2)
    films = Dataset(songs(40, sparse=True).X, songs(40).Y, songs().label_names)
    datasets = {**SONGS, "films": films}
    with cluster(processes) as started:
        address = started.scheduler_address
        options = {"backend": "dask", "address": address}
        records = run_benchmark(protocol, datasets, tmp_path / "dask", **options)
        workers = DaskWorkers(1, address)
        assert workers.n_workers == 2
        workers.close()
    assert {record.error for record in records} == {None}
    work_at_home(monkeypatch)
    run_benchmark(protocol, datasets, tmp_path / "home")
    assert written(tmp_path / "dask") == written(tmp_path / "home")


@pytest.mark.parametrize("misspelt", ["foo", "tcp:/127.0.0.1:1", "nowhere://127.0.0.1:1"])
def test_misspelt_address_is_refused(misspelt):
    pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    with pytest.raises(InputError, match=misspelt):
        DaskWorkers(1, misspelt)


def test_cluster_without_workers_is_refused():
    """Cells would wait for ever."""
    refused = pytest.raises(InputError, match=r"tcp://.* has no workers yet")
    with cluster(False, n_workers=0) as started, refused:
        DaskWorkers(1, started.scheduler_address)


@pytest.mark.slow
def test_worker_of_the_cluster_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Dies)
    protocol = trial(methods=("MLKNN", "CC"), parameters={"MLKNN": {"place": str(tmp_path)}})
    records = run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=2, backend="dask")
    assert [(record.method, record.fold) for record in records if record.error] == [("MLKNN", 1)]
