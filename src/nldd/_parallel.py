"""Independent pieces of work, several at a time, wherever joblib is told to do them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import cache, partial, wraps
from threading import Lock, RLock
from typing import Any, TypeVar, cast

from joblib import cpu_count, delayed as delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from sklearn import config_context, get_config
from sklearn.utils import parallel as in_sklearn
from threadpoolctl import ThreadpoolController

from nldd._progress import progress

# A call to be made: function, positional and keyword arguments, as `delayed` gives them.
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
Method = TypeVar("Method", bound=Callable[..., Any])


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


# The limits on BLAS threads that hold now, and the numbers of threads that the first one found.
_lock, _limits, _found = Lock(), list[int](), list[int]()


@contextmanager
def _limit_blas(n_threads: int) -> Iterator[None]:
    """A limit on BLAS threads that calls within calls, and from several threads, can share.

    The strictest one inside holds for all, and what the first found comes back after the last.
    """
    with _lock:
        if not _limits:
            _found[:] = [library.num_threads for library in _blas()]
        _limits.append(n_threads)
        for library in _blas():
            # Fewer threads than that may have been asked for; they stay fewer.
            _set_threads(library, min(n_threads, library.num_threads))
    try:
        yield
    finally:
        with _lock:
            _limits.remove(n_threads)
            for library, found in zip(_blas(), _found, strict=True):
                if not _limits or library.num_threads == n_threads:
                    _set_threads(library, min([found, *_limits]))


def _set_threads(library: Any, n_threads: int) -> None:
    """As told by any thread: newer threadpoolctl would listen to the first one only."""
    give_way = getattr(library, "clear_controlling_thread", lambda force: None)
    give_way(force=True)
    library.set_num_threads(n_threads)
    give_way(force=True)


# Held while a model is changed by steps that depend on what it is. One for all, because a model
# with a lock of its own could not be sent to other processes.
update_lock = RLock()


def copy_state(model: Any, changed: Any) -> None:
    """Let `model` be what the copy `changed` of it is: as one object, never the half of it."""
    with update_lock:
        model.__dict__ = changed.__dict__


def use_snapshot(method: Method) -> Method:
    """Let a method see a model as it is now, whatever other threads let it :func:`copy_state`."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kw: Any) -> Any:
        return method(copy(self), *args, **kw)

    return cast(Method, wrapper)


# Context for products of thin matrices, on which several threads only wait for each other.
one_blas_thread = partial(_limit_blas, 1)


def do_all(
    tasks: Iterable[Task], total: int, n_jobs: int | None, title: str | None = None
) -> list[Any]:
    """Results of the `total` delayed tasks, in order; with a `title`, progress is printed.

    Threads are preferred, because they share the data. Each gets its part of the cores for BLAS:
    more would only get in each other's way.
    """
    workers = min(effective_n_jobs(n_jobs), total)
    backend, _ = get_active_backend(prefer="threads")
    with _limit_blas(max(1, cpu_count() // workers)) if workers > 1 else nullcontext():
        results: Iterable[Any]
        if workers <= 1:
            results = (f(*args, **kw) for f, args, kw in tasks)
        elif isinstance(backend, ThreadingBackend):
            results = _in_threads(tasks, workers)
        else:
            # Processes, Dask, Ray: not all can hand results over one by one, to be counted.
            one_by_one = title is not None and backend.supports_return_generator
            form = "generator" if one_by_one else "list"
            parallel = in_sklearn.Parallel(n_jobs, prefer="threads", return_as=form)
            results = parallel(in_sklearn.delayed(f)(*args, **kw) for f, args, kw in tasks)
        return list(progress(results, total, title))


def _in_threads(tasks: Iterable[Task], workers: int) -> Iterator[Any]:
    """Results in order, from threads of our own; no more tasks are taken than are being done.

    joblib looks for results every 10 ms, which is longer than many a whole piece of work takes.
    """
    config = get_config()  # scikit-learn's settings belong to a thread, and would be lost

    def run(function: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        with config_context(**config):
            return function(*args, **kw)

    results: deque[Future[Any]] = deque()
    unfinished: set[Future[Any]] = set()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for task in tasks:
                results.append(pool.submit(run, *task))
                unfinished.add(results[-1])
                if len(unfinished) > workers:  # by one, so that no thread has to wait for it
                    unfinished = wait(unfinished, return_when=FIRST_COMPLETED).not_done
                while results and results[0].done():
                    yield results.popleft().result()
            while results:
                yield results.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
