"""Exact nearest labelset: what is asked, the index that answers, and how its rows lie in memory."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn import get_config

from nldd._parallel import delayed, do_all, one_blas_thread
from nldd._validation import to_canonical
from nldd.exceptions import InputError
from nldd.search._distances import FloatArray, LowerBounds, Sketch, scale_rows, squared_norms
from nldd.search._kernels import COORDINATES, Groups, PackedRows, SparseRows, query_block

# Blocks beyond this many queries no longer gain speed, and only make progress coarse.
MAX_BLOCK = 1024
MAX_BYTES = 2**27
# Of so few dense rows, a matrix product has all the distances before a search has found which ones
# it needs: it takes the time of evaluating a tenth of them one by one.
FEW_ROWS = 4096
# Probabilities outside [0, 1] by no more than this are rounded ones, in single precision even.
ROUNDING = 1e-6

# Held while the bounds of an index are made. One for all, because an index with a
# lock of its own could not be sent to other processes.
_bounding = Lock()
# Rows in a cell: fewer make more boxes to look at, more make boxes that are less tight.
CELL_ROWS = 32
# Features of a dense row that are compared before its distance so far is checked.
STRETCH = 64
# Features of 0 and 1 in a word; one takes about a quarter of the time of a stored number in a dot
# product.
WORD = 64
WORDS_PER_NUMBER = 4


class Score(NamedTuple):
    """What a search minimises: ``x * Dx + y * Dy``, or as a product ``Dx^x * Dy^y``.

    Attributes
    ----------
    x, y : float
        Weights of the distances in features and in labels, or their exponents; not below 0.
    product : bool, default=False

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.search._index import Score
    >>> Dx, Dy = np.array([4.0]), np.array([0.5])
    >>> Score(x=1, y=10).of(Dx, Dy), Score(x=2, y=1, product=True).of(Dx, Dy)
    (array([9.]), array([8.]))
    """

    x: float
    y: float
    product: bool = False

    def of(self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of pairs of distances; it never falls when one grows."""
        if self.product:
            return np.power(Dx, self.x) * np.power(Dy, self.y)
        return self.x * Dx + self.y * Dy


# The scores of a search for what is nearest in features, whatever the labels; and for what is
# nearest in labels, where among equals features decide.
IN_FEATURES, IN_LABELS = Score(x=1.0, y=0.0), Score(x=0.0, y=1.0)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k nearest labelsets of each query, best first.

    Attributes
    ----------
    row : ndarray of shape (n_queries, k)
        The row that represents the labelset: its member nearest in feature space.
    labelset : ndarray of shape (n_queries, k)
        Positions in the `labelsets` of the index.
    Dx, Dy : ndarray of shape (n_queries, k)
        Distances in features and in labels.
    evaluated : ndarray of shape (n_queries,)
        How many feature distances were computed.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.search._index import IN_FEATURES, LabelsetIndex
    >>> X, Y = np.array([[0.0], [3.0]]), np.array([[1, 0], [1, 1]])
    >>> index = LabelsetIndex(X, Y, scale=np.ones(1))
    >>> near = index.query(np.array([[2.0]]), np.array([[0.5, 0.5]]), IN_FEATURES, k=2)
    >>> near.row, near.Dx
    (array([[1, 0]]), array([[1., 2.]]))
    """

    row: NDArray[np.intp]
    labelset: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    evaluated: NDArray[np.intp]

    @classmethod
    def stack(cls, parts: Iterable["Neighbors"]) -> "Neighbors":
        """The answers to several blocks of queries as one."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def take(self, places: NDArray[np.intp]) -> "Neighbors":
        """Those at these places of each query, of shape (n_queries, any number)."""
        ranked = ("row", "labelset", "Dx", "Dy")
        chosen = {n: np.take_along_axis(getattr(self, n), places, axis=1) for n in ranked}
        return replace(self, **chosen)


@dataclass(frozen=True)
class SearchStats:
    """How much work a search was.

    Attributes
    ----------
    n_queries : int
    n_evaluated, n_pairs : int
        Feature distances computed, of all pairs of query and row.

    Examples
    --------
    >>> from nldd.search._index import SearchStats
    >>> stats = SearchStats(n_queries=2, n_evaluated=30, n_pairs=1000)
    >>> stats.share_evaluated
    0.03
    """

    n_queries: int = 0
    n_evaluated: int = 0
    n_pairs: int = 0

    @classmethod
    def of(cls, found: Neighbors, n_rows: int) -> "SearchStats":
        """The work of the search that gave `found` in an index of so many rows."""
        n_queries = len(found.evaluated)
        return cls(n_queries, int(found.evaluated.sum()), n_queries * n_rows)

    @property
    def share_evaluated(self) -> float:
        """Share of the feature distances computed; the others could not matter."""
        return self.n_evaluated / self.n_pairs if self.n_pairs else 0.0


def group_rows(
    labelsets: NDArray[np.int8],
    labelset: NDArray[np.intp],
    sketch: NDArray[np.float32],
    number: NDArray[np.int64],
) -> tuple[Groups, NDArray[np.intp]]:
    """Groups of rows whose labelsets, sketches and numbers are given, and the order of the rows.

    Without coordinates in the sketches, the rows of a labelset are one cell.
    """
    max_rows = CELL_ROWS if sketch.shape[1] else len(labelset)
    order, row_starts = split_into_cells(labelset, sketch, max_rows)
    sketch, counts = sketch[order], np.bincount(labelset)
    cell_starts = np.searchsorted(row_starts, np.cumsum(np.append(0, counts)))
    corners = (extreme.reduceat(sketch, row_starts[:-1]) for extreme in (np.minimum, np.maximum))
    box = np.stack([*corners], axis=1)
    trie = labelset_trie(labelsets)
    return Groups(trie, labelsets, cell_starts, row_starts, box, sketch, number[order]), order


def labelset_trie(labelsets: NDArray[Any]) -> NDArray[np.int32]:
    """Trie of labelsets in lexicographic order: each node adds one label to those above it.

    Nodes come before those below them, in the order of the labelsets. For each one: its label,
    counted from 1; how deep it lies; the next node that is not below it; its labelset, or -1. The
    root, without a label, is first.
    """
    different = labelsets[1:] != labelsets[:-1]
    # Labels before the first difference are those of the labelset before, whose nodes are there.
    first_new = np.append(0, different.argmax(axis=1))
    owner, label = np.nonzero(labelsets)
    n_labels = np.bincount(owner, minlength=len(labelsets))
    depth = np.arange(len(owner)) - np.repeat(np.cumsum(n_labels) - n_labels, n_labels) + 1
    is_new, is_last = label >= first_new[owner], depth == n_labels[owner]
    nodes = np.stack([label + 1, depth, depth, np.where(is_last, owner, -1)], axis=1)[is_new]
    root = [0, 0, 0, -1 if n_labels[0] else 0]
    trie = np.concatenate([[root], nodes]).astype(np.int32)
    for level in range(trie[:, 1].max() + 1):
        (up_to_level,) = np.nonzero(trie[:, 1] <= level)
        following = np.append(up_to_level[1:], len(trie))
        at_level = trie[up_to_level, 1] == level
        trie[up_to_level[at_level], 2] = following[at_level]
    return trie


def distinct_labelsets(Y: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Distinct rows of an indicator array in lexicographic order, and which one each row is.

    What ``np.unique(Y, axis=0)`` gives, from eight labels a byte: the first label is the highest
    bit, so bytes sort as rows do.
    """
    packed = np.packbits(Y.astype(bool, order="C"), axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, labelset = np.unique(keys, return_index=True, return_inverse=True)
    return Y[first].astype(np.int8), labelset.ravel()


def find_labelsets(labelsets: NDArray[Any], Y: NDArray[Any]) -> NDArray[np.intp]:
    """Where each row of `Y` stands among distinct labelsets; -1 if it is none of them.

    >>> find_labelsets(np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]]))
    array([ 1, -1])
    """
    found, number = distinct_labelsets(np.concatenate([labelsets, Y]))
    position = np.full(len(found), -1)
    position[number[: len(labelsets)]] = np.arange(len(labelsets))
    return position[number[len(labelsets) :]]


def split_into_cells(
    labelset: NDArray[np.intp], sketch: NDArray[np.floating], max_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cells of at most `max_rows` rows of one labelset that lie close together.

    Cells are halved at the median of the coordinate in which they are widest, all of them at
    once, until they are small enough. Returns the rows, cell by cell in order of labelsets, and
    where each cell starts among them, and the end.
    """
    order = np.argsort(labelset, kind="stable")
    is_start = np.diff(labelset[order], prepend=-1) != 0
    while True:
        starts = np.flatnonzero(is_start)
        sizes = np.diff(starts, append=len(order))
        large = np.flatnonzero(sizes > max_rows)
        if len(large) == 0:
            return order, np.append(starts, len(order))
        # Positions of the rows in large cells, and which of the large cells each one is in.
        cell = np.repeat(np.arange(len(large)), sizes[large])
        first = np.cumsum(sizes[large]) - sizes[large]
        position = np.arange(len(cell)) - np.repeat(first - starts[large], sizes[large])
        values = sketch[order[position]]
        width = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
        widest = values[np.arange(len(cell)), width.argmax(axis=1)[cell]]
        order[position] = order[position][np.lexsort((widest, cell))]
        is_start[starts[large] + sizes[large] // 2] = True


class Features(NamedTuple):
    """Rows of features in the form that the kernel reads: dense, sparse, or sparse and packed."""

    dense: NDArray[np.float64] | None  # (n_rows, n_stretches, n_features_per_stretch)
    packed: PackedRows | None
    sparse: SparseRows | None

    @classmethod
    def of(cls, Z: Any, with_bits: bool) -> "Features":
        """`Z`, dense or CSR; `with_bits` if it is of ones, and they are wanted."""
        norms = squared_norms(Z)
        if not issparse(Z):
            n_stretches = -(-Z.shape[1] // STRETCH)
            padded = np.zeros((len(Z), -(-Z.shape[1] // n_stretches) * n_stretches))
            padded[:, : Z.shape[1]] = Z
            return cls(padded.reshape(len(Z), n_stretches, -1), None, None)
        starts, columns = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
        packed = PackedRows(pack(Z), norms) if with_bits else None
        return cls(None, packed, SparseRows(starts, columns, Z.data, norms))


def is_worth_packing(Z: Any) -> bool:
    """Whether the rows are sparse zeros and ones, and not so sparse that most words are empty."""
    is_ones = issparse(Z) and (Z.data == 1).all()
    return bool(is_ones and Z.shape[0] * Z.shape[1] / WORD <= WORDS_PER_NUMBER * Z.nnz)


def pack(Z: Any) -> NDArray[np.uint64]:
    """CSR matrix of ones as words of 64 features, of shape (n_rows, n_words)."""
    words = np.zeros((Z.shape[0], -(-Z.shape[1] // WORD)), dtype=np.uint64)
    row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    word, bit = np.divmod(Z.indices, WORD)
    np.bitwise_or.at(words, (row, word), np.uint64(1) << bit.astype(np.uint64))
    return words


def read_only(arrays: Any) -> Any:
    """The same arrays, in named tuples within named tuples, read-only.

    As they are in a worker process, mapped from a file. To the compiler that is another type, and
    a second kernel to compile.
    """
    if arrays is None:
        return None
    if isinstance(arrays, tuple):
        return type(arrays)(*map(read_only, arrays))
    view = np.ascontiguousarray(arrays).view()
    view.flags.writeable = False
    return view


def check_probabilities(P: Any, label_names: Any = None) -> FloatArray:
    """Probabilities clipped to [0, 1]; an error if one is outside by more than rounding.

    With other numbers, label distances overflow, and the compiled search reads beyond its arrays.
    """
    P = np.asarray(P, dtype=np.float64)
    if not (P.min(initial=0) >= -ROUNDING and P.max(initial=0) <= 1 + ROUNDING):  # or NaN
        at = tuple(np.argwhere(~((P >= -ROUNDING) & (P <= 1 + ROUNDING)))[0])
        label = int(at[-1]) if label_names is None else label_names[at[-1]]
        raise InputError(
            f"Probabilities must be from 0 to 1; got {P[at]:.6g} for label {label!r}. Check the "
            "input and predict_proba of the base classifier, or use another one."
        )
    return P.clip(0, 1)


class LabelsetIndex:
    """Search structure over training rows; it never changes, so threads can share it.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_features)
    Y : ndarray of shape (n_rows, n_labels)
    scale : ndarray of shape (n_features,)
        Divisors of the features, as from :func:`nldd.search._distances.feature_scale`.

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        The distinct rows of `Y`.
    counts : ndarray of shape (n_labelsets,)
        How many rows carry each of them.

    Notes
    -----
    The label distance depends on the labelset alone, so rows are grouped by labelset once, and
    within a labelset into cells of rows that lie close together. A query visits labelsets in order
    of the lowest score they can have and stops when that is worse than the best it has found.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.search._index import LabelsetIndex, Score
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> Y = np.array([[1, 0], [1, 1], [1, 1]])
    >>> index = LabelsetIndex(X, Y, scale=np.ones(1))
    >>> near = index.query(np.array([[4.0]]), np.array([[0.9, 0.2]]), Score(x=1, y=10))
    >>> index.labelsets[near.labelset[:, 0]], near.row, near.Dx
    (array([[1, 0]], dtype=int8), array([[0]]), array([[4.]]))
    """

    features: Features
    groups: Groups
    _bounds: LowerBounds | None

    def __init__(self, X: Any, Y: NDArray[Any], scale: FloatArray) -> None:
        self.scale = scale
        self.sketch: Sketch | None = None
        self._arrange(scale_rows(X, scale), Y, np.arange(len(Y)))

    def __len__(self) -> int:
        return len(self.groups.number)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bounds": None}  # as quickly made as read

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.features, self.groups = read_only(self.features), read_only(self.groups)

    def __sizeof__(self) -> int:
        """Bytes of its arrays: a cluster moves to disk what it knows to be large."""
        arrays = (*self.groups, *(a for part in self.features[1:] if part for a in part))
        return sum(a.nbytes for a in (*arrays, self.features.dense) if a is not None)

    def with_rows(self, X: Any, Y: NDArray[Any]) -> Self:
        """An index with more rows, numbered on from the last; this one stays as it is.

        Rows are grouped anew, without a look at the features of the old ones: much faster than the
        first time, but still in time proportional to all rows, so add many at a time.

        Parameters
        ----------
        X : {ndarray, CSR} of shape (n_rows, n_features)
        Y : ndarray of shape (n_rows, n_labels)

        Returns
        -------
        LabelsetIndex
        """
        old = self._rows()
        new = scale_rows(self._like_rows(X), self.scale)
        Z = vstack([old, new], format="csr") if issparse(old) else np.concatenate([old, new])
        Y = np.concatenate([np.repeat(self.labelsets, self.counts, axis=0), Y])
        number = np.concatenate([self.groups.number, len(self) + np.arange(X.shape[0])])
        larger = copy(self)
        larger._arrange(Z, Y, number)
        return larger

    def query(
        self,
        X: Any,
        P: FloatArray,
        score: Score,
        k: int = 1,
        n_jobs: int | None = None,
        title: str | None = None,
    ) -> Neighbors:
        """The `k` distinct labelsets of smallest score for each row of `X` and `P`.

        Parameters
        ----------
        X : {ndarray, CSR} of shape (n_queries, n_features)
        P : ndarray of shape (n_queries, n_labels)
            Probabilities of the labels.
        score : Score
        k : int, default=1
        n_jobs : int, default=None
            Blocks of queries searched at a time, in threads.
        title : str, default=None
            With one, lines on standard output say how many blocks are done.

        Returns
        -------
        Neighbors

        Notes
        -----
        Scores that differ by rounding alone are equal; then the smaller label distance wins, then
        the smaller feature distance, then the lowest row.
        """
        if not 1 <= k <= len(self.counts):
            raise InputError(f"k must be from 1 to {len(self.counts)}, the number of labelsets.")
        X, P = to_canonical(X), np.asarray(P, dtype=np.float64)
        sizes = len(self.scale), self.labelsets.shape[1]
        if not 0 < X.shape[0] == P.shape[0] or (*X.shape[1:], *P.shape[1:]) != sizes:
            what = f"{sizes[0]} features in X and {sizes[1]} labels in P, row by row"
            raise InputError(f"The index needs {what}; got shapes {X.shape} and {P.shape}.")
        P, n_queries = check_probabilities(P), X.shape[0]
        n_rows = 1 if n_queries == 1 else self._block_rows(n_jobs, self._bounds_all(score))
        if n_queries <= n_rows and title is None:
            return self._query_block(X, P, score, k)
        blocks = [slice(start, start + n_rows) for start in range(0, n_queries, n_rows)]
        tasks = (delayed(self._query_block)(X[block], P[block], score, k) for block in blocks)
        return Neighbors.stack(do_all(tasks, len(blocks), n_jobs, title))

    def _bounds_all(self, score: Score) -> bool:
        """Whether the distances to all dense rows are bounded at once: where that is quicker than
        sketches, for few rows, and for rows of which labels rule out none.
        """
        is_dense = self.features.dense is not None
        return self.sketch is None or (is_dense and score.x > 0 and score.y == 0)

    def _block_rows(self, n_jobs: int | None, all_distances: bool) -> int:
        """Queries per block, so that all blocks at work fit scikit-learn's working memory."""
        budget = min(get_config()["working_memory"] * 2**20, MAX_BYTES) / effective_n_jobs(n_jobs)
        # Per query: features as given, scaled and in stretches, probabilities, sketch, distances.
        doubles = 4 * len(self.scale) + self.labelsets.shape[1] + COORDINATES
        bytes_per_query = 8 * doubles + 4 * len(self) * all_distances
        return int(np.clip(budget // bytes_per_query, 1, MAX_BLOCK))

    def _query_block(self, X: Any, P: FloatArray, score: Score, k: int) -> Neighbors:
        A = scale_rows(self._like_rows(X), self.scale)
        rows, n_queries = self.features, len(P)
        is_packed = rows.packed is not None and bool((A.data == 1).all())
        queries = Features.of(A, with_bits=is_packed)
        dense = packed = sparse = None
        if rows.dense is not None:
            dense = rows.dense, queries.dense
        elif is_packed:
            packed = rows.packed, queries.packed
        else:
            sparse = rows.sparse, queries.sparse, np.zeros(len(self.scale))
        lower, least = self._lower_bounds(A, score, is_packed)
        sketch, slack = None, np.zeros(n_queries)
        if self.sketch is not None and lower.size:
            sketch = np.empty((0, COORDINATES), dtype=np.float32)
        elif self.sketch is not None:
            sketch, slack = self.sketch(A)
        found, evaluated = np.empty((2, n_queries, k), np.int64), np.empty(n_queries, np.int64)
        Dx, Dy = np.empty((2, n_queries, k))
        query_block(
            self.groups, dense, packed, sparse, lower, least, sketch, slack + self.error, P,
            (float(score.x), float(score.y), bool(score.product)), found, Dx, Dy, evaluated,
            self._room(),
        )  # fmt: skip
        return Neighbors(self.groups.number[found[0]], found[1], Dx, Dy, evaluated)

    def _room(self) -> tuple[Any, ...]:
        """Numbers, positions and keys for one query at a time: see where the kernel unpacks them.

        In few arrays, of which no row is full: each one that the kernel takes costs time to
        compile.
        """
        n_labelsets, n_labels = self.labelsets.shape
        size = max(len(self.groups.row_starts), self.counts.max(), n_labels + 2)
        numbers, positions = np.empty((8, size)), np.empty((5, size), dtype=np.int64)
        return numbers, positions, np.empty((n_labelsets, 3))

    def _lower_bounds(
        self, A: Any, score: Score, is_packed: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Bounds of all squared distances, or room for them, and the smallest Dx of each query."""
        least = np.zeros(A.shape[0])
        if not self._bounds_all(score):
            # Packed rows are quick enough to be all measured, if labels rule out none of them.
            n_measured = len(self) if is_packed and score.x > 0 and score.y == 0 else 0
            return np.empty((1, n_measured), dtype=np.float32), least
        with _bounding:  # made when they are first asked for
            if self._bounds is None:
                self._bounds = LowerBounds(self._rows())
        lower = self._bounds(A)
        least[:] = np.sqrt(lower.min(axis=1).clip(0))
        return lower, least

    def _arrange(self, Z: Any, Y: NDArray[Any], number: NDArray[np.int64]) -> None:
        """Group scaled rows by labelset and cell; `number` tells which training row each one is."""
        labelsets, labelset = distinct_labelsets(Y)
        self.counts = np.bincount(labelset)
        sketch, self.error = np.empty((len(Y), 0), dtype=np.float32), 0.0
        if issparse(Z) or len(Y) > FEW_ROWS:
            with one_blas_thread():
                self.sketch = self.sketch or Sketch(Z)
                sketch, error = self.sketch(Z)
            self.error = float(error.max())
        groups, order = group_rows(labelsets, labelset, sketch, number)
        features = Features.of(Z[order], with_bits=is_worth_packing(Z))
        self.groups, self.features = read_only(groups), read_only(features)
        self.labelsets = self.groups.labelsets
        self._bounds = None

    def _like_rows(self, X: Any) -> Any:
        """`X` sparse or dense as the rows of the index are."""
        if self.features.dense is None:
            return X if issparse(X) else csr_array(X)
        return X.toarray() if issparse(X) else X

    def _rows(self) -> Any:
        """The scaled rows, in the order of the groups."""
        dense, _, sparse = self.features
        if dense is not None:
            return dense.reshape(len(self), -1)[:, : len(self.scale)]
        assert sparse is not None
        parts = sparse.values, sparse.columns, sparse.starts
        return csr_array(parts, shape=(len(self), len(self.scale)))
