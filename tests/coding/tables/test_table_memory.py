"""Memory does not grow with the file, but for workbooks that are read."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

CODE = """
import resource, sys
from nldd.coding.tables.opening import open_table
from nldd.coding.tables.writer import create_table

def peak():
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

def copy(source, target):
    with open_table(source) as reader, create_table(target, reader.header) as writer:
        for block in reader.blocks():
            writer.write(block.rows)
    return writer.n_rows

folder = sys.argv[1]
for ending in sys.argv[2:]:
    copy(f"{folder}/small.csv", f"{folder}/small{ending}")
    if ending != ".xlsx":
        copy(f"{folder}/small{ending}", f"{folder}/again{ending}")
before = peak()
for ending in sys.argv[2:]:
    assert copy(f"{folder}/large.csv", f"{folder}/large{ending}") == 20_000
    if ending != ".xlsx":
        assert copy(f"{folder}/large{ending}", f"{folder}/again{ending}") == 20_000
print(peak() - before)
"""


@pytest.mark.slow
def test_rows_pass_through_without_being_kept(tmp_path):
    """20,000 rows of 200 letters and more are 4 MB of text, and several times that as objects."""
    text = "".join(f"{k};{'an answer, ' * 18}{k}\n" for k in range(20_000))
    (tmp_path / "large.csv").write_text("id;answer\n" + text)
    (tmp_path / "small.csv").write_text("id;answer\n" + "".join(text.splitlines(True)[:4000]))
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path), ".csv", ".tsv", ".jsonl", ".xlsx"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) < 6  # MB
