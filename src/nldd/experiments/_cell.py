"""One cell of an experiment: a method fitted to the training rows of a fold and scored on the rest.

Cells of a fold whose methods begin with the same binary classifiers are run together, as a batch,
and fit them once. Each is charged for the whole of its work all the same. A cell has one thread,
and its seconds are processor time.
"""

import os
import platform
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from inspect import signature
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._parallel import one_blas_thread
from nldd._versions import library_versions
from nldd.datasets import Dataset
from nldd.estimators import BinaryRelevance, NLDDClassifier
from nldd.exceptions import InputError
from nldd.experiments._protocol import Protocol, Rows
from nldd.experiments._record import Key, Record, as_line
from nldd.experiments._shared_fits import SharedBase, SharedFits, digest
from nldd.metrics import MEASURES, PAPER_MEASURES, evaluate, row_values

SHARING = ("BR", "SMBR", "NLDD")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell to be run: its estimator, its rows, of how many folds it is one, and of which data."""

    key: Key
    estimator: Any
    train: Rows
    test: Rows
    n_folds: int
    data: str

    @property
    def settings(self) -> str:
        """The estimator in one line, with every parameter that is not its default."""
        return settings_text(self.estimator)

    @property
    def facts(self) -> dict[str, Any]:
        """What every record of the cell says, failed or not."""
        return {"n_folds": self.n_folds, "data": self.data}


def settings_text(estimator: Any) -> str:
    """Class and parameters, those that are not defaults; scikit-learn's own text cuts long ones."""
    if not hasattr(estimator, "get_params"):
        return repr(estimator)
    defaults = signature(type(estimator)).parameters
    chosen = ", ".join(
        f"{name}={settings_text(value)}"
        for name, value in estimator.get_params(deep=False).items()
        if name not in defaults or repr(value) != repr(defaults[name].default)
    )
    return f"{type(estimator).__name__}({chosen})"


def fingerprint(dataset: Dataset) -> str:
    """Sixteen hexadecimal digits that change with any value of X or Y."""
    return blake2b(digest(dataset.X) + digest(dataset.Y), digest_size=8).hexdigest()


def cells(
    protocol: Protocol, name: str, n_samples: int, methods: Iterable[str], data: str = ""
) -> Iterator[Cell]:
    """Every cell of a data set of that fingerprint, with the study of shares if it is here."""
    methods = tuple(methods)
    if n_samples < protocol.n_folds(n_samples):
        raise InputError(
            f"{name} has {n_samples} rows, too few for {protocol.folds} folds. Use a protocol "
            "with fewer folds."
        )
    folds = protocol.split(n_samples)
    for fold, (train, test) in enumerate(folds):
        for method in methods:
            key = Key(protocol.name, name, method, fold, protocol.seed, None)
            estimator = protocol.estimator(method, name, n_samples, fold)
            yield Cell(key, estimator, train, test, len(folds), data)
    shares = protocol.shares
    if shares is None or shares.dataset != name or shares.method not in methods:
        return
    train, test = folds[0]
    # Every share holds the smaller ones, so that a curve over them compares like with like.
    order = np.random.RandomState(protocol.seed).permutation(train)
    for share in shares.steps:
        key = Key(protocol.name, name, shares.method, 0, protocol.seed, share)
        estimator = protocol.estimator(shares.method, name, n_samples, 0, **shares.parameters)
        rows = order[: round(share * len(train))]
        yield Cell(key, estimator, rows, test, 1, data)


def batches(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells in batches: those of a fold that can share their binary classifiers, others alone."""
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        together = cell.key.method in SHARING and cell.key.train_share is None
        found.setdefault(cell.key._replace(method="") if together else cell.key, []).append(cell)
    return list(found.values())


def run_batch(dataset: Dataset, batch: list[Cell]) -> list[Record]:
    """Records of a batch, one a cell, failures included."""
    fits = SharedFits()
    # One thread wherever it runs: rounding must not depend on the number of cores.
    with one_blas_thread():
        return [run_cell(dataset, cell, fits) for cell in batch]


def run_cell(dataset: Dataset, cell: Cell, fits: SharedFits) -> Record:
    """Fit and score one cell; what it raises goes into its record."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _run(dataset, cell, fits)
            as_line(record)  # a score that is no number fails its cell, not the run
        except (Exception, SystemExit) as error:
            message = "".join(traceback.format_exception_only(error)).strip()
            record = failed_record(cell, message)
    return replace(record, details=record.details | _count_warnings(caught))


def failed_record(cell: Cell, error: str) -> Record:
    """The record of a cell that came to nothing."""
    return Record(
        *cell.key, cell.settings, {}, 0.0, 0.0, cell.facts, library_versions(), _machine(), error
    )


def _run(dataset: Dataset, cell: Cell, fits: SharedFits) -> Record:
    X, Y = dataset.X, dataset.Y
    X_train, Y_train, X_test, Y_test = X[cell.train], Y[cell.train], X[cell.test], Y[cell.test]
    model = with_shared_base(cell.estimator, fits)
    saved = -fits.saved_seconds
    start = thread_time()
    model.fit(X_train, Y_train)
    fitted = thread_time()
    Y_pred = model.predict(X_test)
    predicted = thread_time()
    saved += fits.saved_seconds
    details = cell.facts | _details(Y_train, Y_test, Y_pred)
    if isinstance(model, NLDDClassifier):
        details |= _nldd_details(model, X_test)
    scores = evaluate(Y_test, Y_pred, MEASURES.values())
    seconds = fitted - start + saved, predicted - fitted
    return Record(
        *cell.key, cell.settings, scores, *seconds, details, library_versions(), _machine()
    )


@cache
def _machine() -> dict[str, Any]:
    """Processor and cores, without anything that names the machine or its owner."""
    system, processor = platform.system(), platform.machine()
    return {"system": system, "processor": processor, "cores": os.cpu_count()}


def with_shared_base(estimator: Any, fits: SharedFits) -> Any:
    """`estimator` with its base classifier taken from `fits` where it can be."""
    if not isinstance(estimator, BinaryRelevance | NLDDClassifier) or estimator.estimator is None:
        return estimator
    shared = {"estimator": SharedBase(estimator.estimator, fits)}
    return type(estimator)(**estimator.get_params(deep=False) | shared)


def _details(Y_train: Any, Y_test: Any, Y_pred: Any) -> dict[str, Any]:
    """Counts, standard errors, and scores apart for labelsets seen and not seen in training."""
    values = row_values(Y_test, Y_pred)
    rows = {measure.key: values[measure.key] for measure in PAPER_MEASURES}
    seen = labelsets_seen(Y_train, Y_test)
    return {
        "n_train": len(Y_train),
        "n_test": len(Y_test),
        "n_labels": Y_test.shape[1],
        "standard_errors": {key: standard_error(values) for key, values in rows.items()},
        "observed": _means(rows, seen),
        "unobserved": _means(rows, ~seen),
    }


def standard_error(values: NDArray[np.float64]) -> float | None:
    """Of the mean, as if test rows were drawn at random; None for one row."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def labelsets_seen(Y_train: Any, Y_test: Any) -> NDArray[np.bool_]:
    """Whether the labelset of each test row occurs in training."""
    known = {row.tobytes() for row in np.packbits(Y_train.astype(bool), axis=1)}
    return np.array([row.tobytes() in known for row in np.packbits(Y_test.astype(bool), axis=1)])


def _means(rows: dict[str, Any], mask: Any) -> dict[str, Any]:
    means = {key: float(values[mask].mean()) for key, values in rows.items()} if mask.any() else {}
    return {"n": int(mask.sum()), **means}


def _nldd_details(model: NLDDClassifier, X_test: Any) -> dict[str, Any]:
    errors = model.regression_.standard_errors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `predict` has said it, and once is enough
        evaluated_share = model.search_stats(X_test).share_evaluated
    return {
        "coefficients": [float(value) for value in model.beta_],
        # A weight that was held at 0 has no error.
        "coefficient_errors": [None if np.isnan(value) else float(value) for value in errors],
        "n_pairs": len(model.pairs_),
        "n_labelsets": len(model.labelsets_),
        "evaluated_share": evaluated_share,
    }


def _count_warnings(caught: list[warnings.WarningMessage]) -> dict[str, Any]:
    """How often each warning came, by its class and first line; nothing if none came."""
    counts = Counter(
        f"{w.category.__name__}: {str(w.message).partition(chr(10))[0]}" for w in caught
    )
    return {"warnings": dict(sorted(counts.items()))} if counts else {}
