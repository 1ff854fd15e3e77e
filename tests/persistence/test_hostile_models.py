"""Whatever is in a model file, nothing is written, run or opened; nothing crashes or runs away."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nldd.persistence._schemas import SCHEMAS

# What is damaged or odd is refused, or as it was: a bit may fall where nobody looks, such as a
# time. Changed values that make sense are taken for what they say.
SENSIBLE = ("record", "numbers", "each")
# Objects that are in none of the models that take no consent.
IN_OTHERS = {"RandomForestPCT", "MeanModel", "Pipeline"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited in the way of Linux")
@pytest.mark.parametrize(
    ("how", "least"),
    [
        (("drawn", 30, 0), 30),
        (("each", 60), 150),
        pytest.param(("drawn", 5000, 1), 5000, marks=pytest.mark.slow),
        pytest.param(("each", 1), 10_000, marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value),
)
def test_hostile_files_do_no_harm(tmp_path, how, least):
    """A crash, or a file that takes too long, ends the process."""
    program = Path(__file__).with_name("hostile_files.py")
    words = [sys.executable, program, tmp_path, *how]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, f"{done.stdout[-300:]} {done.stderr[-3000:]}"
    report = json.loads(done.stdout)
    found = {tuple(key.split(": ", 1)): count for key, count in report["found"].items()}
    allowed = {"refused", "equal"}
    sensible = {(family, "other") for family in SENSIBLE}
    assert [key for key in found if key[1] not in allowed and key not in sensible] == []
    assert sum(found.values()) >= least
    assert sum(n for (_, what), n in found.items() if what == "refused") > 0.6 * least
    assert (report["events"], report["canary"]) == ({}, False)
    assert report["bytes"] < 2**28
    assert SCHEMAS.keys() - set(report["kinds"]) == IN_OTHERS
