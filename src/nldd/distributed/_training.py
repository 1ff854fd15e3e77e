"""Training data in blocks of rows, as Dask arrays have them; functions go to the blocks."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from nldd._base import is_dask_array, read_groups
from nldd._labels import read_labels
from nldd._sparse import to_canonical
from nldd._training import Labelsets, Training
from nldd.distributed._search import ShardedIndex, labelsets_of_block, merge_labelsets
from nldd.distributed._tasks import (
    RowBlock,
    broadcast,
    compute,
    delayed_task,
    fold_tasks,
    persist_tasks,
)
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.search._distances import Spread, merge_spreads


def read_blocks(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> "DaskTraining":
    """Check Dask arrays, and that the model can learn from such; it learns sizes and names."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight cannot be used with Dask arrays. Leave it out, or repeat the rows "
            "that are to count several times."
        )
    _check_settings(model)
    T = DaskTraining(X, y, groups)
    model._validate_features(np.zeros((1, T.n_features)), reset=True)
    model._remember_labels(read_labels(np.zeros((1, T.n_labels))))
    T.check()
    return T


def _check_settings(model: Any) -> None:
    """Refuse settings with which rows would be gathered here."""
    base = getattr(model, "estimator", None)
    is_given = not (base is None or (isinstance(base, str) and base == "auto"))
    if is_given and not isinstance(base, MultiLabelLogisticRegression):
        raise InputError(
            "Only nldd.linear.MultiLabelLogisticRegression can be fitted to Dask arrays; "
            f"got {base!r}. Use that, or arrays in memory: X.compute()."
        )
    if getattr(model, "max_pairs", 0) is None:
        raise InputError(
            "Dask arrays need a number as max_pairs, or this process would gather rows; got None."
        )
    if (decision := getattr(model, "decision", "nearest")) in ("accuracy", "f"):
        raise InputError(
            f'Dask arrays need decision="nearest"; got {decision!r}. Use that, or arrays in '
            "memory: X.compute()."
        )


class DaskTraining:
    """Training data T in blocks of rows, as Dask arrays X and Y have them.

    It answers as :class:`Training` does, but no row is here: functions go to the blocks instead.
    """

    kind = "many rows"
    sample_weight = None

    def __init__(self, X: Any, Y: Any, groups: Any = None) -> None:
        self._check_chunks(X, Y)
        self.groups = read_groups(groups, X.shape[0])
        (self.n_given, self.n_features), self.n_labels = X.shape, Y.shape[1]
        self._X = [row[0] for row in X.rechunk({1: -1}).to_delayed()]
        self._Y = [row[0] for row in Y.rechunk({0: X.chunks[0], 1: -1}).to_delayed()]
        self._ends = np.cumsum(X.chunks[0])
        self.rows: NDArray[np.intp] = np.arange(X.shape[0])
        # How many rows of each block belong here, and which, as tasks; None is all of them.
        self._sizes: list[int] = list(X.chunks[0])
        self._chosen: list[Any] = [None] * len(self._X)

    @staticmethod
    def _check_chunks(X: Any, Y: Any) -> None:
        if not (is_dask_array(X) and is_dask_array(Y)):
            raise InputError(
                "X and y must both be Dask arrays, or neither; got "
                f"{type(X).__name__} and {type(Y).__name__}. "
                "dask.array.from_array(Y, chunks=(X.chunks[0], -1)) makes one of what is in memory."
            )
        if X.ndim != 2 or Y.ndim != 2:
            raise InputError(
                "As Dask arrays, X and y must be 2-D, y with one 0/1 column per label; "
                f"got shapes {X.shape} and {Y.shape}."
            )
        if np.isnan(X.shape + Y.shape).any():
            raise InputError(
                "The blocks of X or y are of unknown size, so rows cannot be drawn from them. "
                "Call X.compute_chunk_sizes() and y.compute_chunk_sizes() first."
            )
        if X.shape[0] != Y.shape[0] or 0 in X.shape + Y.shape:
            raise InputError(
                "X and y must have equally many rows, and at least one row and column; "
                f"got shapes {X.shape} and {Y.shape}."
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> Self:
        """A part with these rows, by their numbers here, in rising order."""
        part = object.__new__(type(self))
        part.__dict__ = {k: v for k, v in vars(self).items() if k != "positives"}
        part.rows = self.rows[rows]
        part.groups = None if self.groups is None else self.groups[rows]
        is_chosen = np.zeros(self._ends[-1], dtype=bool)
        is_chosen[part.rows] = True
        of_blocks = np.split(is_chosen, self._ends[:-1])
        part._sizes = [int(chosen.sum()) for chosen in of_blocks]
        # As bits, and sent to the workers only once: they are a part of every task.
        part._chosen = persist_tasks([broadcast(np.packbits(chosen)) for chosen in of_blocks])
        return part

    def check(self) -> None:
        """Look for what no fit can use; where it is found, the error says in which rows."""
        *positives, n_rows = self.fold(check_block, sum, (self.n_features, self.n_labels))
        if n_rows != len(self):
            raise InputError(
                f"The blocks of X have {n_rows} rows, but the Dask array says {len(self)}. "
                "Call X.compute_chunk_sizes() and y.compute_chunk_sizes() first."
            )
        self.positives = np.array(positives)

    @cached_property
    def positives(self) -> NDArray[np.int64]:
        """How many rows carry each label."""
        return np.asarray(self.fold(count_labels, sum))

    def scale(self, standardize: str) -> NDArray[np.float64]:
        """What to divide features by, as :func:`feature_scale` says."""
        return self.fold(spread_of_block, merge_spreads).scale(standardize)

    def index(self, scale: NDArray[np.float64]) -> ShardedIndex:
        """The rows to search, in shards where their blocks are."""
        return ShardedIndex(self, scale)

    def labelsets(self) -> Labelsets:
        """The distinct labelsets."""
        return Labelsets(*self.fold(labelsets_of_block, merge_labelsets))

    def in_memory(self) -> Training:
        """The rows themselves, here: only for few."""
        blocks = compute(self.map(gather_rows))
        X, Y = [block.X for block in blocks], [block.Y for block in blocks]
        rows = vstack(X, format="csr") if issparse(X[0]) else np.concatenate(X)
        return Training(rows, np.concatenate(Y).astype(np.int8), None, self.rows)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Tasks that call the function with each block that has rows, and with `args`."""
        task, shared, first = delayed_task(on_block, function), broadcast(args), 0
        tasks = []
        for X, Y, chosen, size in zip(self._X, self._Y, self._chosen, self._sizes, strict=True):
            if size:
                tasks.append(task(X, Y, chosen, first, function, shared))
                first += size
        return tasks

    def fold(self, function: Callable[..., Any], combine: Callable[..., Any], *args: Any) -> Any:
        """What the function says of all blocks, each with `args`, combined: computed at once.

        `combine` takes a list of results. Its order does not depend on who is done first.
        """
        return compute([fold_tasks(self.map(function, *args), combine)])[0]


def on_block(
    X: Any, Y: Any, chosen: Any, first: int, function: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    """Call the function with the rows of a block, in the form in which compiled code takes them."""
    X, Y = to_canonical(X), Y.toarray() if issparse(Y) else np.asarray(Y)
    if chosen is not None:
        rows = np.flatnonzero(np.unpackbits(chosen, count=len(Y)))
        X, Y = X[rows], Y[rows]
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    return function(RowBlock(X, Y, first), *args)


def count_labels(block: RowBlock) -> NDArray[np.int64]:
    """How many rows of the block carry each label."""
    return np.asarray(block.Y.sum(axis=0, dtype=np.int64))


def check_block(block: RowBlock, sizes: tuple[int, int]) -> NDArray[np.int64]:
    """Refuse what is not finite, or not 0 or 1, or of other sizes; else count the labels."""
    rows = f"rows {block.first} to {block.first + len(block.Y) - 1}"
    if (block.X.shape[1], block.Y.shape[1]) != sizes or block.X.shape[0] != len(block.Y):
        raise InputError(
            f"The blocks of {rows} have shapes {block.X.shape} and {block.Y.shape}, but the Dask "
            f"arrays promise {sizes[0]} features and {sizes[1]} labels, row by row."
        )
    if not np.isfinite(block.X.data if issparse(block.X) else block.X).all():
        raise InputError(f"X contains NaN or infinity in {rows}. Drop or fill such values first.")
    if not ((block.Y == 0) | (block.Y == 1)).all():
        raise InputError(f"Y must hold only 0 and 1; in {rows} it holds other values.")
    return np.append(count_labels(block), len(block.Y))


def spread_of_block(block: RowBlock) -> Spread:
    """How the features of the rows of a block vary."""
    return Spread.of(block.X)


def gather_rows(block: RowBlock) -> RowBlock:
    """The rows of the block."""
    return block
