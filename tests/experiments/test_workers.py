"""Processes that run cells: the same results as at home, and none is left behind."""

import os
import sys
import time

import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info

from experiments.trials import (
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
from nldd.exceptions import InputError, MissingExtraError
from nldd.experiments._benchmark import WORKER_DIED, run_benchmark
from nldd.experiments._workers import ProcessWorkers, make_workers

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
