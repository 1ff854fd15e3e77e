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
from nldd.exceptions import InputError
from nldd.linear._axes import Moments, PrincipalAxes, is_worth_turning, merge_moments
from nldd.linear._features import Features, learn_features
from nldd.linear._logistic import Intercept, log_odds, solve, solve_labels
from nldd.linear._passes import DensePasses, SparsePasses
from nldd.linear._solver import Solution

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
        rows = (SparsePasses if issparse(X) else DensePasses)(X, Y, np.ones(len(Y)), question.C)
        total = total + ask_rows(rows, question.W, question.S)
    return np.asarray(total)


def ask_rows(rows: Any, W: FloatArray, S: FloatArray) -> FloatArray:
    """The same of rows at hand, pass by pass."""
    n_first, (width, wide) = len(W) - len(S), rows.widths
    G, M, Q = np.zeros((3, *W.shape))
    steps = np.concatenate([W[:n_first], S])  # whose first ones are not asked about
    for part in gen_batches(len(W), wide):
        labels = np.arange(part.start, part.stop)
        D, lanes = rows.allocate(len(labels)), np.arange(len(labels))
        for u in np.split(lanes, range(width, len(lanes), width)):
            G[labels[u]], M[labels[u]] = rows.slopes(labels, W[part], D, u)
        if part.stop > n_first:
            Q[part] = rows.curvatures(steps[part], D, lanes)
    return np.concatenate([G[:n_first], M[:n_first], Q[n_first:]])


class InBlocks:
    """Rows in blocks and some of their labels, for a solver that works in rounds for all labels.

    Rows are turned to the `axes` by turning coefficients instead. Only the diagonals of Hessians,
    which speed things up and decide nothing, are then as if curvatures did not depend on rows.
    """

    def __init__(
        self, T: DaskTraining, columns: NDArray[np.intp], C: FloatArray, axes: PrincipalAxes | None
    ) -> None:
        self.T, self.columns, self.C, self.axes = T, columns, C, axes
        self.widths = None  # all labels in one pass

    def n_batches(self, n_labels: int, n_workers: int) -> int:
        """All labels are solved together."""
        return 1

    def allocate(self, n_labels: int) -> None:
        """Nothing is kept from one pass to the next."""

    def ask(
        self, labels: Any, W: FloatArray, S: FloatArray, D: None, first: Any, second: Any
    ) -> tuple[Any, Any, Any]:
        """Slopes of the first labels, as gradients and diagonals, and curvatures of the second."""
        both, axes = np.concatenate([first, second]), self.axes
        asked, W, S = labels[both], W[both], S[second]
        if axes is not None:
            W[:, :-1], S[:, :-1] = W[:, :-1] @ axes.axes.T, S[:, :-1] @ axes.axes.T
        question = Question(self.columns[asked], self.C[asked], W, S)
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


@learn_features.register
def _(T: DaskTraining, kind: Features, n_landmarks: int) -> None:
    if kind != "given":
        raise InputError(
            'Dask arrays need features="given", because others are learned from all rows; '
            f"got {kind!r}."
        )


@solve_labels.register
def _(
    T: DaskTraining,
    columns: NDArray[np.intp],
    C: FloatArray,
    *,
    start: FloatArray | None,
    before: None,
    intercept: Intercept,
    n_jobs: int | None,
    **options: Any,
) -> Solution:
    options["axes"] = axes = axes_of_blocks(T, centred=intercept == "free")
    initial = np.zeros((len(columns), T.n_features + 1))
    initial[:, -1] = log_odds(T.positives[columns], len(T), C)
    usable = np.ones(initial.shape, dtype=bool)
    return solve(InBlocks(T, columns, C, axes), initial, start, usable, C, intercept, **options)
