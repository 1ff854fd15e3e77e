"""Where cells are run: processes of this machine, or a Dask cluster."""

import os
import signal
import threading
from asyncio import CancelledError
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context, parent_process
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from nldd.bench.runner.cell import Cell, run_cell
from nldd.bench.runner.records import CellRecord
from nldd.datasets import Dataset
from nldd.exceptions import InputError, MissingExtraError

CLOSE_SECONDS = 5.0


class ProcessWorkers:
    """Processes of this machine, each with one thread, so that their times can be compared.

    As many cells are run at a time as there are workers. When one dies, all that run are lost.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self.restart()

    def restart(self) -> None:
        # Spawned, not forked: a fork copies the locks of BLAS threads, and hangs on them.
        self._pool = ProcessPoolExecutor(self.n_workers, get_context("spawn"), _begin_worker)

    def submit(self, dataset: Dataset, cell: Cell) -> "Future[CellRecord]":
        return self._pool.submit(run_cell, dataset, cell)

    def close(self) -> None:
        processes = list((self._pool._processes or {}).values())
        manager: threading.Thread | None = getattr(self._pool, "_executor_manager_thread", None)
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        # It closes its pipe, and Python's end would write to it at the same moment.
        if manager is not None:
            manager.join(CLOSE_SECONDS)


def _begin_worker() -> None:
    """One thread a process, and an end to it when the process that started it is gone."""
    # Ctrl-C reaches all processes of a terminal; it is for the parent, who stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    parent = parent_process()  # by its number alone, Windows cannot tell whether it is there
    if parent is not None:
        parent.join()
        os._exit(1)


class DaskWorkers:
    """Workers of a Dask cluster: the one at `address`, or a new one on this machine.

    A cell counts its own processor time, so workers should have one thread each.
    """

    def __init__(self, n_workers: int, address: str | None = None) -> None:
        try:
            distributed = import_module("distributed")
        except ImportError as error:
            raise MissingExtraError("A Dask cluster needs Dask.", extra="dask") from error
        self._cluster: Any = None
        if address is not None:
            _check_address(address)
        else:
            one_thread = {"threads_per_worker": 1, "dashboard_address": None}
            self._cluster = distributed.LocalCluster(n_workers=n_workers, **one_thread)
        self._client = distributed.Client(address or self._cluster)
        self.n_workers = sum(self._client.nthreads().values())
        self._remote: set[Any] = set()  # Dask forgets what nobody holds
        self._sent: tuple[Dataset | None, Any] = (None, None)

    def submit(self, dataset: Dataset, cell: Cell) -> "Future[CellRecord]":
        """Run a cell on the cluster, to every worker of which the data are sent once."""
        if self._sent[0] is not dataset:
            self._sent = dataset, self._client.scatter(dataset, hash=False, broadcast=True)
        remote = self._client.submit(run_cell, self._sent[1], cell, pure=False, retries=0)
        future: Future[CellRecord] = Future()
        self._remote.add(remote)
        remote.add_done_callback(lambda done: _hand_over(done, future))
        return future

    def restart(self) -> None:
        """Give up what is under way, and send the data anew: they may have died with a worker."""
        self._client.cancel(list(self._remote))
        self._remote.clear()
        self._sent = (None, None)

    def close(self) -> None:
        """Leave the cluster, and end it if it was made here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _hand_over(remote: Any, future: "Future[CellRecord]") -> None:
    try:
        future.set_result(remote.result())
    except (Exception, CancelledError) as error:
        # A cell keeps its own errors in its record, so this is the cluster's.
        future.set_exception(BrokenExecutor(repr(error)))


def _check_address(address: str) -> None:
    """Refuse what is no address before a client tries it: one that fails to start may hang."""
    comm = import_module("distributed.comm")
    try:
        comm.parse_address(address, strict=True)
        comm.resolve_address(address)
    except (ValueError, OSError) as error:
        raise InputError(
            f"{address!r} is no address of a Dask scheduler ({error}). Give one such as "
            "tcp://127.0.0.1:8786, or leave --scheduler out for a cluster on this machine."
        ) from error


Workers = ProcessWorkers | DaskWorkers


def make_workers(backend: str, n_jobs: int, address: str | None = None) -> Workers:
    """Workers of a backend; -1 jobs is one per core."""
    n_workers = cpu_count() if n_jobs < 0 else n_jobs
    if backend == "dask":
        return DaskWorkers(n_workers, address)
    if backend != "processes":
        raise InputError(f"backend must be one of processes, dask; got {backend!r}.")
    return ProcessWorkers(n_workers)
