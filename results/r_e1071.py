"""Whether the paper's program explains its values: BR, SMBR and NLDD by e1071, beside ours.

    python results/r_e1071.py DATASET FOLDER

The first fold of the protocol `paper` with R's support vector machines below the methods instead of
ours, one stage at a time. Needs R with e1071; each machine that is fitted is kept in FOLDER, so
that an interrupted run goes on. A line that is printed is one method on one machine: its scores,
and in how many cells its labels differ from those of the protocol's own machine.
"""

import argparse
import json
import subprocess
from hashlib import blake2b
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from nldd import PlattSVC
from nldd.bench import load_dataset, load_protocol
from nldd.metrics._measures import PAPER_MEASURES

HERE = Path(__file__).parent
SCRIPT = HERE / "r_e1071.R"


class E1071(ClassifierMixin, BaseEstimator):
    """A linear machine of e1071 with probabilities, fitted when rows to predict are there.

    R's own class is the side of the margin; `decision_function` has that side, or the more probable
    one if `by_probability`.
    """

    def __init__(self, folder, scale=False, by_probability=False, random_state=None):
        self.folder = folder
        self.scale = scale
        self.by_probability = by_probability
        self.random_state = random_state

    def fit(self, X, y):
        """Keep the rows."""
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def asked(self, X) -> np.ndarray:
        """Classes, decision values and probabilities of the rows, one after the other, A and B."""
        train, test = (_kept(Path(self.folder), rows) for rows in (self.X_, X))
        shape = [*self.X_.shape, X.shape[0], self.scale, 1, 0]
        what = f"{train.name} {test.name} {shape}".encode() + self.y_.astype(np.int8).tobytes()
        found = Path(self.folder, f"{blake2b(what, digest_size=12).hexdigest()}.npy")
        if not found.exists():
            job = Path(self.folder, f"{found.stem}-job")
            job.mkdir(exist_ok=True)
            np.array(shape, np.float64).tofile(job / "shape.bin")
            self.y_.astype(np.float64).tofile(job / "y.bin")
            (job / "rows.txt").write_text(f"{train}\n{test}\n", "utf-8")
            subprocess.run(["Rscript", SCRIPT, job], check=True)
            out = np.fromfile(job / "out.bin")
            np.save(found, out)
        return np.load(found)

    def predict(self, X):
        """Classes by `decision_function`."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def decision_function(self, X):
        """Above 0 for the second class."""
        _, f, p = self.asked(X)[:-2].reshape(3, -1)
        return p - 0.5 if self.by_probability else f

    def predict_proba(self, X):
        """Probabilities of both classes."""
        p = self.asked(X)[:-2].reshape(3, -1)[2]
        return np.column_stack([1 - p, p])


def _kept(folder: Path, X) -> Path:
    """A file of the rows, column by column as R has them."""
    dense = np.asfortranarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    path = folder / f"{blake2b(dense.T.tobytes(), digest_size=12).hexdigest()}.bin"
    if not path.exists():
        dense.T.tofile(path)
    return path


def machines(folder: Path) -> list[tuple[str, str, object]]:
    """Methods, and what they have beneath: of libsvm only probabilities differ from e1071's."""
    e1071 = {
        "e1071": E1071(folder),
        "e1071, p >= 1/2": E1071(folder, by_probability=True),
        "e1071, scaled": E1071(folder, scale=True),
    }
    return [
        *((method, "the protocol's", None) for method in ("BR", "SMBR", "NLDD")),
        ("NLDD", "libsvm", PlattSVC(random_state=0)),
        *((method, name, base) for name, base in e1071.items() for method in ("BR", "SMBR")),
        ("NLDD", "e1071", e1071["e1071"]),
        ("NLDD", "e1071, scaled", e1071["e1071, scaled"]),
    ]


def main() -> None:
    """Run what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    dataset, protocol = load_dataset(asked.dataset), load_protocol("paper")
    cut = protocol.split_of(dataset.name, dataset.n_samples)
    train, test = cut.rows(dataset, protocol.seed)[0]
    first = {}
    for method, machine, base in machines(asked.folder):
        kept = asked.folder / f"{method} {machine.replace('/', '')}.npy"
        if not kept.exists():
            model = protocol.model(method, dataset, 0)
            model = model if base is None else model.set_params(estimator=base)
            model.fit(dataset.X[train], dataset.Y[train])
            np.save(kept, model.predict(dataset.X[test]))
        found = np.load(kept)
        first.setdefault(method, found)
        line = {
            "dataset": dataset.name,
            "method": method,
            "machine": machine,
            "n_test": len(test),
            "differ": int((found != first[method]).sum()),
            **{m.key: m.function(dataset.Y[test], found) for m in PAPER_MEASURES},
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
