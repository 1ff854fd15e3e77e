"""The promise of a model as a whole, where the truth is known.

Unlike in test_selective.py, theta comes from NLDD itself: its threshold is found on out-of-fold
predictions and used with the model of all rows, whose theta must be on the same scale.
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from nldd import NLDDClassifier
from nldd.coding import out_of_fold, selective_threshold
from nldd.coding._predictions import predict

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

SLOPES = np.random.default_rng(99).normal(size=(6, 4)) * 4
TARGET = 0.9


def draw(rng, n):
    """Rows, labels, and the probability of each label."""
    X = rng.normal(size=(n, 6))
    P = 1 / (1 + np.exp(-X @ SLOPES))
    return X, (rng.random(P.shape) < P).astype(np.int8), P


def study(seed, n, X_new, P_new):
    """Share coded automatically among the coded rows and the new ones, and its true accuracy."""
    X, Y, _ = draw(np.random.default_rng(seed), n)
    base = LogisticRegression(solver="liblinear")
    model = NLDDClassifier(base, random_state=seed).fit(X, Y)
    known = out_of_fold(model, X, Y, random_state=seed)
    found = selective_threshold(known.theta, known.right(Y), TARGET)
    if found.threshold is None:
        return 0.0, 0.0, 1.0
    new = predict(model, X_new)
    auto = new.theta <= found.threshold
    right = np.where(new.Y == 1, P_new, 1 - P_new).prod(axis=1)
    return found.share, auto.mean(), right[auto].mean() if auto.any() else 1.0


def test_share_of_new_rows_is_that_of_the_coded_ones():
    """Weights learned anew in each fold would be off by up to a fifth here."""
    X, _, P = draw(np.random.default_rng(10**6), 4000)
    shares = np.array([study(seed, 1500, X, P)[:2] for seed in range(4)])
    assert (shares[:, 0] > 0.3).all()
    assert np.abs(shares[:, 0] - shares[:, 1]).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_studies"), [(300, 300), (4000, 60)])
def test_true_accuracy_is_seldom_below_the_target(n, n_studies):
    X, _, P = draw(np.random.default_rng(10**6), 4000)
    found = np.array([study(seed, n, X, P) for seed in range(n_studies)])
    broken = int((found[:, 2] < TARGET).sum())
    print(
        f"{n} coded rows: a promise in {(found[:, 1] > 0).mean():.0%} of {n_studies} studies, "
        f"{found[:, 1].mean():.1%} coded automatically, broken in {broken / n_studies:.1%}"
    )
    assert broken <= 0.1 * n_studies
    assert (found[:, 1] > 0).mean() > 0.5
