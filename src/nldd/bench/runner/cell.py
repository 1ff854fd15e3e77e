"""One cell of an experiment: a method fitted to the training rows of a fold and scored on the rest.

A cell has a process for itself and pools of one thread, and its seconds are processor time of that
process, without that of loading and compiling code.
"""

import os
import platform
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from inspect import isclass, signature
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from nldd._package import library_versions
from nldd.bench.runner.methods import predict_labels, predict_probabilities
from nldd.bench.runner.protocol import Protocol, search_details, split_fitted
from nldd.bench.runner.records import CellPredictions, CellRecord, Key, as_line
from nldd.bench.runner.splits import Rows
from nldd.datasets import Dataset
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.linear._passes import sparse_curvatures, sparse_slopes
from nldd.linear._solver import take_curvatures, take_slopes
from nldd.metrics import MEASURES, PAPER_MEASURES, PROBABILITY_MEASURES, evaluate
from nldd.metrics._measures import label_counts, row_values
from nldd.search._kernels import query_block
from nldd.search._product_kernels import most_probable, nearest_members

N_WARM = 100
KERNELS = (
    *(query_block, nearest_members, most_probable),
    *(sparse_curvatures, sparse_slopes, take_curvatures, take_slopes),
)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell to be run: its estimator, its rows, and what else its record says.

    `about` has the number of folds, how they were cut, the fingerprint of the data and the title of
    the protocol; `by_measure` is that of the :class:`nldd.estimators._registry.Method`.
    """

    key: Key
    estimator: Any
    train: Rows
    test: Rows
    about: dict[str, Any]
    by_measure: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        """The estimator in one line, with every parameter that is not its default."""
        return settings_text(self.estimator)


def settings_text(estimator: Any) -> str:
    """Class and parameters, those that are not defaults; scikit-learn's own text cuts long ones."""
    if isinstance(estimator, list):
        return f"[{', '.join(map(settings_text, estimator))}]"
    if isinstance(estimator, tuple) and len(estimator) > 1:
        return f"({', '.join(map(settings_text, estimator))})"
    if not hasattr(estimator, "get_params") or isclass(estimator):
        return repr(estimator)
    defaults = signature(type(estimator)).parameters
    chosen = ", ".join(
        f"{name}={settings_text(value)}"
        for name, value in estimator.get_params(deep=False).items()
        if name not in defaults or repr(value) != repr(defaults[name].default)
    )
    return f"{type(estimator).__name__}({chosen})"


def digest(values: Any) -> bytes:
    """Digest of an array, of texts too, or of a CSR array: shape, type and contents."""
    parts = [values.data, values.indices, values.indptr] if issparse(values) else [values]
    if values.dtype == object:
        lengths = np.array([len(text) for text in values])
        parts = [lengths, np.frombuffer("".join(values).encode("utf-8", "surrogatepass"), np.uint8)]
    state = blake2b(str(values.shape).encode(), digest_size=16)
    for part in parts:
        array = np.ascontiguousarray(part)
        state.update(array.dtype.str.encode())
        state.update(array.data)
    return state.digest()


def fingerprint(dataset: Dataset) -> str:
    """Sixteen hexadecimal digits that change with any value of X or Y, and with the groups."""
    parts = [digest(dataset.X), digest(dataset.Y)]
    if dataset.groups is not None:
        # Which rows are together and in which order groups are left out, whatever they are called.
        parts.append(digest(np.unique(dataset.groups, return_inverse=True)[1]))
    return blake2b(b"".join(parts), digest_size=8).hexdigest()


def cells(
    protocol: Protocol, name: str, dataset: Dataset, methods: Iterable[str]
) -> Iterator[Cell]:
    """Every cell of a data set, with the study of shares if it is here."""
    dataset, methods, shares = replace(dataset, name=name), tuple(methods), protocol.shares
    split = protocol.split_of(name, dataset.n_samples)
    folds = split.rows(dataset, protocol.seed)
    about = {"title": protocol.title, "data": fingerprint(dataset), **split.cut(dataset)}
    for fold, (train, test) in enumerate(folds):
        for method in methods:
            key = Key(protocol.name, name, method, fold, protocol.seed, None)
            by_measure = protocol.known_methods[method].by_measure
            yield Cell(key, protocol.model(method, dataset, fold), train, test, about, by_measure)
    if shares is None or shares.dataset != name or shares.method not in methods:
        return
    train, test = folds[0]
    # Every share holds the smaller ones, so that a curve over them compares like with like.
    order = np.random.RandomState(protocol.seed).permutation(train)
    for share in shares.steps:
        key = Key(protocol.name, name, shares.method, 0, protocol.seed, share)
        estimator = protocol.model(shares.method, dataset, 0, **shares.parameters)
        rows = order[: round(share * len(train))]
        by_measure = protocol.known_methods[shares.method].by_measure
        yield Cell(key, estimator, rows, test, about | {"n_folds": 1}, by_measure)


def run_cell(dataset: Dataset, cell: Cell) -> CellRecord:
    """Fit and score one cell; what it raises goes into its record."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _run(dataset, cell, caught)
            as_line(record)  # a score that is no number fails its cell, not the run
        except (Exception, SystemExit) as error:
            record = empty_record(cell, _message(error))
    # By class and first line.
    lines = (f"{w.category.__name__}: {str(w.message).partition(chr(10))[0]}" for w in caught)
    if caught:
        record.details["warnings"] = dict(sorted(Counter(lines).items()))
    return record


def _message(error: BaseException) -> str:
    """What a failed cell says: its error, and what to do where that is known."""
    if isinstance(error, InputError):
        return str(error)
    message = "".join(traceback.format_exception_only(error)).strip()
    if "should be a 1d array" in message:  # of most classifiers of scikit-learn
        message += (
            ". The classifier takes one label only: make it the estimator of "
            "sklearn.multioutput:MultiOutputClassifier or of BR, which fit one for each label."
        )
    return message


def empty_record(cell: Cell, error: str | None = None) -> CellRecord:
    """The record of a cell without any scores, because of an error or not yet."""
    about, versions = dict(cell.about), library_versions()
    # Nothing that names the machine or its owner.
    system, processor, cores = platform.system(), platform.machine(), os.cpu_count()
    machine = {"system": system, "processor": processor, "cores": cores}
    return CellRecord(*cell.key, cell.settings, {}, 0.0, 0.0, about, versions, machine, error)


def _run(dataset: Dataset, cell: Cell, told: list[warnings.WarningMessage]) -> CellRecord:
    X, Y, groups = dataset.X, dataset.Y, {}
    X_train, Y_train, X_test, Y_test = X[cell.train], Y[cell.train], X[cell.test], Y[cell.test]
    warm_up(cell.estimator, X_train, Y_train)
    if isinstance(getattr(cell.estimator, "cv", None), GroupKFold):
        groups = {"groups": np.asarray(dataset.groups)[cell.train]}
    # One thread wherever it runs: rounding must not depend on the number of cores. Warming up may
    # have loaded libraries with threads, which can be limited from here on.
    with threadpool_limits(1):
        # Which code is compiled depends on the data too. Where something was, it is all done once
        # more, and what the second run takes and warns of counts.
        for _ in range(2):
            told.clear()
            model, n_compiled = clone(cell.estimator), _n_compiled()
            start = process_time()
            model.fit(X_train, Y_train, **groups)
            fitted = process_time()
            Y_pred = predict_labels(model, X_test, Y.shape[1])
            predicted = process_time()
            if _n_compiled() == n_compiled:
                break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `predict` has said it, and once is enough
            P = predict_probabilities(model, X_test, Y.shape[1])
            decisions = decisions_by_measure(cell.by_measure)
            decided = predict_by_decision(model, X_test, Y_pred, set(decisions.values()))
            by_measure = dict.fromkeys(MEASURES, Y_pred)
            by_measure |= {key: decided[decision] for key, decision in decisions.items()}
            details = _details(Y_train, Y_test, by_measure)
            details |= _model_details(model, X_test, Y_test != Y_pred)
            details |= {"decisions": decisions} if decisions else {}
    record = empty_record(cell)
    scores = dict[str, float]()
    for key, measure in MEASURES.items():
        scores |= evaluate(Y_test, by_measure[key], [measure])
    arrays = Y_test.astype(bool), Y_pred.astype(bool), P
    decided = {decision: Y.astype(bool) for decision, Y in decided.items()}
    return replace(
        record,
        scores=scores | _probability_scores(Y_test, P),
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        details=record.details | details,
        predictions=CellPredictions(cell.test, *arrays, decided),
    )


def decisions_by_measure(by_measure: Mapping[str, str]) -> dict[str, str]:
    """The decision of each measure that has one.

    Micro and macro measures are of the same counts, so they have one in common, that of micro F.
    """
    pooled = {key: "micro_f" for key in MEASURES if key.startswith(("micro", "macro"))}
    found = {key: by_measure.get(pooled.get(key, key)) for key in MEASURES}
    return {key: decision for key, decision in found.items() if decision is not None}


def predict_by_decision(
    model: Any, X: Any, Y_pred: Any, decisions: Iterable[str]
) -> dict[str, Any]:
    """What a fitted model predicts by each decision; `Y_pred` is by that of its settings."""
    _, method = split_fitted(model)
    found = dict[str, Any]()
    for decision in sorted(decisions):
        own = method.decision
        method.set_params(decision=decision)
        found[decision] = Y_pred if decision == own else predict_labels(model, X, Y_pred.shape[1])
        method.set_params(decision=own)
    return found


def _n_compiled() -> int:
    """How many variants of the kernels of nldd are compiled, or loaded, in this process."""
    return sum(len(getattr(kernel, "signatures", ())) for kernel in KERNELS)


_warm: set[tuple[Any, ...]] = set()


def warm_up(estimator: Any, X: Any, Y: Any) -> None:
    """Load and compile what a method needs, once in a process, on a few of the training rows."""
    if isinstance(estimator, GridSearchCV):
        estimator = estimator.estimator  # once, and not for every combination
    method = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    decision = getattr(method, "decision", None)
    kind = type(method), decision, type(getattr(method, "estimator", None)), issparse(X)
    if kind in _warm:
        return
    _warm.add(kind)
    with warnings.catch_warnings(), suppress(Exception):  # the cell itself will tell
        warnings.simplefilter("ignore")
        clone(estimator).fit(X[:N_WARM], Y[:N_WARM]).predict(X[:N_WARM])


def _probability_scores(Y: Any, P: NDArray[np.float32] | None) -> dict[str, float]:
    """The measures of probabilities that are defined here; of odd ones some or none are."""
    if P is None:
        return {}
    scores, why = dict[str, float](), ""
    if not np.isfinite(P).all():
        why = "are no finite numbers, so no measure of probabilities was computed"
    else:
        for measure in PROBABILITY_MEASURES.values():
            with suppress(InputError):
                scores |= evaluate(Y, P, [measure])
    left_out = [key for key in PROBABILITY_MEASURES if key not in scores]
    if left_out:
        why = why or (
            "do not lie between 0 and 1, so these measures were not computed: "
            + ", ".join(left_out)
        )
        warnings.warn(f"predict_proba gave values that {why}.", stacklevel=2)
    return {key: score for key, score in scores.items() if np.isfinite(score)}


def _details(Y_train: Any, Y_test: Any, by_measure: Mapping[str, Any]) -> dict[str, Any]:
    """Counts, standard errors, and scores apart for labelsets seen and not seen in training.

    `by_measure` has what was predicted for each measure.
    """
    keys, n_test = [measure.key for measure in PAPER_MEASURES], len(Y_test)
    rows = {key: row_values(Y_test, by_measure[key])[key] for key in keys}
    seen = labelsets_seen(Y_train, Y_test)
    # Of the means, as if test rows were drawn at random.
    errors = {key: row.std(ddof=1) / np.sqrt(n_test) for key, row in rows.items() if n_test > 1}
    details = {"n_train": len(Y_train), "n_test": n_test, "n_labels": Y_test.shape[1]}
    details["label_counts"] = label_counts(Y_test, by_measure["micro_f"]).as_lists()
    details["standard_errors"] = {key: float(errors[key]) if errors else None for key in rows}
    for name, mask in (("observed", seen), ("unobserved", ~seen)):
        means = {key: float(row[mask].mean()) for key, row in rows.items() if mask.any()}
        details[name] = {"n": int(mask.sum()), **means}
    return details


def labelsets_seen(Y_train: Any, Y_test: Any) -> NDArray[np.bool_]:
    """Whether the labelset of each test row occurs in training."""
    known = {row.tobytes() for row in np.packbits(Y_train.astype(bool), axis=1)}
    return np.array([row.tobytes() in known for row in np.packbits(Y_test.astype(bool), axis=1)])


def _model_details(model: Any, X_test: Any, wrong: NDArray[np.bool_]) -> dict[str, Any]:
    """What was searched and chosen, and what NLDD has learned, with the calibration of theta.

    `wrong` tells of each test row which labels are.
    """
    steps, method = split_fitted(model)
    details = dict[str, Any]()
    if isinstance(model, GridSearchCV):
        details["searched"] = search_details(model)
    if (choice := getattr(method, "chosen_", None)) is not None:
        name = choice.name + " with trees" * choice.with_trees
        details["chosen"] = {"name": name, "brier": dict(choice.brier)}
    if not isinstance(method, NLDDClassifier):
        return details
    X_test = steps.transform(X_test) if steps else X_test
    details["n_labelsets"] = len(method.labelsets_)
    # Rows, mean theta, and mean share of wrong labels.
    details["theta_bins"] = _bins(method.predict_theta(X_test), wrong.mean(axis=1), 5)
    is_nearest = hasattr(method, "regression_")
    found = _regression_details if is_nearest else _posterior_details
    return details | found(method, X_test, wrong)


def _bins(
    expected: NDArray[np.float64], found: NDArray[Any], n_bins: int
) -> list[tuple[int, float, float]]:
    """Test rows in bins of equal size by what is expected, with its mean and of what was found."""
    order = np.argsort(expected, kind="stable")
    bins = np.array_split(order, n_bins) if len(order) >= n_bins else []
    return [(len(rows), float(expected[rows].mean()), float(found[rows].mean())) for rows in bins]


def _regression_details(
    model: NLDDClassifier, X_test: Any, wrong: NDArray[np.bool_]
) -> dict[str, Any]:
    errors = model.regression_.standard_errors
    return {
        "coefficients": [float(value) for value in model.beta_],
        # A weight that was held at 0 has no error.
        "coefficient_errors": [None if np.isnan(value) else float(value) for value in errors],
        "n_pairs": len(model.pairs_),
        "evaluated_share": model.search_stats(X_test).share_evaluated,
    }


def _posterior_details(
    model: NLDDClassifier, X_test: Any, wrong: NDArray[np.bool_]
) -> dict[str, Any]:
    right = wrong.sum(axis=1) == 0
    return {
        "weights": model.weights_._asdict(),
        "unseen_share": model.unseen_share_,
        # Rows, mean probability that the labelset is exactly right, and the share that is.
        "exact_match_bins": _bins(model.exact_match_probability(X_test), right, 10),
    }
