"""Pairs to regress on: made by hand, or drawn at random from a known model."""

import warnings

import numpy as np
from scipy.special import expit

from nldd.exceptions import NLDDWarning
from nldd.regression._likelihood import BinomialLoss
from nldd.regression._regression import Pairs, fit_regression

FEATURES, LABELS = "Dx (features)", "Dy (labels)"


def make_pairs(Dx, Dy, errors, n_labels, instance=None, weight=None):
    """Pairs of as many instances as there are pairs, each of weight 1, unless told otherwise."""
    n_pairs = len(errors)
    instance = np.arange(n_pairs) if instance is None else np.asarray(instance)
    weight = np.ones(n_pairs) if weight is None else np.asarray(weight, dtype=float)
    Dx, Dy = np.asarray(Dx, dtype=float), np.asarray(Dy, dtype=float)
    return Pairs(Dx, Dy, np.asarray(errors), n_labels, instance, np.arange(n_pairs), weight)


def loss_of(pairs):
    """The loss that `fit_regression` minimises."""
    m = np.full(len(pairs), float(pairs.n_labels))
    return BinomialLoss(pairs.errors.astype(float), m, pairs.weight)


def fit_quietly(pairs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NLDDWarning)
        return fit_regression(pairs, **options)


def fit_recording(pairs, **options):
    """The fit, and the messages of its warnings by their class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = fit_regression(pairs, **options)
    return fit, {warning.category: str(warning.message) for warning in caught}


def random_pairs(seed, slopes=(0.5, 4.0)):
    """One or two pairs an instance, of any size, scale, rate of errors and weight.

    The two slopes, per largest distance, are drawn between `slopes`.
    """
    rng = np.random.default_rng(seed)
    instance = np.sort(rng.integers(0, 10_000, size=rng.integers(20, 300)))
    instance = np.repeat(instance, rng.integers(1, 3, size=len(instance)))
    n_pairs, n_labels = len(instance), int(rng.integers(1, 51))
    near, far = rng.uniform(0, 1, n_pairs), rng.uniform(0, 1, n_pairs)
    intercept = rng.uniform(-6, 1)  # error rates from about 1 % to 90 %
    b1, b2 = rng.uniform(*slopes, size=2)
    errors = rng.binomial(n_labels, expit(intercept + b1 * near + b2 * far))
    x_scale, y_scale = 10 ** rng.uniform(-2, 3), 10 ** rng.uniform(-1, 1)
    weight = rng.uniform(0.2, 5, 10_000)[instance] if seed % 3 == 0 else None
    return make_pairs(x_scale * near, y_scale * far, errors, n_labels, instance, weight)
