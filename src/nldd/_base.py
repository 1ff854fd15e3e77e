"""The training data T of the paper, and the contract that every multi-label classifier keeps.

`nldd.distributed` has a class with the same interface as T for rows that are in blocks elsewhere.
Think twice before adding anything to the contract: all estimators inherit it.
"""

import sys
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from nldd._labels import LabelTable, number_groups, read_labels, read_labels_as
from nldd._parallel import blas_threads_for
from nldd._validation import (
    Method,
    check_sample_weight,
    narrow_indices,
    to_canonical,
    validate_data,
)
from nldd.exceptions import InputError
from nldd.search._distances import feature_scale
from nldd.search._index import LabelsetIndex, distinct_labelsets

# Where fewer numbers than this share are not 0, columns are like words, which occur or do not.
SPARSE = 0.25
# Of more rows, the features of a kernel would take more than 100 megabytes.
MANY_ROWS = 50_000


class Labelsets(NamedTuple):
    """Distinct labelsets in lexicographic order, how many rows carry each, and the first row."""

    labelsets: NDArray[np.int8]
    counts: NDArray[np.int64]
    first: NDArray[np.intp]

    @classmethod
    def of(cls, Y: NDArray[Any]) -> "Labelsets":
        """The labelsets of the rows of an indicator array."""
        labelsets, number = distinct_labelsets(Y.astype(np.int8))
        counts, first = np.bincount(number), np.empty(len(labelsets), dtype=np.intp)
        first[number[::-1]] = np.arange(len(Y))[::-1]
        return cls(labelsets, counts, first)


@dataclass(frozen=True, eq=False)
class Training:
    """Rows with their labels; `rows` are positions in the data of `fit`, which had `n_given`."""

    X: Any
    Y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    rows: NDArray[np.intp]
    groups: NDArray[np.intp] | None = None
    n_given: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> "Training":
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        X, Y = self.X[rows], self.Y[rows]
        return Training(X, Y, weight, self.rows[rows], groups, self.n_given)

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def positives(self) -> NDArray[np.int64]:
        """How many rows carry each label."""
        return np.asarray(self.Y.sum(axis=0, dtype=np.int64))

    @property
    def weights(self) -> dict[str, Any]:
        """The weights, if there are any, as an argument for the `fit` of a classifier."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}

    @property
    def kind(self) -> str:
        """What the columns are like: "words", "numbers", or numbers of "many rows"."""
        n_filled = self.X.nnz if issparse(self.X) else np.count_nonzero(self.X)
        if n_filled < SPARSE * len(self) * self.n_features:
            return "words"
        return "numbers" if len(self) <= MANY_ROWS else "many rows"

    def scale(self, standardize: str) -> NDArray[np.float64]:
        """What to divide features by, as :func:`feature_scale` says."""
        return feature_scale(self.X, standardize)

    def index(self, scale: NDArray[np.float64]) -> LabelsetIndex:
        """The rows to search, with features divided by `scale`."""
        return LabelsetIndex(self.X, self.Y, scale)

    def labelsets(self) -> Labelsets:
        """The distinct labelsets."""
        return Labelsets.of(self.Y)

    def in_memory(self) -> "Training":
        """The rows themselves: only for few, where they are elsewhere."""
        return self


def random_part(n_samples: int, size: int, rng: RandomState) -> NDArray[np.intp]:
    """So many rows drawn at random, in order; all, and nothing drawn, if there are no more."""
    if n_samples <= size:
        return np.arange(n_samples)
    return np.sort(rng.permutation(n_samples)[:size])


def random_halves(
    n_samples: int, rng: RandomState, groups: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of T1 and T2, drawn at random by whole groups; an odd row goes to T1."""
    groups = np.arange(n_samples) if groups is None else number_groups(groups)
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    in_first = np.zeros(len(sizes), dtype=bool)
    in_first[order] = np.cumsum(sizes[order]) <= (n_samples + 1) // 2
    in_first[order[0]] = True  # however large that group is
    return np.flatnonzero(in_first[groups]), np.flatnonzero(~in_first[groups])


def is_dask_array(X: Any) -> bool:
    """Whether X is a Dask array; who has one has imported Dask."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def by_rows(method: Method) -> Method:
    """Decorator of a method that maps rows of X to rows of an array, also block by block.

    Products with few rows take one BLAS thread. A Dask array gives a Dask array.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any) -> Any:
        if is_dask_array(X):
            from nldd.distributed._search import map_blocks

            return map_blocks(wrapper, self, X)
        with blas_threads_for(X):
            return method(self, X)

    return cast(Method, wrapper)


def clip_to_prediction(P: NDArray[np.float64], Y_pred: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities on the side of 1/2 that the prediction is on, as scikit-learn expects."""
    below, above = np.nextafter(0.5, [0, 1])
    return np.where(Y_pred == 1, np.maximum(P, above), np.minimum(P, below))


def read_weights(sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
    """The weights of the rows, checked; None if there are none."""
    if sample_weight is None:
        return None
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise InputError("sample_weight must be positive for at least one row; all are 0.")
    return np.asarray(weight)


def read_groups(groups: Any, n_samples: int) -> NDArray[np.intp] | None:
    """The groups of the rows as numbers; None if there are none."""
    if groups is None:
        return None
    numbers = number_groups(groups)
    if numbers.shape != (n_samples,):
        shapes = f"{n_samples} rows; got shape {numbers.shape}"
        raise InputError(f"groups must name one group for each of the {shapes}.")
    return numbers


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators: validates at the door, keeps names, answers in the user's form.

    A 2-D target gives indicator predictions; a 1-D one is read as one label per class and gives
    1-D predictions.
    """

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose whole labelset is right: the subset accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            A row with a label that was unknown to `fit` is not right.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        Y_pred = self.predict(X)
        if self.single_label_:
            return float(accuracy_score(column_or_1d(y), Y_pred, sample_weight=sample_weight))
        truth = self._read_labels(y).Y
        check_consistent_length(Y_pred, truth)
        padding = (0, 0), (0, truth.shape[1] - self.n_labels_)  # for labels unknown to `fit`
        right = (truth == np.pad(Y_pred, padding)).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def _read_training(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Check the training data, in memory or as Dask arrays; learn names, sizes and classes."""
        if is_dask_array(X) or is_dask_array(y):
            from nldd.distributed._training import read_blocks

            return read_blocks(self, X, y, sample_weight, groups)
        return self._validate_fit(X, y, sample_weight, groups)

    def _validate_fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Training:
        """The same, of what is in memory."""
        table = read_labels(y)
        X = self._validate_features(X, reset=True)
        check_consistent_length(X, table.Y)
        self._remember_labels(table.names, table.single)
        weight, n = read_weights(sample_weight, X), X.shape[0]
        T = Training(X, table.Y, weight, np.arange(n), read_groups(groups, n), n)
        # A row of weight 0 must not even lend its labelset: it is as if it were not there.
        return T if weight is None or weight.all() else T[np.flatnonzero(weight)]

    def _validate_predict(self, X: Any) -> Any:
        """Check new rows against what `fit` saw."""
        check_is_fitted(self)
        return self._validate_features(X, reset=False)

    def _validate_features(self, X: Any, reset: bool) -> Any:
        options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "reset": reset}
        if isinstance(X, list | np.ndarray) and len(X) and isinstance(X[0], str):
            how = "Turn them into numbers first: make_pipeline(TfidfVectorizer(), ...)."
            raise InputError(f"Expected numbers, a row for each sample; got texts. {how}")
        X = validate_data(self, to_canonical(X), **options)
        return to_canonical(narrow_indices(X))

    def _remember_labels(self, names: NDArray[np.object_], single: bool = False) -> None:
        self.label_names_, self.n_labels_, self.single_label_ = names, len(names), single
        # A row [0, 1] per label: scikit-learn's scorers read it as multi-label, and its
        # cross_val_predict as so many columns of probabilities, which a list would not be.
        several = np.tile([0, 1], (self.n_labels_, 1))
        self.classes_ = np.array(names.tolist()) if single else several

    def _read_labels(self, y: Any) -> LabelTable:
        """Labels of other rows in the columns of `fit`, labels it did not see in columns behind."""
        table = read_labels_as(y, self.label_names_)
        if (n := len(table.names)) < self.n_labels_:
            raise InputError(
                f"y has {n} labels, but the model was fitted with {self.n_labels_}: "
                "pass the same label columns in the same order."
            )
        return table

    def _read_known_labels(self, y: Any) -> NDArray[np.int8]:
        """Labels of further training rows, which must be labels that `fit` saw."""
        if self.single_label_:
            y = column_or_1d(y)
            Y = (y[:, np.newaxis] == self.classes_).astype(np.int8)
            unknown = np.unique(y[Y.sum(axis=1) == 0]).tolist()
        else:
            table = self._read_labels(y)
            Y, unknown = table.Y, table.names[self.n_labels_ :].tolist()
        if unknown:
            raise InputError(
                f"y has labels that the model was not fitted with: {unknown[:5]}. No classifier "
                "knows them: fit again with all rows, or leave these labels out."
            )
        return Y

    def _answer(self, Y_pred: NDArray[Any]) -> NDArray[Any]:
        """Predictions in the form of the target: indicator rows, or one class a row."""
        if self.single_label_:
            return self.classes_[Y_pred.argmax(axis=1)]
        return Y_pred.astype(np.int64)

    def _answer_proba(
        self, P: NDArray[np.float64], Y_pred: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Label probabilities that agree with `Y_pred`; those of exclusive classes sum to one."""
        if not self.single_label_:
            return P if Y_pred is None else clip_to_prediction(P, Y_pred)
        total = P.sum(axis=1, keepdims=True)
        uniform = np.full_like(P, 1 / P.shape[1])
        return np.divide(P, total, out=uniform, where=total > 0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_names_") and hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
