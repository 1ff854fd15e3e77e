"""Progress on standard error, drawn by tqdm and only for people who can see it move."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")

ONE_FORMAT = "{desc} ... [{elapsed}]"
COUNT_FORMAT = "{desc} |{bar:30}| {n_fmt}/{total_fmt} [{elapsed}, {remaining} left]"


def progress(steps: Iterable[T], total: int, title: str, *, show: bool = True) -> Iterator[T]:
    """Pass `steps` through, drawing how many of `total` have gone by.

    On a terminal the line is redrawn in place; of a single step it says that it is being done. In a
    log file a line is written at the end, for a single step only if it took a second or more.
    """
    out, start, done = sys.stderr, time.monotonic(), 0
    looks = {"bar_format": ONE_FORMAT if total == 1 else COUNT_FORMAT, "dynamic_ncols": True}
    try:
        # None: drawn on a terminal only.
        for step in tqdm(steps, title, total, file=out, disable=None if show else True, **looks):
            yield step
            done += 1
    finally:
        seconds = time.monotonic() - start
        if show and not out.isatty() and (total != 1 or (done and seconds >= 1)):
            counted = "" if total == 1 else f"{done} of {total} in "
            print(f"{title}: {counted}{clock(seconds)}", file=out, flush=True)


def clock(seconds: float) -> str:
    """Write minutes and seconds, and hours if there are any.

    >>> clock(61.7), clock(3723)
    ('01:02', '1:02:03')
    """
    interval: str = tqdm.format_interval(round(seconds))
    return interval
