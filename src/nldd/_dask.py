"""Dask arrays: predictions block by block, wherever the blocks are."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def block_by_block(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method that maps rows of X to rows of an array take Dask arrays, and return one.

    A worker has the model once, and a block of rows at a time in memory.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any) -> Any:
        dask_array = sys.modules.get("dask.array")  # who has a Dask array has imported it
        if dask_array is None or not isinstance(X, dask_array.Array):
            return method(self, X)
        from dask.delayed import delayed

        # One row tells the shape and type of the answer without a look at the data.
        answer = method(self, np.zeros((1, X.shape[1])))
        rows, columns = X.chunks[0], answer.shape[1:]
        return X.rechunk({1: -1}).map_blocks(
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
    return method(model, X) if len(X) > 0 else of_no_rows
