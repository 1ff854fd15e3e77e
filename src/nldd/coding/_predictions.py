"""Predicted labelsets with the evidence for them; coded answers are predicted without themselves.

Classifiers and neighbours are those of the other folds. The weights of both distances are the
model's own in every fold: a threshold of theta is to be used with these, and weights learned anew
would put each fold on a scale of its own. What three numbers know of a row is next to nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from nldd.coding._answers import Answers
from nldd.coding._features import AnswerFeatures
from nldd.exceptions import InputError

# Passes the folds through, with a progress bar or whatever else.
Watch = Callable[[Iterable[Any], int], Iterable[Any]]
MEASURES = ("subset", "hamming")
# Of answers for which there was no second labelset to choose from: nothing speaks for them.
NO_EVIDENCE = 1 - np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted labelsets and the evidence for each; all arrays have one entry an answer.

    `theta` is the probability that a label is wrong, `row` the coded answer that the labelset comes
    from, `Dx` and `Dy` are the distances from it in features and in labels, and `x_part` and
    `y_part` what these add to the log-odds of an error.
    """

    Y: NDArray[np.int8]
    theta: NDArray[np.float64]
    row: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    x_part: NDArray[np.float64]
    y_part: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.theta)

    def __getitem__(self, rows: Any) -> "Predictions":
        return Predictions(*(values[rows] for values in vars(self).values()))

    def n_wrong(self, Y: NDArray[np.int8]) -> NDArray[np.intp]:
        """Labels of each answer that are wrong; those beyond the known ones are not predicted."""
        n_known = self.Y.shape[1]
        return np.asarray((Y[:, :n_known] != self.Y).sum(axis=1) + Y[:, n_known:].sum(axis=1))

    def right(self, Y: NDArray[np.int8], measure: str = "subset") -> NDArray[np.float64]:
        """How right each prediction is: 0 or 1 for the whole labelset, or its share of labels."""
        if measure not in MEASURES:
            raise InputError(f"measure must be one of {', '.join(MEASURES)}; got {measure!r}.")
        n_wrong = self.n_wrong(Y)
        return (n_wrong == 0).astype(float) if measure == "subset" else 1 - n_wrong / Y.shape[1]


def predict(classifier: Any, X: Any) -> Predictions:
    near = classifier.nearest_labelsets(X, k=1)
    Dx, Dy = near.Dx[:, 0], near.Dy[:, 0]
    x_part, y_part = classifier.regression_.parts(Dx, Dy)
    Y = near.labelsets[:, 0].astype(np.int8)
    return Predictions(Y, near.theta[:, 0], near.row[:, 0], Dx, Dy, x_part, y_part)


def out_of_fold(
    model: Any,
    X: Any,
    Y: NDArray[np.int8],
    n_folds: int = 10,
    random_state: int = 0,
    watch: Watch = lambda folds, total: folds,
) -> Predictions:
    """Each row of `X` predicted as a fitted NLDD `model` would, had it not seen those of its fold.

    `X` is an array or :class:`Answers`, whose words and scales are learned anew in each fold: what
    an answer alone contributes to them must not help to predict it. ``watch(folds, n_folds)``
    passes the folds through, for a progress bar.
    """
    if n_folds < 2:
        message = f"The number of folds must be at least 2; got {n_folds}."
        raise InputError(message, hint="--folds 10")
    n_folds = min(n_folds, len(Y))
    folds = KFold(n_folds, shuffle=True, random_state=random_state).split(Y)
    parts, tested = [], []
    for train, test in watch(folds, n_folds):
        found = _predict_fold(model, X[train], Y[train], X[test], len(test))
        parts.append(replace(found, row=train[found.row]))
        tested.append(test)
    arrays = zip(*(vars(part).values() for part in parts), strict=True)
    return Predictions(*map(np.concatenate, arrays))[np.argsort(np.concatenate(tested))]


def _predict_fold(model: Any, X: Any, Y: NDArray[np.int8], X_test: Any, n: int) -> Predictions:
    if isinstance(X, Answers):
        features = AnswerFeatures.fit(X)
        X, X_test = features.transform(X), features.transform(X_test)
    if X.shape[1] > 0 and (Y[0] != Y).any():
        return predict(model.refit(X, Y), X_test)
    # Nothing to choose from, or nothing to choose by: the first labelset, without evidence.
    zeros, rows = np.zeros(n), np.zeros(n, dtype=np.intp)
    return Predictions(Y[rows], np.full(n, NO_EVIDENCE), rows, zeros, zeros, zeros, zeros)
