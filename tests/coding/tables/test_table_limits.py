"""Files of a few bytes that ask for gigabytes: refused, within a small part of that."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from table_files import put

from nldd.coding.tables.reading import read_table
from nldd.exceptions import InputError

pytest.importorskip("resource")
if not Path("/proc/self/statm").exists():
    pytest.skip("the memory of a process is told by Linux only", allow_module_level=True)
# What a file says, within a gigabyte above what the process has at first; the peak in megabytes.
READ = """
import resource, sys
from nldd.coding.tables.reading import read_table
import nldd.coding.tables.typed_files
import pyarrow.parquet
with open("/proc/self/statm") as stream:
    used = int(stream.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, 2 * (used + 2**30,))
try:
    read_table(sys.argv[1])
except ValueError as error:
    print(error)
with open("/proc/self/status") as stream:
    print(next(int(line.split()[1]) // 1024 for line in stream if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize("kind", ["rows", pytest.param("list", marks=pytest.mark.slow)])
def test_parquet_of_a_few_bytes(tmp_path, kind):
    """One value in all of a million rows, one list in one row."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    zeros = {"rows": 1_600_000, "list": 60_000_000}[kind] * b"\0"
    column = pyarrow.array(np.frombuffer(zeros, "i1"))
    if kind == "list":
        column = pyarrow.ListArray.from_arrays([0, len(zeros)], column)
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"a": column}), path, compression="zstd")
    assert path.stat().st_size < 7000
    words = [sys.executable, "-c", READ, str(path)]
    # Arrow's own allocator reserves addresses by the gigabyte, which the limit counts as taken.
    env = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=env, check=True)
    said, peak = done.stdout.splitlines()
    assert f"claims {len(zeros):,} values in a column, too many for a file of its size" in said
    assert int(peak) < 350


def test_one_limit_of_columns(tmp_path):
    names = [f"k{j}" for j in range(2**16 + 1)]
    lines = [json.dumps(dict.fromkeys(names[j : j + 400], 1)) for j in range(0, len(names), 400)]
    for name, text in (("a.csv", ",".join(names)), ("a.jsonl", "\n".join(lines))):
        with pytest.raises(InputError, match=r"more than 65,536 columns; got 65,537\."):
            read_table(put(tmp_path, text, name))
