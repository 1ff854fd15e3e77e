"""The contract that every multi-label classifier of nldd keeps.

Think twice before adding anything here: all estimators inherit it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from nldd._labels import LabelTable, read_labels, read_labels_as
from nldd._parallel import use_snapshot
from nldd._sklearn import check_sample_weight, validate_data
from nldd._sparse import narrow_indices, to_canonical
from nldd.distributed import DaskTraining, is_dask_array
from nldd.exceptions import InputError


@dataclass(frozen=True, eq=False)
class Training:
    """The training data T of the paper; `rows` are positions in the data of `fit`."""

    X: Any
    Y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: NDArray[np.intp]) -> "Training":
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return Training(self.X[rows], self.Y[rows], weight, self.rows[rows])

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


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators: validates at the door, keeps names, answers in the user's form.

    A 2-D target gives indicator predictions; a 1-D one is read as one label per class and gives
    1-D predictions.
    """

    @use_snapshot
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

    def _validate_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Training:
        """Check and convert the training data; learn names, sizes and classes."""
        table = read_labels(y)
        X = self._validate_features(X, reset=True)
        check_consistent_length(X, table.Y)
        self._remember_labels(table)
        self._n_rows_given = X.shape[0]
        weight = read_weights(sample_weight, X)
        T = Training(X, table.Y, weight, np.arange(X.shape[0]))
        # A row of weight 0 must not even lend its labelset: it is as if it were not there.
        return T if weight is None or weight.all() else T[np.flatnonzero(weight)]

    def _validate_wherever(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Training | DaskTraining:
        """The same, or for Dask arrays what does not gather them."""
        in_blocks = is_dask_array(X) or is_dask_array(y)
        check = self._validate_blocks if in_blocks else self._validate_fit
        return check(X, y, sample_weight)

    def _validate_blocks(self, X: Any, y: Any, sample_weight: Any = None) -> DaskTraining:
        """Check Dask arrays, whose rows stay where they are; learn sizes and names."""
        if sample_weight is not None:
            raise InputError(
                "sample_weight cannot be used with Dask arrays. Leave it out, or repeat the rows "
                "that are to count several times."
            )
        T = DaskTraining(X, y)
        self._validate_features(np.zeros((1, T.n_features)), reset=True)
        self._remember_labels(read_labels(np.zeros((1, T.n_labels))))
        self._n_rows_given = len(T)
        T.check()
        return T

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

    def _remember_labels(self, table: LabelTable) -> None:
        self.label_names_, self.n_labels_ = table.names, len(table.names)
        self.single_label_ = table.single
        # A row [0, 1] per label: scikit-learn's scorers read it as multi-label, and its
        # cross_val_predict as so many columns of probabilities, which a list would not be.
        several = np.tile([0, 1], (self.n_labels_, 1))
        self.classes_ = np.array(table.names.tolist()) if table.single else several

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
