"""Small benchmarks: data, methods that misbehave, workers at hand, and what a run wrote."""

import json
import os
import signal
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info

from nldd.bench.runner import benchmark
from nldd.bench.runner.cell import cells, run_cell
from nldd.bench.runner.protocol import Protocol
from nldd.bench.runner.records import CELLS
from nldd.datasets import Dataset
from nldd.estimators._registry import METHODS, Method

COMMAND = [sys.executable, "-c", "from nldd.cli import main; main()"]
SECONDS = ("fit_seconds", "predict_seconds")


def songs(n_samples=60, *, sparse=False):
    """Rows of three clusters with labels that follow them, more or less; none has no label."""
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 3, size=n_samples)
    X = rng.normal(size=(n_samples, 4)) + 2.5 * np.eye(4)[cluster]
    X[rng.random(X.shape) < 0.2] = 0
    Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]])[cluster]
    Y = (Y ^ (rng.random(Y.shape) < 0.15)).astype(np.int64)
    names = ["sad", "calm", "loud", "fast"]
    return Dataset(csr_array(X) if sparse else X, Y, names, list("abcd"), "songs")


def rows_only(n_samples, name="rows"):
    """A data set of so many rows without any content."""
    return Dataset(
        np.empty((n_samples, 0)), np.zeros((n_samples, 1), dtype=np.int64), ["a"], [], name
    )


def write_csv(dataset, path):
    """The data set as a table: features, then labels that are called label_*."""
    features = pd.DataFrame(dataset.X, columns=dataset.feature_names)
    labels = pd.DataFrame(dataset.Y, columns=dataset.label_names).add_prefix("label_")
    features.join(labels).to_csv(path, index=False)
    return path


def write_arff(dataset, path):
    """The data set as MEKA writes it: labels first, their number in the relation."""
    labels = [f"@attribute {name} {{0,1}}" for name in dataset.label_names]
    features = [f"@attribute {name} numeric" for name in dataset.feature_names]
    rows = [
        ",".join(map(str, [*y, *x]))
        for x, y in zip(dataset.X.tolist(), dataset.Y.tolist(), strict=True)
    ]
    header = f"@relation 'songs: -C {dataset.n_labels}'"
    path.write_text("\n".join([header, *labels, *features, "@data", *rows]) + "\n")
    return path


def trial(**settings):
    """A protocol of three folds and three quick methods."""
    chosen = {"folds": 3, "methods": ("BR", "SMBR", "MLKNN"), **settings}
    return Protocol("trial", "a trial", **chosen)


def run_first(protocol, method, dataset=None):
    """The first cell of a method and its record."""
    dataset = dataset or songs()
    cell, *_ = cells(protocol, "songs", dataset, (method,))
    return cell, run_cell(dataset, cell)


def written(folder):
    """The records of a folder in one order, as texts, without seconds, which no two runs share."""
    records = [json.loads(line) for line in (Path(folder) / CELLS).read_text().splitlines()]
    return sorted(json.dumps(record | dict.fromkeys(SECONDS)) for record in records)


def n_lines(folder):
    path = Path(folder) / CELLS
    return path.read_bytes().count(b"\n") if path.exists() else 0


# Methods that misbehave. Their classes live here so that worker processes can import them.


class Stub(BaseEstimator):
    """Predicts no label at all; `place` is a folder whose files tell it what to do."""

    def __init__(self, estimator=None, place=None, random_state=None):
        self.estimator = estimator
        self.place = place
        self.random_state = random_state

    def told(self, word):
        """Whether the folder holds a file of that name."""
        return self.place is not None and (Path(self.place) / word).exists()

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((X.shape[0], self.n_labels_), dtype=int)


class Raises(Stub):
    """Fails on the fold of seed 1 as long as it is told to."""

    def fit(self, X, Y):
        if self.random_state == 1 and self.told("fail"):
            raise ValueError("this fold is not for me")
        return super().fit(X, Y)


class Dies(Stub):
    """Takes its process with it on the fold of seed 1 as long as it is told to."""

    def fit(self, X, Y):
        if self.random_state == 1 and self.told("fail"):
            os._exit(9)
        return super().fit(X, Y)


class Sleeps(Stub):
    """Says that it has begun, and takes longer than any test."""

    def fit(self, X, Y):
        (Path(self.place) / f"begun-{os.getpid()}").touch()
        time.sleep(300)
        return self


class OneThread(Stub):
    """Fails where libraries have several threads, or Ctrl-C reaches its process."""

    def fit(self, X, Y):
        import sklearn.svm  # noqa: F401 - loads BLAS and OpenMP

        assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        return super().fit(X, Y)


class Unsendable(Stub):
    """Cannot be sent to another process."""

    def __reduce__(self):
        raise TypeError("I stay at home")


def replace_method(monkeypatch, key, factory):
    """Put an estimator of tests in the place of a method."""
    monkeypatch.setitem(METHODS, key, Method(key, f"{key} of tests", factory))


# Workers


class HomeWorkers:
    """Runs cells at once and in this process, where tests can look; dies when it is told to.

    `deaths` are the numbers of the calls of `submit` whose worker dies.
    """

    def __init__(self, n_workers=1, deaths=()):
        self.n_workers = n_workers
        self.deaths = set(deaths)
        self.submitted = []
        self.closed = False

    def submit(self, dataset, cell):
        self.submitted.append(cell.key)
        future = Future()
        if len(self.submitted) - 1 in self.deaths:
            future.set_exception(BrokenProcessPool("a worker died"))
        else:
            future.set_result(run_cell(dataset, cell))
        return future

    def close(self):
        self.closed = True


def work_at_home(monkeypatch, workers=None):
    """Let benchmarks run in this process; returns the workers."""
    workers = workers or HomeWorkers()
    monkeypatch.setattr(benchmark, "make_workers", lambda *_: workers)
    return workers


# Processes


def descendants(pid):
    """Processes that a process started, and those that they started; only where there is /proc."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may hold anything; the parent comes after.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # gone meanwhile
            continue
    found, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def alive(pids):
    """Those of the processes that run; one that only waits to be buried does not."""
    running = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            running.add(pid)
    return running


def until(condition, seconds=60.0, pause=0.01):
    """Wait until `condition()` is true, and return what it gave; tests fail after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(pause)
    return value
