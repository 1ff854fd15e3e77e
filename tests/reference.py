"""The naive truth: NLDD in plain loops, straight from the paper's equations.

Nothing here imports nldd. What the paper leaves open follows the documented decisions: numeric
features divided by their standard deviation, ties by the other distance and then by row, slopes
not negative, smoothed counts where no finite maximum exists.
"""

import math
import statistics

import numpy as np
from scipy.optimize import linprog

TIE = 1e-9


def centroid_probabilities(X_train, Y_train, X_new):
    """A classifier small enough to be obvious: nearer to the carriers' mean, more probable.

    Rounded to two decimals, so that equal probabilities are common.
    """
    P = np.empty((len(X_new), Y_train.shape[1]))
    for label, y in enumerate(Y_train.T):
        if y.min() == y.max():
            P[:, label] = y[0]
            continue
        carriers, others = X_train[y == 1].mean(axis=0), X_train[y == 0].mean(axis=0)
        for i, x in enumerate(X_new):
            to_carriers, to_others = math.dist(x, carriers), math.dist(x, others)
            total = to_carriers + to_others
            P[i, label] = round(to_others / total, 2) if total > 0 else 0.5
    return P


def scales(X):
    result = []
    for column in np.transpose(X):
        numeric = len(set(column.tolist())) > 2
        result.append(statistics.stdev(column.tolist()) if numeric else 1.0)
    return result


def all_distances(x, p, X, Y, scale):
    """Dx and Dy of every training row."""
    return [
        (
            math.sqrt(sum(((a - b) / s) ** 2 for a, b, s in zip(x, row, scale, strict=True))),
            math.sqrt(sum((a - b) ** 2 for a, b in zip(p, labels, strict=True))),
        )
        for row, labels in zip(X, Y, strict=True)
    ]


def nearest(distances, score):
    """Row of smallest score; ties by Dy, then Dx, then row."""
    rows = list(range(len(distances)))
    for key in (lambda D: score(*D), lambda D: D[1], lambda D: D[0]):
        smallest = min(key(distances[j]) for j in rows)
        rows = [j for j in rows if key(distances[j]) <= smallest * (1 + TIE)]
    return rows[0]


def k_nearest_labelsets(distances, Y, score, k):
    """Rows that stand for the k best distinct labelsets, best first."""
    left = list(range(len(distances)))
    rows = []
    while len(rows) < k:
        best = left[nearest([distances[j] for j in left], score)]
        rows.append(best)
        left = [j for j in left if tuple(Y[j]) != tuple(Y[best])]
    return rows


def pairs(X1, Y1, X2, Y2, P, scale):
    """(Dx, Dy, wrong labels) of each instance of T2 with its nearest rows of T1."""
    found = []
    for x, y, p in zip(X2, Y2, P, strict=True):
        distances = all_distances(x, p, X1, Y1, scale)
        m1 = nearest(distances, lambda Dx, Dy: Dx)
        m2 = nearest(distances, lambda Dx, Dy: Dy)
        for j in [m1] if m1 == m2 else [m1, m2]:
            wrong = sum(a != b for a, b in zip(y, Y1[j], strict=True))
            found.append((*distances[j], wrong))
    return np.array(found)


def regression(S, n_labels):
    """b0, b1, b2 of largest likelihood with b1, b2 >= 0: the best of all sets of zero slopes."""
    Dx, Dy, k = S.T
    Z = np.column_stack([np.ones(len(S)), Dx, Dy])
    m = np.full(len(S), float(n_labels))
    free = [0]
    for column in (2, 1):
        width = np.abs(Z).max(axis=0)
        width[width == 0] = 1
        if np.linalg.matrix_rank((Z / width)[:, [*free, column]], tol=1e-8) > len(free):
            free.append(column)
    free = sorted(free)
    b = None if separated(Z[:, free], k, m) else constrained(Z, k, m, free)
    if b is None or ran_off(Z, m, b):
        extra = len(free) / len(k)
        b = constrained(Z, k + extra / 2, m + extra, free)
    return b


def ran_off(Z, m, b):
    """Whether the fit is all but certain somewhere, and information about a direction is gone."""
    eta = Z @ b
    if np.abs(eta).max() <= 15:
        return False
    used = [0, *(c for c in (1, 2) if b[c] > 0)]
    U = Z[:, used] / np.abs(Z[:, used]).max(axis=0)
    theta = np.exp(-np.logaddexp(0, -eta))
    return np.linalg.eigvalsh(U.T @ ((m * theta * (1 - theta))[:, np.newaxis] * U))[0] < 1e-6


def separated(Z, k, m):
    """Whether a direction with slopes >= 0 never lowers the likelihood of any single label."""
    if np.linalg.matrix_rank(Z[(k > 0) & (k < m)], tol=1e-9) == Z.shape[1]:
        return False  # rows with both kinds of labels allow no direction but 0
    wrong, right = Z[k > 0], Z[k < m]
    program = linprog(
        right.sum(axis=0) - wrong.sum(axis=0),
        A_ub=np.vstack([-wrong, right]),
        b_ub=np.zeros(len(wrong) + len(right)),
        bounds=[(-1, 1)] + [(0, 1)] * (Z.shape[1] - 1),
    )
    return program.fun < -1e-7


def constrained(Z, k, m, free):
    """The best of all ways to hold slopes at zero that leaves none negative."""
    best = (math.inf, None)
    for dropped in ([], [1], [2], [1, 2]):
        columns = [c for c in free if c not in dropped]
        b = np.zeros(3)
        b[columns] = newton(Z[:, columns], k, m)
        b[1:][np.abs(b[1:]) * Z[:, 1:].max(axis=0) < 1e-9] = 0  # rounding around 0
        value = loss(Z @ b, k, m)
        if (b[1:] >= 0).all() and value < best[0] - 1e-13 * abs(value):
            best = (value, b)
        if not dropped and (b[1:] >= 0).all():
            break  # the likelihood is concave: nothing beats its own maximum
    return best[1]


def loss(eta, k, m):
    return float(np.sum(m * np.logaddexp(0, eta) - k * eta))


def newton(Z, k, m):
    b = np.zeros(Z.shape[1])
    for _ in range(100):
        step = newton_step(Z, k, m, b)
        length = 1.0
        while length > 1e-12 and loss(Z @ (b - length * step), k, m) > loss(Z @ b, k, m):
            length /= 2
        if length <= 1e-12 or np.abs(step).max() <= 1e-12 * (1 + np.abs(b).max()):
            break
        b = b - length * step
    # The loss no longer tells apart points this close; the gradient still does.
    for _ in range(3):
        b = b - newton_step(Z, k, m, b)
    return b


def newton_step(Z, k, m, b):
    theta = np.exp(-np.logaddexp(0, -(Z @ b)))
    hessian = Z.T @ ((m * theta * (1 - theta))[:, np.newaxis] * Z)
    return np.linalg.lstsq(hessian, Z.T @ (m * theta - k))[0]


class NLDD:
    """Algorithms 1 and 2."""

    def __init__(self, seed, probabilities=centroid_probabilities):
        self.seed = seed
        self.probabilities = probabilities

    def fit(self, X, Y):
        order = np.random.RandomState(self.seed).permutation(len(X))
        middle = (len(X) + 1) // 2
        T1, T2 = sorted(order[:middle]), sorted(order[middle:])
        self.X, self.Y, self.scale = X, Y, scales(X)
        P = self.probabilities(X[T1], Y[T1], X[T2])
        self.S = pairs(X[T1], Y[T1], X[T2], Y[T2], P, self.scale)
        self.beta = regression(self.S, Y.shape[1])
        return self

    def score(self, Dx, Dy):
        return self.beta[1] * Dx + self.beta[2] * Dy

    def predict(self, X):
        """Training row and theta of each new row."""
        rows, thetas = [], []
        for x, p in zip(X, self.probabilities(self.X, self.Y, X), strict=True):
            distances = all_distances(x, p, self.X, self.Y, self.scale)
            row = nearest(distances, self.score)
            rows.append(row)
            eta = self.beta[0] + self.score(*distances[row])
            thetas.append(float(np.exp(-np.logaddexp(0, -eta))))
        return np.array(rows), np.array(thetas)
