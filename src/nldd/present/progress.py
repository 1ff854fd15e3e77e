"""Progress on standard error, drawn by tqdm and only for people who can see it move."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")

ONE_FORMAT = "{desc} ... [{elapsed}]"
COUNT_FORMAT = "{desc} |{bar:30}| {n_fmt}/{total_fmt} [{elapsed}, {remaining} left]"
SHARE_FORMAT = "{desc} |{bar:30}| {percentage:3.0f} % [{elapsed}, {remaining} left]"


def progress(steps: Iterable[T], total: int, title: str, *, show: bool) -> Iterator[T]:
    """Pass `steps` through, drawing how many of `total` have gone by.

    On a terminal the line is redrawn in place; in a log file one is written at the end.
    """
    if not show:
        yield from steps
        return
    out = sys.stderr
    if out.isatty():
        yield from tqdm(steps, title, total, file=out, bar_format=COUNT_FORMAT, dynamic_ncols=True)
        return
    start, done = time.monotonic(), 0
    try:
        for step in steps:
            yield step
            done += 1
    finally:
        out.write(f"{title}: {done} of {total} in {clock(time.monotonic() - start)}\n")
        out.flush()


def stage(steps: Iterable[T], total: int, title: str) -> Iterator[T]:
    """A part of a command, with progress; of a single step a line says that it is being done.

    In a log file there is a line for what took a second or more.
    """
    out = sys.stderr
    if total != 1:
        yield from progress(steps, total, title, show=True)
    elif out.isatty():
        yield from tqdm(steps, title, total, file=out, bar_format=ONE_FORMAT, dynamic_ncols=True)
    else:
        start = time.monotonic()
        yield from steps
        if (seconds := time.monotonic() - start) >= 1:
            out.write(f"{title}: {clock(seconds)}\n")
            out.flush()


def progress_of_share(
    steps: Iterable[T], share: Callable[[], float], title: str, *, show: bool
) -> Iterator[T]:
    """Pass `steps` of unknown number through, drawing on a terminal what `share` is done."""
    out = sys.stderr
    if not show or not out.isatty():
        yield from steps
        return
    options = {"file": out, "bar_format": SHARE_FORMAT, "dynamic_ncols": True}
    with tqdm(desc=title, total=1.0, **options) as drawn:
        for step in steps:
            yield step
            drawn.update(min(share(), 1.0) - drawn.n)
        drawn.update(1.0 - drawn.n)


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any.

    >>> clock(61.7), clock(3723)
    ('01:02', '1:02:03')
    """
    interval: str = tqdm.format_interval(round(seconds))
    return interval
