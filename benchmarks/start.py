"""How long it takes until something happens: imports, and the compiled kernel's cold start."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Answers

FIRST_FIT = """
import time
start = time.perf_counter()
from nldd import NLDDClassifier, load_yeast
X, Y, _ = load_yeast()
NLDDClassifier(None, random_state=0).fit(X, Y).predict(X)
print(time.perf_counter() - start)
"""
FIRST_QUERY = """
import time, numpy as np
from nldd.search._index import LabelsetIndex, Score
index = LabelsetIndex(np.eye(9), np.eye(9, dtype=int), np.ones(9))
start = time.perf_counter()
index.query(np.eye(9), np.full((9, 9), 0.5), Score(1.0, 1.0))
print(time.perf_counter() - start)
"""


def cpu_seconds(*command: str) -> float:
    """CPU time of a command, the best of five runs."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(5))


def first_call(code: str, cache: str) -> float:
    """Wall time of the first call of a process, import of numba included."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, check=True, env=environment, capture_output=True).stdout)


def main() -> None:
    answers = Answers("start")
    bare = cpu_seconds(sys.executable, "-c", "pass")
    nldd = str(Path(sys.executable).parent / "nldd")
    for name, command in {
        "import nldd": (sys.executable, "-c", "import nldd"),
        "nldd --help": (nldd, "--help"),
    }.items():
        beyond = cpu_seconds(*command) - bare
        answers.add(f"{name}, beyond bare Python", f"{beyond:.2f} CPU-s", "<= 0.2")
    for what, code, bar, bar_again in (
        ("query", FIRST_QUERY, "<= 3 s", "<= 0.5 s"),
        ("fit and prediction, yeast,", FIRST_FIT, "<= 5 s", ""),
    ):
        with tempfile.TemporaryDirectory() as cache:
            first = first_call(code, cache)
            again = min(first_call(code, cache) for _ in range(3))
        answers.add(f"first {what} on a new machine", f"{first:.1f} s", bar, "compiles kernels")
        answers.add(f"first {what} of a process after that", f"{again:.2f} s", bar_again,
                    "loads numba and the kernels")  # fmt: skip


if __name__ == "__main__":
    main()
