"""Progress of a long fit or search: printed lines, as those of scikit-learn's ``verbose``."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


def progress(steps: Iterable[T], total: int, title: str, *, show: bool) -> Iterator[T]:
    """Pass `steps` through; if `show`, print how many are done, about ten times.

    >>> list(progress("abc", 3, "labels", show=False))
    ['a', 'b', 'c']
    """
    start = perf_counter()
    for done, step in enumerate(steps, 1):
        yield step
        if show and (done == total or done * 10 // total > (done - 1) * 10 // total):
            print(f"[{title}] {done} of {total} done, {perf_counter() - start:.1f} s", flush=True)
