"""Measures by hand, against loops over sets and against scikit-learn."""

import inspect
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from scipy.sparse import csr_array, csr_matrix
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, cross_val_score

from metrics.naive import NAIVE, random_pairs
from nldd.exceptions import InputError
from nldd.metrics import __all__
from nldd.metrics._measures import MEASURES, PAPER_MEASURES, evaluate

KEYS = tuple(NAIVE)
WITH_EMPTY = tuple(
    key for key in KEYS if "empty" in inspect.signature(MEASURES[key].function).parameters
)
# Measures with every value of `empty` they can take.
KEY_EMPTY = [
    pytest.param(key, options, id=f"{key}-{'-'.join(f'empty{e}' for e in options.values())}")
    for key in KEYS
    for options in ([{"empty": 0}, {"empty": 1}] if key in WITH_EMPTY else [{}])
]

# Rows: {0, 1} read as {0}; {} as {}; {1, 2} as {1, 2}; {0} as {}; {} as {2}. Label 3 never occurs.
Y_TRUE = [[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
Y_PRED = [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]


def naive(key, Y_true, Y_pred, weight=None, empty=1):
    weight = np.ones(len(Y_true)) if weight is None else weight
    return NAIVE[key](Y_true, Y_pred, weight, empty)


def value(key, Y_true, Y_pred, **options):
    return MEASURES[key].function(Y_true, Y_pred, **options)


def test_functions_are_all_covered_here():
    assert set(KEYS) == set(MEASURES)
    assert set(KEYS) <= set(__all__)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("hamming_loss", 3 / 20),  # labels 1, 0 and 2 of rows 0, 3 and 4
        ("zero_one_loss", 3 / 5),
        ("subset_accuracy", 2 / 5),
        # For the rest: what counts + (share of what is empty) * empty.
        ("multilabel_accuracy", (1.5 / 5, 1 / 5)),  # 1/2, empty, 1, 0, 0
        ("f_measure", (5 / 3 / 5, 1 / 5)),  # 2/3, empty, 1, 0, 0
        ("precision", (2 / 5, 1 / 5)),  # 1, empty, 1, 0 (truth is not empty), 0
        ("recall", (1.5 / 5, 1 / 5)),  # 1/2, empty, 1, 0, 0 (prediction is not empty)
        ("micro_f", (6 / 9, 0)),  # 3 in both, 5 in the truth, 4 in the prediction
        ("micro_precision", (3 / 4, 0)),
        ("micro_recall", (3 / 5, 0)),
        ("macro_f", (2 / 4, 1 / 4)),  # 2/3, 2/3, 2/3, empty
        ("macro_precision", (2.5 / 4, 1 / 4)),  # 1/1, 1/1, 1/2, empty
        ("macro_recall", (2 / 4, 1 / 4)),  # 1/2, 1/2, 1/1, empty
    ],
)
def test_measure_by_hand(key, expected):
    if key not in WITH_EMPTY:
        assert value(key, Y_TRUE, Y_PRED) == pytest.approx(expected, abs=1e-15)
        return
    counted, share_empty = expected
    for empty in (0, 1, 0.5):
        by_hand = counted + share_empty * empty
        assert value(key, Y_TRUE, Y_PRED, empty=empty) == pytest.approx(by_hand, abs=1e-15)
    usual = value(key, Y_TRUE, Y_PRED, empty=1)
    if key.startswith("macro"):  # a label that is nowhere is left out
        usual = counted / (1 - share_empty)
    assert value(key, Y_TRUE, Y_PRED) == pytest.approx(usual, abs=1e-15)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("key", "options"), KEY_EMPTY)
def test_measure_equals_naive_loop(key, options, weighted):
    rng = np.random.default_rng(1)
    for Y_true, Y_pred in random_pairs(40):
        weight = rng.uniform(0.1, 3, len(Y_true)) if weighted else None
        expected = naive(key, Y_true, Y_pred, weight, **options)
        found = value(key, Y_true, Y_pred, sample_weight=weight, **options)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("key", ["hamming_loss", "micro_f", "macro_f"])
@pytest.mark.parametrize("length", [1, 6])
def test_measure_refuses_weights_of_another_length(key, length):
    with pytest.raises(InputError, match="sample_weight"):
        value(key, Y_TRUE, Y_PRED, sample_weight=np.ones(length))


# Of nothing found and nothing to find scikit-learn's are 0; ours if asked for.
SCIKIT_LEARN = {
    "hamming_loss": sklearn.metrics.hamming_loss,
    "zero_one_loss": sklearn.metrics.zero_one_loss,
    "subset_accuracy": sklearn.metrics.accuracy_score,
    "multilabel_accuracy": partial(sklearn.metrics.jaccard_score, average="samples"),
    "f_measure": partial(sklearn.metrics.f1_score, average="samples"),
    "precision": partial(sklearn.metrics.precision_score, average="samples"),
    "recall": partial(sklearn.metrics.recall_score, average="samples"),
} | {
    f"{average}_{name}": partial(function, average=average)
    for average in ("micro", "macro")
    for name, function in (
        ("f", sklearn.metrics.f1_score),
        ("precision", sklearn.metrics.precision_score),
        ("recall", sklearn.metrics.recall_score),
    )
}


@pytest.mark.parametrize("key", KEYS)
def test_measure_equals_scikit_learn(key):
    ours, theirs = ({"empty": 0}, {"zero_division": 0}) if key in WITH_EMPTY else ({}, {})
    rng = np.random.default_rng(3)
    for Y_true, Y_pred in random_pairs(10, min_labels=2, seed=3):
        weight = rng.uniform(0.1, 3, len(Y_true))
        expected = SCIKIT_LEARN[key](Y_true, Y_pred, sample_weight=weight, **theirs)
        found = value(key, Y_true, Y_pred, sample_weight=weight, **ours)
        assert found == pytest.approx(expected, abs=1e-12)


FORMS = {
    "list": list,
    "bool": lambda Y: np.array(Y, dtype=bool),
    "float": lambda Y: np.array(Y, dtype=float),
    "csr_array": csr_array,
    "csr_bool": lambda Y: csr_array(np.array(Y, dtype=bool)),
    "pandas": lambda Y: pd.DataFrame(Y, columns=list("abcd")),
    "pandas_nullable": lambda Y: pd.DataFrame(Y, columns=list("abcd")).astype("Int64"),
    "polars": lambda Y: pl.DataFrame(Y, schema=list("abcd"), orient="row"),
}


@pytest.mark.parametrize("form", FORMS)
def test_measure_takes_every_form_of_indicator(form):
    as_form = FORMS[form]
    for key in KEYS:
        expected = value(key, np.array(Y_TRUE), np.array(Y_PRED))
        assert value(key, as_form(Y_TRUE), as_form(Y_PRED)) == expected
        assert value(key, as_form(Y_TRUE), Y_PRED) == expected


REFUSED = {
    "other labels": (np.zeros((2, 3)), np.zeros((2, 2)), r"\(2, 3\) and \(2, 2\)"),
    "other rows": (np.zeros((1, 2)), np.zeros((3, 2)), r"\(1, 2\) and \(3, 2\)"),
    "other names": (
        pd.DataFrame({"a": [0], "b": [1]}),
        pd.DataFrame({"b": [0], "a": [1]}),
        r"\['a', 'b'\] and \['b', 'a'\]",
    ),
    "1-D": ([0, 1], [[0, 1]], r"Y_true .*shape \(2,\)"),
    "3-D": ([[0, 1]], [[[0, 1]]], r"Y_pred .*\(1, 1, 2\)"),
    "half": ([[0, 1]], [[0, 0.5]], "Y_pred .*holds 0.5"),
    "NaN": ([[0, np.nan]], [[0, 1]], "Y_true .*NaN"),
    "text": ([["0", "1"]], [[0, 1]], "Y_true .*holds '0'"),
    "None": (np.array([[None, 1]]), [[0, 1]], "Y_true"),
    "sparse three": (csr_matrix([[0, 3]]), [[0, 1]], "Y_true"),
    "no rows": (np.zeros((0, 3)), np.zeros((0, 3)), r"Y_true .*\(0, 3\)"),
    "no labels": (np.zeros((3, 0)), np.zeros((3, 0)), r"Y_true .*\(3, 0\)"),
}


@pytest.mark.parametrize("key", ["hamming_loss", "micro_f"])
@pytest.mark.parametrize(("Y_true", "Y_pred", "message"), REFUSED.values(), ids=REFUSED)
def test_measure_refuses_what_is_no_pair_of_indicators(key, Y_true, Y_pred, message):
    with pytest.raises(InputError, match=message):
        value(key, Y_true, Y_pred)


RECORDS = [pytest.param(measure, id=key) for key, measure in MEASURES.items()]


@pytest.fixture
def data():
    """Features and labels of 12 rows; the second label is rare, some rows have no label."""
    rng = np.random.default_rng(1)
    Y = (rng.random((12, 3)) < [0.7, 0.2, 0.5]).astype(int)
    Y[::4] = 0
    return rng.normal(size=(12, 2)), Y


@pytest.mark.parametrize("measure", RECORDS)
def test_scorer_in_cross_validation_gives_minus_the_loss(measure, data):
    X, Y = data
    model = DummyClassifier(strategy="most_frequent")
    found = cross_val_score(model, X, Y, cv=KFold(3), scoring=measure.scorer())
    assert measure.greater_is_better is ("loss" not in measure.name)
    sign = 1 if measure.greater_is_better else -1
    expected = []
    for train, test in KFold(3).split(X):
        # The majority of each label; `most_frequent` takes the smaller class of a tie, 0.
        majority = (Y[train].mean(axis=0) > 0.5).astype(int)
        expected.append(sign * measure.function(Y[test], np.tile(majority, (len(test), 1))))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert len(set(found)) > 1


def test_evaluate_gives_the_paper_measures_by_key():
    # Rows {0, 1} read as {0}, {2} read as {0, 2}: 2 of 6 labels wrong, no row right,
    # accuracies 1/2 and 1/2, F-measures 2/3 and 2/3.
    found = evaluate([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 0, 1]])
    assert list(found) == [measure.key for measure in PAPER_MEASURES]
    assert found == pytest.approx(
        {
            "hamming_loss": 1 / 3,
            "zero_one_loss": 1.0,
            "multilabel_accuracy": 0.5,
            "f_measure": 2 / 3,
        }
    )
