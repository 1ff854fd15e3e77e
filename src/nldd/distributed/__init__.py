"""Dask arrays: rows to learn from, and rows to predict, in blocks wherever the blocks are.

Nothing else in nldd knows of Dask: `_base` imports this package when it meets a Dask array. Blocks
of training rows are a :class:`DaskTraining`, which answers as `nldd._training.Training` does::

    _training   T: rows stay in their blocks, functions go there
    _logistic   logistic regressions: each block makes the passes of the solver
    _search     an index in shards, one for each block, and the best over all
    _answers    predictions of Dask arrays, block by block
    _tasks      delayed functions and how their results are combined

Tasks have the names of their functions, so that Dask's dashboard shows what is being done. None
leaves anything behind on its worker: one that dies costs the time to do its tasks again.
"""

from nldd.distributed import _logistic  # noqa: F401 (it registers what solves labels in blocks)
from nldd.distributed._answers import map_blocks
from nldd.distributed._training import DaskTraining, read_blocks

__all__ = ["DaskTraining", "map_blocks", "read_blocks"]
