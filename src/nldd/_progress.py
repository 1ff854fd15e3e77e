"""Progress of a long fit or search: printed lines, as those of scikit-learn's ``verbose``."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


def progress(steps: Iterable[T], total: int, title: str | None) -> Iterator[T]:
    """Pass `steps` through; with a `title`, print how many are done.

    That is at most ten lines, a second or more apart but for the last one.

    >>> list(progress("abc", 3, title=None))
    ['a', 'b', 'c']
    """
    start = told = perf_counter()
    for done, step in enumerate(steps, 1):
        yield step
        now = perf_counter()
        is_tenth = done * 10 // total > (done - 1) * 10 // total
        if title and (done == total or (is_tenth and now - told >= 1)):
            told = now
            print(f"[{title}] {done} of {total} done, {now - start:.1f} s", flush=True)
