"""Dask arrays: rows to learn from, and rows to predict, in blocks wherever the blocks are.

Nothing else in nldd knows of Dask: `_base` imports this package when it meets a Dask array. Blocks
of training rows are a :class:`DaskTraining`, which answers as `nldd._training.Training` does::

    _training   T: rows stay in their blocks, functions go there; each block makes the passes of
                the solver of logistic regressions
    _search     an index in shards, one for each block, and the best over all; tasks, and how
                their results are combined

Here are predictions of Dask arrays: one block of rows at a time. Tasks have the names of their
functions, so that Dask's dashboard shows what is being done. None leaves anything behind on its
worker: one that dies costs the time to do its tasks again.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.distributed._search import AnsweredIndex, ShardedIndex, broadcast, delayed_task
from nldd.distributed._training import DaskTraining, read_blocks
from nldd.estimators._best_labelset import score_of

__all__ = ["DaskTraining", "map_blocks", "read_blocks"]

Method = Callable[[Any, Any], Any]


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
    if not isinstance(getattr(fitted, "index", None), ShardedIndex):
        return model, [broadcast(model)] * len(blocks)
    index = fitted.index
    example = _without_rows(model, AnsweredIndex.example(index.labelsets))
    shared, ask, answer = broadcast(example), delayed_task(probabilities), delayed_task(add_answer)
    score = score_of(fitted.regression)
    near = (index.nearest(X, ask(shared, X), score) for X in blocks)
    return example, [answer(shared, of_block) for of_block in near]


def _without_rows(model: Any, index: AnsweredIndex) -> Any:
    """A copy of a model to be sent around, without what is long and not asked for."""
    small = copy(model)
    for name in ("index_", "rows_", "pairs_", "labelsets_"):
        small.__dict__.pop(name)
    small._fitted = replace(model._fitted, index=index, pairs=None, rows=None)
    return small


def probabilities(model: Any, X: Any) -> NDArray[np.float64]:
    """Label probabilities of a block of rows, of which a filter may have left none."""
    return (
        np.asarray(model.label_probabilities(X)) if X.shape[0] else np.empty((0, model.n_labels_))
    )


def add_answer(model: Any, near: Any) -> Any:
    """The model with what the shards of its index have answered in place of the index."""
    answered = copy(model)
    index = model._fitted.index._replace(near=near)
    answered._fitted = replace(model._fitted, index=index)
    return answered
