"""Generalised estimating equations: pairs of one instance are allowed to correlate."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import MissingExtraError
from nldd.regression._pairs import Pairs


def fit_exchangeable(
    pairs: Pairs, beta: NDArray[np.float64], free: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, bool]:
    """Coefficients of ``1, Dx, Dy`` with one correlation for all pairs of an instance.

    Starts from the likelihood's `beta` and keeps its zeros; a slope that turns negative under
    the correlation is held at 0 too.

    Returns
    -------
    beta : ndarray of shape (3,)
    covariance_matrix : ndarray of shape (3, 3)
        Robust; NaN for slopes held at 0.
    n_steps : int
    converged : bool
    """
    columns, start = np.flatnonzero(free), beta
    while True:
        fit = _fit_columns(pairs, columns, start)
        beta = np.zeros(3)
        beta[columns] = fit.params
        if not (beta[1:] < 0).any():
            break
        # The slope that does most harm, measured in log-odds rather than in its own unit.
        worst = 1 + (beta[1:] * pairs.design[:, 1:].max(axis=0)).argmin()
        columns = columns[columns != worst]
    covariance = np.full((3, 3), np.nan)
    covariance[np.ix_(columns, columns)] = fit.cov_robust
    return beta, covariance, len(fit.fit_history["params"]), bool(fit.converged)


def _fit_columns(pairs: Pairs, columns: NDArray[np.intp], start: NDArray[np.float64]) -> Any:
    api = require_statsmodels()
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


def require_statsmodels() -> Any:
    """The statsmodels interface, or an error that says how to get it."""
    try:
        import statsmodels.api
    except ImportError as error:
        raise MissingExtraError(
            'covariance="exchangeable" needs statsmodels, which is not installed. '
            'Run: pip install "nldd[gee]", or keep covariance="independent".'
        ) from error
    return statsmodels.api
