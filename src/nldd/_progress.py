"""A progress bar on standard error, drawn only for people who can see it move."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")

WIDTH = 30
REDRAW_SECONDS = 0.1


def progress(
    steps: Iterable[T], total: int, title: str, *, show: bool, stream: TextIO | None = None
) -> Iterator[T]:
    """Pass `steps` through, drawing ``title [####....] 4/14 0:03 left`` while they go by.

    On a terminal the line is redrawn in place; anywhere else, where a redrawn line
    would fill a log file, one line is written at the end.
    """
    if not show:
        yield from steps
        return
    out = stream or sys.stderr
    animated = out.isatty()
    start = drawn = time.monotonic()
    done = 0
    try:
        for step in steps:
            yield step
            done += 1
            now = time.monotonic()
            if animated and (now - drawn >= REDRAW_SECONDS or done == total):
                out.write("\r" + _line(title, done, total, now - start))
                out.flush()
                drawn = now
    finally:
        elapsed = clock(time.monotonic() - start)
        out.write("\n" if animated else f"{title}: {done} of {total} in {elapsed}\n")
        out.flush()


def progress_of_share(
    steps: Iterable[T],
    share: Callable[[], float],
    title: str,
    *,
    show: bool,
    stream: TextIO | None = None,
) -> Iterator[T]:
    """Pass `steps` through, drawing ``title [####....]  43 % 0:03 left`` on a terminal.

    For work of which only the `share` that is done is known, such as a file of so many rows that
    nobody has counted.
    """
    out = stream or sys.stderr
    if not show or not out.isatty():
        yield from steps
        return
    start = drawn = time.monotonic()
    try:
        for step in steps:
            yield step
            now = time.monotonic()
            if now - drawn >= REDRAW_SECONDS:
                done = share()
                left = f"{clock((now - start) * (1 - done) / done)} left" if done else ""
                out.write(f"\r{title} {bar(done, 1)} {100 * done:3.0f} % {left}  ")
                out.flush()
                drawn = now
    finally:
        out.write(f"\r{title} {bar(1, 1)} in {clock(time.monotonic() - start)}          \n")
        out.flush()


def bar(done: float, total: float, width: int = WIDTH) -> str:
    """``[####....]``, filled as far as `done` is of `total`.

    Examples
    --------
    >>> bar(3, 12, width=8)
    '[##......]'
    """
    filled = int(width * done / total) if total else width
    return f"[{'#' * filled}{'.' * (width - filled)}]"


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any.

    Examples
    --------
    >>> clock(61.7), clock(3723)
    ('1:02', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _line(title: str, done: int, total: int, elapsed: float) -> str:
    left = (
        f"{clock(elapsed * (total - done) / done)} left"
        if done < total
        else f"{clock(elapsed)} in all"
    )
    return f"{title} {bar(done, total)} {done}/{total} {left}  "
