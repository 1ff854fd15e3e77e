"""Training data in blocks of rows, as Dask arrays have them; functions go to the blocks.

Logistic regressions ask them for slopes and curvatures as sums. A round trip serves all labels,
whatever they wait for. Nothing is kept where a block is: the curvatures of its rows are computed
anew from the coefficients, so that a round can be done by any worker, and again if one is lost.
"""

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.utils import gen_batches

from nldd._base import Labelsets, Training, is_dask_array, read_groups
from nldd._parallel import one_blas_thread
from nldd._validation import to_canonical
from nldd.distributed._search import (
    RowBlock,
    ShardedIndex,
    broadcast,
    compute,
    delayed_task,
    fold_tasks,
    labelsets_of_block,
    merge_labelsets,
    persist_tasks,
)
from nldd.exceptions import InputError
from nldd.linear._features import (
    Features,
    Moments,
    PrincipalAxes,
    is_worth_turning,
    learn_features,
    merge_moments,
)
from nldd.linear._logistic import (
    Intercept,
    MultiLabelLogisticRegression,
    log_odds,
    solve,
    solve_labels,
)
from nldd.linear._passes import DensePasses, SparsePasses
from nldd.linear._solver import FloatArray, Solution
from nldd.search._distances import Spread, merge_spreads

# Rows of a block that are at work: as many as do not take much memory beside the block.
BATCH = 32_768


def read_blocks(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> "DaskTraining":
    """Check Dask arrays, and that the model can learn from such; it learns sizes and names."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight cannot be used with Dask arrays. Leave it out, or repeat the rows "
            "that are to count several times."
        )
    _check_settings(model)
    T = DaskTraining(X, y, groups)
    model._validate_features(np.zeros((1, T.n_features)), reset=True)
    model._remember_labels(np.arange(T.n_labels).astype(object))
    T.check()
    return T


def _check_settings(model: Any) -> None:
    """Refuse settings with which rows would be gathered here."""
    base = getattr(model, "estimator", None)
    is_given = not (base is None or (isinstance(base, str) and base == "auto"))
    if is_given and not isinstance(base, MultiLabelLogisticRegression):
        raise InputError(
            "Only nldd.linear.MultiLabelLogisticRegression can be fitted to Dask arrays; "
            f"got {base!r}. Use that, or arrays in memory: X.compute()."
        )
    if getattr(model, "max_pairs", 0) is None:
        raise InputError(
            "Dask arrays need a number as max_pairs, or this process would gather rows; got None."
        )
    posterior = "subset", "hamming", "jaccard", "f1"
    if (decision := getattr(model, "decision", "nearest")) in posterior:
        raise InputError(
            f'Dask arrays need decision="nearest"; got {decision!r}. Use that, or arrays in '
            "memory: X.compute()."
        )


class DaskTraining:
    """Training data T in blocks of rows, as Dask arrays X and Y have them.

    It answers as :class:`Training` does, but no row is here: functions go to the blocks instead.
    """

    kind = "many rows"
    sample_weight = None

    def __init__(self, X: Any, Y: Any, groups: Any = None) -> None:
        self._check_chunks(X, Y)
        self.groups = read_groups(groups, X.shape[0])
        (self.n_given, self.n_features), self.n_labels = X.shape, Y.shape[1]
        self._X = [row[0] for row in X.rechunk({1: -1}).to_delayed()]
        self._Y = [row[0] for row in Y.rechunk({0: X.chunks[0], 1: -1}).to_delayed()]
        self._ends = np.cumsum(X.chunks[0])
        self.rows: NDArray[np.intp] = np.arange(X.shape[0])
        # How many rows of each block belong here, and which, as tasks; None is all of them.
        self._sizes: list[int] = list(X.chunks[0])
        self._chosen: list[Any] = [None] * len(self._X)

    @staticmethod
    def _check_chunks(X: Any, Y: Any) -> None:
        if not (is_dask_array(X) and is_dask_array(Y)):
            raise InputError(
                "X and y must both be Dask arrays, or neither; got "
                f"{type(X).__name__} and {type(Y).__name__}. "
                "dask.array.from_array(Y, chunks=(X.chunks[0], -1)) makes one of what is in memory."
            )
        if X.ndim != 2 or Y.ndim != 2:
            raise InputError(
                "As Dask arrays, X and y must be 2-D, y with one 0/1 column per label; "
                f"got shapes {X.shape} and {Y.shape}."
            )
        if np.isnan(X.shape + Y.shape).any():
            raise InputError(
                "The blocks of X or y are of unknown size, so rows cannot be drawn from them. "
                "Call X.compute_chunk_sizes() and y.compute_chunk_sizes() first."
            )
        if X.shape[0] != Y.shape[0] or 0 in X.shape + Y.shape:
            raise InputError(
                "X and y must have equally many rows, and at least one row and column; "
                f"got shapes {X.shape} and {Y.shape}."
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> Self:
        """A part with these rows, by their numbers here, in rising order."""
        part = object.__new__(type(self))
        part.__dict__ = {k: v for k, v in vars(self).items() if k != "positives"}
        part.rows = self.rows[rows]
        part.groups = None if self.groups is None else self.groups[rows]
        is_chosen = np.zeros(self._ends[-1], dtype=bool)
        is_chosen[part.rows] = True
        of_blocks = np.split(is_chosen, self._ends[:-1])
        part._sizes = [int(chosen.sum()) for chosen in of_blocks]
        # As bits, and sent to the workers only once: they are a part of every task.
        part._chosen = persist_tasks([broadcast(np.packbits(chosen)) for chosen in of_blocks])
        return part

    def check(self) -> None:
        """Look for what no fit can use; where it is found, the error says in which rows."""
        *positives, n_rows = self.fold(check_block, sum, (self.n_features, self.n_labels))
        if n_rows != len(self):
            raise InputError(
                f"The blocks of X have {n_rows} rows, but the Dask array says {len(self)}. "
                "Call X.compute_chunk_sizes() and y.compute_chunk_sizes() first."
            )
        self.positives = np.array(positives)

    @cached_property
    def positives(self) -> NDArray[np.int64]:
        """How many rows carry each label."""
        return np.asarray(self.fold(count_labels, sum))

    def scale(self, standardize: str) -> NDArray[np.float64]:
        """What to divide features by, as :func:`feature_scale` says."""
        return self.fold(spread_of_block, merge_spreads).scale(standardize)

    def index(self, scale: NDArray[np.float64]) -> ShardedIndex:
        """The rows to search, in shards where their blocks are."""
        return ShardedIndex(self, scale)

    def labelsets(self) -> Labelsets:
        """The distinct labelsets."""
        return Labelsets(*self.fold(labelsets_of_block, merge_labelsets))

    def in_memory(self) -> Training:
        """The rows themselves, here: only for few."""
        blocks = compute(self.map(gather_rows))
        X, Y = [block.X for block in blocks], [block.Y for block in blocks]
        rows = vstack(X, format="csr") if issparse(X[0]) else np.concatenate(X)
        return Training(rows, np.concatenate(Y).astype(np.int8), None, self.rows)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Tasks that call the function with each block that has rows, and with `args`."""
        task, shared, first = delayed_task(on_block, function), broadcast(args), 0
        tasks = []
        for X, Y, chosen, size in zip(self._X, self._Y, self._chosen, self._sizes, strict=True):
            if size:
                tasks.append(task(X, Y, chosen, first, function, shared))
                first += size
        return tasks

    def fold(self, function: Callable[..., Any], combine: Callable[..., Any], *args: Any) -> Any:
        """What the function says of all blocks, each with `args`, combined: computed at once.

        `combine` takes a list of results. Its order does not depend on who is done first.
        """
        return compute([fold_tasks(self.map(function, *args), combine)])[0]


def on_block(
    X: Any, Y: Any, chosen: Any, first: int, function: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    """Call the function with the rows of a block, in the form in which compiled code takes them."""
    X, Y = to_canonical(X), Y.toarray() if issparse(Y) else np.asarray(Y)
    if chosen is not None:
        rows = np.flatnonzero(np.unpackbits(chosen, count=len(Y)))
        X, Y = X[rows], Y[rows]
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    return function(RowBlock(X, Y, first), *args)


def count_labels(block: RowBlock) -> NDArray[np.int64]:
    """How many rows of the block carry each label."""
    return np.asarray(block.Y.sum(axis=0, dtype=np.int64))


def check_block(block: RowBlock, sizes: tuple[int, int]) -> NDArray[np.int64]:
    """Refuse what is not finite, or not 0 or 1, or of other sizes; else count the labels."""
    rows = f"rows {block.first} to {block.first + len(block.Y) - 1}"
    if (block.X.shape[1], block.Y.shape[1]) != sizes or block.X.shape[0] != len(block.Y):
        raise InputError(
            f"The blocks of {rows} have shapes {block.X.shape} and {block.Y.shape}, but the Dask "
            f"arrays promise {sizes[0]} features and {sizes[1]} labels, row by row."
        )
    if not np.isfinite(block.X.data if issparse(block.X) else block.X).all():
        raise InputError(f"X contains NaN or infinity in {rows}. Drop or fill such values first.")
    if not ((block.Y == 0) | (block.Y == 1)).all():
        raise InputError(f"Y must hold only 0 and 1; in {rows} it holds other values.")
    return np.append(count_labels(block), len(block.Y))


def spread_of_block(block: RowBlock) -> Spread:
    """How the features of the rows of a block vary."""
    return Spread.of(block.X)


def gather_rows(block: RowBlock) -> RowBlock:
    """The rows of the block."""
    return block


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
    return [reduce(merge_moments, (one for (one,) in parts))] if all(parts) else []


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
