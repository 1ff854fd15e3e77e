"""Algorithm 1 of the paper, second half: the pairs that the regression learns from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._base import Training
from nldd.regression import Pairs
from nldd.search import IN_FEATURES, IN_LABELS, LabelsetIndex


def random_halves(
    n_samples: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of T1 and T2, drawn at random; an odd row goes to T1."""
    order = rng.permutation(n_samples)
    middle = (n_samples + 1) // 2
    return np.sort(order[:middle]), np.sort(order[middle:])


def random_part(n_samples: int, size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """So many rows drawn at random, in order; all of them, and nothing drawn, if there are no more.

    Examples
    --------
    >>> random_part(3, 5, np.random.RandomState(0))
    array([0, 1, 2])
    """
    if n_samples <= size:
        return np.arange(n_samples)
    return np.sort(rng.permutation(n_samples)[:size])


def nearest_pairs(
    T1: Training,
    T2: Training,
    P: NDArray[np.float64],
    scale: NDArray[np.float64],
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Pairs:
    """Pair each instance of T2 with its nearest row of T1 in features, and in labels.

    `P` holds the label probabilities of T2 from classifiers fitted to T1. Where one row is
    nearest in both spaces, the instance gives a single pair.
    """
    index = LabelsetIndex(T1.X, T1.Y, scale)
    titles = ("pairs nearest in x", "pairs nearest in y") if verbose else (None, None)
    m1 = index.query(T2.X, P, IN_FEATURES, n_jobs=n_jobs, title=titles[0])
    m2 = index.query(T2.X, P, IN_LABELS, n_jobs=n_jobs, title=titles[1])
    twice = (m1.row != m2.row).ravel()
    instance = np.concatenate([np.arange(len(T2)), np.flatnonzero(twice)])

    def both(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([first[:, 0], second[twice, 0]])

    row = both(m1.row, m2.row)
    weight = np.ones(len(T2)) if T2.sample_weight is None else T2.sample_weight
    return Pairs(
        Dx=both(m1.Dx, m2.Dx),
        Dy=both(m1.Dy, m2.Dy),
        errors=(T2.Y[instance] != T1.Y[row]).sum(axis=1),
        n_labels=T1.Y.shape[1],
        instance=T2.rows[instance],
        row=T1.rows[row],
        weight=weight[instance],
    )
