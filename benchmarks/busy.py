"""What a fit loses where other programs compute: beside four processes that spin.

Fit and predict by the default NLDD and by scikit-learn's binary relevance, two workers each, in
turns: on the quiet machine, and beside the four. The figure is by what factor the wall time of NLDD
grows, over the factor of the peer; 1 means that both lose as much.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from measure import fit_predict, one_vs_rest, read_options, seconds, split

from nldd import NLDDClassifier

PROCESSES = 4
# Ends with the program that started it, however that ends.
SPIN = """
import os
parent = os.getppid()
print("up", flush=True)
while os.getppid() == parent:
    sum(range(100_000))
"""


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """So many processes that compute without end, until the block is left."""
    command = [sys.executable, "-c", SPIN]
    spinning = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(number)]
    try:
        for process in spinning:
            process.stdout.readline()  # it is up
        yield
    finally:
        for process in spinning:
            process.kill()
            process.communicate()


def main() -> None:
    answers, names, repeats = read_options("busy", __doc__, 9, ("yeast", "medical", "enron"))
    for name in names:
        data = split(name)
        ours = NLDDClassifier(n_jobs=2, random_state=0)
        runs = [fit_predict(ours, data), one_vs_rest(data)]
        for run in runs:
            run()  # compiles
        rounds = []
        for _ in range(repeats):
            quiet = [seconds(run) for run in runs]
            with busy_processes(PROCESSES):
                rounds.append([seconds(runs[i]) / quiet[i] for i in range(len(runs))])
        loss, peer_loss = (median(factors) for factors in zip(*rounds, strict=True))
        question = f"fit and prediction beside {PROCESSES} busy processes, {name}"
        remark = f"takes {loss:.1f} times as long as alone, the peer {peer_loss:.1f} times"
        answers.add(question, f"{loss / peer_loss:.2f}x", "<= 1.3x", remark)


if __name__ == "__main__":
    main()
