"""The regression of wrong labels on distances: pairs, the fit with its warnings, the result."""

import warnings
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from nldd._wording import NotebookText
from nldd.exceptions import (
    InputError,
    MissingExtraError,
    SeparationWarning,
    ZeroWeightWarning,
    warn_caller,
)
from nldd.regression._likelihood import CERTAIN, FITS, BinomialLoss, Estimate, FloatArray

NAMES = ("intercept", "Dx (features)", "Dy (labels)")
FORMULAS = {"linear": "b0 + b1 Dx + b2 Dy", "multiplicative": "b0 + Dx^b1 Dy^b2"}
METHODS = {"independent": "maximum likelihood", "exchangeable": "GEE, exchangeable"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a validation sample and a training row close to it: S in the paper.

    Attributes
    ----------
    Dx, Dy : ndarray of shape (n_pairs,)
        Distances in feature and in label space.
    errors : ndarray of shape (n_pairs,)
        Number of labels in which the two differ.
    n_labels : int
    instance, row : ndarray of shape (n_pairs,)
        The validation sample and the training row, as positions in the data of `fit`.
    weight : ndarray of shape (n_pairs,)
        Sample weight of the validation sample, or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> pairs = NLDDClassifier(None, random_state=0).fit(X, X > 0).pairs_
    >>> len(np.unique(pairs.instance)), pairs.n_labels, int(pairs.errors.max())
    (50, 2, 1)
    """

    Dx: FloatArray
    Dy: FloatArray
    errors: NDArray[np.intp]
    n_labels: int
    instance: NDArray[np.intp]
    row: NDArray[np.intp]
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def design(self) -> FloatArray:
        """Columns 1, Dx, Dy of the linear model."""
        return np.column_stack([np.ones(len(self)), self.Dx, self.Dy])


@dataclass(frozen=True, eq=False)
class DistanceRegression(NotebookText):
    """Expected error rate per label, theta, as a function of both distances.

    Attributes
    ----------
    model : {"linear", "multiplicative"}
    covariance : {"independent", "exchangeable"}
    beta : ndarray of shape (3,)
        The intercept and the coefficients of Dx and Dy.
    covariance_matrix : ndarray of shape (3, 3)
        NaN for coefficients held at 0. Model-based if independent, GEE's robust one if
        exchangeable.
    robust_covariance_matrix : ndarray of shape (3, 3)
        The sandwich estimator, clustered by validation sample.
    log_likelihood : float
        Without the binomial coefficients, which do not depend on beta.
    n_pairs, n_instances, n_labels : int
    n_steps : int
        Iterations of the estimation.
    converged : bool
    separated : bool
        Whether no finite maximum existed, and counts were smoothed slightly.
    fixed : tuple of str
        Coefficients held at 0, because they would be negative or are not identified.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = np.column_stack([X > 0, X.sum(axis=1) > 0])
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> print(model.regression_)
    log-odds of a wrong label = b0 + b1 Dx + b2 Dy   (maximum likelihood)
    54 pairs of 50 instances, 3 labels; log-likelihood -25.46; converged in 7 steps
    <BLANKLINE>
                    coefficient  std. error robust s.e.
    intercept           -6.4389      1.4103      0.9919
    Dx (features)        0.6811      1.4634      0.9645
    Dy (labels)          6.7978      2.0724      1.1960
    <BLANKLINE>
    theta at Dx = Dy = 0: 0.0016, or 0.00 wrong labels of 3
    >>> model.regression_.theta(np.array([0.0, 1.0]), np.array([0.5, 0.5])).round(2)
    array([0.05, 0.09])
    """

    model: str
    covariance: str
    beta: FloatArray
    covariance_matrix: FloatArray
    robust_covariance_matrix: FloatArray
    log_likelihood: float
    n_pairs: int
    n_instances: int
    n_labels: int
    n_steps: int
    converged: bool
    separated: bool
    fixed: tuple[str, ...]

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of `beta`; NaN where a coefficient was held at 0."""
        return np.asarray(np.sqrt(np.diag(self.covariance_matrix)))

    @property
    def robust_standard_errors(self) -> FloatArray:
        """Standard errors that allow for correlation between pairs of one validation sample."""
        return np.asarray(np.sqrt(np.diag(self.robust_covariance_matrix)))

    def parts(self, Dx: FloatArray, Dy: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Contribution of each distance to the score: summands, or factors if multiplicative."""
        if self.model == "linear":
            return self.beta[1] * Dx, self.beta[2] * Dy
        return np.power(Dx, self.beta[1]), np.power(Dy, self.beta[2])  # 0^0 is 1

    def score(self, Dx: FloatArray, Dy: FloatArray) -> FloatArray:
        """What the prediction minimizes: the log-odds of an error without the intercept."""
        x_part, y_part = self.parts(Dx, Dy)
        return x_part + y_part if self.model == "linear" else x_part * y_part

    def theta(self, Dx: FloatArray, Dy: FloatArray) -> FloatArray:
        """Expected error rate per label; always between 0 and 1, never 0 or 1.

        Parameters
        ----------
        Dx, Dy : ndarray of any one shape

        Returns
        -------
        ndarray of the same shape
        """
        limits = np.finfo(np.float64)
        return np.clip(expit(self.beta[0] + self.score(Dx, Dy)), limits.tiny, 1 - limits.eps)

    def summary(self) -> str:
        """The fit as text: model, coefficients with standard errors, remarks."""
        (origin,) = self.theta(np.zeros(1), np.zeros(1))
        steps = f"converged in {self.n_steps} steps" if self.converged else "NOT converged"
        rows = zip(NAMES, self.beta, self.standard_errors, self.robust_standard_errors, strict=True)
        table = [f"{name:<15}{b:>12.4f}{se:>12.4f}{robust:>12.4f}" for name, b, se, robust in rows]
        lines = [
            f"log-odds of a wrong label = {FORMULAS[self.model]}   ({METHODS[self.covariance]})",
            f"{self.n_pairs} pairs of {self.n_instances} instances, {self.n_labels} labels; "
            f"log-likelihood {self.log_likelihood:.2f}; {steps}",
            "",
            f"{'':<15}{'coefficient':>12}{'std. error':>12}{'robust s.e.':>12}",
            *(row.replace("  nan", "fixed") for row in table),
            "",
            f"theta at Dx = Dy = 0: {origin:.4f}, "
            f"or {origin * self.n_labels:.2f} wrong labels of {self.n_labels}",
        ]
        if self.fixed:
            lines.append(f"not estimated: {', '.join(self.fixed)} (negative, or not identified)")
        if self.separated:
            lines.append("separated: the distances tell right from wrong labels perfectly here;")
            lines.append("counts were smoothed to keep the coefficients finite")
        return "\n".join(lines)

    __str__ = summary


def fit_regression(
    pairs: Pairs, model: str = "linear", covariance: str = "independent"
) -> DistanceRegression:
    """Regress the errors in `pairs` on both distances.

    Parameters
    ----------
    pairs : Pairs
    model : {"linear", "multiplicative"}, default="linear"
        How the distances combine, see :class:`nldd.NLDDClassifier`.
    covariance : {"independent", "exchangeable"}, default="independent"
        "exchangeable" estimates the linear model by GEE, with statsmodels.

    Returns
    -------
    DistanceRegression

    Warns
    -----
    SeparationWarning, ZeroWeightWarning
        See :mod:`nldd.exceptions`.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.regression._regression import Pairs, fit_regression
    >>> rng = np.random.default_rng(0)
    >>> Dx, Dy = rng.uniform(0, 4, 500), rng.uniform(0, 2, 500)
    >>> errors = rng.binomial(10, 1 / (1 + np.exp(3 - 0.2 * Dx - Dy)))
    >>> i = np.arange(500)
    >>> fit = fit_regression(Pairs(Dx, Dy, errors, 10, i, i, np.ones(500)))
    >>> fit.beta.round(1)
    array([-3. ,  0.2,  1. ])
    """
    check_regression(model, covariance)
    # In units of their mean, weights of any size meet tolerances made for weights near 1.
    largest = pairs.weight.max()
    unit = float(largest * np.mean(pairs.weight / largest))
    pairs = replace(pairs, weight=pairs.weight / unit)
    labels = np.full(len(pairs), float(pairs.n_labels))
    loss = BinomialLoss(pairs.errors.astype(float), labels, pairs.weight)
    estimate = FITS[model](loss, pairs.Dx, pairs.Dy)
    result = DistanceRegression(
        model,
        "independent",
        estimate.beta,
        *_covariances(loss, pairs, estimate, unit),
        log_likelihood=-unit * loss.value(estimate.eta),
        n_pairs=len(pairs),
        n_instances=len(np.unique(pairs.instance)),
        n_labels=pairs.n_labels,
        n_steps=estimate.n_steps,
        converged=estimate.converged,
        separated=estimate.separated,
        fixed=tuple(compress(NAMES, ~estimate.free)),
    )
    if covariance == "exchangeable":
        result = _exchangeable(result, pairs, loss, estimate, unit)
    _warn(result, pairs.errors, covariance)
    return result


def check_regression(model: str, covariance: str) -> None:
    """Refuse combinations that cannot be fitted, before any work is done for them."""
    if covariance == "independent":
        return
    if model != "linear":
        what = f'covariance="exchangeable" requires model="linear"; got model={model!r}.'
        raise InputError(f'{what} Use covariance="independent" with it.')
    _require_statsmodels()


def _covariances(
    loss: BinomialLoss, pairs: Pairs, estimate: Estimate, weight_unit: float
) -> tuple[FloatArray, FloatArray]:
    """Covariance of the free coefficients: inverse information, and the cluster sandwich."""
    # In units of the largest derivative: the inverse does not depend on how distances are measured.
    unit = np.abs(estimate.J).max(axis=0)[estimate.free]
    J = estimate.J[:, estimate.free] / unit
    bread = np.linalg.pinv(loss.information(estimate.eta, J))
    _, cluster = np.unique(pairs.instance, return_inverse=True)
    n_clusters = cluster.max() + 1
    scores = np.zeros((n_clusters, J.shape[1]))
    np.add.at(scores, cluster, loss.gradient(estimate.eta)[:, np.newaxis] * J)
    sandwich = n_clusters / max(n_clusters - 1, 1) * bread @ (scores.T @ scores) @ bread
    back = np.outer(unit, unit)
    model_based = bread / back / weight_unit  # the sandwich is the same in any unit
    return _embed(model_based, estimate.free), _embed(sandwich / back, estimate.free)


def _embed(matrix: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    full = np.full((len(free), len(free)), np.nan)
    full[np.ix_(free, free)] = matrix
    return full


def _exchangeable(
    result: DistanceRegression, pairs: Pairs, loss: BinomialLoss, estimate: Estimate, unit: float
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
        what = "The estimating equations did not converge on these pairs; the estimates for "
        warn_caller(f"{what}independent pairs are kept.", ConvergenceWarning)
        return result
    covariance = _embed(fit.cov_robust, np.isin(np.arange(3), columns))
    return replace(
        result,
        covariance="exchangeable",
        beta=beta,
        covariance_matrix=covariance,
        robust_covariance_matrix=covariance,
        log_likelihood=-unit * loss.value(eta),
        n_steps=len(fit.fit_history["params"]),
        converged=bool(fit.converged),
        fixed=tuple(compress(NAMES, np.isnan(np.diag(covariance)))),
    )


def _fit_columns(pairs: Pairs, columns: NDArray[np.intp], start: FloatArray) -> Any:
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
    # Iterations that run off to infinity are told from their result, by the caller.
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return equations.fit(start_params=start[columns])


def _require_statsmodels() -> Any:
    try:
        import statsmodels.api
    except ImportError as error:
        raise MissingExtraError(
            'covariance="exchangeable" needs statsmodels, which covariance="independent" does not.',
            extra="gee",
        ) from error
    return statsmodels.api


def _warn(result: DistanceRegression, errors: NDArray[np.intp], covariance: str) -> None:
    at = f"in the {result.n_pairs} pairs at hand"
    if result.separated:
        extremes = {0.0: "No label is wrong", 1.0: "Every label is wrong"}
        perfect = "The distances separate right from wrong labels perfectly"
        untried = " The estimating equations were not tried." * (covariance != "independent")
        warn_caller(
            f"{extremes.get(errors.mean() / result.n_labels, perfect)} {at}, so the likelihood has "
            "no finite maximum; theta comes from slightly smoothed counts."
            f"{untried} More training rows would settle it.",
            SeparationWarning,
        )
    if not result.converged:
        steps = f"in {result.n_steps} steps {at}"
        warn_caller(f"The regression did not converge {steps}.", ConvergenceWarning)
    if result.fixed:
        names = " and ".join(result.fixed)
        what = f"The {result.n_pairs} pairs do not determine {names}."
        if all(result.beta[NAMES.index(name)] == 0 for name in result.fixed):
            what = f"No weight for {names}: the {result.n_pairs} pairs give a negative weight or "
            what += "cannot tell it from the rest, so it only settles ties."
        warn_caller(what, ZeroWeightWarning)
