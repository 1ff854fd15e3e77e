"""Newton's method: for logistic regressions of several labels at once, and for softmax regression.

Targets of the softmax are soft: each row belongs to several classes, more or less.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.search._kernels import cached_kernel

FloatArray = NDArray[np.float64]
Labels = NDArray[np.intp]

# What a label waits for, and how it has ended.
SLOPES, CURVATURES, CONVERGED, STUCK = range(4)
# The part of the gradient that conjugate gradients leave over before a step is taken.
FORCING = 0.1
# The part of a step that is left when it is taken back.
LEAST_SHARE = 0.4

OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "fastmath": {"reassoc", "contract"},
}

# The same for softmax regression.
SOFTMAX_FORCING = 0.3
# No more of them in a step, nor halvings of one: badly scaled features could ask for any number.
MAX_PRODUCTS, MAX_HALVINGS = 200, 40
# Curvature below which a direction counts as flat: of classes that no row belongs to.
FLAT = 1e-10


@cached_kernel(**OPTIONS)
def take_slopes(labels, G, M, free, ridge, vectors, numbers, phase):
    """Judge the last step of labels by their new slopes: go back, or start the next one."""
    W, step, R, S, inverse = vectors
    rho, start, decrement, _ = numbers
    for lane, u in enumerate(labels):
        along = 0.0
        for j in range(len(ridge)):
            G[lane, j] += ridge[j] * W[u, j]
            along += G[lane, j] * step[u, j]
        # The loss is convex: where its slope along the step is positive, the step went beyond the
        # minimum. Back to where the slope would be 0 if it grew along a straight line; but it is
        # flat first and steep in the end, so not too far.
        if along > decrement[u] / 2:
            share = max(LEAST_SHARE, decrement[u] / (decrement[u] + along))
            for j in range(len(ridge)):
                W[u, j] -= (1 - share) * step[u, j]
                step[u, j] *= share
            decrement[u] *= share
            continue
        total, is_lost = 0.0, False
        for j in range(len(ridge)):
            diagonal = M[lane, j] + ridge[j]
            is_lost |= free[u, j] and not diagonal < np.inf
            inverse[u, j] = 1 / diagonal if free[u, j] else 0.0  # which stays where it is
            step[u, j], R[u, j] = 0.0, -G[lane, j]
            S[u, j] = R[u, j] * inverse[u, j]
            total += R[u, j] * S[u, j]
        rho[u], start[u], decrement[u] = total, total, 0.0
        phase[u] = CURVATURES if total > 0 else CONVERGED
        if is_lost or not total < np.inf:  # numbers whose squares are beyond all bounds
            phase[u] = STUCK


@cached_kernel(**OPTIONS)
def take_curvatures(labels, Q, ridge, vectors, numbers, phase):
    """One step of conjugate gradients of labels and, where that is enough, one of Newton."""
    W, step, R, S, inverse = vectors
    rho, start, decrement, enough = numbers
    for lane, u in enumerate(labels):
        curvature = 0.0
        for j in range(len(ridge)):
            Q[lane, j] += ridge[j] * S[u, j]
            curvature += S[u, j] * Q[lane, j]
        length, left = rho[u] / curvature, 0.0
        if not 0 < length < np.inf:
            phase[u] = STUCK
            continue
        for j in range(len(ridge)):
            step[u, j] += length * S[u, j]
            R[u, j] -= length * Q[lane, j]
            left += R[u, j] * R[u, j] * inverse[u, j]
        decrement[u] += length * rho[u]
        if left > FORCING**2 * start[u]:
            for j in range(len(ridge)):
                S[u, j] = R[u, j] * inverse[u, j] + left / rho[u] * S[u, j]
            rho[u] = left
            continue
        for j in range(len(ridge)):
            W[u, j] += step[u, j]
        phase[u] = CONVERGED if decrement[u] <= enough[u] else SLOPES


class Solution(NamedTuple):
    """Coefficients of shape (n_labels, n_features + 1), the intercept last, and how it went."""

    W: FloatArray
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]


class Solver:
    """Labels on their way to the minimum of ``sum of C loss(z_i) + sum of ridge w^2 / 2``.

    A label waits for slopes or for curvatures. A pass over the `rows` brings them to several labels
    that wait for the same, and each takes its step: of conjugate gradients, preconditioned by the
    diagonal, or of Newton. No label depends on another one.

    `labels` are their numbers among the labels of the rows, `W` has coefficients to start from,
    `free` says which of them may change, and `enough` at which square of the Newton decrement a
    label has converged.
    """

    def __init__(
        self,
        rows: Any,
        labels: Labels,
        W: FloatArray,
        ridge: FloatArray,
        free: NDArray[np.bool_],
        enough: FloatArray,
        max_iter: int,
    ) -> None:
        n = len(labels)
        self.rows, self.labels, self.ridge, self.free = rows, labels, ridge, free
        self.max_iter, self.vectors = max_iter, (W, *np.zeros((4, *W.shape)))
        self.numbers = *np.zeros((3, n)), enough
        self.phase, self.n_iter = np.full(n, SLOPES), np.zeros(n, dtype=np.int64)
        self.D, self.n_passes = rows.allocate(n), np.zeros(n, dtype=np.int64)

    @property
    def solution(self) -> Solution:
        """What has been found."""
        return Solution(self.vectors[0], self.n_iter, self.phase == CONVERGED)

    def run(self) -> Iterator[int]:
        """Solve all; one number comes out for each label when it has ended."""
        first, second = self._waiting()
        while n_waiting := len(first) + len(second):
            self._advance(*self._choose(first, second))
            first, second = self._waiting()
            yield from range(n_waiting - len(first) - len(second))

    def _waiting(self) -> tuple[Labels, Labels]:
        """Labels that wait for slopes, and for curvatures."""
        first = (self.phase == SLOPES) & (self.n_iter < self.max_iter)
        return np.flatnonzero(first), np.flatnonzero(self.phase == CURVATURES)

    def _choose(self, first: Labels, second: Labels) -> tuple[Labels, Labels]:
        """Labels for a pass: of the two kinds, the one that fills it better.

        Where a pass has no widths, all labels, whatever they wait for.
        """
        if self.rows.widths is None:
            return first, second
        width, wide = self.rows.widths
        if len(first) * wide > len(second) * width:
            return self._hindmost(first, width), second[:0]
        return first[:0], self._hindmost(second, wide)

    def _hindmost(self, labels: Labels, width: int) -> Labels:
        """Labels that have had the fewest passes, no more of them than fill one."""
        if len(labels) > width:
            labels = labels[np.argsort(self.n_passes[labels], kind="stable")[:width]]
        self.n_passes[labels] += 1
        return labels

    @np.errstate(all="ignore")  # numbers beyond all bounds end with a label that is stuck
    def _advance(self, first: Labels, second: Labels) -> None:
        W, _, _, S, _ = self.vectors
        state = self.ridge, self.vectors, self.numbers, self.phase
        G, M, Q = self.rows.ask(self.labels, W, S, self.D, first, second)
        if len(first):
            take_slopes(first, G, M, self.free, *state)
            self.n_iter[first] += 1
        if len(second):
            take_curvatures(second, Q, *state)


class Softmax(NamedTuple):
    """Coefficients of shape (n_features + 1, n_classes), the intercepts last; what they give."""

    A: FloatArray
    P: FloatArray
    loss: float


def fit_softmax(
    X: Any, targets: FloatArray, variance: float, start: FloatArray, tol: float, max_iter: int
) -> FloatArray:
    """Coefficients, from `start` on, of least cross-entropy plus ``|A|^2 / (2 variance)``.

    Rows of `targets` sum to one; intercepts, in the last row of A, are free. Newton's method, whose
    steps are found by conjugate gradients, preconditioned by the diagonal, and halved until the
    loss falls: it never rises. The end is as in :class:`nldd.MultiLabelLogisticRegression`: a last
    step so short that no probability is further than `tol` or so from the optimum.
    """
    problem = _Problem(X, targets, 1 / variance)
    at = problem.evaluate(start)
    for _ in range(max_iter):
        step, decrement = problem.newton_step(at)
        ahead = problem.evaluate(at.A + step)
        for _ in range(MAX_HALVINGS):
            if ahead.loss < at.loss:
                break
            step /= 2
            ahead = problem.evaluate(at.A + step)
        else:  # nothing is left that rounding would not hide
            break
        at = ahead
        if decrement <= (40 * tol) ** 2:
            break
    return at.A


class _Problem:
    """What Newton's method asks of the data."""

    def __init__(self, X: Any, targets: FloatArray, ridge: float) -> None:
        self.X, self.targets, self.ridge = X, targets, ridge
        self.squares = X.multiply(X) if issparse(X) else np.square(X)

    def evaluate(self, A: FloatArray) -> Softmax:
        """Probabilities and the loss."""
        Z = self._forth(A)
        Z -= Z.max(axis=1, keepdims=True)
        P = np.exp(Z)
        total = P.sum(axis=1)
        P /= total[:, np.newaxis]
        loss = np.log(total).sum() - np.vdot(self.targets, Z)
        return Softmax(A, P, float(loss + self.ridge / 2 * np.square(A[:-1]).sum()))

    def newton_step(self, at: Softmax) -> tuple[FloatArray, float]:
        """The step, and its length in the metric of the Hessian, squared."""
        R = -self._back(self.X, at.P - self.targets, at.A)
        diagonal = self._back(self.squares, at.P * (1 - at.P), np.ones_like(R))
        np.maximum(diagonal, FLAT, out=diagonal)
        step, decrement = np.zeros_like(R), 0.0
        S = R / diagonal
        rho = start = float(np.vdot(R, S))
        for _ in range(MAX_PRODUCTS):
            Q = self._hessian(at.P, S)
            curvature = float(np.vdot(S, Q))
            if curvature <= 0:
                break
            length = rho / curvature
            step += length * S
            R -= length * Q
            decrement += length * rho
            preconditioned = R / diagonal
            rho, last = float(np.vdot(R, preconditioned)), rho
            S *= rho / last
            S += preconditioned
            if rho <= SOFTMAX_FORCING**2 * start:
                break
        return step, decrement

    def _hessian(self, P: FloatArray, S: FloatArray) -> FloatArray:
        Z = self._forth(S)
        Z -= np.einsum("ik,ik->i", P, Z)[:, np.newaxis]
        return self._back(self.X, P * Z, S)

    def _forth(self, A: FloatArray) -> FloatArray:
        return np.asarray(self.X @ A[:-1]) + A[-1]

    def _back(self, X: Any, D: FloatArray, A: FloatArray) -> FloatArray:
        """Sums over rows, and what the penalty adds; the intercepts have none."""
        return np.vstack([np.asarray(X.T @ D) + self.ridge * A[:-1], D.sum(axis=0)])
