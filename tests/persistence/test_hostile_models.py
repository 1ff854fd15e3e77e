"""Whatever is in a model file, nothing is written, run or opened; nothing crashes or runs away."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nldd.persistence._schemas import SCHEMAS

# What is damaged or odd is refused, or as it was: a bit may fall where nobody looks, such as a
# time. Changed values that make sense are taken for what they say.
SENSIBLE = ("each", "value", "numbers")
# Objects that are in none of the models that take no consent.
IN_OTHERS = {"RandomForestPCT", "MeanModel", "Pipeline"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited in the way of Linux")
@pytest.mark.parametrize("step", [60, pytest.param(1, marks=pytest.mark.slow)])
def test_hostile_files_do_no_harm(tmp_path, step):
    """A crash, or a file that takes too long, ends the process."""
    words = [sys.executable, Path(__file__).with_name("hostile_files.py"), tmp_path, step]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, f"{done.stdout[-300:]} {done.stderr[-3000:]}"
    report = json.loads(done.stdout)
    found = {tuple(key.split(": ", 1)): count for key, count in report["found"].items()}
    allowed = {"refused", "equal"}
    sensible = {(family, "other") for family in SENSIBLE}
    assert [key for key in found if key[1] not in allowed and key not in sensible] == []
    assert sum(found.values()) >= 12_000 // step
    assert sum(n for (_, what), n in found.items() if what == "refused") > 8000 // step
    assert (report["events"], report["canary"]) == ({}, False)
    assert report["bytes"] < 2**28
    assert SCHEMAS.keys() - set(report["kinds"]) == IN_OTHERS
