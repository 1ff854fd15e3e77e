"""Files in which one attribute of an estimator is what another has, and a process that loads them.

Run as a program: ``python attacks.py FOLDER COUNT SEED``. For every type that a file may hold there
is an estimator of it. A file has one attribute of one object in it set to a value of any other, or
to something nasty; all checksums fit. The process limits its memory and the time of each load,
watches by an audit hook what it opens and runs, and prints what became of the files as JSON.
"""

import copy
import faulthandler
import json
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import sklearn.calibration
from hostile_files import limit_memory
from model_files import members_of, put_together, small_problem
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from test_estimator_files import CLASSIFIERS, METHODS

from nldd.exceptions import InputError
from nldd.persistence._archive import Contents, read_archive, write_archive

MAX_SECONDS = 2
DOCUMENT, CONTENT = "estimators/all.json", "estimators/all.bin"
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "kneighbors")
NASTY = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 10**30, 0.5, -1.5, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "tofile", "predict", "__class__", "__reduce__", "os.system"),
    *("/tmp/written", "precomputed", "callable", "pyfunc", "x" * 20_000, [], [[]], [1, 2, 3]),
    *({"tuple": []}, {"dict": []}, {"dict": [["func", "os.system"]]}, {"objects": ["a", None]}),
    *({"array": ["<f8", [0], 0]}, {"array": ["<i8", [0, 0], 0]}, {"array": ["<U4", [2], 0]}),
    *({"array": ["<i4", [4], 0]}, {"array": ["<f4", [3, 3], 0]}, {"array": ["|b1", [8], 0]}),
    *({"same": 0}, {"same": 1}, {"type": ["os.system", {}]}, {"type": ["sklearn.Tree", {}]}),
    {"type": ["sklearn.FunctionTransformer", {"func": "str"}]},
    {
        "type": [
            "sklearn.Pipeline",
            {"steps": [{"tuple": ["a", "passthrough"]}], "memory": "/tmp/x"},
        ]
    },
]
NEW_NAMES = [
    *("__class__", "__dict__", "predict", "predict_proba", "transform", "stack_method_", "func"),
    *("memory", "n_jobs", "verbose", "metric", "kernel", "estimators_", "tree_", "_tree", "f_"),
]
# Events of Python that no prediction has a reason for, and how those begin that only look around.
EVENTS = ("os.", "subprocess.", "socket.", "shutil.", "pickle.", "ctypes.", "tempfile.", "sqlite3.")
HARMLESS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.path", "os.stat")


def estimators(X, Y):
    """One fitted estimator, at least, of every type that has a schema."""
    sparse = csr_matrix(np.where(X > 0.5, X, 0))
    yield from ((clone(model).fit(X, Y[:, 0]), X) for model in CLASSIFIERS.values())
    yield from ((clone(model).fit(X, Y), X) for model in METHODS.values())
    for model in (SVC(probability=True), KNeighborsClassifier(), METHODS["ml-knn"]):
        target = Y if model is METHODS["ml-knn"] else Y[:, 0]
        yield clone(model).fit(sparse, target), sparse
    yield KNeighborsClassifier().fit(X, Y), X
    for scaler in (StandardScaler(), MinMaxScaler()):
        yield scaler.fit(X), X
    yield PassiveAggressiveClassifier().fit(X, Y[:, 0]), X
    if hasattr(sklearn.calibration, "_TemperatureScaling"):
        model = CalibratedClassifierCV(LogisticRegression(), cv=2, method="temperature")
        yield model.fit(X, Y[:, 0]), X


class Watch:
    """An audit hook, on while a file is loaded and used; `events` are what it saw."""

    def __init__(self, folder):
        self.is_on, self.events, self._folder = False, Counter(), str(folder)
        sys.addaudithook(self)

    def __call__(self, event, args):
        if not self.is_on:
            return
        if event == "open":
            path, mode, flags = (*args, None, None)[:3]
            writes = any(c in str(mode) for c in "wax+") or (isinstance(flags, int) and flags & 3)
            if writes and not str(path).startswith(self._folder):
                self.events[f"open {path}"] += 1
        elif event.startswith(EVENTS) and not event.startswith(HARMLESS):
            self.events[event] += 1


def move_arrays(value, n_bytes):
    """Let a document take its arrays from so many bytes further on."""
    if isinstance(value, dict) and "array" in value:
        value["array"][2] += n_bytes
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            move_arrays(part, n_bytes)


def records(value):
    """All states of objects in a document."""
    if isinstance(value, list):
        for item in value:
            yield from records(item)
    elif isinstance(value, dict):
        if "type" in value:
            yield value["type"]
            yield from records(list(value["type"][1].values()))
        else:
            yield from records(list(value.values()))


def attacks(documents, rng):
    """Numbers of examples and documents with one attribute changed; without end."""
    values = [part for each in documents for _, state in records(each) for part in state.values()]
    kinds = sorted({kind for each in documents for kind, _ in records(each)})
    holders = {
        kind: [i for i, d in enumerate(documents) if kind in dict(records(d))] for kind in kinds
    }
    while True:
        kind = rng.choice(kinds)
        number = rng.choice(holders[kind])
        document = copy.deepcopy(documents[number])
        record = rng.choice([record for record in records(document) if record[0] == kind])
        way = rng.random()
        if way < 0.06:
            record[0] = rng.choice(kinds)
        elif way < 0.12 or not record[1]:
            record[1][rng.choice(NEW_NAMES)] = copy.deepcopy(rng.choice(NASTY))
        elif way < 0.16:
            del record[1][rng.choice(sorted(record[1]))]
        else:
            pool = NASTY if rng.random() < 0.4 else values
            record[1][rng.choice(sorted(record[1]))] = copy.deepcopy(rng.choice(pool))
        yield number, document


def outcome(path, X):
    """What became of a file."""
    try:
        (thing,) = read_archive(path).estimators["all"]
    except InputError as error:
        is_clear = "what this nldd cannot read" not in str(error) and "\n" not in str(error)
        return "refused" if is_clear else f"unclear: {error}"
    except Exception as error:
        return f"not refused, but {type(error).__name__}: {error}"
    for name in ANSWERS:
        try:
            getattr(thing, name, lambda X: None)(X)
        except Exception:  # an estimator that does not answer harms nobody
            return "silent"
    return "answers"


def main(folder, n_files, seed):
    """Make, load and use the files; print what became of them."""
    warnings.simplefilter("ignore")
    X, Y = small_problem(40)
    X, path, rng = MinMaxScaler().fit_transform(X), folder / "model.nldd", random.Random(seed)
    all_rows, documents, content = [], [], b""
    for thing, rows in estimators(X, Y):
        write_archive(path, Contents("test", estimators={"all": [thing]}))
        assert outcome(path, rows) == "answers", thing
        members = members_of(path)
        all_rows.append(rows)
        documents.append(json.loads(members[DOCUMENT]))
        # One content for all, so that an array of any can stand in any place.
        move_arrays(documents[-1], len(content))
        content += members[CONTENT]
    members[CONTENT] = content
    kinds = sorted({kind for document in documents for kind, _ in records(document)})
    np.seterr(all="ignore")
    watch, peak = Watch(folder), limit_memory()
    before, found = peak(), Counter()
    for number, document in attacks(documents, rng):
        put_together({**members, DOCUMENT: json.dumps(document).encode()}, path)
        (folder / "last.json").write_text(json.dumps(document))
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        watch.is_on = True
        found[outcome(path, all_rows[number])] += 1
        watch.is_on = False
        faulthandler.cancel_dump_traceback_later()
        if found.total() == n_files:
            break
    report = {"found": found, "events": watch.events, "kinds": kinds, "bytes": peak() - before}
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
