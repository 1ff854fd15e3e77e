"""Batches of cells on a Dask cluster."""

from concurrent.futures import Future
from importlib import import_module
from typing import Any

from nldd.datasets import Dataset
from nldd.exceptions import MissingExtraError
from nldd.experiments._cell import Cell, run_batch
from nldd.experiments._record import Record


class DaskWorkers:
    """Workers of a Dask cluster: the one at `address`, or a new one on this machine.

    A batch counts its own processor time, so workers should have one thread each.
    """

    def __init__(self, n_workers: int, address: str | None = None) -> None:
        distributed = _distributed()
        self._cluster: Any = None
        if address is None:
            self._cluster = distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            )
        self._client = distributed.Client(address or self._cluster)
        self.n_workers = sum(self._client.nthreads().values())
        self._executor = self._client.get_executor(pure=False, retries=0)
        self._sent: tuple[Dataset | None, Any] = (None, None)

    def submit(self, dataset: Dataset, batch: list[Cell]) -> "Future[list[Record]]":
        """Run a batch on the cluster, to which the data are sent once."""
        if self._sent[0] is not dataset:
            self._sent = dataset, self._client.scatter(dataset, hash=False)
        future: Future[list[Record]] = self._executor.submit(run_batch, self._sent[1], batch)
        return future

    def restart(self) -> None:
        """Nothing to do: Dask replaces workers that die."""

    def close(self) -> None:
        """Leave the cluster, and end it if it was made here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingExtraError(
            'A Dask cluster needs Dask. Run: pip install "nldd[dask]".'
        ) from error
