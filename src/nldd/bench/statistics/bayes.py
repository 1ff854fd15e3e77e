"""The Bayesian signed-rank test: how likely one method is better, or practically the same.

A p-value says how surprising the values were if two methods were equal; it does not say how likely
they are equal. The Bayesian test of Benavoli et al. (2014, 2017) answers that directly, with a
region of practical equivalence (rope) in which a difference is of no importance to anybody.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.bench.statistics.ranks import DECIMALS
from nldd.exceptions import InputError

# So many numbers are drawn at a time, which bounds the memory.
BLOCK = 2**21


def bayesian_signed_rank(
    differences: Any,
    rope: float = 0.01,
    *,
    prior_strength: float = 0.5,
    n_samples: int = 50_000,
    random_state: int = 0,
) -> NDArray[np.float64]:
    """Probabilities that differences lie below the rope, in it, and above it.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,) or (n_datasets, n_pairs)
        Value of one method minus that of another on each data set, one column a pair of methods.
    rope : float, default=0.01
        Differences from ``-rope`` to ``rope`` count as none; 0 for exact equality.
    prior_strength : float, default=0.5
        Weight of the prior, in data sets. Its one pseudo-observation is 0, within the rope.
    n_samples : int, default=50000
        Draws from the posterior. The standard error of a probability is at most
        ``0.5 / sqrt(n_samples)``, 0.0022 by default.
    random_state : int, default=0
        Seed of the draws; all pairs share them.

    Returns
    -------
    ndarray of shape (3,) or (n_pairs, 3)
        Probability of below, within and above; they add up to 1.

    Notes
    -----
    With z_0 = 0 and z_1, ..., z_n the differences, a draw of the posterior of the Dirichlet process
    is w ~ Dirichlet(prior_strength, 1, ..., 1), and the mass above the rope is the sum of w_i w_j
    over all i and j with (z_i + z_j) / 2 > rope; below likewise, and the rest is within. The
    probability of a region is the share of the draws in which it has the largest mass. Means are
    rounded to 10 decimals, so that one at the border counts as within.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili, M. Zaffalon, F. Ruggeri: A Bayesian Wilcoxon signed-rank
    test based on the Dirichlet process. ICML 2014.
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon: Time for a change. JMLR 18(77), 2017.

    Examples
    --------
    Better by 0.03 on six data sets, and by nothing worth a word on four:

    >>> from nldd.bench.statistics.bayes import bayesian_signed_rank
    >>> below, within, above = bayesian_signed_rank([0.03] * 6 + [0.001, -0.002, 0.0, 0.004])
    >>> print(f"{below:.1f} {within:.1f} {above:.1f}")
    0.0 0.0 1.0
    """
    Z = _read_differences(differences)
    _check_options(rope, prior_strength, n_samples)
    columns = Z[:, np.newaxis] if Z.ndim == 1 else Z
    with_prior = np.vstack([np.zeros((1, columns.shape[1])), columns])
    i, j = np.triu_indices(len(with_prior))
    means = np.round((with_prior[i] + with_prior[j]) / 2, DECIMALS)
    # Which i and j are counted below and above, one column a pair of methods; w_i w_j is w_j w_i.
    twice = np.where(i == j, 1.0, 2.0)[:, np.newaxis]
    below, above = (twice * (side > rope) for side in (-means, means))
    wins = np.zeros((columns.shape[1], 3))
    rng = np.random.default_rng(random_state)
    strength = np.r_[prior_strength, np.ones(len(Z))]
    block = max(1, BLOCK // max(len(i), columns.shape[1]))
    for start in range(0, n_samples, block):
        W = rng.dirichlet(strength, min(block, n_samples - start))
        products = W[:, i] * W[:, j]
        left, right = products @ below, products @ above
        within = 1 - left - right
        is_left = (left >= within) & (left >= right)
        is_right = ~is_left & (right > within)
        wins[:, 0] += is_left.sum(axis=0)
        wins[:, 2] += is_right.sum(axis=0)
    wins[:, 1] = n_samples - wins[:, 0] - wins[:, 2]
    return (wins / n_samples).reshape(*Z.shape[1:], 3)


def _read_differences(differences: Any) -> NDArray[np.float64]:
    try:
        Z = np.asarray(differences, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"Differences must be numbers, one a data set ({error}).") from None
    if Z.ndim not in (1, 2) or not np.isfinite(Z).all():
        raise InputError(
            "Differences must be finite numbers, one row a data set and one column a pair of "
            f"methods; got shape {Z.shape} with {np.count_nonzero(~np.isfinite(Z))} that are not. "
            "Leave out data sets without a value."
        )
    return Z


def _check_options(rope: float, prior_strength: float, n_samples: int) -> None:
    if not 0 <= rope < np.inf:
        raise InputError(f"rope must be a width from 0 on, such as 0.01; got {rope!r}.")
    if not 0 < prior_strength < np.inf:
        raise InputError(f"prior_strength must be above 0, such as 0.5; got {prior_strength!r}.")
    if n_samples < 1:
        raise InputError(f"n_samples must be 1 or more; got {n_samples!r}.")
