"""Tasks for Dask: functions of blocks, what they share, and results combined a few at a time."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple
from uuid import uuid4

from numpy.typing import NDArray

from nldd.exceptions import InputError

# Results that are combined on one worker: more make fewer tasks, fewer are spread more widely.
FAN_IN = 8


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
