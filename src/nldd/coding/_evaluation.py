"""How good a model's codes are on answers that people have coded."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd._labels import indicator
from nldd.coding._coded_answers import CodedAnswers
from nldd.coding._coded_tables import read_coded
from nldd.coding._evidence import Predictions, rightness
from nldd.coding._model import CodingModel
from nldd.coding._scores import Score, score_answers
from nldd.displays import Calibration, calibration_deciles
from nldd.metrics import label_counts
from nldd.tables import TableOptions

N_CONFUSIONS = 20


@dataclass(frozen=True)
class LabelScore:
    """How well one code is predicted.

    Attributes
    ----------
    name : str
    n_true, n_pred, n_both : int
        Answers that carry it, that are predicted to, and both.
    precision, recall, f : float
    """

    name: str
    n_true: int
    n_pred: int
    n_both: int
    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Confusion:
    """A code that was predicted instead of another one, and how often.

    Attributes
    ----------
    missed, predicted : str
    count : int
    """

    missed: str
    predicted: str
    count: int


@dataclass(frozen=True)
class Evaluation:
    """Measures of predictions against the codes that people gave.

    Attributes
    ----------
    labels : tuple of str
        Codes of the model, then those of the answers that the model does not know.
    n_known : int
        How many of them the model knows.
    Y : ndarray of shape (n_answers, n_labels), int8
        The codes that people gave.
    predictions : Predictions
        Over the same labels.
    scores : tuple of Score
    calibration : Calibration
        Mean theta against the share of wrong labels, by decile.
    by_label : tuple of LabelScore
        The worst first.
    confusions : tuple of Confusion
        The most frequent first.
    """

    labels: tuple[str, ...]
    n_known: int
    Y: NDArray[np.int8]
    predictions: Predictions
    scores: tuple[Score, ...]
    calibration: Calibration
    by_label: tuple[LabelScore, ...]
    confusions: tuple[Confusion, ...]

    def right(self, measure: str = "subset") -> NDArray[np.float64]:
        """How right each prediction is, as a whole or by its share of labels."""
        unknown = len(self.labels) - self.n_known
        Y_pred = np.pad(self.predictions.Y, ((0, 0), (0, unknown)))
        return rightness((Y_pred != self.Y).sum(axis=1), len(self.labels), measure)

    @property
    def unknown_labels(self) -> tuple[str, ...]:
        """Codes that the model cannot predict."""
        return self.labels[self.n_known :]


def evaluate_table(
    model: CodingModel,
    path: Path,
    options: TableOptions = TableOptions(),
) -> tuple[Evaluation, CodedAnswers]:
    """Evaluate a model on the coded answers of a table."""
    table = read_coded(path, model.columns, options, model.identity_columns)
    return evaluate_model(model, table), table


def n_learned(model: CodingModel, table: CodedAnswers, sha256: str) -> int:
    """How many coded answers of a table with this checksum the model has learned from."""
    if sha256 in {event.sha256 for event in model.history}:
        return len(table.codes)
    known = set(model.identities)
    return sum(name in known for name in table.identities)


def evaluate_model(model: CodingModel, table: CodedAnswers) -> Evaluation:
    """Evaluate a model on coded answers that it has not seen."""
    unknown = sorted(set().union(*table.codes) - set(model.labels))
    labels = (*model.labels, *unknown)
    Y = indicator(table.codes, np.array(labels, dtype=object))
    return evaluate_predictions(Y, model.code(table.answers), labels)


def evaluate_evidence(model: CodingModel) -> Evaluation:
    """Evaluate a model by its out-of-fold predictions."""
    return evaluate_predictions(model.Y, model.evidence, model.labels)


def evaluate_predictions(
    Y: NDArray[np.int8], found: Predictions, labels: tuple[str, ...]
) -> Evaluation:
    """Evaluate predictions; labels beyond those that were predicted count as never predicted."""
    n_known = found.Y.shape[1]
    Y_pred = np.pad(found.Y, ((0, 0), (0, len(labels) - n_known)))
    # Theta speaks about the labels that the model knows.
    n_wrong = found.n_wrong(Y[:, :n_known])
    return Evaluation(
        labels=labels,
        n_known=n_known,
        Y=Y,
        predictions=found,
        scores=score_answers(Y, Y_pred),
        calibration=calibration_deciles(found.theta, n_wrong, n_known),
        by_label=label_scores(Y, Y_pred, labels),
        confusions=confusions(Y, Y_pred, labels),
    )


def label_scores(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], labels: tuple[str, ...]
) -> tuple[LabelScore, ...]:
    """Precision, recall and F of each label, from the smallest F to the largest.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 1]], dtype=np.int8)
    >>> Y_pred = np.array([[1, 0], [0, 1]], dtype=np.int8)
    >>> [(score.name, round(score.f, 2)) for score in label_scores(Y, Y_pred, ("a", "b"))]
    [('a', 0.67), ('b', 1.0)]
    """
    counts = label_counts(Y, Y_pred)
    columns = (counts.true, counts.pred, counts.both)
    ratios = (counts.precision(0.0), counts.recall(0.0), counts.f(0.0))
    rows = zip(labels, *(column.tolist() for column in (*columns, *ratios)), strict=True)
    scores = [LabelScore(*row) for row in rows]
    return tuple(sorted(scores, key=lambda score: (score.f, -score.n_true, score.name)))


def confusions(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], labels: tuple[str, ...]
) -> tuple[Confusion, ...]:
    """Pairs of a label that was missed and one that was predicted wrongly in the same answer.

    Examples
    --------
    >>> Y, Y_pred = np.array([[1, 0], [1, 1]]), np.array([[0, 1], [1, 1]])
    >>> confusions(Y, Y_pred, ("bus", "tram"))
    (Confusion(missed='bus', predicted='tram', count=1),)
    """
    # Floating point: whole numbers are exact in it, and products of matrices are fast.
    missed = ((Y == 1) & (Y_pred == 0)).astype(float)
    extra = ((Y == 0) & (Y_pred == 1)).astype(float)
    counts = (missed.T @ extra).astype(np.intp)
    a, b = np.nonzero(counts)
    pairs = [Confusion(labels[i], labels[j], int(counts[i, j])) for i, j in zip(a, b, strict=True)]
    pairs.sort(key=lambda pair: (-pair.count, pair.missed, pair.predicted))
    return tuple(pairs[:N_CONFUSIONS])
