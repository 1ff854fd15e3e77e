"""A benchmark as a person sees it: how far it is, what is running, how long it will take."""

import shutil
import sys
import time
from typing import TextIO

from nldd._progress import bar, clock
from nldd.experiments._benchmark import Running, State

LOG_SECONDS = 60.0


class Watch:
    """Draws the state of a benchmark on standard error.

    On a terminal the lines are redrawn in place. Anywhere else a line is written once a minute and
    at the end, which does not flood a log file.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self.out = stream or sys.stderr
        self.animated = self.out.isatty()
        self._n_drawn = 0
        self._last = time.monotonic()

    def __call__(self, state: State) -> None:
        """Show `state`."""
        now = time.monotonic()
        if self.animated:
            self._redraw(lines(self.title, state, now))
        elif now - self._last >= LOG_SECONDS or state.done == state.total:
            self.out.write(lines(self.title, state, now)[0] + "\n")
            self.out.flush()
            self._last = now

    def _redraw(self, drawn: list[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        up = f"\x1b[{self._n_drawn}A" if self._n_drawn else ""
        self.out.write(up + "\r\x1b[J" + "".join(f"{line[:width]}\n" for line in drawn))
        self.out.flush()
        self._n_drawn = len(drawn)


def lines(title: str, state: State, now: float) -> list[str]:
    """The overall bar, and below it one line for each batch that is running."""
    left = "" if state.seconds_left is None else f", about {clock(state.seconds_left)} left"
    failed = f", {state.n_failed} failed" if state.n_failed else ""
    whole = f"{title} {bar(state.done, state.total)} {state.done}/{state.total} cells"
    if state.done == state.total:
        left = ""
    return [whole + left + failed, *(_running(running, now) for running in state.running)]


def _running(running: Running, now: float) -> str:
    first = running.batch.cells[0].key
    methods = "+".join(cell.key.method for cell in running.batch.cells)
    part = "" if first.train_share is None else f" on {first.train_share:.0%}"
    seconds = now - running.since
    expected = running.expected_seconds
    name = f"  {first.dataset} {methods}{part}, fold {first.fold + 1}"
    if expected is None:
        return f"{name}: {clock(seconds)}"
    done = bar(min(seconds, expected), expected, width=10)
    return f"{name} {done} {clock(seconds)} of about {clock(expected)}"
