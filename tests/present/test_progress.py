import io
import sys
from types import SimpleNamespace

import pytest

from nldd.present import console
from nldd.present.console import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when told to."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture(params=[io.StringIO])
def stream(request, monkeypatch):
    """Standard error, as a file or as what the test asks for."""
    stream = request.param()
    monkeypatch.setattr(console, "sys", SimpleNamespace(stderr=stream))
    return stream


on_terminal = pytest.mark.parametrize("stream", [Terminal], indirect=True)


def walk(steps, clock, seconds):
    """Go through `steps`, taking `seconds` for each."""
    for _ in steps:
        clock.now += seconds


@on_terminal
def test_progress_on_terminal_counts_the_steps_on_one_line(stream):
    assert list(progress("abc", 3, "folds", show=True)) == list("abc")
    drawn = stream.getvalue()
    assert drawn.count("\n") == 1
    assert drawn.endswith("\n")
    assert " 3/3 [00:00, 00:00 left]" in drawn.split("\r")[-1]


@on_terminal
def test_a_single_step_says_at_once_what_is_being_done(stream):
    for _ in progress([1], 1, "counting words"):
        assert stream.getvalue().split("\r")[-1] == "counting words ... [00:00]"


def test_progress_elsewhere_writes_one_line_at_the_end(clock, stream):
    steps = progress(range(3), 3, "folds", show=True)
    next(steps)
    assert stream.getvalue() == ""
    walk(steps, clock, 40.0)
    walk(progress([7, 8], 5, "some", show=True), clock, 0.0)
    walk(progress([1], 1, "counting words"), clock, 65)
    walk(progress([1], 1, "quick"), clock, 0.9)
    assert stream.getvalue() == (
        "folds: 3 of 3 in 01:20\nsome: 2 of 5 in 00:00\ncounting words: 01:05\n"
    )


@pytest.mark.parametrize("stream", [io.StringIO, Terminal], indirect=True, ids=["file", "terminal"])
def test_progress_not_shown_passes_through_silently_and_takes_steps_when_asked(stream):
    taken = []
    steps = progress((taken.append(i) or i for i in range(3)), 3, "folds", show=False)
    assert taken == []
    assert next(steps) == 0
    assert taken == [0]
    assert list(steps) == [1, 2]
    assert stream.getvalue() == ""


def test_progress_asks_for_standard_error_when_it_starts(monkeypatch):
    stream = io.StringIO()
    steps = progress([], 0, "folds", show=True)
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(steps) == []
    assert stream.getvalue() == "folds: 0 of 0 in 00:00\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.6, "00:01"), (59.4, "00:59"), (59.6, "01:00"), (3600, "1:00:00")]
)
def test_clock_rounds_to_minutes_and_seconds(seconds, text):
    assert console.clock(seconds) == text
