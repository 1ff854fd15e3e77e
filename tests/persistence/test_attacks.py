"""Whatever an attribute in a file is set to, nothing is written, run or opened; nothing crashes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nldd.persistence._schemas import SCHEMAS


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited in the way of Linux")
@pytest.mark.parametrize(
    ("n_files", "seed"), [(8, 0), pytest.param(20_000, 1, marks=pytest.mark.slow)]
)
def test_attributes_of_others_do_no_harm(tmp_path, n_files, seed):
    script = Path(__file__).with_name("attacks.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path, str(n_files), str(seed)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    # A crash, or a load that takes more than two seconds, ends the process.
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    found = report["found"]
    assert sum(found.values()) == n_files
    assert found.keys() <= {"refused", "answers", "silent"}
    assert found["refused"] > 0.5 * n_files
    assert report["events"] == {}
    assert report["bytes"] < 2**28
    assert SCHEMAS.keys() - set(report["kinds"]) <= {"sklearn._TemperatureScaling"}
