"""One cell of an experiment: a method fitted to the training rows of a fold and scored on the rest.

Cells of a fold whose methods begin with the same binary classifiers are run together, as a batch,
and fit them once. Each is charged for the whole of its work all the same. A cell has one thread,
and its seconds are processor time.
"""

import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

import numpy as np

from nldd._parallel import one_blas_thread
from nldd.datasets import Dataset
from nldd.estimators import BinaryRelevance, NLDDClassifier
from nldd.exceptions import InputError
from nldd.experiments._environment import machine, versions
from nldd.experiments._protocol import Protocol, Rows
from nldd.experiments._record import Key, Record, as_line
from nldd.experiments._row_scores import observed, row_scores, standard_errors
from nldd.experiments._settings import settings_text
from nldd.experiments._shared_fits import SharedBase, SharedFits
from nldd.metrics import MEASURES, evaluate

SHARING = ("BR", "SMBR", "NLDD")


@dataclass(frozen=True, slots=True)
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


def cells(
    protocol: Protocol, name: str, n_samples: int, methods: Iterable[str], data: str = ""
) -> Iterator[Cell]:
    """Every cell of a data set: `methods` on the folds, and the study of shares if it is here.

    `data` is the fingerprint of the data set.
    """
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
    return replace(record, details=record.details | _counted(caught))


def failed_record(cell: Cell, error: str) -> Record:
    """The record of a cell that came to nothing."""
    return Record(*cell.key, cell.settings, {}, 0.0, 0.0, cell.facts, versions(), machine(), error)


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
    return Record(
        *cell.key,
        settings=cell.settings,
        scores=evaluate(Y_test, Y_pred, MEASURES.values()),
        fit_seconds=fitted - start + saved,
        predict_seconds=predicted - fitted,
        details=cell.facts | _details(Y_train, Y_test, Y_pred) | _nldd_details(model, X_test),
        versions=versions(),
        machine=machine(),
    )


def with_shared_base(estimator: Any, fits: SharedFits) -> Any:
    """`estimator` with its base classifier taken from `fits` where it can be."""
    if not isinstance(estimator, BinaryRelevance | NLDDClassifier) or estimator.estimator is None:
        return estimator
    parameters = estimator.get_params(deep=False)
    return type(estimator)(**{**parameters, "estimator": SharedBase(estimator.estimator, fits)})


def _details(Y_train: Any, Y_test: Any, Y_pred: Any) -> dict[str, Any]:
    """Counts, standard errors, and scores apart for labelsets seen and not seen in training."""
    rows = row_scores(Y_test, Y_pred)
    seen = observed(Y_train, Y_test)
    return {
        "n_train": len(Y_train),
        "n_test": len(Y_test),
        "n_labels": Y_test.shape[1],
        "standard_errors": standard_errors(rows),
        "observed": _part(rows, seen),
        "unobserved": _part(rows, ~seen),
    }


def _part(rows: dict[str, Any], mask: Any) -> dict[str, Any]:
    means = {key: float(values[mask].mean()) for key, values in rows.items()} if mask.any() else {}
    return {"n": int(mask.sum()), **means}


def _nldd_details(model: Any, X_test: Any) -> dict[str, Any]:
    if not isinstance(model, NLDDClassifier):
        return {}
    return {
        "coefficients": [float(value) for value in model.beta_],
        # A weight that was held at 0 has no error.
        "coefficient_errors": [
            None if np.isnan(value) else float(value) for value in model.regression_.standard_errors
        ],
        "n_pairs": len(model.pairs_),
        "n_labelsets": len(model.labelsets_),
        "evaluated_share": model.search_stats(X_test).share_evaluated,
    }


def _counted(caught: list[warnings.WarningMessage]) -> dict[str, Any]:
    """How often each warning came, by its class and first line; nothing if none came."""
    lines = (f"{w.category.__name__}: {str(w.message).partition(chr(10))[0]}" for w in caught)
    counts = Counter(lines)
    return {"warnings": dict(sorted(counts.items()))} if counts else {}
