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


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited in the way of Linux")
@pytest.mark.parametrize(
    ("n_files", "seed"), [(30, 0), pytest.param(5000, 1, marks=pytest.mark.slow)]
)
def test_hostile_files_do_no_harm(tmp_path, n_files, seed):
    script = Path(__file__).with_name("hostile_files.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path, str(n_files), str(seed)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    # A crash, or a file that takes more than four seconds, ends the process.
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    found = {tuple(key.split(": ", 1)): count for key, count in report["found"].items()}
    assert sum(found.values()) == n_files
    assert [key for key in found if key[1] not in ALLOWED[key[0]]] == []
    assert sum(n for (_, what), n in found.items() if what == "refused") > 0.6 * n_files
    assert (report["events"], report["canary"]) == ({}, False)
    assert report["bytes"] < 2**28
    assert SCHEMAS.keys() - set(report["kinds"]) == IN_OTHERS
