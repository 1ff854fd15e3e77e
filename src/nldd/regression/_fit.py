"""Fit either model to pairs, and say so when the data did not fully determine it."""

from dataclasses import replace
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from nldd.exceptions import InputError, SeparationWarning, ZeroWeightWarning
from nldd.regression._gee import fit_exchangeable, require_statsmodels
from nldd.regression._linear import CERTAIN, Estimate, fit_linear
from nldd.regression._loss import BinomialLoss
from nldd.regression._multiplicative import fit_multiplicative
from nldd.regression._pairs import Pairs
from nldd.regression._result import NAMES, DistanceRegression


def fit_regression(
    pairs: Pairs, model: str = "linear", covariance: str = "independent"
) -> DistanceRegression:
    """Binomial regression of the errors in `pairs` on both distances.

    Parameters
    ----------
    pairs : Pairs
    model : {"linear", "multiplicative"}
    covariance : {"independent", "exchangeable"}
        "exchangeable" estimates the linear model by GEE, with statsmodels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Dx, Dy = rng.uniform(0, 4, 500), rng.uniform(0, 2, 500)
    >>> errors = rng.binomial(10, 1 / (1 + np.exp(3 - 0.2 * Dx - Dy)))
    >>> i = np.arange(500)
    >>> fit = fit_regression(Pairs(Dx, Dy, errors, 10, i, i, np.ones(500)))
    >>> fit.beta.round(1)
    array([-3. ,  0.2,  1. ])
    """
    check_regression(model, covariance)
    loss = BinomialLoss(
        pairs.errors.astype(float), np.full(len(pairs), float(pairs.n_labels)), pairs.weight
    )
    if model == "linear":
        estimate = fit_linear(loss, pairs.design)
    else:
        estimate = fit_multiplicative(loss, pairs.Dx, pairs.Dy)
    naive, robust = _covariances(loss, pairs, estimate)
    result = DistanceRegression(
        model=model,
        covariance="independent",
        beta=estimate.beta,
        covariance_matrix=naive,
        robust_covariance_matrix=robust,
        log_likelihood=-loss.value(estimate.eta),
        n_pairs=len(pairs),
        n_instances=len(np.unique(pairs.instance)),
        n_labels=pairs.n_labels,
        n_steps=estimate.n_steps,
        converged=estimate.converged,
        separated=estimate.separated,
        fixed=_names(~estimate.free),
    )
    if covariance == "exchangeable":
        result = _exchangeable(result, pairs, loss, estimate)
    _warn(result, pairs.errors, covariance)
    return result


def check_regression(model: str, covariance: str) -> None:
    """Refuse combinations that cannot be fitted, before any work is done for them."""
    if covariance == "independent":
        return
    if model != "linear":
        raise InputError(
            f'covariance="exchangeable" is there for model="linear" only; got model={model!r}. '
            'Use covariance="independent" with it.'
        )
    require_statsmodels()


def _covariances(
    loss: BinomialLoss, pairs: Pairs, estimate: Estimate
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Covariance of the free coefficients: inverse information, and the cluster sandwich."""
    # In units of the largest derivative, so that the inverse does not depend on how distances are
    # measured.
    unit = np.abs(estimate.J).max(axis=0)[estimate.free]
    J = estimate.J[:, estimate.free] / unit
    bread = np.linalg.pinv(J.T @ (loss.curvature(estimate.eta)[:, np.newaxis] * J))
    _, cluster = np.unique(pairs.instance, return_inverse=True)
    scores = np.zeros((cluster.max() + 1, J.shape[1]))
    np.add.at(scores, cluster, loss.gradient(estimate.eta)[:, np.newaxis] * J)
    n_clusters = len(scores)
    correction = n_clusters / max(n_clusters - 1, 1)
    sandwich = correction * bread @ (scores.T @ scores) @ bread
    back = np.outer(unit, unit)
    return _embed(bread / back, estimate.free), _embed(sandwich / back, estimate.free)


def _embed(matrix: NDArray[np.floating], free: NDArray[np.bool_]) -> NDArray[np.float64]:
    full = np.full((len(free), len(free)), np.nan)
    full[np.ix_(free, free)] = matrix
    return full


def _exchangeable(
    result: DistanceRegression, pairs: Pairs, loss: BinomialLoss, estimate: Estimate
) -> DistanceRegression:
    """The same regression by GEE; separated pairs keep the smoothed likelihood's answer."""
    if result.separated:
        return result
    beta, covariance, n_steps, converged = fit_exchangeable(pairs, estimate.beta, estimate.free)
    farthest = 2 * max(CERTAIN, np.abs(estimate.eta).max())
    if not np.isfinite(beta).all() or np.abs(pairs.design @ beta).max() > farthest:
        warn(
            "The estimating equations did not converge on these pairs; the estimates for "
            "independent pairs are kept.",
            ConvergenceWarning,
            stacklevel=5,
        )
        return result
    return replace(
        result,
        covariance="exchangeable",
        beta=beta,
        covariance_matrix=covariance,
        robust_covariance_matrix=covariance,
        log_likelihood=-loss.value(pairs.design @ beta),
        n_steps=n_steps,
        converged=converged,
        fixed=_names(np.isnan(np.diag(covariance))),
    )


def _names(chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, picked in zip(NAMES, chosen, strict=True) if picked)


def _warn(result: DistanceRegression, errors: NDArray[np.intp], covariance: str) -> None:
    at = f"in the {result.n_pairs} pairs at hand"
    if result.separated:
        if not errors.any():
            what = f"No label is wrong {at}"
        elif (errors == result.n_labels).all():
            what = f"Every label is wrong {at}"
        else:
            what = f"The distances separate right from wrong labels perfectly {at}"
        untried = " The estimating equations were not tried." if covariance != "independent" else ""
        warn(
            f"{what}, so the likelihood has no finite maximum; theta comes from slightly smoothed "
            f"counts.{untried} More training rows would settle it.",
            SeparationWarning,
            stacklevel=5,
        )
    if not result.converged:
        warn(
            f"The regression did not converge in {result.n_steps} steps {at}.",
            ConvergenceWarning,
            stacklevel=5,
        )
    if result.fixed:
        warn(
            f"No weight for {' and '.join(result.fixed)}: the {result.n_pairs} pairs give a "
            "negative weight or cannot tell it from the rest, so it only settles ties."
            if all(result.beta[NAMES.index(name)] == 0 for name in result.fixed)
            else f"The {result.n_pairs} pairs do not determine {' and '.join(result.fixed)}.",
            ZeroWeightWarning,
            stacklevel=5,
        )
