"""Do the support vector machines of R's e1071, the paper's, explain values that are far from ours?

The first fold of the protocol `paper`: BR, SMBR and NLDD with machines of R in the place of ours,
one stage at a time, on enron; single machines on ohsumed, where one takes R minutes. ``python
results/r_e1071.py`` runs what is missing, with R and its package e1071; machines that were fitted
are kept in the folder `FITTED` until then.
"""

import subprocess
from hashlib import blake2b
from itertools import product
from pathlib import Path
from tempfile import gettempdir

import marks
import numpy as np
from records import HERE, load, read, run_missing
from sklearn.base import BaseEstimator, ClassifierMixin

from nldd import PlattSVC
from nldd.bench import load_protocol
from nldd.metrics._measures import PAPER_MEASURES

PAGES = ("results",)
FITTED = Path(gettempdir()) / "r_e1071"
KEYS = ("dataset", "method", "machine")
OURS = "the protocol's"
LABELS = [
    *(("enron", label) for label in (6, 31, 0)),
    *(("ohsumed", label) for label in (3, 12, 20)),
]
SOLVERS = ("libsvm", "liblinear")


class E1071(ClassifierMixin, BaseEstimator):
    """A linear machine of e1071 with probabilities, fitted when rows to predict are there.

    R's own class is the side of the margin; `decision_function` has that side, or the more probable
    one if `by_probability`.
    """

    def __init__(self, scale=False, by_probability=False, random_state=None):
        self.scale = scale
        self.by_probability = by_probability
        self.random_state = random_state

    def fit(self, X, y):
        """Keep the rows."""
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def asked(self, X) -> np.ndarray:
        """Classes, decision values and probabilities of the rows, and Platt's A and B."""
        train, test = map(_kept, (self.X_, X))
        shape = [*self.X_.shape, X.shape[0], self.scale, 1, 0]
        what = f"{train.name} {test.name} {shape}".encode() + self.y_.astype(np.int8).tobytes()
        found = FITTED / f"{blake2b(what, digest_size=12).hexdigest()}.npy"
        if not found.exists():
            (job := FITTED / f"{found.stem}-job").mkdir(exist_ok=True)
            np.array(shape, np.float64).tofile(job / "shape.bin")
            self.y_.astype(np.float64).tofile(job / "y.bin")
            (job / "rows.txt").write_text(f"{train}\n{test}\n", "utf-8")
            subprocess.run(["Rscript", HERE / "r_e1071.R", job], check=True)
            np.save(found, np.fromfile(job / "out.bin"))
        out = np.load(found)
        return out[:-2].reshape(3, -1), out[-2:]

    def predict(self, X):
        """Classes by `decision_function`."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def decision_function(self, X):
        """Above 0 for the second class."""
        (_, f, p), _ = self.asked(X)
        return p - 0.5 if self.by_probability else f

    def predict_proba(self, X):
        """Probabilities of both classes."""
        p = self.asked(X)[0][2]
        return np.column_stack([1 - p, p])


def _kept(X) -> Path:
    """A file of the rows, column by column as R has them."""
    columns = np.ascontiguousarray((X.toarray() if hasattr(X, "toarray") else X).T, np.float64)
    path = FITTED / f"{blake2b(columns.tobytes(), digest_size=12).hexdigest()}.bin"
    if not path.exists():
        columns.tofile(path)
    return path


MACHINES = {
    OURS: None,
    "e1071": E1071(),
    "e1071, p >= 1/2": E1071(by_probability=True),
    "e1071, scaled": E1071(scale=True),
}


def first_fold(name: str) -> tuple:
    """The data set, its training and its test rows."""
    dataset, protocol = load(name), load_protocol("paper")
    FITTED.mkdir(exist_ok=True)
    cut = protocol.split_of(name, dataset.n_samples)
    return dataset, *cut.rows(dataset, protocol.seed)[0]


def run_label(name: str, label: int) -> dict:
    """One label by e1071, libsvm and liblinear: how far apart they are, and Platt's A and B."""
    dataset, train, test = first_fold(name)
    X, y, Z = dataset.X[train], dataset.Y[train, label], dataset.X[test]
    (_, f, _), ab = E1071().fit(X, y).asked(Z)
    found = {"positive": int(y.sum()), "e1071": {"ab": ab.tolist()}}
    for solver in SOLVERS:
        model = PlattSVC(solver=solver, random_state=0).fit(X, y)
        own = model.decision_function(Z)
        found[solver] = {
            "ab": model.sigmoid_,
            "f": float(np.abs(f - own).max()),
            "differ": int(((f > 0) != (own > 0)).sum()),
        }
    return found


def run_cell(name: str, method: str, machine: str) -> dict:
    """Scores of a method on a machine, and how many labels differ from those of the protocol's."""
    (dataset, train, test), found, protocol = first_fold(name), {}, load_protocol("paper")
    for each in (OURS, machine):
        kept = FITTED / f"{name} {method} {each.replace('/', '')}.npy"
        if not kept.exists():
            model, base = protocol.model(method, dataset, 0), MACHINES[each]
            model = model if base is None else model.set_params(estimator=base)
            model.fit(dataset.X[train], dataset.Y[train])
            np.save(kept, model.predict(dataset.X[test]))
        found[each] = np.load(kept)
    scores = {m.key: m.function(dataset.Y[test], found[machine]) for m in PAPER_MEASURES}
    return {"n_test": len(test), "differ": int((found[machine] != found[OURS]).sum()), **scores}


def tables() -> dict[str, str]:
    """All of it in Markdown."""
    keys = [measure.key for measure in PAPER_MEASURES]
    machines = [
        [one["method"], one["machine"], str(one["differ"]), *(f"{one[key]:.4f}" for key in keys)]
        for one in read("r_e1071")
    ]
    labels = [
        [
            *(str(one[key]) for key in ("dataset", "label", "positive")),
            f"{one['libsvm']['f']:.0e}",
            str(one["liblinear"]["differ"]),
            *("{:.2f}, {:.2f}".format(*one[solver]["ab"]) for solver in ("e1071", *SOLVERS)),
        ]
        for one in read("r_labels")
    ]
    by_label = "data set | label | rows with it | decision values of e1071 and libsvm differ by "
    by_label += "| rows that liblinear decides otherwise | A, B: e1071 | libsvm | liblinear"
    by_method = (
        "method | machine | labels that differ | Hamming loss | 0/1 loss | accuracy | F-measure"
    )
    return {
        "r-machines": marks.table(by_method, machines),
        "r-labels": marks.table(by_label, labels),
    }


if __name__ == "__main__":
    run_missing("r_labels", ("dataset", "label"), LABELS, run_label)
    every = [("enron", *one) for one in product(("BR", "SMBR", "NLDD"), MACHINES)]
    every.remove(("enron", "NLDD", "e1071, p >= 1/2"))  # it has no use for classes
    run_missing("r_e1071", KEYS, every, run_cell)
