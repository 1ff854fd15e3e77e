"""Fit either model to pairs, and say so when the data did not fully determine it."""

import warnings
from dataclasses import replace
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from nldd.exceptions import InputError, MissingExtraError, SeparationWarning, ZeroWeightWarning
from nldd.regression._likelihood import BinomialLoss
from nldd.regression._models import CERTAIN, Estimate, fit_linear, fit_multiplicative
from nldd.regression._result import NAMES, DistanceRegression, Pairs


def fit_regression(
    pairs: Pairs, model: str = "linear", covariance: str = "independent"
) -> DistanceRegression:
    """Regress the errors in `pairs` on both distances, by the model "linear" or "multiplicative".

    The covariance "exchangeable" estimates the linear model by GEE, with statsmodels.

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
    labels = np.full(len(pairs), float(pairs.n_labels))
    loss = BinomialLoss(pairs.errors.astype(float), labels, pairs.weight)
    if model == "linear":
        estimate = fit_linear(loss, pairs.design)
    else:
        estimate = fit_multiplicative(loss, pairs.Dx, pairs.Dy)
    result = DistanceRegression(
        model,
        "independent",
        estimate.beta,
        *_covariances(loss, pairs, estimate),
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
    _require_statsmodels()


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
    n_clusters = cluster.max() + 1
    scores = np.zeros((n_clusters, J.shape[1]))
    np.add.at(scores, cluster, loss.gradient(estimate.eta)[:, np.newaxis] * J)
    sandwich = n_clusters / max(n_clusters - 1, 1) * bread @ (scores.T @ scores) @ bread
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
    columns = np.flatnonzero(estimate.free)
    while True:
        fit = _fit_columns(pairs, columns, estimate.beta)
        beta = np.zeros(3)
        beta[columns] = fit.params
        if not (beta[1:] < 0).any():
            break
        # The slope that does most harm, measured in log-odds rather than in its own unit.
        worst = 1 + (beta[1:] * pairs.design[:, 1:].max(axis=0)).argmin()
        columns = columns[columns != worst]
    eta, farthest = pairs.design @ beta, 2 * max(CERTAIN, np.abs(estimate.eta).max())
    if not np.isfinite(beta).all() or np.abs(eta).max() > farthest:
        what = "The estimating equations did not converge on these pairs; "
        what += "the estimates for independent pairs are kept."
        warn(what, ConvergenceWarning, stacklevel=5)
        return result
    covariance = _embed(fit.cov_robust, np.isin(np.arange(3), columns))
    return replace(
        result,
        covariance="exchangeable",
        beta=beta,
        covariance_matrix=covariance,
        robust_covariance_matrix=covariance,
        log_likelihood=-loss.value(eta),
        n_steps=len(fit.fit_history["params"]),
        converged=bool(fit.converged),
        fixed=_names(np.isnan(np.diag(covariance))),
    )


def _fit_columns(pairs: Pairs, columns: NDArray[np.intp], start: NDArray[np.float64]) -> Any:
    """Generalised estimating equations with one correlation for all pairs of an instance."""
    api = _require_statsmodels()
    order = np.argsort(pairs.instance, kind="stable")
    equations = api.GEE(
        pairs.errors[order] / pairs.n_labels,
        pairs.design[np.ix_(order, columns)],
        groups=pairs.instance[order],
        family=api.families.Binomial(),
        cov_struct=api.cov_struct.Exchangeable(),
        weights=pairs.weight[order],
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # Iterations that run off to infinity are told from their result, by the caller.
        warnings.simplefilter("ignore")
        return equations.fit(start_params=start[columns])


def _require_statsmodels() -> Any:
    try:
        import statsmodels.api
    except ImportError as error:
        raise MissingExtraError(
            'covariance="exchangeable" needs statsmodels, which is not installed. '
            'Run: pip install "nldd[gee]", or keep covariance="independent".'
        ) from error
    return statsmodels.api


def _names(chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, picked in zip(NAMES, chosen, strict=True) if picked)


def _warn(result: DistanceRegression, errors: NDArray[np.intp], covariance: str) -> None:
    at = f"in the {result.n_pairs} pairs at hand"
    if result.separated:
        what = f"The distances separate right from wrong labels perfectly {at}"
        if not errors.any():
            what = f"No label is wrong {at}"
        elif (errors == result.n_labels).all():
            what = f"Every label is wrong {at}"
        untried = " The estimating equations were not tried." if covariance != "independent" else ""
        what += (
            ", so the likelihood has no finite maximum; theta comes from slightly smoothed "
            f"counts.{untried} More training rows would settle it."
        )
        warn(what, SeparationWarning, stacklevel=5)
    if not result.converged:
        what = f"The regression did not converge in {result.n_steps} steps {at}."
        warn(what, ConvergenceWarning, stacklevel=5)
    if result.fixed:
        names = " and ".join(result.fixed)
        what = f"The {result.n_pairs} pairs do not determine {names}."
        if all(result.beta[NAMES.index(name)] == 0 for name in result.fixed):
            what = (
                f"No weight for {names}: the {result.n_pairs} pairs give a negative weight or "
                "cannot tell it from the rest, so it only settles ties."
            )
        warn(what, ZeroWeightWarning, stacklevel=5)
