"""Whatever is in a model file, nothing is written, run or opened; nothing crashes or runs away."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nldd.persistence._schemas import SCHEMAS

# What is damaged or odd is refused, or as it was: a bit may fall where nobody looks, such as a
# time. Changed values that make sense are taken for what they say.
ALLOWED = {
    "record": {"refused", "equal", "other"},
    "numbers": {"refused", "equal", "other"},
    "manifest": {"refused", "equal"},
    "damaged": {"refused", "equal"},
    "odd": {"refused", "equal"},
}
# Objects that are in none of the models that take no consent.
IN_OTHERS = {"RandomForestPCT", "MeanModel", "Pipeline"}


pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory is limited in the way of Linux"
)


def run(script, *arguments):
    """What a program of this folder prints; a crash, or a file that takes too long, ends it."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, f"{done.stdout[-300:]} {done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize(
    ("n_files", "seed"), [(30, 0), pytest.param(5000, 1, marks=pytest.mark.slow)]
)
def test_hostile_files_do_no_harm(tmp_path, n_files, seed):
    report = json.loads(run("hostile_files.py", tmp_path, n_files, seed))
    found = {tuple(key.split(": ", 1)): count for key, count in report["found"].items()}
    assert sum(found.values()) == n_files
    assert [key for key in found if key[1] not in ALLOWED[key[0]]] == []
    assert sum(n for (_, what), n in found.items() if what == "refused") > 0.6 * n_files
    assert (report["events"], report["canary"]) == ({}, False)
    assert report["bytes"] < 2**28
    assert SCHEMAS.keys() - set(report["kinds"]) == IN_OTHERS


@pytest.mark.parametrize(
    ("step", "least"), [(40, 150), pytest.param(1, 6000, marks=pytest.mark.slow)]
)
def test_crafted_files_are_refused_or_predict_finite_numbers(tmp_path, step, least):
    """One thing is wrong in each: a value, a shape, a size, a type, a member, a name."""
    reports = [json.loads(line) for line in run("crafted_files.py", tmp_path, step).splitlines()]
    found = [report for report in reports if "found" in report]
    assert len(found) == len(reports) / 2 >= least
    assert [report for report in found if report["found"] not in ("refused", "finite")] == []
    assert found[-1]["bytes"] < 2**28
    assert not (tmp_path / "canary").exists()
