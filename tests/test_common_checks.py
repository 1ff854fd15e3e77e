"""scikit-learn's own checks of every estimator, all run and counted, and ours of every method."""

import unittest

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import multilabel_checks
from nldd import METHODS, InputError, PlattSVC
from nldd.estimators._svm import LinearSVM
from nldd.linear._logistic import MultiLabelLogisticRegression

# What makes the methods quick enough, or suits the checks; the others have their defaults.
QUICK = {
    "ECC": {"n_members": 3},
    "CBM": {"n_components": 3, "n_iterations": 2},
    "RFPCT": {"n_estimators": 10},
    # Of the decisions, the one that the probabilities round to.
    "NLDD-P": {"decision": "hamming"},
}
ESTIMATORS = [
    *(METHODS[key].default(**QUICK.get(key, {})) for key in METHODS),
    *(MultiLabelLogisticRegression(), PlattSVC()),
    LinearSVM(tol=1e-10),  # two ways to the same optimum differ by the tolerance
]

DRAWS_ROWS = (
    "Rows are drawn at random, each with the same chance; a row of weight two and two equal rows "
    "are drawn differently."
)
DRAWS_FOLDS = (
    "The sigmoid's folds are cut from a random order of the rows; a row of weight two and two "
    "equal rows fall into different folds."
)
DRAWS_HALVES = (
    "The weights of a posterior, and so its probabilities, come from random halves; a row of "
    "weight two and two equal rows fall into different halves."
)
SHARES = (
    "A share of votes may be exactly 0 or 1, which are probabilities; the check wants them "
    "strictly inside."
)

# Nothing is excused for NLDD, BR, SMBR, CC, LP, ML-kNN and CBM.
OUTPUT = "check_classifiers_multilabel_output_format_predict_proba"
WEIGHTS = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
EXCUSED = {
    "EnsembleOfChains": {**dict.fromkeys(WEIGHTS, DRAWS_ROWS), OUTPUT: SHARES},
    "RAkEL": {OUTPUT: SHARES},
    "RandomForestPCT": {**dict.fromkeys(WEIGHTS, DRAWS_ROWS), OUTPUT: SHARES},
    "PlattSVC": {
        "check_classifiers_train": (
            "predict takes the sign of the decision value, as LIBSVM and the paper do; next to the "
            "margin the sigmoid may put the probability on the other side of 1/2."
        ),
        **dict.fromkeys(WEIGHTS, DRAWS_FOLDS),
    },
}


def excused(estimator):
    if getattr(estimator, "decision", None) == "hamming":
        return dict.fromkeys(WEIGHTS, DRAWS_HALVES)
    return EXCUSED.get(type(estimator).__name__, {})


# One is for a method that none has, the other needs an extra package and a switch.
SKIPPED = {"check_classifiers_multilabel_output_format_decision_function", "check_array_api_input"}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=excused)
def test_estimator_passes_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except unittest.SkipTest:
        assert check.func.__name__ in SKIPPED
        raise


@pytest.mark.parametrize("estimator", ESTIMATORS[:-2], ids=lambda e: type(e).__name__)
def test_number_of_checks_that_run(estimator):
    """A tag set wrongly can switch checks off in silence; a count cannot be fooled."""
    names = [check.func.__name__ for _, check in estimator_checks_generator(estimator)]
    run = [name for name in names if name not in SKIPPED | excused(estimator).keys()]
    # Eight more where fit takes sample_weight; of those and one more some methods excuse three.
    takes_weights = has_fit_parameter(estimator, "sample_weight")
    assert len(run) >= (66 if takes_weights else 58) - len(excused(estimator))


PERMUTED = multilabel_checks.check_multilabel_permuted_labels_permute_predictions

SETTINGS = {
    "NLDD": {"random_state": 0},
    "NLDD-P": {"random_state": 0, **QUICK["NLDD-P"]},
    "ECC": {"random_state": 0, "n_members": 5},
    "RAKEL": {"random_state": 0, "n_models": 4},
    "CBM": {"random_state": 0, "n_components": 3, "n_iterations": 3, "n_restarts": 2},
    "RFPCT": {"random_state": 0, "n_estimators": 15},
}

# What these draw or follow is tied to the position of the labels, so permuting the columns gives
# another model, not the same one permuted: the order of a chain, the subsets of RAkEL, the random
# start of CBM. Variants without that freedom stand in for them where there are such.
PERMUTABLE = {
    "CC": None,
    "ECC": None,
    "RAKEL": {"k": 1, "n_models": 4},
    "CBM": {"n_components": 1, "n_iterations": 1, "inner_steps": 300},
}


@pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("check", multilabel_checks.CHECKS, ids=lambda check: check.__name__[17:])
@pytest.mark.parametrize("key", METHODS)
def test_method_passes_multilabel_check(key, check, small):
    settings = SETTINGS.get(key, {})
    if check is PERMUTED and key in PERMUTABLE:
        if PERMUTABLE[key] is None:
            assert "order" in METHODS[key].default().get_params()  # the reason above
            return
        settings = {**settings, **PERMUTABLE[key]}
    check(METHODS[key].default(**settings), *small)


@pytest.mark.parametrize("key", ["BR", "SMBR", "NLDD", "CC", "ECC", "LP", "RAKEL"])
def test_weights_that_the_base_cannot_take(key, small):
    X, Y = small
    model = METHODS[key].default(estimator=KNeighborsClassifier(), **SETTINGS.get(key, {}))
    with pytest.raises(InputError, match=r"KNeighborsClassifier.* does not take it in fit"):
        model.fit(X, Y, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize(
    ("key", "name", "value"),
    [
        *(("BR", "decision", "vote"), ("NLDD", "model", "quadratic")),
        *(("NLDD", "train_fraction", 1.5), ("NLDD", "max_pairs", 0), ("NLDD", "estimator", "svm")),
        *(("CC", "order", "backwards"), ("ECC", "n_members", 0), ("ECC", "row_fraction", 0.0)),
        *(("ECC", "threshold", 1.5), ("RAKEL", "k", 0), ("RAKEL", "threshold", 1.5)),
        *(("MLKNN", "k", 2.5), ("MLKNN", "s", 0.0), ("CBM", "n_components", 0)),
        *(("CBM", "variance", 0.0), ("CBM", "predictor", "mode"), ("LP", "random_state", "seed")),
        ("RFPCT", "n_estimators", 0),
    ],
)
def test_wrong_parameters_are_named(key, name, value, small):
    model = METHODS[key].default(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter of .* must be"):
        model.fit(*small)
