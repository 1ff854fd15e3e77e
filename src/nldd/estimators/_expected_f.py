"""The labelset of largest expected F-measure, given probabilities of known labelsets."""

import numpy as np
from numpy.typing import NDArray


def best_expected_f(G: NDArray[np.float64], labelsets: NDArray[np.int8]) -> NDArray[np.int8]:
    """Labelset of largest expected F for each row of `G`.

    Parameters
    ----------
    G : ndarray of shape (n_samples, n_labelsets)
        Probability of each labelset, rows summing to one.
    labelsets : ndarray of shape (n_labelsets, n_labels)

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Notes
    -----
    With ``P[l, s]`` the probability that label l is on in a labelset of s labels, a prediction h of
    t labels has the expected F-measure ``sum over l in h of sum over s of 2 P[l, s] / (s + t)``.
    For each t the t largest terms are best; the empty prediction scores the probability of the
    empty labelset. (Dembczynski et al., 2011, NIPS 24.)

    Examples
    --------
    >>> best_expected_f(np.array([[0.4, 0.3, 0.3]]), np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    array([[1, 1, 0]], dtype=int8)
    """
    sizes = labelsets.sum(axis=1)
    n_samples, n_labels = len(G), labelsets.shape[1]
    present = [s for s in np.unique(sizes) if s > 0]
    P = {s: G[:, sizes == s] @ labelsets[sizes == s].astype(float) for s in present}
    best = np.zeros((n_samples, n_labels), dtype=np.int8)
    best_value = G[:, sizes == 0].sum(axis=1)
    for t in range(1, n_labels + 1):
        terms = np.zeros((n_samples, n_labels))
        for s in present:
            terms += 2 * P[s] / (s + t)
        order = np.argsort(-terms, axis=1, kind="stable")[:, :t]
        value = np.take_along_axis(terms, order, axis=1).sum(axis=1)
        better = value > best_value
        best_value[better] = value[better]
        best[better] = 0
        best[np.flatnonzero(better)[:, np.newaxis], order[better]] = 1
    return best
