"""Systems from outside of the package on the folds of nldd's protocol `best`, with another seed.

    python benchmarks/outsiders.py --seed 20261120 -o outsiders.jsonl
    nldd benchmark --protocol best.toml --out ours        # a copy of the protocol with that seed
    python benchmarks/outsiders.py --compare outsiders.jsonl ours

The first command runs every system that is installed (mlrl-boomer, lightgbm, xgboost, napkinxc;
the others are scikit-learn's) and writes one JSON line per cell. Called again, it goes on where it
stopped; cells that failed are tried again. Of data sets with 5,000 rows or more it takes three of
the five random splits. The data sets are those of `nldd datasets fetch all`.

Seconds are processor time, as in nldd's own records. With OMP_NUM_THREADS=1 the run takes a bit
more than an hour, half of it for BOOMER-SUBSET.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from nldd._base import Training
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.bench.runner.cell import fingerprint
from nldd.bench.runner.protocol_file import load_protocol
from nldd.bench.runner.records import CELLS, read_records
from nldd.metrics import PAPER_MEASURES, evaluate
from nldd.metrics._measures import row_values

N_SPLITS = 3  # of the five random splits: boosted trees take long on the large data sets
CUTS = np.arange(1, 100) / 100
KEY = ("dataset", "method", "fold", "seed")

# A system fits to X and Y with a seed, and gives its predictions of new rows as a function.
Predict = Callable[[Any], Any]
Fit = Callable[[Any, np.ndarray, int], Predict]


def has_words(X: Any) -> bool:
    """Whether nldd takes the columns for words."""
    return Training(X, None, None, np.arange(X.shape[0])).kind == "words"


def fit_labels(model: Any, X: Any, Y: np.ndarray, output: str = "predict") -> Predict:
    """One binary classifier per label; a label that is constant in training stays as it is.

    scikit-learn's own cuts decision values at 1/2 instead of 0 if the first label is constant.
    """
    models = [clone(model).fit(X, y) if np.ptp(y) else None for y in Y.T]

    def predict(X_new: Any) -> np.ndarray:
        found = np.tile(Y[0].astype(float), (X_new.shape[0], 1))
        for column, model in enumerate(models):
            if model is not None:
                values = getattr(model, output)(X_new)
                found[:, column] = values if values.ndim == 1 else values[:, 1]
        return found

    return predict


def fit_scaled(fit: Callable[[Any, np.ndarray], Predict], X: Any, Y: np.ndarray) -> Predict:
    """What linear models need: tf-idf of words, or standardised numbers."""
    scaler = TfidfTransformer() if has_words(X) else StandardScaler()
    predict = fit(scaler.fit_transform(X), Y)
    return lambda X_new: predict(scaler.transform(X_new))


def fit_svm(X: Any, Y: np.ndarray, seed: int) -> Predict:
    return fit_scaled(partial(fit_labels, LinearSVC(random_state=seed)), X, Y)


def fit_recipe(X: Any, Y: np.ndarray, seed: int) -> Predict:
    """Logistic regressions with the cut that is best for the F-measure of held-out rows."""
    logistic = partial(fit_labels, LogisticRegression(max_iter=1000), output="predict_proba")

    def cut(P: np.ndarray, at: float) -> np.ndarray:
        Y_pred = at <= P
        Y_pred[np.arange(len(P)), P.argmax(axis=1)] = True
        return Y_pred

    P = np.empty(Y.shape)
    for train, rest in KFold(3, shuffle=True, random_state=seed).split(Y):
        P[rest] = fit_scaled(logistic, X[train], Y[train])(X[rest])
    best = max(CUTS, key=lambda at: row_values(Y, cut(P, at))["f_measure"].mean())
    predict = fit_scaled(logistic, X, Y)
    return lambda X_new: cut(predict(X_new), best)


def fit_label_tree(X: Any, Y: np.ndarray, seed: int) -> Predict:
    from napkinxc.models import PLT

    folder = TemporaryDirectory()  # where it keeps its model
    tree = PLT(folder.name, seed=seed, threads=1)

    def fit(X: Any, Y: np.ndarray) -> Predict:
        tree.fit(csr_matrix(X), [np.flatnonzero(y).tolist() for y in Y])
        return lambda X_new: tree.predict(csr_matrix(X_new), threshold=0.5)

    predict = fit_scaled(fit, X, Y)

    def indicators(X_new: Any, folder: Any = folder) -> np.ndarray:  # it lives as long as this
        Y_pred = np.zeros((X_new.shape[0], Y.shape[1]))
        for row, labels in zip(Y_pred, predict(X_new), strict=True):
            row[labels] = 1
        return Y_pred

    return indicators


def fit_forest(X: Any, Y: np.ndarray, seed: int) -> Predict:
    return RandomForestClassifier(random_state=seed).fit(X, Y).predict


def fit_xgboost(X: Any, Y: np.ndarray, seed: int) -> Predict:
    from xgboost import XGBClassifier

    return fit_labels(XGBClassifier(n_jobs=1, random_state=seed), X, Y)


def fit_lightgbm(X: Any, Y: np.ndarray, seed: int) -> Predict:
    from lightgbm import LGBMClassifier

    return fit_labels(LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1), X, Y)


def fit_boomer(X: Any, Y: np.ndarray, seed: int, **settings: Any) -> Predict:
    from mlrl.boosting import BoomerClassifier

    # Not parallel_prediction: version 0.12.3 writes past its memory if that is "false".
    one_thread = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}
    return BoomerClassifier(random_state=seed, **one_thread, **settings).fit(X, Y).predict


def fit_boomer_subset(X: Any, Y: np.ndarray, seed: int) -> Predict:
    binning = {} if has_words(X) else {"feature_binning": "equal-frequency"}
    return fit_boomer(X, Y, seed, loss="logistic-non-decomposable", **binning)


class System(NamedTuple):
    """A system, the package that has it, and its settings in words."""

    package: str
    fit: Fit
    settings: str


SYSTEMS = {
    "SVM": System(
        "scikit-learn", fit_svm, "LinearSVC per label, defaults; tf-idf or standardised numbers"
    ),
    "RECIPE": System(
        "scikit-learn",
        fit_recipe,
        "LogisticRegression per label, defaults; tf-idf or standardised numbers; one cut for all "
        "labels, tuned for the F-measure by 3 inner folds, and always the most probable label",
    ),
    "PLT": System(
        "napkinxc", fit_label_tree, "label tree, defaults; tf-idf or standardised numbers; from 1/2"
    ),
    "FOREST": System("scikit-learn", fit_forest, "one for all labels, defaults: 100 trees"),
    "XGBOOST": System("xgboost", fit_xgboost, "XGBClassifier per label, defaults"),
    "LIGHTGBM": System("lightgbm", fit_lightgbm, "LGBMClassifier per label, defaults"),
    "BOOMER": System("mlrl-boomer", fit_boomer, "defaults: logistic loss of each label"),
    "BOOMER-F": System(
        "mlrl-boomer", partial(fit_boomer, binary_predictor="gfm"), "predicts for the F-measure"
    ),
    "BOOMER-SUBSET": System(
        "mlrl-boomer",
        fit_boomer_subset,
        "logistic loss of whole labelsets; numbers in bins of equal frequency, which is faster",
    ),
}


def cells(names: list[str], methods: list[str], seed: int) -> Iterator[tuple[dict, Any, Any]]:
    """Each cell: what its record says of it, the data set and its rows; small data sets first."""
    protocol = replace(load_protocol("best"), seed=seed)
    for name in sorted(names, key=lambda name: CATALOGUE[name].n_samples):
        dataset = load_dataset(name)
        split, data = protocol.split_of(name, dataset.n_samples), fingerprint(dataset)
        folds = split.rows(dataset, seed)[: N_SPLITS if split.kind == "random" else None]
        dataset = replace(dataset, X=as_matrix(dataset.X))
        for method, (fold, rows) in product(methods, enumerate(folds)):
            key = dict(zip(KEY, (name, method, fold, seed), strict=True))
            yield key | {"data": data}, dataset, rows


def as_matrix(X: Any) -> Any:
    """Sparse data in the kind that all systems know."""
    if not issparse(X):
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return csr_matrix((X.data, indices, indptr), shape=X.shape)


def run_cell(system: System, X: Any, Y: np.ndarray, rows: Any, seed: int) -> dict:
    """Scores and times of a cell, or why it failed: that is a result too."""
    train, test = rows
    try:
        start = process_time()
        predict = system.fit(X[train], Y[train], seed)
        fitted = process_time()
        Y_pred = predict(X[test])
        predicted = process_time()
        Y_pred = np.asarray(Y_pred.toarray() if issparse(Y_pred) else Y_pred).astype(int)
        scores = evaluate(Y[test], Y_pred, PAPER_MEASURES)
    except Exception as error:
        return {"scores": {}, "error": f"{type(error).__name__}: {error}"}
    seconds = {"fit_seconds": fitted - start, "predict_seconds": predicted - fitted}
    return {"scores": scores, **seconds, "error": None}


def key_of(record: dict) -> tuple:
    return tuple(record[part] for part in KEY)


def read(path: Path) -> list[dict]:
    """Records of a file, the last one of each cell; a line that was cut short is left out."""
    lines = path.read_text("utf-8").split("\n")[:-1] if path.exists() else []
    return list({key_of(record): record for record in map(json.loads, lines)}.values())


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def run(path: Path, names: list[str], methods: list[str], seed: int) -> None:
    """Run the cells that the file has not, and append each as soon as it is done."""
    versions = {method: installed_version(SYSTEMS[method].package) for method in methods}
    for method, found in versions.items():
        package, _, settings = SYSTEMS[method]
        print(f"{method}: {package} {found or 'is not installed, left out'}; {settings}")
    done = {key_of(record) for record in read(path) if not record["error"]}
    with path.open("a+b") as file:
        file.truncate(path.read_bytes().rfind(b"\n") + 1)
        for key, dataset, rows in cells(names, [m for m in methods if versions[m]], seed):
            if key_of(key) in done:
                continue
            name, method, fold, _ = key_of(key)
            result = run_cell(SYSTEMS[method], dataset.X, dataset.Y, rows, seed + fold)
            file.write((json.dumps(key | {"version": versions[method]} | result) + "\n").encode())
            file.flush()
            scores = " ".join(f"{score:.4f}" for score in result["scores"].values())
            print(name, method, fold, result["error"] or scores, flush=True)


class Difference(NamedTuple):
    """By how much we are better than an outsider over the folds that both have."""

    mean: float
    standard_error: float
    ours: float
    theirs: float
    n_folds: int
    method: str


def difference(ours: list[float], theirs: list[float], sign: int, method: str) -> Difference:
    """The paired difference, with the standard error of folds as if they were independent."""
    gains = [sign * (one - other) for one, other in zip(ours, theirs, strict=True)]
    error = stdev(gains) / len(gains) ** 0.5
    return Difference(fmean(gains), error, fmean(ours), fmean(theirs), len(gains), method)


def compare(path: Path, folder: Path, method: str) -> None:
    """Our scores beside those of the best outsider, and where some outsider is ahead of us.

    Ahead means by more than two standard errors. Folds are the same if seed and data are.
    """
    ours = {
        (r.dataset, r.fold, r.seed, r.details["data"]): r.scores
        for r in read_records(folder / CELLS)
        if r.method == method and not r.error
    }
    theirs: dict[str, dict] = {}
    for r in read(path):
        if not r["error"]:
            cell = r["dataset"], r["fold"], r["seed"], r["data"]
            theirs.setdefault(r["method"], {})[cell] = r["scores"]
    shared = {cell[0] for scores in theirs.values() for cell in ours.keys() & scores}
    names = [name for name in CATALOGUE if name in shared]
    ahead: dict[str, list[str]] = {measure.key: [] for measure in PAPER_MEASURES}
    line = "{:<10} {:<20} {:>8} {:>8} {:<14} {:>10} {:>7} {:>6}"
    print(line.format("", "", method, "best", "outsider", "difference", "s.e.", "folds"))
    for name, measure in product(names, PAPER_MEASURES):
        found, sign = [], 1 if measure.greater_is_better else -1
        for outsider, scores in theirs.items():
            common = [cell for cell in ours if cell[0] == name and cell in scores]
            pair = [[each[cell][measure.key] for cell in common] for each in (ours, scores)]
            if len(common) > 1:
                found.append(difference(*pair, sign, outsider))
        for best in sorted(found)[:1]:
            numbers = f"{best.ours:.4f}", f"{best.theirs:.4f}", best.method, f"{best.mean:+.4f}"
            errors = f"{best.standard_error:.4f}", best.n_folds
            print(line.format(name, measure.key, *numbers, *errors))
        if better := [each.method for each in found if each.mean < -2 * each.standard_error]:
            ahead[measure.key].append(f"{name} ({', '.join(better)})")
    for key, sets in ahead.items():
        print(f"{key}: some outsider is ahead on {len(sets)} of {len(names)}", *sets, sep="; ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, help="of the folds; nldd's own records have 0")
    parser.add_argument("--datasets", default=",".join(CATALOGUE), help="names, with commas")
    parser.add_argument("--methods", default=",".join(SYSTEMS), help="names, with commas")
    parser.add_argument("-o", "--out", type=Path, default=Path("outsiders.jsonl"))
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("RECORDS", "NLDD_RECORDS"))
    parser.add_argument("--ours", default="NLDD-P", help="the method to compare with the others")
    arguments = parser.parse_args()
    names, methods = arguments.datasets.split(","), arguments.methods.split(",")
    for chosen, known in ((names, CATALOGUE), (methods, SYSTEMS)):
        if unknown := {*chosen} - {*known}:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if arguments.compare:
        compare(*arguments.compare, arguments.ours)
    elif arguments.seed is None:
        parser.error("--seed is needed")
    else:
        warnings.simplefilter("ignore")
        run(arguments.out, names, methods, arguments.seed)


if __name__ == "__main__":
    main()
