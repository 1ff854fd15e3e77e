"""What the benchmarks share: data, clocks, and where a figure goes.

A benchmark answers questions; each answer is one line of ``benchmarks/results/NAME.json`` and, by
``page.py``, of a table in docs/performance.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

HERE = Path(__file__).parent
RESULTS = HERE / "results"
sys.path.insert(0, str(HERE.parent / "tests"))
import paper_data  # noqa: E402 (found only by the path above)

NAMES = tuple(paper_data.FILES)
Run = Callable[[], Any]

warnings.simplefilter("ignore")


def load(name: str) -> tuple[Any, Any]:
    """X and Y; sparse matrices in the kind that all peers know."""
    X, Y = paper_data.load(name)
    if issparse(X):
        X = csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, Y


def split(name: str) -> tuple[Any, Any, Any]:
    """Training X and Y and test X: a random 75 % and the rest."""
    X, Y = load(name)
    order = np.random.RandomState(0).permutation(len(Y))
    cut = int(0.75 * len(Y))
    return X[order[:cut]], Y[order[:cut]], X[order[cut:]]


def seconds(run: Run) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def side_by_side(runs: dict[str, Run], repeats: int) -> dict[str, float]:
    """Median seconds of each, the runs taking turns so that noise meets all of them."""
    taken = [{name: seconds(run) for name, run in runs.items()} for _ in range(repeats)]
    return {name: median(one[name] for one in taken) for name in runs}


def median_ratio(numerator: Run, denominator: Run, repeats: int) -> float:
    """Median over the repeats of the ratio of two times taken one after the other."""
    return median(seconds(numerator) / seconds(denominator) for _ in range(repeats))


def fit_predict(model: Any, data: tuple[Any, Any, Any]) -> Run:
    """Fit to the training part, predict the test part."""
    X, Y, X_new = data
    return lambda: model.fit(X, Y).predict(X_new)


def one_vs_rest(data: tuple[Any, Any, Any]) -> Run:
    """The peer of all fits, scikit-learn's binary relevance: liblinear, two workers, in threads."""
    import joblib
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    peer = OneVsRestClassifier(LogisticRegression(solver="liblinear"), n_jobs=2)

    def run() -> None:
        with joblib.parallel_config("threading"):
            fit_predict(peer, data)()

    return run


def seconds_told(code: str, cache: str, *arguments: str) -> float:
    """What a new process prints, which is a time; numba's cache is in the folder `cache`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code, *arguments]
    return float(subprocess.run(command, check=True, env=environment, capture_output=True).stdout)


def exponent(sizes: list[int], times: list[float]) -> float:
    """Slope of the least-squares line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def machine() -> str:
    """What the figures were measured on."""
    import numba
    import sklearn

    return (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}, numba {numba.__version__}"
    )


class Answers:
    """Figures of one benchmark, printed and written as they come."""

    def __init__(self, name: str) -> None:
        RESULTS.mkdir(exist_ok=True)
        self.path = RESULTS / f"{name}.json"
        self.lines: list[dict[str, str]] = []

    def add(self, question: str, figure: str, bar: str = "", remark: str = "") -> None:
        """One answer; `bar` is what was wanted."""
        line = {"question": question, "figure": figure, "bar": bar, "remark": remark}
        self.lines.append(line)
        print(f"{question:<58}{figure:>14}   {bar:<10}{remark}", flush=True)
        self.path.write_text(
            json.dumps({"machine": machine(), "answers": self.lines}, indent=1) + "\n"
        )


def read_options(
    name: str, description: str | None, repeats: int, data_sets: tuple[str, ...] = NAMES
) -> tuple[Answers, list[str], int]:
    """What the command line says: where answers go, which data sets, and how many repeats.

    With some data sets only it is a trial, whose figures no page tells.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    arguments = parser.parse_args()
    if unknown := set(filter(None, arguments.only.split(","))) - set(NAMES):
        parser.error(f"no such data set: {', '.join(sorted(unknown))}")
    if arguments.only:
        return Answers(f"{name}-trial"), arguments.only.split(","), arguments.repeats
    return Answers(name), list(data_sets), arguments.repeats
