"""A benchmark as a person sees it, on a terminal and in a log."""

import io
import os
import re
import shutil
import time

import pytest

from bench.runner.trials import songs, trial
from nldd.bench.runner.benchmark import LOG_SECONDS, Forecast, State, Task, Watch, progress_lines
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


class Clock:
    """The time of a test."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


@pytest.fixture
def narrow(monkeypatch):
    """A terminal of 60 columns."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((60, 24)))


def state(done, *, total=8, failed=0, running=(), left=None):
    return State(total, done, failed, list(running), left)


def running(*, since, expected=None, shares=None):
    """The first cell of a trial, or the last share of it, in a worker since then."""
    first, *_, last = cells(trial(shares=shares), "songs", songs(), ("BR", "SMBR"))
    return Task(last if shares else first, since=since, expected_seconds=expected)


def test_lines_say_how_far_how_long_and_what_failed():
    (whole,) = progress_lines("trial:", state(4, failed=1, left=61.7), 0.0)
    bar = "[###############...............]"
    assert whole == f"trial: {bar} 4/8 cells, about 01:02 left, 1 failed"


def test_running_cells_are_named_with_their_times():
    shown = progress_lines(
        "trial:",
        state(
            0,
            running=[
                running(since=90.0),
                running(since=95.0, expected=10.0),
                running(since=40.0, expected=10.0),
                running(since=100.0, expected=0.0),
            ],
        ),
        now=100.0,
    )
    assert shown[1:] == [
        "  songs BR, fold 1: 00:10",
        "  songs BR, fold 1 [#####.....] 00:05 of about 00:10",
        "  songs BR, fold 1 [##########] 01:00 of about 00:10",  # longer than expected stays full
        "  songs BR, fold 1 [##########] 00:00 of about 00:00",
    ]


def test_running_share_says_how_large_it_is():
    shares = Shares("songs", "BR", (0.5,))
    shown = progress_lines("t", state(0, running=[running(since=0.0, shares=shares)]), now=1.0)
    assert shown[1] == "  songs BR on 50%, fold 1: 00:01"


def test_terminal_is_redrawn_in_place(clock):
    out = Terminal()
    watch = Watch("trial:", out)
    watch(state(0, running=[running(since=999.0), running(since=999.0)]))
    watch(state(2, running=[running(since=999.0)]))
    watch(state(8))
    assert out.screen() == ["trial: [##############################] 8/8 cells"]
    # Over the three lines of the first drawing, then over the two of the second.
    assert re.findall(r"\x1b\[(\d+)A", out.getvalue()) == ["3", "2"]


def test_terminal_lines_are_cut_so_that_none_wraps(clock, narrow):
    out = Terminal()
    Watch("a protocol with a long name:", out)(state(4, left=3600.0))
    assert out.screen() == ["a protocol with a long name: [###############.............."]
    assert len(out.screen()[0]) == 59


def test_log_has_a_line_a_minute_and_one_at_the_end(clock):
    out = io.StringIO()
    watch = Watch("trial:", out)
    for _ in range(5 * 60):  # two and a half minutes, twice a second
        clock.now += 0.5
        watch(state(3, running=[running(since=999.0)]))
    assert LOG_SECONDS == 60
    assert out.getvalue() == 2 * "trial: [###########...................] 3/8 cells\n"
    clock.now += 0.5
    watch(state(8))
    assert out.getvalue().splitlines()[2:] == ["trial: [##############################] 8/8 cells"]
    assert "\x1b" not in out.getvalue()


def test_watch_writes_to_standard_error(capsys):
    Watch("trial:")(state(8))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "trial: [##############################] 8/8 cells\n"


# How long the rest will take, by hand


def key(dataset, method, fold=0, train_share=None):
    return Key("trial", dataset, method, fold, 0, train_share)


def learned(*cells):
    """What (data set, method, seconds, and what else) of finished cells teach."""
    forecast = Forecast({"songs": 100, "films": 300})
    for dataset, method, seconds, *more in cells:
        extra = dict(more)
        of_cell = key(dataset, method, train_share=extra.pop("train_share", None))
        forecast.learn([CellRecord(*of_cell, "settings", {}, seconds, 0.5, {}, **extra)])
    return forecast


def test_time_is_that_of_the_same_method_on_the_same_data_or_in_proportion():
    nothing = learned()
    assert nothing.seconds(key("songs", "BR")) is None
    assert nothing.left([key("songs", "BR")], n_workers=2) is None
    assert nothing.left([], n_workers=2) == 0
    # The mean of 2 and 6 seconds, fitting and predicting.
    same = learned(("songs", "BR", 1.5), ("songs", "BR", 5.5), ("films", "BR", 99))
    assert same.seconds(key("songs", "BR", fold=2)) == 4
    # 2 seconds for 100 are 6 for 300.
    other_data = learned(("songs", "BR", 1.5), ("songs", "CC", 50))
    assert other_data.seconds(key("films", "BR")) == pytest.approx(6)
    # 2 / 100 and 12 / 300 a unit, 0.03 in the mean: 3 seconds for 100, 9 for 300.
    other_method = learned(("songs", "BR", 1.5), ("films", "CC", 11.5))
    assert other_method.seconds(key("songs", "NLDD")) == pytest.approx(3)
    assert other_method.seconds(key("films", "NLDD")) == pytest.approx(9)


def test_failed_cells_and_shares_teach_nothing():
    failed = ("songs", "BR", 5, ("error", "it broke"))
    forecast = learned(failed, ("songs", "BR", 7, ("train_share", 0.1)))
    assert forecast.seconds(key("songs", "BR")) is None


def test_left_is_shared_by_the_workers():
    # 4 + 4 on songs and 12 on films, by two workers.
    forecast = learned(("songs", "BR", 3.5))
    keys = [key("songs", "BR", 1), key("songs", "BR", 2), key("films", "BR")]
    assert forecast.left(keys, n_workers=2) == pytest.approx(10)
    assert forecast.left(iter(keys), n_workers=1) == pytest.approx(20)
