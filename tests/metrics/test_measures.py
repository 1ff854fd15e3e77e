import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from scipy.sparse import coo_matrix, csr_array, csr_matrix

from metrics.naive import NAIVE, random_pairs
from nldd.exceptions import InputError
from nldd.metrics import __all__
from nldd.metrics._measures import MEASURES

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


@pytest.mark.parametrize(("key", "options"), KEY_EMPTY)
def test_measure_equals_naive_loop(key, options):
    for Y_true, Y_pred in random_pairs(40):
        expected = naive(key, Y_true, Y_pred, **options)
        assert value(key, Y_true, Y_pred, **options) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("key", "options"), KEY_EMPTY)
def test_measure_with_weights_equals_naive_loop(key, options):
    rng = np.random.default_rng(1)
    for Y_true, Y_pred in random_pairs(20, seed=1):
        weight = rng.uniform(0.1, 3, len(Y_true))
        expected = naive(key, Y_true, Y_pred, weight, **options)
        found = value(key, Y_true, Y_pred, sample_weight=weight, **options)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("key", ["hamming_loss", "micro_f", "macro_f"])
@pytest.mark.parametrize("length", [1, 6])
def test_measure_refuses_weights_of_another_length(key, length):
    with pytest.raises(InputError, match="sample_weight"):
        value(key, Y_TRUE, Y_PRED, sample_weight=np.ones(length))


SCIKIT_LEARN = {
    "hamming_loss": (sklearn.metrics.hamming_loss, {}),
    "zero_one_loss": (sklearn.metrics.zero_one_loss, {}),
    "subset_accuracy": (sklearn.metrics.accuracy_score, {}),
    "multilabel_accuracy": (sklearn.metrics.jaccard_score, {"average": "samples"}),
    "f_measure": (sklearn.metrics.f1_score, {"average": "samples"}),
    "precision": (sklearn.metrics.precision_score, {"average": "samples"}),
    "recall": (sklearn.metrics.recall_score, {"average": "samples"}),
    "micro_f": (sklearn.metrics.f1_score, {"average": "micro"}),
    "micro_precision": (sklearn.metrics.precision_score, {"average": "micro"}),
    "micro_recall": (sklearn.metrics.recall_score, {"average": "micro"}),
    "macro_f": (sklearn.metrics.f1_score, {"average": "macro"}),
    "macro_precision": (sklearn.metrics.precision_score, {"average": "macro"}),
    "macro_recall": (sklearn.metrics.recall_score, {"average": "macro"}),
}
# scikit-learn's precision of an empty prediction is `zero_division` even where the truth is not
# empty (ours is 0 there), its recall likewise: the two agree for 0 only.
AGREES_FOR_0_ONLY = {key for key in KEYS if key.endswith(("precision", "recall"))}


@pytest.mark.parametrize(
    ("key", "options"),
    [
        case
        for case in KEY_EMPTY
        if case.values[0] in SCIKIT_LEARN
        and not (case.values[1].get("empty") == 1 and case.values[0] in AGREES_FOR_0_ONLY)
    ],
)
def test_measure_equals_scikit_learn(key, options):
    function, average = SCIKIT_LEARN[key]
    zero_division = {"zero_division": options["empty"]} if options else {}
    rng = np.random.default_rng(3)
    for Y_true, Y_pred in random_pairs(10, min_labels=2, seed=3):
        weight = rng.uniform(0.1, 3, len(Y_true))
        expected = function(Y_true, Y_pred, sample_weight=weight, **average, **zero_division)
        found = value(key, Y_true, Y_pred, sample_weight=weight, **options)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_measure_of_perfect_prediction_is_best(key):
    best = 1.0 if MEASURES[key].greater_is_better else 0.0
    for Y_true, _ in random_pairs(10):
        assert value(key, Y_true, Y_true) == best


FORMS = {
    "list": list,
    "tuple": lambda Y: tuple(map(tuple, Y)),
    "bool": lambda Y: np.array(Y, dtype=bool),
    "float": lambda Y: np.array(Y, dtype=float),
    "int8": lambda Y: np.array(Y, dtype=np.int8),
    "csr_matrix": csr_matrix,
    "csr_array": csr_array,
    "coo_matrix": coo_matrix,
    "csr_bool": lambda Y: csr_array(np.array(Y, dtype=bool)),
    "pandas": lambda Y: pd.DataFrame(Y, columns=list("abcd")),
    "pandas_bool": lambda Y: pd.DataFrame(Y, columns=list("abcd")).astype(bool),
    "pandas_nullable": lambda Y: pd.DataFrame(Y, columns=list("abcd")).astype("Int64"),
    "pandas_bool_and_int": lambda Y: pd.DataFrame(Y, columns=list("abcd")).astype({"a": bool}),
    "polars": lambda Y: pl.DataFrame(Y, schema=list("abcd"), orient="row"),
}


@pytest.mark.parametrize("form", FORMS)
def test_measure_takes_every_form_of_indicator(form):
    as_form = FORMS[form]
    for key in KEYS:
        expected = value(key, np.array(Y_TRUE), np.array(Y_PRED))
        assert value(key, as_form(Y_TRUE), as_form(Y_PRED)) == expected
        assert value(key, as_form(Y_TRUE), Y_PRED) == expected


@pytest.mark.parametrize("key", ["hamming_loss", "micro_f"])
@pytest.mark.parametrize(
    ("Y_true", "Y_pred", "message"),
    [
        pytest.param(
            np.zeros((2, 3)),
            np.zeros((2, 2)),
            r"same rows and label columns; got shapes \(2, 3\) and \(2, 2\)",
            id="other labels",
        ),
        pytest.param(
            np.zeros((1, 2)),
            np.zeros((3, 2)),
            r"same rows and label columns; got shapes \(1, 2\) and \(3, 2\)",
            id="other rows",
        ),
        pytest.param(
            pd.DataFrame({"a": [0], "b": [1]}),
            pd.DataFrame({"b": [0], "a": [1]}),
            r"same rows and label columns.*columns \['a', 'b'\] and \['b', 'a'\]",
            id="other names",
        ),
        pytest.param(
            [0, 1], [[0, 1]], r"Y_true must be an indicator matrix.*shape \(2,\)", id="1-D"
        ),
        pytest.param(
            [[0, 1]], [[[0, 1]]], r"Y_pred must be an indicator matrix.*\(1, 1, 2\)", id="3-D"
        ),
        pytest.param([[0, 2]], [[0, 1]], "Y_true must be an indicator matrix.*holds 2", id="two"),
        pytest.param(
            [[0, 1]], [[0, 0.5]], "Y_pred must be an indicator matrix.*holds 0.5", id="half"
        ),
        pytest.param([[0, np.nan]], [[0, 1]], "Y_true must be an indicator matrix.*NaN", id="NaN"),
        pytest.param(
            [["0", "1"]], [[0, 1]], "Y_true must be an indicator matrix.*holds '0'", id="text"
        ),
        pytest.param(
            np.array([[None, 1]]), [[0, 1]], "Y_true must be an indicator matrix", id="None"
        ),
        pytest.param(
            csr_matrix([[0, 3]]), [[0, 1]], "Y_true must be an indicator matrix", id="sparse three"
        ),
        pytest.param(
            np.zeros((0, 3)),
            np.zeros((0, 3)),
            r"Y_true must be an indicator matrix.*\(0, 3\)",
            id="no rows",
        ),
        pytest.param(
            np.zeros((3, 0)),
            np.zeros((3, 0)),
            r"Y_true must be an indicator matrix.*\(3, 0\)",
            id="no labels",
        ),
    ],
)
def test_measure_refuses_what_is_no_pair_of_indicators(key, Y_true, Y_pred, message):
    with pytest.raises(InputError, match=message):
        value(key, Y_true, Y_pred)
