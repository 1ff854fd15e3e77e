"""Our own checks on every method of the registry."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import multilabel_checks
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError

PERMUTED = multilabel_checks.check_multilabel_permuted_labels_permute_predictions

SETTINGS = {
    "NLDD": {"random_state": 0},
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
        ("BR", "decision", "vote"),
        ("NLDD", "model", "quadratic"),
        ("NLDD", "train_fraction", 1.5),
        ("NLDD", "max_pairs", 0),
        ("NLDD", "estimator", "svm"),
        ("CC", "order", "backwards"),
        ("ECC", "n_members", 0),
        ("ECC", "row_fraction", 0.0),
        ("ECC", "threshold", 1.5),
        ("RAKEL", "k", 0),
        ("RAKEL", "threshold", 1.5),
        ("MLKNN", "k", 2.5),
        ("MLKNN", "s", 0.0),
        ("CBM", "n_components", 0),
        ("CBM", "variance", 0.0),
        ("CBM", "predictor", "mode"),
        ("LP", "random_state", "seed"),
        ("RFPCT", "n_estimators", 0),
    ],
)
def test_wrong_parameters_are_named(key, name, value, small):
    model = METHODS[key].default(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter of .* must be"):
        model.fit(*small)
