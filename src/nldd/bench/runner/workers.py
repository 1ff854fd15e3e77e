"""Where cells are run: processes of this machine, or a Dask cluster."""

import os
import signal
import threading
from asyncio import CancelledError
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from nldd.bench.runner.cell import Cell, run_cell
from nldd.bench.runner.records import CellRecord
from nldd.datasets import Dataset
from nldd.exceptions import InputError, MissingExtraError


class ProcessWorkers:
    """Processes of this machine, each with one thread, so that their times can be compared.

    Each runs a cell at a time, and a thread of this process waits for it. One that dies takes no
    other cell with it.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        # Spawned, not forked: a fork copies the locks of BLAS threads, and hangs on them.
        self._context = get_context("spawn")
        self._processes: list[Any] = []
        self._idle: list[Any] = []
        self._waiting = ThreadPoolExecutor(n_workers)

    def submit(self, dataset: Dataset, cell: Cell) -> "Future[CellRecord]":
        """Have a process run a cell: an idle one, or a new one."""
        if not self._idle:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=_work, args=(theirs,))
            process.start()
            theirs.close()  # so that its end is the end of the line
            self._processes.append(process)
            self._idle.append(ours)
        return self._waiting.submit(self._run, self._idle.pop(), dataset, cell)

    def _run(self, line: "Connection[Any, Any]", dataset: Dataset, cell: Cell) -> CellRecord:
        try:
            line.send((dataset, cell))
            record: CellRecord = line.recv()
        except (EOFError, OSError) as error:
            raise BrokenExecutor("a worker process died") from error
        except Exception:  # of a cell that cannot be sent; the process knows nothing of it
            self._idle.append(line)
            raise
        self._idle.append(line)
        return record

    def close(self) -> None:
        """End all processes, whatever they do."""
        for process in self._processes:
            process.kill()
        self._waiting.shutdown()
        for process in self._processes:
            process.join()


def _work(line: "Connection[Any, Any]") -> None:
    """Run cells until nobody asks for more."""
    # Ctrl-C reaches all processes of a terminal; it is for the parent, who stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    # By its number alone, Windows cannot tell whether the parent is there.
    threading.Thread(target=_follow, args=(parent_process(),), daemon=True).start()
    with suppress(EOFError):
        while True:
            line.send(run_cell(*line.recv()))


def _follow(parent: Any) -> None:
    """End this process when the one that started it is gone, in the middle of a cell too."""
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
        if self.n_workers == 0:
            self.close()
            raise InputError(f"{address} has no workers yet. Start some: dask worker {address}")
        self._remote: set[Any] = set()  # Dask forgets what nobody holds
        self._sent: tuple[Dataset | None, Any] = (None, None)

    def submit(self, dataset: Dataset, cell: Cell) -> "Future[CellRecord]":
        """Run a cell on the cluster, to every worker of which the data are sent once."""
        if self._sent[0] is not dataset:
            self._sent = dataset, self._client.scatter(dataset, hash=False, broadcast=True)
        remote = self._client.submit(run_cell, self._sent[1], cell, pure=False, retries=0)
        future: Future[CellRecord] = Future()
        self._remote.add(remote)
        remote.add_done_callback(lambda done: self._hand_over(done, future))
        return future

    def _hand_over(self, remote: Any, future: "Future[CellRecord]") -> None:
        self._remote.discard(remote)
        try:
            future.set_result(remote.result())
        except (Exception, CancelledError) as error:
            # A cell keeps its own errors in its record, so this is the cluster's. The data may have
            # died with a worker, and are sent anew.
            self._sent = (None, None)
            future.set_exception(BrokenExecutor(repr(error)))

    def close(self) -> None:
        """Leave the cluster, and end it if it was made here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


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
