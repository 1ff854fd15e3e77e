"""A progress bar on standard error, drawn only for people who can see it move."""

import sys
import time
from collections.abc import Iterable, Iterator
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
        elapsed = _clock(time.monotonic() - start)
        out.write("\n" if animated else f"{title}: {done} of {total} in {elapsed}\n")
        out.flush()


def _line(title: str, done: int, total: int, elapsed: float) -> str:
    filled = WIDTH * done // max(total, 1)
    bar = "#" * filled + "." * (WIDTH - filled)
    left = (
        f"{_clock(elapsed * (total - done) / done)} left"
        if done < total
        else f"{_clock(elapsed)} in all"
    )
    return f"{title} [{bar}] {done}/{total} {left}  "


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
