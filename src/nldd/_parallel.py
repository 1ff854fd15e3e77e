"""Independent pieces of work, several at a time, wherever joblib is told to do them."""

from collections.abc import Iterable
from contextlib import nullcontext
from functools import cache
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from nldd._progress import progress

__all__ = ["delayed", "do_all"]


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def do_all(
    tasks: Iterable[Any], total: int, n_jobs: int | None, title: str | None = None
) -> list[Any]:
    """Results of the `total` delayed tasks, in order; with a `title`, under a progress bar.

    Threads are preferred, because they share the data. Each gets its part of the cores for BLAS:
    more would only get in each other's way.
    """
    workers = min(effective_n_jobs(n_jobs), total)
    # Not all of joblib's backends can hand results over one by one, so only where it is watched.
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator" if title else "list")
    share = max(1, cpu_count() // max(workers, 1))
    with _blas().limit(limits=share, user_api="blas") if workers > 1 else nullcontext():
        return list(progress(parallel(tasks), total, title or "", show=title is not None))
