"""Lines of progress, printed by `verbose`."""

import re

import pytest
from numpy.testing import assert_array_equal

from nldd import METHODS, _wording
from nldd._wording import progress

# Key of a method: further settings, what it says it is doing, and how many steps that takes.
LINES = {
    "BR": ({}, "binary relevance", 4),
    "SMBR": ({}, "binary relevance", 4),
    "NLDD": ({"random_state": 0}, "classifiers on T1 and T", 4),
    "CC": ({}, "classifier chain", 4),
    "ECC": ({"random_state": 0, "n_members": 5}, "ensemble of chains", 5),
    "RAKEL": ({"random_state": 0, "n_models": 4}, "RAkEL", 4),
    "CBM": ({"random_state": 0, "n_components": 3, "n_iterations": 3}, "CBM", 3),
}


@pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
@pytest.mark.parametrize("key", LINES)
def test_verbose_prints_progress_and_changes_nothing(key, small, capsys):
    X, Y = small
    settings, title, total = LINES[key]
    expected = METHODS[key].default(**settings).fit(X, Y).predict_proba(X)
    assert capsys.readouterr() == ("", "")
    model = METHODS[key].default(verbose=1, **settings).fit(X, Y)
    captured = capsys.readouterr()
    assert f"[{title}] {total} of {total} done" in captured.out
    assert captured.err == ""
    assert_array_equal(model.predict_proba(X), expected)


def lines_of(n_steps, seconds, monkeypatch, capsys):
    """What is printed about steps that take so long: how many are done, and at what time."""
    now = 0.0
    monkeypatch.setattr(_wording, "perf_counter", lambda: now)

    def steps():
        nonlocal now
        for i in range(n_steps):
            now += seconds
            yield i

    assert list(progress(steps(), n_steps, "steps")) == list(range(n_steps))
    line = rf"\[steps\] (\d+) of {n_steps} done, (.*) s\n"
    out = capsys.readouterr().out
    assert re.sub(line, "", out) == ""
    return [(int(done), float(at)) for done, at in re.findall(line, out)]


@pytest.mark.parametrize(
    ("n_steps", "seconds", "expected"),
    [
        pytest.param(1, 0.0, [(1, 0.0)], id="one"),
        pytest.param(3, 1.0, [(1, 1.0), (2, 2.0), (3, 3.0)], id="few slow steps"),
        pytest.param(50, 0.5, [(n, n / 2) for n in range(5, 51, 5)], id="every tenth"),
        pytest.param(50, 0.125, [(n, n / 8) for n in range(10, 51, 10)], id="every fifth"),
        pytest.param(50, 0.001, [(50, 0.05)], id="too quick to read"),
    ],
)
def test_lines_are_few_and_far_between(n_steps, seconds, expected, monkeypatch, capsys):
    lines = lines_of(n_steps, seconds, monkeypatch, capsys)
    assert [done for done, _ in lines] == [done for done, _ in expected]
    assert [at for _, at in lines] == pytest.approx([at for _, at in expected], abs=0.051)
