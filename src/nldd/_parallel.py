"""Independent pieces of work, several at a time, wherever joblib is told to do them."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from joblib import cpu_count, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from sklearn import config_context, get_config
from sklearn.utils import parallel as in_sklearn
from threadpoolctl import ThreadpoolController

from nldd._progress import progress

__all__ = ["delayed", "do_all", "one_blas_thread"]

# A call to be made: function, positional and keyword arguments, as `delayed` gives them.
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return ThreadpoolController().select(user_api="blas")


class _BlasLimit:
    """A limit on BLAS threads that calls from several threads can share.

    The limit belongs to the process. Each call on its own would put back what it found, which may
    be the limit of another one; here the first sets it and the last takes it away.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_inside = 0
        self.limiter: Any = None

    @contextmanager
    def __call__(self, n_threads: int) -> Iterator[None]:
        with self.lock:
            if self.n_inside == 0:
                # Fewer threads than that may have been asked for; they stay fewer.
                present = [library.num_threads for library in _blas().lib_controllers]
                self.limiter = _blas().limit(limits=min([n_threads, *present]))
            self.n_inside += 1
        try:
            yield
        finally:
            with self.lock:
                self.n_inside -= 1
                if self.n_inside == 0:
                    self.limiter.restore_original_limits()


_limit_blas = _BlasLimit()


def one_blas_thread() -> AbstractContextManager[None]:
    """Context for products of thin matrices, on which several threads only wait for each other."""
    return _limit_blas(1)


def do_all(
    tasks: Iterable[Task], total: int, n_jobs: int | None, title: str | None = None
) -> list[Any]:
    """Results of the `total` delayed tasks, in order; with a `title`, under a progress bar.

    Threads are preferred, because they share the data. Each gets its part of the cores for BLAS:
    more would only get in each other's way.
    """
    workers = min(effective_n_jobs(n_jobs), total)
    backend, _ = get_active_backend(prefer="threads")
    share = max(1, cpu_count() // max(workers, 1))
    with _limit_blas(share) if workers > 1 else nullcontext():
        if workers <= 1:
            results: Iterable[Any] = (function(*args, **kw) for function, args, kw in tasks)
        elif isinstance(backend, ThreadingBackend):
            results = _in_threads(tasks, workers)
        else:
            # Not all backends can hand results over one by one, so only where it is watched.
            one_by_one = title is not None and backend.supports_return_generator
            results = _by_joblib(tasks, n_jobs, one_by_one)
        return list(progress(results, total, title or "", show=title is not None))


def _in_threads(tasks: Iterable[Task], workers: int) -> Iterator[Any]:
    """Results in order, from threads of our own.

    joblib's threads would do, but it looks for results every 10 ms, which is longer than many a
    whole piece of work takes here.
    """
    config = get_config()  # scikit-learn's settings belong to a thread, and would be lost

    def run(task: Task) -> Any:
        function, args, kw = task
        with config_context(**config):
            return function(*args, **kw)

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(run, tasks)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _by_joblib(tasks: Iterable[Task], n_jobs: int | None, one_by_one: bool) -> Iterable[Any]:
    """Results in order, from whatever backend joblib was told to use: processes, Dask, Ray."""
    parallel = in_sklearn.Parallel(
        n_jobs=n_jobs, prefer="threads", return_as="generator" if one_by_one else "list"
    )
    results: Iterable[Any] = parallel(
        in_sklearn.delayed(function)(*args, **kw) for function, args, kw in tasks
    )
    return results
