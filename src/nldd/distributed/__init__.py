"""Dask arrays: rows to learn from, and rows to predict, in blocks wherever the blocks are.

Nothing else in nldd knows of Dask: `_base` imports these modules when it meets a Dask array. Blocks
of training rows are a :class:`DaskTraining`, which answers as `nldd._base.Training` does::

    _training   T: rows stay in their blocks, functions go there; each block makes the passes of
                the solver of logistic regressions
    _search     an index in shards, one for each block, and the best over all; tasks, and how
                their results are combined; predictions of Dask arrays, block by block

Tasks have the names of their functions, so that Dask's dashboard shows what is being done. None
leaves anything behind on its worker: one that dies costs the time to do its tasks again.
"""
