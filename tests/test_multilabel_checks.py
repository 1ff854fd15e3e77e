"""Our own checks on every method of the registry."""

import pytest

import multilabel_checks
from nldd import METHODS

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
