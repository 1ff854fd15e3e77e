"""Newton's method for the logistic regressions of several labels at once."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nldd._kernels import cached_kernel

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
