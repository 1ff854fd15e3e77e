"""Newton's method for the logistic regressions of all labels at once."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Condition
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nldd._kernels import cached_kernel

FloatArray = NDArray[np.float64]

# What a label waits for, and how it has ended.
SLOPES, CURVATURES, CONVERGED, STUCK = range(4)
# The part of the gradient that conjugate gradients leave over before a step is taken.
FORCING = 0.1
# The part of a step that is left when it is taken back.
LEAST_SHARE = 0.4

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@cached_kernel(**OPTIONS)
def take_slopes(slots, n, G, M, limits, ridge, with_intercept, vectors, numbers, phase):
    """Judge the last step of n slots by their new slopes: go back, or start the next one."""
    W, step, R, S, diagonal = vectors
    rho, start, decrement, _ = numbers
    p = len(ridge)
    for lane in range(n):
        u = slots[lane]
        along = 0.0
        for j in range(p):
            G[lane, j] += ridge[j] * W[u, j]
            along += G[lane, j] * step[u, j]
        # The loss is convex: where its slope along the step is positive, the step went beyond the
        # minimum. Back to where the slope would be 0 if it grew along a straight line; but it is
        # flat first and steep in the end, so not too far.
        if along > decrement[u] / 2:
            share = max(LEAST_SHARE, decrement[u] / (decrement[u] + along))
            for j in range(p):
                W[u, j] -= (1 - share) * step[u, j]
                step[u, j] *= share
            decrement[u] *= share
            continue
        total, is_lost = 0.0, False
        for j in range(p):
            # An infinite diagonal keeps a coefficient where it is.
            is_free = with_intercept if j == p - 1 else j < limits[u]
            diagonal[u, j] = M[lane, j] + ridge[j] if is_free else np.inf
            step[u, j], R[u, j] = 0.0, -G[lane, j]
            S[u, j] = R[u, j] / diagonal[u, j]
            total += R[u, j] * S[u, j]
            is_lost |= is_free and not diagonal[u, j] < np.inf
        rho[u], start[u], decrement[u] = total, total, 0.0
        phase[u] = CURVATURES if total > 0 else CONVERGED
        if is_lost or not total < np.inf:  # numbers whose squares are beyond all bounds
            phase[u] = STUCK


@cached_kernel(**OPTIONS)
def take_curvatures(slots, n, Q, ridge, vectors, numbers, phase):
    """One step of conjugate gradients in n slots and, where that is enough, one of Newton."""
    W, step, R, S, diagonal = vectors
    rho, start, decrement, enough = numbers
    p = len(ridge)
    for lane in range(n):
        u = slots[lane]
        curvature = 0.0
        for j in range(p):
            Q[lane, j] += ridge[j] * S[u, j]
            curvature += S[u, j] * Q[lane, j]
        length, left = rho[u] / curvature, 0.0
        if not 0 < length < np.inf:
            phase[u] = STUCK
            continue
        for j in range(p):
            step[u, j] += length * S[u, j]
            R[u, j] -= length * Q[lane, j]
            left += R[u, j] * R[u, j] / diagonal[u, j]
        decrement[u] += length * rho[u]
        if left > FORCING**2 * start[u]:
            for j in range(p):
                S[u, j] = R[u, j] / diagonal[u, j] + left / rho[u] * S[u, j]
            rho[u] = left
            continue
        for j in range(p):
            W[u, j] += step[u, j]
        phase[u] = CONVERGED if decrement[u] <= enough[u] else SLOPES


class Solution(NamedTuple):
    """Coefficients of shape (n_labels, n_features + 1), the intercept last, and how it went."""

    W: FloatArray
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]


class Solver:
    """Labels on their way to the minimum of ``sum of C loss(z_i) + sum of ridge w^2 / 2``.

    A label waits for slopes or for curvatures. Workers take a few labels that wait for the same
    thing, let `products` compute it in one pass over X, and let each label take its step: of
    conjugate gradients, preconditioned by the diagonal, or of Newton. A label that has ended leaves
    its slot to the next one. No label depends on another one, nor on the number of workers.

    `start` has coefficients to start from and the `solution` in the end, `limits` says how many of
    the features a label may use, `enough` at which square of the Newton decrement it has converged.
    """

    def __init__(
        self,
        products: Any,
        start: FloatArray,
        ridge: FloatArray,
        with_intercept: bool,
        limits: NDArray[np.int64],
        enough: FloatArray,
        max_iter: int,
        n_slots: int,
    ) -> None:
        n_labels, n_slots = len(start), min(n_slots, len(start))
        self.products, self.max_iter = products, max_iter
        self.ridge, self.with_intercept = ridge, with_intercept
        counts = np.zeros(n_labels, dtype=np.int64), np.zeros(n_labels, dtype=bool)
        self.solution, self.limits, self.enough = Solution(start, *counts), limits, enough
        self.vectors = tuple(np.zeros((5, n_slots, len(ridge))))
        self.numbers = tuple(np.zeros((4, n_slots)))
        self.phase = np.zeros(n_slots, dtype=np.int8)
        self.label, self.limit = np.zeros((2, n_slots), dtype=np.int64)
        self.kept = products.slots(n_slots)
        self.labels, self.waiting = deque(range(n_labels)), deque[int]()
        self.changed, self.ended, self.is_over = Condition(), SimpleQueue[Any](), False
        for slot in range(n_slots):
            self._enter(slot)

    def run(self, n_workers: int) -> Iterator[Any]:
        """Solve all, and tell of each label when it has ended."""
        if n_workers == 1:  # a thread takes longer to start than a small problem to solve
            yield from self._run_here()
            return
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in range(n_workers):
                pool.submit(self._work)
            try:
                for _ in self.enough:  # one for each label
                    if isinstance(ended := self.ended.get(), BaseException):
                        raise ended
                    yield ended
            finally:  # whatever has happened, the workers stop
                with self.changed:
                    self.is_over = True
                    self.changed.notify_all()

    def _run_here(self) -> Iterator[Any]:
        for _ in self.enough:
            while self.ended.empty():
                self._work_on(self._take())
            yield self.ended.get()

    def _work(self) -> None:
        try:
            while len(slots := self._take()):
                self._work_on(slots)
        except BaseException as error:
            self.ended.put(error)

    def _take(self) -> NDArray[np.int64]:
        """Slots that wait for the same, of the two things for that which fills a pass better.

        Where a pass has no width, all of them.
        """
        width = self.products.width
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.is_over)
            if self.is_over:
                return np.empty(0, dtype=np.int64)
            taken = list(self.waiting)
            if width is not None:
                by_phase = [
                    [slot for slot in taken if self.phase[slot] == phase]
                    for phase in (SLOPES, CURVATURES)
                ]
                alike, n = max(zip(by_phase, width, strict=True), key=lambda of: len(of[0]) / of[1])
                taken = alike[:n]
            for slot in taken:
                self.waiting.remove(slot)
        return np.array(taken)

    def _work_on(self, slots: NDArray[np.int64]) -> None:
        self._advance(slots)
        self._give_back(slots)

    def _advance(self, slots: NDArray[np.int64]) -> None:
        W, _, _, S, _ = self.vectors
        phase = self.phase[slots]
        first, second = slots[phase == SLOPES], slots[phase == CURVATURES]
        G, M, Q = self.products.ask(self.label, W, S, first, second, self.kept)
        if len(first):
            slopes = G, M, self.limit, self.ridge, self.with_intercept
            take_slopes(first, len(first), *slopes, self.vectors, self.numbers, self.phase)
            self.solution.n_iter[self.label[first]] += 1
        if len(second):
            steps = self.ridge, self.vectors, self.numbers, self.phase
            take_curvatures(second, len(second), Q, *steps)

    def _give_back(self, slots: NDArray[np.int64]) -> None:
        """Let labels wait for what they need next, or end."""
        with self.changed:
            for slot in slots.tolist():
                label, phase = self.label[slot], self.phase[slot]
                if phase in (CONVERGED, STUCK) or (
                    phase == SLOPES and self.solution.n_iter[label] >= self.max_iter
                ):
                    self.solution.W[label] = self.vectors[0][slot]
                    self.solution.converged[label] = phase == CONVERGED
                    self.ended.put(label)
                    if self.labels:
                        self._enter(slot)
                else:
                    self.waiting.append(slot)
            self.changed.notify_all()

    def _enter(self, slot: int) -> None:
        """Let the next label have this slot."""
        label = self.label[slot] = self.labels.popleft()
        for vector in self.vectors:
            vector[slot] = 0.0
        self.vectors[0][slot] = self.solution.W[label]
        for number in self.numbers:
            number[slot] = 0.0
        self.numbers[3][slot] = self.enough[label]
        self.limit[slot], self.phase[slot] = self.limits[label], SLOPES
        self.waiting.append(slot)
