"""Independent pieces of work, several at a time, wherever joblib is told to do them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from joblib import delayed as delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from sklearn import config_context, get_config
from sklearn.utils import parallel as in_sklearn
from threadpoolctl import ThreadpoolController

from nldd._wording import progress

# A call to be made: function, positional and keyword arguments, as `delayed` gives them.
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

# Numbers in X up to which BLAS takes one thread of its own accord, and from which on, if X is
# dense, it may take several. Alone on two cores, two threads took 0.8 of the time of one at 2 and
# at 10 million numbers; beside other programs they lost up to 4 million, the most that was tried.
FEW_NUMBERS, MANY_NUMBERS = 1_000, 10_000_000

_lock, _before, _n_inside = Lock(), list[int](), 0


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, which calls within calls and from several threads can share.

    Threads that work on thin matrices only wait for each other. The first call sets the limit, and
    the last one to leave puts back what the first one found.
    """
    global _n_inside
    with _lock:
        if _n_inside == 0:
            _before[:] = [library.num_threads for library in _blas()]
            _set_threads([1] * len(_before))
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _set_threads(_before)


def _set_threads(numbers: list[int]) -> None:
    for library, n_threads in zip(_blas(), numbers, strict=True):
        # From any thread: newer threadpoolctl would listen to the first one only.
        give_way = getattr(library, "clear_controlling_thread", lambda force: None)
        give_way(force=True)
        library.set_num_threads(n_threads)
        give_way(force=True)


def blas_threads_for(X: Any) -> AbstractContextManager[None]:
    """One BLAS thread for products with X, or as many as there are if it is dense and large."""
    size = getattr(X, "size", FEW_NUMBERS)
    is_large = isinstance(X, np.ndarray) and size >= MANY_NUMBERS
    return nullcontext() if is_large or size < FEW_NUMBERS else one_blas_thread()


def do_all(
    tasks: Iterable[Task], total: int, n_jobs: int | None, title: str | None = None
) -> list[Any]:
    """Results of the `total` delayed tasks, in order; with a `title`, progress is printed.

    Threads are preferred, because they share the data; each has one BLAS thread.
    """
    workers = min(effective_n_jobs(n_jobs), total)
    if workers <= 1:
        return list(progress((f(*args, **kw) for f, args, kw in tasks), total, title))
    backend, _ = get_active_backend(prefer="threads")
    with one_blas_thread():
        results: Iterable[Any]
        if isinstance(backend, ThreadingBackend):
            results = _in_threads(tasks, workers)
        else:
            # Processes, Dask, Ray: not all can hand results over one by one, to be counted.
            one_by_one = title is not None and backend.supports_return_generator
            form = "generator" if one_by_one else "list"
            parallel = in_sklearn.Parallel(n_jobs, prefer="threads", return_as=form)
            results = parallel(in_sklearn.delayed(f)(*args, **kw) for f, args, kw in tasks)
        return list(progress(results, total, title))


def do_both(
    beside: Callable[[], Any], here: Callable[[], Any], n_jobs: int | None
) -> tuple[Any, Any]:
    """Results of two calls, the first one in a thread of its own if there are two workers."""
    backend, _ = get_active_backend(prefer="threads")
    if effective_n_jobs(n_jobs) == 1 or not isinstance(backend, ThreadingBackend):
        return beside(), here()
    with one_blas_thread(), ThreadPoolExecutor(1) as pool:
        future = pool.submit(_in_config, get_config(), beside)
        result = here()
        return future.result(), result


def _in_config(config: dict[str, Any], function: Callable[..., Any], *args: Any, **kw: Any) -> Any:
    """Call a function with scikit-learn's settings, which belong to a thread."""
    with config_context(**config):
        return function(*args, **kw)


def _in_threads(tasks: Iterable[Task], workers: int) -> Iterator[Any]:
    """Results in order, from threads of our own; no more tasks are taken than are being done.

    joblib looks for results every 10 ms, which is longer than many a whole piece of work takes.
    """
    config = get_config()
    results: deque[Future[Any]] = deque()
    unfinished: set[Future[Any]] = set()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for function, args, kw in tasks:
                results.append(pool.submit(_in_config, config, function, *args, **kw))
                unfinished.add(results[-1])
                if len(unfinished) > workers:  # by one, so that no thread has to wait for it
                    unfinished = wait(unfinished, return_when=FIRST_COMPLETED).not_done
                while results and results[0].done():
                    yield results.popleft().result()
            while results:
                yield results.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
