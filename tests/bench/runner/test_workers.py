"""Processes and a Dask cluster that run cells: the same results as at home, none left behind."""

import os
import sys
import time

import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info

from bench.runner.trials import (
    Dies,
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
from nldd.bench.runner.workers import DaskWorkers, ProcessWorkers, make_workers
from nldd.datasets import Dataset
from nldd.exceptions import InputError, MissingExtraError

SONGS = {"songs": songs()}
METHODS = ("BR", "SMBR", "NLDD", "MLKNN", "ECC")

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")


class Lasting(ProcessWorkers):
    """Processes that serve several runs, since each takes seconds to start."""

    def close(self):
        """Stay; `end` ends them."""

    def end(self):
        super().close()


@pytest.fixture(scope="module")
def pool():
    workers = Lasting(1)
    yield workers
    workers.end()


def test_make_workers_counts_cores(monkeypatch):
    assert make_workers("processes", 3).n_workers == 3
    assert make_workers("processes", -1).n_workers == cpu_count()


def test_make_workers_refuses_other_backends():
    with pytest.raises(InputError, match="one of processes, dask; got 'threads'"):
        make_workers("threads", 1)


def test_missing_dask_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"nldd\[dask\]"):
        make_workers("dask", 2)


@pytest.mark.slow
def test_two_processes_write_what_one_and_what_no_other_process_writes(tmp_path, monkeypatch):
    protocol = trial(methods=METHODS, base="platt-svc", folds=2)
    for n_jobs in (1, 2):
        records = run_benchmark(protocol, SONGS, tmp_path / f"{n_jobs}", n_jobs=n_jobs)
        assert [record.error for record in records] == [None] * 10
    work_at_home(monkeypatch)
    run_benchmark(protocol, SONGS, tmp_path / "home")
    assert written(tmp_path / "1") == written(tmp_path / "2") == written(tmp_path / "home")


def n_threads():
    """Of each library of this process that has threads of its own."""
    import sklearn.svm  # noqa: F401 - loads BLAS and OpenMP

    return [library["num_threads"] for library in threadpool_info()]


@pytest.mark.slow
def test_processes_have_one_thread_each(pool):
    assert set(pool._pool.submit(n_threads).result()) == {1}


@pytest.mark.slow
def test_process_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch):
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Dies)
    protocol = trial(methods=("MLKNN", "CC"), parameters={"MLKNN": {"place": str(tmp_path)}})
    records = run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=1)
    failed = [(record.method, record.fold, record.error) for record in records if record.error]
    assert failed == [("MLKNN", 1, WORKER_DIED)]
    assert n_lines(tmp_path / "out") == 6
    (tmp_path / "fail").unlink()
    work_at_home(monkeypatch)
    run_benchmark(protocol, SONGS, tmp_path / "out")
    run_benchmark(protocol, SONGS, tmp_path / "home")
    mended = [line for line in written(tmp_path / "out") if WORKER_DIED not in line]
    assert mended == written(tmp_path / "home")


@pytest.mark.slow
def test_estimator_that_cannot_be_sent_fails_alone(tmp_path, monkeypatch, pool):
    work_at_home(monkeypatch, pool)
    replace_method(monkeypatch, "MLKNN", Unsendable)
    records = run_benchmark(trial(methods=("MLKNN", "CC")), SONGS, tmp_path)
    assert [(record.method, record.error) for record in records[:2]] == [
        ("MLKNN", "TypeError('I stay at home')"),
        ("CC", None),
    ]
    assert sum(record.error is None for record in records) == 3


@needs_proc
@pytest.mark.slow
def test_interruption_leaves_no_process_behind(tmp_path, monkeypatch):
    replace_method(monkeypatch, "MLKNN", Sleeps)
    place = tmp_path / "place"
    place.mkdir()
    protocol = trial(methods=("MLKNN",), parameters={"MLKNN": {"place": str(place)}})

    def begun():
        return {int(file.name.partition("-")[2]) for file in place.iterdir()}

    def interrupt(state):
        if begun():
            assert alive(begun()) == begun()
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=1, watch=interrupt)
    assert len(begun()) == 1
    until(lambda: not alive(begun()), seconds=10)
    assert time.monotonic() - start < 120  # not the five minutes that they would have slept
    assert n_lines(tmp_path / "out") == 0


# A Dask cluster


@pytest.fixture(scope="module")
def address():
    """Two processes on this machine that are told what to do over the network."""
    with cluster(processes=True) as started:
        yield started.scheduler_address


def cluster(processes):
    distributed = pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # any free port: other tests may have a cluster too
    )


def run(protocol, folder, address, datasets=SONGS, **options):
    return run_benchmark(protocol, datasets, folder, backend="dask", address=address, **options)


def test_cluster_of_threads_writes_what_is_written_at_home(tmp_path, monkeypatch):
    protocol = trial(methods=("BR", "MLKNN"), folds=2)
    with cluster(processes=False) as threads:
        run(protocol, tmp_path / "dask", threads.scheduler_address)
    work_at_home(monkeypatch)
    run_benchmark(protocol, SONGS, tmp_path / "home")
    assert written(tmp_path / "dask") == written(tmp_path / "home")


@pytest.mark.slow
def test_cluster_of_processes_writes_what_is_written_at_home(tmp_path, address, monkeypatch):
    protocol = trial(methods=("BR", "SMBR", "NLDD", "MLKNN", "ECC"), base="platt-svc", folds=2)
    films = Dataset(songs(40, sparse=True).X, songs(40).Y, songs().label_names)
    datasets = {**SONGS, "films": films}
    records = run(protocol, tmp_path / "dask", address, datasets)
    assert [record.error for record in records] == [None] * 20
    work_at_home(monkeypatch)
    run_benchmark(protocol, datasets, tmp_path / "home")
    assert written(tmp_path / "dask") == written(tmp_path / "home")


@pytest.mark.slow
def test_cluster_has_as_many_workers_as_threads(address):
    workers = DaskWorkers(1, address)
    assert workers.n_workers == 2
    workers.close()


@pytest.mark.parametrize("misspelt", ["foo", "tcp:/127.0.0.1:1", "nowhere://127.0.0.1:1"])
def test_misspelt_address_is_refused(misspelt):
    pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    with pytest.raises(InputError, match=misspelt):
        DaskWorkers(1, misspelt)


@pytest.mark.slow
def test_worker_of_the_cluster_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="not installed: nldd[dask]")
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Dies)
    protocol = trial(methods=("MLKNN", "CC"), parameters={"MLKNN": {"place": str(tmp_path)}})
    records = run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=2, backend="dask")
    assert [(record.method, record.fold) for record in records if record.error] == [("MLKNN", 1)]
