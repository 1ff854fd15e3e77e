"""A benchmark as a person sees it, on a terminal and in a log."""

import io
import os
import re
import shutil
import time

import pytest

from bench.runner.trials import songs, trial
from nldd.bench.commands.benchmark import Watch, progress_lines
from nldd.bench.runner.benchmark import Forecast, State, Task
from nldd.bench.runner.cell import cells
from nldd.bench.runner.protocol import Shares
from nldd.bench.runner.records import CellRecord, Key


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def screen(self):
        """Lines that stand there in the end: each redrawing goes up and clears what is below."""
        shown = []
        for up, text in re.findall(r"(?:\x1b\[(\d+)A)?\r\x1b\[J([^\x1b]*)", self.getvalue()):
            del shown[len(shown) - int(up or 0) :]
            shown += text.splitlines()
        return shown


def state(done, *, failed=0, running=(), left=None):
    return State(8, done, failed, list(running), left)


def running(since, expected=None):
    """The last share of a trial, in a worker since then."""
    *_, cell = cells(trial(shares=Shares("songs", "BR", (0.5,))), "songs", songs(), ("BR",))
    return Task(cell, since=since, expected_seconds=expected)


def test_lines_say_how_far_how_long_and_what_failed():
    tasks = [running(90.0), running(40.0, expected=10.0)]
    assert progress_lines("trial:", state(4, failed=1, left=61.7, running=tasks), 100.0) == [
        "trial: [###############...............] 4/8 cells, about 01:02 left, 1 failed",
        "  songs BR on 50%, fold 1: 00:10",
        "  songs BR on 50%, fold 1: 01:00 of about 00:10",
    ]


def test_terminal_is_redrawn_in_place_and_no_line_wraps(monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    out = Terminal()
    watch = Watch("a protocol with a long name:", out)
    watch(state(0, running=[running(999.0), running(999.0)]))
    watch(state(2, running=[running(999.0)]))
    watch(state(8))
    assert out.screen() == ["a protocol with a long name: [" + 29 * "#"]
    # Over the three lines of the first drawing, then over the two of the second.
    assert re.findall(r"\x1b\[(\d+)A", out.getvalue()) == ["3", "2"]


def test_log_has_a_line_a_minute_and_one_at_the_end(monkeypatch):
    seconds = iter(range(1000, 2000))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    out, task = io.StringIO(), running(999.0)
    watch = Watch("trial:", out)
    for _ in range(150):  # two and a half minutes
        watch(state(3, running=[task]))
    watch(state(8))
    assert re.findall(r"\d/8", out.getvalue()) == ["3/8", "3/8", "8/8"]
    assert "\x1b" not in out.getvalue()


def key(dataset, method, fold=0, train_share=None):
    return Key("trial", dataset, method, fold, 0, train_share)


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ([], None),
        # The mean of 2 and 6 seconds, fitting and predicting.
        ([("films", "BR", 1.5), ("films", "BR", 5.5), ("songs", "BR", 99)], 4),
        # 2 seconds for 100 are 6 for 300.
        ([("songs", "BR", 1.5), ("songs", "CC", 50)], 6),
        # 2 / 100 and 12 / 300 a unit, 0.03 in the mean.
        ([("songs", "LP", 1.5), ("films", "CC", 11.5)], 9),
        # Failed cells and shares teach nothing.
        ([("films", "BR", 5, None, "it broke"), ("films", "BR", 7, 0.1, None)], None),
    ],
)
def test_time_is_that_of_the_same_method_on_the_same_data_or_in_proportion(done, expected):
    forecast = Forecast({"songs": 100, "films": 300})
    for dataset, method, seconds, share, error in ((*cell, None, None)[:5] for cell in done):
        of_cell = key(dataset, method, train_share=share)
        forecast.learn(CellRecord(*of_cell, "settings", {}, seconds, 0.5, {}, error=error))
    assert forecast.seconds(key("films", "BR", fold=2)) == pytest.approx(expected)
