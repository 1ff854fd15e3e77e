"""Compiled kernels in the cache of numba."""

import os
import subprocess
import sys

from nldd.search._kernels import cached_kernel

SEARCH = """
import numpy as np
from nldd.search._index import LabelsetIndex, Score

rows = np.random.default_rng(0).normal(size=(60, 3))
index = LabelsetIndex(rows[:50], rows[:50] > 0.1, np.ones(3))
print(index.query(rows[50:], rows[50:].clip(0, 1), Score(1.0, 1.0)).row.ravel())
"""


def test_a_second_process_loads_what_the_first_one_compiled(tmp_path):
    def run():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DEBUG_CACHE": "1"}
        command = [sys.executable, "-c", SEARCH]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        *log, answer = done.stdout.splitlines()
        return answer, *(
            sum(f"data {what}" in line for line in log) for what in ("saved", "loaded")
        )

    first, n_compiled, n_loaded = run()
    assert (n_compiled, n_loaded) == (1, 0)
    assert run() == (first, 0, 1)


def test_without_a_folder_to_write_to_kernels_are_compiled_all_the_same():
    without_file = eval("lambda x: 2 * x")  # numba keeps nothing that is in no file
    assert cached_kernel()(without_file)(21) == 42
