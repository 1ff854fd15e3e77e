"""How long it takes until something happens: imports, and the compiled kernel's cold start."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Answers

FIRST_QUERY = """
import time, numpy as np
from nldd.search import LabelsetIndex, Score
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


def first_query(cache: str) -> float:
    """Wall time of the first query of a process, import of numba included."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIRST_QUERY]
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
    with tempfile.TemporaryDirectory() as cache:
        answers.add("first query on a new machine", f"{first_query(cache):.1f} s", "<= 10 s",
                    "compiles the kernel")  # fmt: skip
        again = min(first_query(cache) for _ in range(3))
        answers.add("first query of a process after that", f"{again:.2f} s", "<= 0.5 s",
                    "loads numba and the kernel")  # fmt: skip


if __name__ == "__main__":
    main()
