"""The fitted regression: theta, score, parts and summary, all by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pairs_data import FEATURES, LABELS, make_pairs

from nldd.regression._regression import DistanceRegression

LINEAR = DistanceRegression(
    model="linear",
    covariance="independent",
    beta=np.array([-1.0, 0.5, 2.0]),
    covariance_matrix=np.array([[0.04, 0.01, 0], [0.01, 0.09, 0], [0, 0, 0.16]]),
    robust_covariance_matrix=np.array([[0.25, 0, 0.1], [0, 0.36, 0], [0.1, 0, 0.49]]),
    log_likelihood=-12.345,
    n_pairs=30,
    n_instances=20,
    n_labels=8,
    n_steps=5,
    converged=True,
    separated=False,
    fixed=(),
)
MULTIPLICATIVE = replace(LINEAR, model="multiplicative", beta=np.array([-2.0, 0.5, 2.0]))


def logistic(eta):
    return 1 / (1 + np.exp(-np.asarray(eta, dtype=float)))


FLAT = replace(MULTIPLICATIVE, beta=np.array([-1.0, 0.0, 0.5]))


@pytest.mark.parametrize(
    ("fit", "Dx", "Dy", "parts", "score"),
    [
        pytest.param(LINEAR, [0, 2, 4], [0, 0.5, 1], [[0, 1, 2], [0, 1, 2]], [0, 2, 4], id="sum"),
        pytest.param(
            MULTIPLICATIVE, [0, 4, 9], [1, 2, 0], [[0, 2, 3], [1, 4, 0]], [0, 8, 0], id="product"
        ),
        pytest.param(FLAT, [0, 0], [4, 0], [[1, 1], [2, 0]], [2, 0], id="0^0 is 1"),
    ],
)
def test_parts_score_and_theta_by_hand(fit, Dx, Dy, parts, score):
    distances = np.array(Dx, dtype=float), np.array(Dy, dtype=float)
    assert_allclose(fit.parts(*distances), parts)
    assert_allclose(fit.score(*distances), score)
    assert_allclose(fit.theta(*distances), logistic(fit.beta[0] + np.array(score)))


@pytest.mark.parametrize("fit", [LINEAR, MULTIPLICATIVE], ids=["linear", "multiplicative"])
@pytest.mark.parametrize("intercept", [-1e4, -1.0, 1e4])
@pytest.mark.parametrize("distance", [0.0, 1.0, 1e6])
def test_theta_is_strictly_inside_zero_and_one(fit, intercept, distance):
    fit = replace(fit, beta=np.array([intercept, 0.5, 2.0]))
    theta = fit.theta(np.array([distance]), np.array([distance]))[0]
    assert 0 < theta < 1
    assert np.isfinite(np.log(theta))
    assert np.isfinite(np.log1p(-theta))


def test_summary_text():
    # theta = 1 / (1 + e) = 0.2689 at the origin, 2.15 of 8 labels
    assert LINEAR.summary().splitlines() == [
        "log-odds of a wrong label = b0 + b1 Dx + b2 Dy   (maximum likelihood)",
        "30 pairs of 20 instances, 8 labels; log-likelihood -12.35; converged in 5 steps",
        "",
        "                coefficient  std. error robust s.e.",
        "intercept           -1.0000      0.2000      0.5000",
        "Dx (features)        0.5000      0.3000      0.6000",
        "Dy (labels)          2.0000      0.4000      0.7000",
        "",
        "theta at Dx = Dy = 0: 0.2689, or 2.15 wrong labels of 8",
    ]


def test_summary_tells_model_method_and_lack_of_convergence():
    lines = str(MULTIPLICATIVE).splitlines()
    assert lines[0] == "log-odds of a wrong label = b0 + Dx^b1 Dy^b2   (maximum likelihood)"
    # 1 / (1 + e^2) = 0.1192
    assert lines[-1] == "theta at Dx = Dy = 0: 0.1192, or 0.95 wrong labels of 8"
    lines = replace(LINEAR, covariance="exchangeable", converged=False).summary().splitlines()
    assert lines[0].endswith("(GEE, exchangeable)")
    assert lines[1].endswith("log-likelihood -12.35; NOT converged")


def test_summary_notes_what_was_held_at_zero():
    nan = np.full((3, 3), np.nan)
    fit = replace(
        LINEAR,
        beta=np.array([-1.0, 0.0, 0.0]),
        covariance_matrix=nan,
        robust_covariance_matrix=nan,
        fixed=(FEATURES, LABELS),
    )
    lines = fit.summary().splitlines()
    assert lines[5] == "Dx (features)        0.0000       fixed       fixed"
    assert lines[6] == "Dy (labels)          0.0000       fixed       fixed"
    assert lines[-1] == "not estimated: Dx (features), Dy (labels) (negative, or not identified)"


def test_summary_notes_separation():
    text = replace(LINEAR, separated=True).summary()
    assert text.startswith(LINEAR.summary())
    assert text.splitlines()[-2:] == [
        "separated: the distances tell right from wrong labels perfectly here;",
        "counts were smoothed to keep the coefficients finite",
    ]
    for note in ("separated", "not estimated", "fixed", "NOT"):
        assert note not in LINEAR.summary()


def test_records_with_arrays_can_be_compared_and_hashed():
    """Each is equal to itself only; element by element there is no one answer."""
    for make in (lambda: replace(LINEAR), lambda: make_pairs([1, 2], [3, 4], [0, 1], 5)):
        record = make()
        assert record == record
        assert record != make()
        assert len({record, make()}) == 2
