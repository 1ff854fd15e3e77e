"""Dask arrays: rows to learn from, and rows to predict, in blocks wherever the blocks are.

Tasks have the names of their functions, so that Dask's dashboard shows what is being done. None
leaves anything behind on its worker: one that dies costs the time to do its tasks again.
"""

import sys
from collections.abc import Callable
from functools import cached_property, wraps
from importlib import import_module
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from nldd._sparse import to_canonical
from nldd.exceptions import InputError

# Results that are combined on one worker: more make fewer tasks, fewer are spread more widely.
FAN_IN = 8


def is_dask_array(X: Any) -> bool:
    """Whether X is a Dask array; who has one has imported Dask."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


class RowBlock(NamedTuple):
    """Some rows on a worker, and the number of the first one among all rows."""

    X: Any
    Y: NDArray[Any]
    first: int


class DaskTraining:
    """Training data T in blocks of rows, as Dask arrays X and Y have them.

    As `Training` it has a length, the `rows` as positions in the data of `fit`, and parts with
    fewer rows; but no row is here, and functions go to the blocks instead.
    """

    sample_weight = None

    def __init__(self, X: Any, Y: Any) -> None:
        import_module("nldd.linear._blocks")  # how logistic regressions are fitted to such
        self._check_chunks(X, Y)
        self.n_features, self.n_labels = X.shape[1], Y.shape[1]
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

    def gathered(self) -> tuple[Any, NDArray[np.int8]]:
        """The rows themselves, here: only for few."""
        blocks = compute(self.map(gather_rows))
        X, Y = [block.X for block in blocks], [block.Y for block in blocks]
        rows = vstack(X, format="csr") if issparse(X[0]) else np.concatenate(X)
        return rows, np.concatenate(Y).astype(np.int8)

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


def gather_rows(block: RowBlock) -> RowBlock:
    """The rows of the block."""
    return block


def delayed_task(function: Callable[..., Any], other: Any = None) -> Callable[..., Any]:
    """The function as one that makes tasks, in Dask's dashboard under its name or the other's."""
    from dask.delayed import delayed

    task, name = delayed(function, pure=False, traverse=False), (other or function).__name__
    return lambda *args: task(*args, dask_key_name=f"{name}-{uuid4().hex}")


def broadcast(value: Any) -> Any:
    """What several tasks are called with: in the graph, so that no worker's death can lose it."""
    from dask.delayed import delayed

    return delayed(value, name=f"shared-{uuid4().hex}", traverse=False)


def compute(tasks: list[Any]) -> list[Any]:
    """Results of tasks, from the cluster where there is one, else from threads."""
    dask: Any = import_module("dask")  # whose functions have no types
    return list(dask.compute(*tasks))


def persist_tasks(tasks: list[Any]) -> list[Any]:
    """The same tasks with results that stay where they were made; done when this returns."""
    dask: Any = import_module("dask")
    kept, wait = list(dask.persist(*tasks)), delayed_task(is_persisted)
    compute([wait(task) for task in kept])
    return kept


def is_persisted(result: Any) -> bool:
    """Whether a task is done: it is, or there would be no result."""
    return True


def fold_tasks(tasks: list[Any], combine: Callable[..., Any], *args: Any) -> Any:
    """One task for what `combine` makes of all results: of a few at a time, on their workers."""
    task, shared = delayed_task(combine_few, combine), broadcast(args)
    if not tasks:
        raise InputError("There is nothing to combine: no block has any rows.")
    while True:
        few = [tasks[at : at + FAN_IN] for at in range(0, len(tasks), FAN_IN)]
        tasks = [task(combine, shared, *results) for results in few]
        if len(tasks) == 1:
            return tasks[0]


def combine_few(combine: Callable[..., Any], args: tuple[Any, ...], *results: Any) -> Any:
    """Call `combine` with results of tasks."""
    return combine(results, *args)


def supports_dask(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method that maps rows of X to rows of an array take Dask arrays, and return one.

    A worker has the model once, and a block of rows at a time in memory. A model whose rows are in
    shards gives a model for each block instead, by its method `_for_blocks`.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any) -> Any:
        if not is_dask_array(X):
            return method(self, X)
        from dask.delayed import delayed

        X = X.rechunk({1: -1})
        if getattr(self, "_is_in_shards", False):
            return _answer_from_shards(method, self, X)
        # One row tells the shape and type of the answer without a look at the data.
        answer = method(self, np.zeros((1, X.shape[1])))
        rows, columns = X.chunks[0], answer.shape[1:]
        return X.map_blocks(
            _answer,
            method=delayed(method, pure=True),
            model=delayed(self, pure=False, traverse=False),
            of_no_rows=answer[:0],
            dtype=answer.dtype,
            chunks=(rows, *((size,) for size in columns)),
            drop_axis=[] if columns else [1],
            meta=np.empty((0,) * answer.ndim, dtype=answer.dtype),
        )

    return wrapper


def _answer(X: Any, method: Callable[[Any, Any], Any], model: Any, of_no_rows: Any) -> Any:
    """The answer for one block, of which a filter may have left no rows."""
    return method(model, X) if X.shape[0] > 0 else of_no_rows


def _answer_from_shards(method: Callable[[Any, Any], Any], model: Any, X: Any) -> Any:
    """A Dask array of what the method says with the model of each block."""
    array: Any = import_module("dask.array")
    blocks = [row[0] for row in X.to_delayed()]
    example, models = model._for_blocks(blocks)
    answer = method(example, np.zeros((1, X.shape[1])))
    task, asked, none = delayed_task(_answer, method), broadcast(method), broadcast(answer[:0])
    parts = [
        array.from_delayed(
            task(block, asked, of_block, none), (size, *answer.shape[1:]), answer.dtype
        )
        for block, of_block, size in zip(blocks, models, X.chunks[0], strict=True)
    ]
    return array.concatenate(parts, allow_unknown_chunksizes=True)
