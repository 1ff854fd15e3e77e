"""How long it takes until something happens: imports, and the compiled kernel's cold start.

A new machine is one with an empty cache of compiled kernels: a process with `NUMBA_CACHE_DIR` at a
new folder. The processes after that find there what the first one compiled.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from measure import Answers, seconds_told

REPEATS = 3  # new machines
FIRST_FIT = """
import time
start = time.perf_counter()
from nldd import NLDDClassifier, load_yeast
X, Y, _ = load_yeast()
NLDDClassifier({}, random_state=0).fit(X, Y).predict(X)
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


def new_machine(code: str) -> tuple[float, float]:
    """Seconds of the first process, import of numba included, and of the second."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds_told(code, cache), seconds_told(code, cache)


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
    for what, code, *bars in (
        ("query", FIRST_QUERY, "<= 3 s", "<= 0.5 s", ""),
        ("fit and prediction, yeast,", FIRST_FIT.format(None), "<= 5 s", "", "<= 3.5x"),
        ("fit of the default, yeast,", FIRST_FIT.format("'auto'"), "", "", "<= 3.5x"),
    ):
        rounds = [new_machine(code) for _ in range(REPEATS)]
        first, again = (median(column) for column in zip(*rounds, strict=True))
        ratio = median(first / again for first, again in rounds)
        answers.add(f"first {what} on a new machine", f"{first:.1f} s", bars[0], "compiles kernels")
        answers.add(f"first {what} of a process after that", f"{again:.2f} s", bars[1],
                    "loads numba and the kernels")  # fmt: skip
        answers.add(f"first {what} the former to the latter", f"{ratio:.1f}x", bars[2])


if __name__ == "__main__":
    main()
