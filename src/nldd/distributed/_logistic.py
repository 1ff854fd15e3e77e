"""What the solver asks of rows in blocks, wherever these are: slopes and curvatures as sums.

A round trip serves all labels, whatever they wait for. Nothing is kept where a block is: the
curvatures of its rows are computed anew from the coefficients, so that a round can be done by any
worker, and again if one is lost.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from nldd._parallel import one_blas_thread
from nldd.distributed._tasks import RowBlock
from nldd.distributed._training import DaskTraining
from nldd.linear._axes import Moments, PrincipalAxes, is_worth_turning, merge_moments
from nldd.linear._logistic import log_odds, solve
from nldd.linear._passes import InMemory

FloatArray = NDArray[np.float64]

# Rows of a block that are at work: as many as do not take much memory beside the block.
BATCH = 32_768


class Question(NamedTuple):
    """What a round asks about: columns of Y, their `C`, coefficients, and steps `S` to some.

    The first labels wait for slopes, and the others, as many as there are steps, for curvatures.
    """

    labels: NDArray[np.intp]
    C: FloatArray
    W: FloatArray
    S: FloatArray


def slopes_and_curvatures(
    block: RowBlock, question: Question, centre: FloatArray | None
) -> FloatArray:
    """Gradients, diagonals of Hessians and products with them, one below the other."""
    total: Any = 0.0
    for batch in gen_batches(len(block.Y), BATCH):
        X, Y = block.X[batch], block.Y[batch][:, question.labels]
        if centre is not None:
            X = np.subtract(X, centre, dtype=X.dtype, casting="same_kind")
        elif not issparse(X):
            X = np.require(X, requirements=["C", "W"])
        rows = InMemory(X, Y, np.ones(len(Y)), question.C)
        total = total + _products(rows, question.W, question.S)
    return np.asarray(total)


def _products(rows: Any, W: FloatArray, S: FloatArray) -> FloatArray:
    n_slopes, (width, wide) = len(W) - len(S), rows.width
    D, slots, there = rows.slots(wide), np.arange(wide), np.zeros((wide, W.shape[1]))
    slopes, curvatures = [np.empty((2, 0, W.shape[1]))], [np.empty((0, W.shape[1]))]

    def ask_slopes(first: int, last: int, at: int) -> Any:
        labels = np.arange(first, min(first + width, last))
        here = slots[at : at + len(labels)]
        there[here] = W[labels]
        return np.array(rows.slopes(labels, there, here, D))[:, : len(labels)]

    for first in range(0, n_slopes, width):
        slopes.append(ask_slopes(first, n_slopes, 0))
    for first in range(n_slopes, len(W), wide):
        last = min(first + wide, len(W))
        for at in range(0, last - first, width):
            ask_slopes(first + at, last, at)  # for the curvatures of rows, which it leaves in D
        steps = np.array(S[first - n_slopes : last - n_slopes])  # what was sent is read-only
        curvatures.append(rows.curvatures(steps, slots[: len(steps)], D)[: len(steps)])
    return np.concatenate([*np.concatenate(slopes, axis=1), *curvatures])


class InBlocks:
    """Rows in blocks and some of their labels, for a solver that works in rounds for all labels.

    Rows are turned to the `axes` by turning coefficients instead. Only the diagonals of Hessians,
    which speed things up and decide nothing, are then as if curvatures did not depend on rows.
    """

    def __init__(
        self, T: DaskTraining, labels: NDArray[np.intp], C: FloatArray, axes: PrincipalAxes | None
    ) -> None:
        self.T, self.labels, self.C, self.axes = T, labels, C, axes
        self.width = None  # all labels in one pass

    def slots(self, n_slots: int) -> None:
        """Nothing is kept from one pass to the next."""

    def ask(
        self, label: Any, W: FloatArray, S: FloatArray, first: Any, second: Any, D: None
    ) -> tuple[Any, Any, Any]:
        """Slopes of the first slots, as gradients and diagonals, and curvatures of the second."""
        both, axes = np.concatenate([first, second]), self.axes
        asked, W, S = label[both], W[both], S[second]
        if axes is not None:
            W[:, :-1], S[:, :-1] = W[:, :-1] @ axes.axes.T, S[:, :-1] @ axes.axes.T
        question = Question(self.labels[asked], self.C[asked], W, S)
        centre = None if axes is None else axes.mean
        total = self.T.fold(slopes_and_curvatures, sum, question, centre)
        G, M, Q = np.split(total, [len(first), 2 * len(first)])
        if axes is not None:
            G[:, :-1], Q[:, :-1] = G[:, :-1] @ axes.axes, Q[:, :-1] @ axes.axes
            M[:, :-1] = M[:, -1:] * axes.mean_squares
        return G, M, Q


def moments_of_block(block: RowBlock) -> list[Moments]:
    """Those of dense rows, and none of sparse ones, which are not turned."""
    if issparse(block.X):
        return []
    with one_blas_thread():
        return [Moments.of(block.X, np.ones(len(block.X)))]


def merge_found(parts: Any) -> list[Moments]:
    """The moments of all dense blocks together; none if one is sparse."""
    return [merge_moments([one for (one,) in parts])] if all(parts) else []


def axes_of_blocks(T: DaskTraining, centred: bool) -> PrincipalAxes | None:
    """The axes to turn the rows to; None where they are sparse, or it would not pay."""
    if not is_worth_turning(T.n_features, len(T)):
        return None
    found = T.fold(moments_of_block, merge_found)
    return PrincipalAxes(found[0], centred) if found else None


def fit_blocks(
    T: DaskTraining,
    labels: NDArray[np.intp],
    C: FloatArray,
    *,
    start: FloatArray | None = None,
    intercept: str = "free",
    **options: Any,
) -> Any:
    """As :func:`fit_logistic`, of these labels of rows in blocks."""
    axes = axes_of_blocks(T, centred=intercept == "free")
    initial = np.zeros((len(labels), T.n_features + 1))
    initial[:, -1] = log_odds(T.positives[labels], len(T), C)
    limits = np.full(len(labels), T.n_features)
    products = InBlocks(T, labels, C, axes)
    return solve(products, initial, start, axes, limits, C, intercept, **options)
