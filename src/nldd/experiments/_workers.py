"""Where batches of cells are run: processes of this machine, or a Dask cluster."""

import os
import signal
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Protocol

from joblib import cpu_count

from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.experiments._cell import Cell, run_batch
from nldd.experiments._record import Record

BACKENDS = ("processes", "dask")


class Workers(Protocol):
    """Runs batches somewhere else, as many at a time as there are workers."""

    n_workers: int

    def submit(self, dataset: Dataset, batch: list[Cell]) -> "Future[list[Record]]":
        """Run a batch; the future gives its records."""

    def restart(self) -> None:
        """Begin again with new workers after one has died."""

    def close(self) -> None:
        """Stop all workers at once, whatever they do."""


class ProcessWorkers:
    """Processes of this machine, each with one thread, so that their times can be compared."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self.restart()

    def restart(self) -> None:
        """Begin again with new processes."""
        # Spawned, not forked: a fork copies the locks of BLAS threads, and hangs on them.
        self._pool = ProcessPoolExecutor(
            self.n_workers,
            mp_context=get_context("spawn"),
            initializer=_begin_worker,
            initargs=(os.getpid(),),
        )

    def submit(self, dataset: Dataset, batch: list[Cell]) -> "Future[list[Record]]":
        """Run a batch in the next free process."""
        return self._pool.submit(run_batch, dataset, batch)

    def close(self) -> None:
        """Stop all processes at once."""
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


def make_workers(backend: str, n_jobs: int, address: str | None = None) -> Workers:
    """Workers of a backend; -1 jobs is one per core."""
    n_workers = cpu_count() if n_jobs < 0 else n_jobs
    if backend == "dask":
        from nldd.experiments._dask_workers import DaskWorkers

        return DaskWorkers(n_workers, address)
    if backend != "processes":
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}; got {backend!r}.")
    return ProcessWorkers(n_workers)


def _begin_worker(parent: int) -> None:
    """One thread a process, and an end to it when the process that started it is gone."""
    from threadpoolctl import threadpool_limits

    # Ctrl-C reaches all processes of a terminal; it is for the parent, who stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
