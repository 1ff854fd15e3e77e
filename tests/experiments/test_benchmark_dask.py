"""Cells on a Dask cluster: the same results as at home."""

import pytest

from experiments.trials import (
    Dies,
    Raises,
    n_lines,
    replace_method,
    songs,
    trial,
    work_at_home,
    written,
)
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.experiments._benchmark import run_benchmark
from nldd.experiments._workers import DaskWorkers

SONGS = {"songs": songs()}

distributed = pytest.importorskip("distributed", reason="distributed is not installed: nldd[dask]")


@pytest.fixture(scope="module")
def address():
    """Two processes on this machine that are told what to do over the network."""
    with cluster(processes=True) as started:
        yield started.scheduler_address


def cluster(processes):
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
    with pytest.raises(InputError, match=misspelt):
        DaskWorkers(1, misspelt)


@pytest.mark.slow
def test_cluster_stays_when_a_run_ends(tmp_path, address):
    states = []
    for folder in ("first", "second"):
        run(trial(), tmp_path / folder, address, watch=states.append)
    assert max(len(state.running) for state in states) == 2
    assert n_lines(tmp_path / "second") == 9


@pytest.mark.slow
def test_failure_on_the_cluster_is_written_down_and_tried_again(tmp_path, address, monkeypatch):
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Raises)
    protocol = trial(methods=("MLKNN", "CC"), parameters={"MLKNN": {"place": str(tmp_path)}})
    records = run(protocol, tmp_path / "out", address)
    assert [(r.method, r.fold, r.error) for r in records if r.error] == [
        ("MLKNN", 1, "ValueError: this fold is not for me")
    ]
    (tmp_path / "fail").unlink()
    records = run(protocol, tmp_path / "out", address)
    assert [record.error for record in records] == [None] * 6
    assert n_lines(tmp_path / "out") == 7


@pytest.mark.slow
def test_worker_of_the_cluster_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch):
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Dies)
    protocol = trial(methods=("MLKNN", "CC"), parameters={"MLKNN": {"place": str(tmp_path)}})
    records = run_benchmark(protocol, SONGS, tmp_path / "out", n_jobs=2, backend="dask")
    assert [(record.method, record.fold) for record in records if record.error] == [("MLKNN", 1)]
