"""How long the cells that are still to be run will take."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import mean

from nldd.experiments._record import Key, Record


class Forecast:
    """Seconds of a cell, learned from the cells that are done.

    The mean of the same method on the same data set, if there is one. Else the method's mean on
    other data sets, in proportion to their sizes, or that of all methods.

    Parameters
    ----------
    sizes : dict
        Rows times labels of each data set.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._same: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._method: dict[str, list[float]] = defaultdict(list)
        self._all: list[float] = []

    def learn(self, records: Iterable[Record]) -> None:
        """Take finished cells into account."""
        for record in records:
            size = self._sizes.get(record.dataset)
            if record.error is None and record.train_share is None and size:
                self._same[record.dataset, record.method].append(record.seconds)
                self._method[record.method].append(record.seconds / size)
                self._all.append(record.seconds / size)

    def seconds(self, key: Key) -> float | None:
        """Expected seconds of a cell; None before anything is known."""
        if (key.dataset, key.method) in self._same:
            return mean(self._same[key.dataset, key.method])
        known = self._method.get(key.method) or self._all
        return mean(known) * self._sizes[key.dataset] if known else None

    def left(self, keys: Iterable[Key], n_workers: int) -> float | None:
        """Expected seconds until all cells are done by so many workers."""
        expected = [self.seconds(key) for key in keys]
        if any(seconds is None for seconds in expected):
            return None
        return sum(seconds for seconds in expected if seconds is not None) / n_workers
