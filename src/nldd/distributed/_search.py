"""Tasks of Dask, an index in shards, one for each block of rows, and predictions block by block.

Tasks are functions of blocks, with what they share; results are combined a few at a time.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple, Never
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.utils import gen_batches

from nldd._base import Labelsets
from nldd._wording import progress
from nldd.exceptions import InputError
from nldd.search._distances import FloatArray
from nldd.search._index import (
    LabelsetIndex,
    Neighbors,
    Score,
    check_probabilities,
    distinct_labelsets,
)
from nldd.search._kernels import TIE

Method = Callable[[Any, Any], Any]

# Results that are combined on one worker: more make fewer tasks, fewer are spread more widely.
FAN_IN = 8
# Queries that go to the shards in one round, and their bytes: Dask warns of more.
MAX_QUERIES, MAX_BYTES = 8192, 2**22
# Megabytes for the distances of a task: less than at home, as a worker may do several, in little.
WORKING_MEMORY = 32


class RowBlock(NamedTuple):
    """Some rows on a worker, and the number of the first one among all rows."""

    X: Any
    Y: NDArray[Any]
    first: int


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


def labelsets_of_block(block: RowBlock) -> Labelsets:
    """The labelsets of the rows of a block."""
    ones, rows = np.ones(len(block.Y), dtype=np.int64), block.first + np.arange(len(block.Y))
    return merge_labelsets([Labelsets(block.Y.astype(np.int8), ones, rows)])


def merge_labelsets(parts: Any) -> Labelsets:
    """The labelsets of several blocks."""
    given, counts, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    labelsets, labelset = distinct_labelsets(given)
    total, first = np.zeros((2, len(labelsets)), dtype=np.int64)
    np.add.at(total, labelset, counts)
    first[labelset[::-1]] = rows[::-1]  # the rows of all parts are in order
    return Labelsets(labelsets, total, first)


class Shard(NamedTuple):
    """The search of one block: the number of its first row, and which labelsets of all it has."""

    of_block: LabelsetIndex
    first: int
    labelset: NDArray[np.intp]


def labelset_shard(block: RowBlock, scale: FloatArray, labelsets: NDArray[np.int8]) -> Shard:
    """Build the index of a block."""
    index = LabelsetIndex(block.X, block.Y, scale)
    # Both are in order, so the labelsets of the block are where the two lists agree.
    _, number = distinct_labelsets(np.concatenate([labelsets, index.labelsets]))
    return Shard(index, block.first, number[len(labelsets) :])


def nearest_in_shard(shard: Shard, X: Any, P: FloatArray, score: Score, k: int) -> Neighbors:
    """The k best labelsets of one shard, with the numbers that they and their rows have in all.

    Where a shard has fewer, the places behind them have row -1.
    """
    k_here = min(k, len(shard.labelset))
    if len(P) == 0:
        return no_neighbors(0, k)
    with config_context(working_memory=WORKING_MEMORY):
        near = shard.of_block.query(X, P, score, k_here, n_jobs=1)
    fill = (0, 0), (0, k - k_here)
    return Neighbors(
        np.pad(near.row + shard.first, fill, constant_values=-1),
        np.pad(shard.labelset[near.labelset], fill, constant_values=-1),
        np.pad(near.Dx, fill),
        np.pad(near.Dy, fill),
        near.evaluated,
    )


def no_neighbors(n_queries: int, k: int) -> Neighbors:
    """Zeros in the form of an answer."""
    numbers, distances = np.zeros((n_queries, k), dtype=np.intp), np.zeros((n_queries, k))
    evaluated = np.zeros(n_queries, dtype=np.intp)
    return Neighbors(numbers, numbers, distances, distances, evaluated)


def best_of_shards(parts: Any, score: Score, k: int) -> Neighbors:
    """The k best labelsets of several shards, by the rules of the search within one.

    The smallest score wins, among equals the smallest label distance, then the smallest feature
    distance, then the lowest row; a labelset of several shards has the best of its rows.
    """
    row, labelset, Dx, Dy = (
        np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("row", "labelset", "Dx", "Dy")
    )
    keys, left = (score.of(Dx, Dy), Dy, Dx), row >= 0
    every = np.arange(len(row))
    chosen = np.empty((len(row), k), dtype=np.intp)
    for rank in range(k):
        tied = left.copy()
        for key in keys:
            smallest = np.where(tied, key, np.inf).min(axis=1, keepdims=True)
            tied &= key <= smallest * (1 + TIE)
        chosen[:, rank] = np.where(tied, row, np.iinfo(row.dtype).max).argmin(axis=1)
        at = every, chosen[:, rank]
        # In a few of the shards there may not be k labelsets; they stay behind the others.
        is_none = ~left.any(axis=1)
        left &= labelset != labelset[at][:, np.newaxis]
        chosen[is_none, rank] = row[is_none].argmin(axis=1)
    found = every[:, np.newaxis], chosen
    return Neighbors(
        row[found],
        labelset[found],
        Dx[found],
        Dy[found],
        np.sum([part.evaluated for part in parts], axis=0),
    )


class ShardedIndex:
    """The search structure of rows that are in blocks on the workers of a Dask cluster.

    It answers as a :class:`LabelsetIndex` of all rows would. Shards stay on their workers, and are
    built again where a worker is lost. Here are only the distinct labelsets and their counts.
    """

    def __init__(self, T: Any, scale: FloatArray) -> None:
        self.scale, self._n_rows = scale, len(T)
        self.labelsets, self.counts, _ = T.labelsets()
        self._shards = persist_tasks(T.map(labelset_shard, scale, self.labelsets))

    def __len__(self) -> int:
        return self._n_rows

    def query(
        self,
        X: Any,
        P: FloatArray,
        score: Score,
        k: int = 1,
        n_jobs: int | None = None,
        title: str | None = None,
    ) -> Neighbors:
        """As :meth:`LabelsetIndex.query`; each worker of the cluster asks its own shards."""
        del n_jobs  # the cluster has its workers
        if not 1 <= k <= len(self.counts):
            raise InputError(f"k must be from 1 to {len(self.counts)}, the number of labelsets.")
        P = check_probabilities(P)
        n_bytes = 12 * X.nnz if issparse(X) else X.nbytes
        n_rounds = 1 + max(len(P) // MAX_QUERIES, n_bytes // MAX_BYTES)
        batches = list(gen_batches(len(P), -(-len(P) // n_rounds)))
        rounds = (
            compute([self.nearest(broadcast(X[batch]), broadcast(P[batch]), score, k)])[0]
            for batch in batches
        )
        return Neighbors.stack(list(progress(rounds, len(batches), title)))

    def nearest(self, X: Any, P: Any, score: Score, k: int = 1) -> Any:
        """A task for the neighbors of rows and probabilities that are results of tasks."""
        ask = delayed_task(nearest_in_shard)
        parts = [ask(shard, X, P, score, k) for shard in self._shards]
        return fold_tasks(parts, best_of_shards, score, k)

    def with_rows(self, X: Any, Y: Any) -> Never:
        """Refuse more rows."""
        raise InputError(
            "The rows of this model are in shards on the workers of a Dask cluster, which take no "
            "more: fit again with dask.array.concatenate of the old and the new rows."
        )

    def __getstate__(self) -> Never:
        """Refuse to be saved or sent."""
        raise InputError(
            "The rows of this model are in shards on the workers of a Dask cluster, so it can be "
            "neither saved nor sent to another process. Predict where it was fitted, or fit a "
            "model to arrays in memory."
        )


class AnsweredIndex(NamedTuple):
    """In place of an index, on a worker that has none: what the shards have answered."""

    labelsets: NDArray[np.int8]
    near: Neighbors

    def query(self, *question: Any) -> Neighbors:
        """The answer, to the one question that has been asked."""
        return self.near


def map_blocks(method: Method, model: Any, X: Any) -> Any:
    """A Dask array of what the method of a model says about each block of X.

    A worker has the model once, and a block of rows at a time in memory. A model whose rows are in
    shards gives a model for each block instead, with the answers of the shards.
    """
    array: Any = import_module("dask.array")
    X = X.rechunk({1: -1})
    blocks = [row[0] for row in X.to_delayed()]
    example, models = _models_of_blocks(model, blocks)
    # One row tells the shape and type of the answer without a look at the data.
    answer = method(example, np.zeros((1, X.shape[1])))
    task, asked, none = delayed_task(answer_block, method), broadcast(method), broadcast(answer[:0])
    parts = [
        array.from_delayed(
            task(block, asked, of_block, none), (size, *answer.shape[1:]), answer.dtype
        )
        for block, of_block, size in zip(blocks, models, X.chunks[0], strict=True)
    ]
    return array.concatenate(parts, allow_unknown_chunksizes=True)


def answer_block(X: Any, method: Method, model: Any, of_no_rows: Any) -> Any:
    """The answer for one block, of which a filter may have left no rows."""
    return method(model, X) if X.shape[0] > 0 else of_no_rows


def _models_of_blocks(model: Any, blocks: list[Any]) -> tuple[Any, list[Any]]:
    """A model to try out, and the one for each block of rows, as tasks."""
    fitted: Any = getattr(model, "_fitted", None)
    index = getattr(getattr(fitted, "rule", None), "index", None)
    if not isinstance(index, ShardedIndex):
        return model, [broadcast(model)] * len(blocks)
    # The answer for a single row, to see what is made of it.
    example = _without_rows(model, AnsweredIndex(index.labelsets, no_neighbors(1, 1)))
    shared, ask, answer = broadcast(example), delayed_task(probabilities), delayed_task(add_answer)
    near = (index.nearest(X, ask(shared, X), fitted.rule.score) for X in blocks)
    return example, [answer(shared, of_block) for of_block in near]


def _without_rows(model: Any, index: AnsweredIndex) -> Any:
    """A copy of a model to be sent around, without what is long and not asked for."""
    small = copy(model)
    for name in ("index_", "rows_", "pairs_", "labelsets_"):
        small.__dict__.pop(name)
    rule = replace(model._fitted.rule, index=index, pairs=None)
    small._fitted = replace(model._fitted, rule=rule, rows=None)
    return small


def probabilities(model: Any, X: Any) -> NDArray[np.float64]:
    """Label probabilities of a block of rows, of which a filter may have left none."""
    return (
        np.asarray(model.label_probabilities(X)) if X.shape[0] else np.empty((0, model.n_labels_))
    )


def add_answer(model: Any, near: Any) -> Any:
    """The model with what the shards of its index have answered in place of the index."""
    answered = copy(model)
    rule = model._fitted.rule
    rule = replace(rule, index=rule.index._replace(near=near))
    answered._fitted = replace(model._fitted, rule=rule)
    return answered
