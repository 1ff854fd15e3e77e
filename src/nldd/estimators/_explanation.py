"""The evidence for predictions of NLDD, in the order in which people ask for it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._labels import as_label_sets
from nldd._wording import NotebookText
from nldd.estimators._decisions import FloatArray, LabelArray
from nldd.estimators._nearest import NearestRule
from nldd.estimators._posterior import Listed, Posterior, PosteriorWeights
from nldd.search._index import Neighbors


@dataclass(frozen=True)
class Explanation(NotebookText):
    """The evidence behind one prediction of :class:`nldd.NLDDClassifier`.

    Attributes
    ----------
    labels : tuple
        The names of the predicted labels.
    row : int
        The training row that the labelset comes from, as a position in the data of `fit`.
    Dx, Dy : float
        Its distances: from the features, and of its labelset from the probabilities.
    x_part, y_part : float
        ``b1 * Dx`` and ``b2 * Dy``, or the factors ``Dx^b1`` and ``Dy^b2``.
    theta : float
        Expected error rate per label of the prediction.
    n_labels : int
    probabilities : tuple of float
        Those of the labels, by the independent classifiers.
    runner_up : Explanation or None
        The next best labelset.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = [{name for name, on in zip(("right", "up"), x > 0) if on} for x in X]
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> print(model.explain([[2.0, -1.0]])[0])
    labelset {right}
      theta 0.002: about 1 label in 426 is wrong, 0.0 of 2
      taken from training row 37: Dx = 0.384 in features (part 0.788), Dy = 0.020 in labels
      (part 0.178)
      next best {right, up} from row 85, theta 0.989 instead of 0.002
    """

    labels: tuple[Any, ...]
    row: int
    Dx: float
    Dy: float
    x_part: float
    y_part: float
    theta: float
    n_labels: int
    probabilities: tuple[float, ...]
    runner_up: "Explanation | None" = None

    @property
    def expected_loss(self) -> float:
        """Expected number of wrong labels, L * theta."""
        return self.n_labels * self.theta

    def __str__(self) -> str:
        lines = [
            f"labelset {braces(self.labels)}",
            f"  {theta_in_words(self.theta, self.n_labels)}",
            f"  taken from training row {self.row}: Dx = {self.Dx:.3f} in features "
            f"(part {self.x_part:.3f}), Dy = {self.Dy:.3f} in labels (part {self.y_part:.3f})",
        ]
        if (other := self.runner_up) is not None:
            lines.append(
                f"  next best {braces(other.labels)} from row {other.row}, "
                f"theta {other.theta:.3f} instead of {self.theta:.3f}"
            )
        return "\n".join(lines)


def braces(labels: tuple[Any, ...]) -> str:
    """``{a, b}``, or ``{}`` for the empty labelset."""
    return "{" + ", ".join(str(label) for label in labels) + "}"


def theta_in_words(theta: float, n_labels: int) -> str:
    """Theta as a sentence.

    >>> theta_in_words(0.125, 14)
    'theta 0.125: about 1 label in 8 is wrong, 1.8 of 14'
    >>> theta_in_words(0.7, 10)
    'theta 0.700: about 7 labels in 10 are wrong, 7.0 of 10'
    """
    if theta < 0.3:
        share = f"1 label in {min(round(1 / theta), 10**6)} is wrong"
    else:
        share = f"{round(10 * theta)} labels in 10 are wrong"
    return f"theta {theta:.3f}: about {share}, {n_labels * theta:.1f} of {n_labels}"


@dataclass(frozen=True, eq=False)
class NearestLabelsets:
    """The k best distinct labelsets of each row, best first.

    Attributes
    ----------
    labelsets : ndarray of shape (n_samples, k, n_labels)
    theta : ndarray of shape (n_samples, k)
        Expected error rate per label.
    row : ndarray of shape (n_samples, k)
        The training row, as a position in the data of `fit`.
    Dx, Dy : ndarray of shape (n_samples, k)
        Its distances in features and in labels.
    P : ndarray of shape (n_samples, n_labels)
        The probabilities of the labels that these are found by, as by `label_probabilities`.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = (X > 0).astype(int)
    >>> model = NLDDClassifier(None, random_state=0).fit(X, Y)
    >>> near = model.nearest_labelsets([[2.0, -1.0]], k=3)
    >>> near.labelsets[0].tolist(), near.theta[0].round(3).tolist()
    ([[1, 0], [1, 1], [0, 0]], [0.002, 0.989, 0.998])
    """

    labelsets: NDArray[np.int64]
    theta: NDArray[np.float64]
    row: NDArray[np.intp]
    Dx: NDArray[np.float64]
    Dy: NDArray[np.float64]
    P: NDArray[np.float64]


@dataclass(frozen=True)
class PosteriorExplanation(NotebookText):
    """The evidence behind one prediction by a posterior.

    Attributes
    ----------
    labels : tuple
        The names of the predicted labels.
    probability : float
        That the whole labelset is right.
    theta : float
        Expected error rate per label of the prediction.
    n_labels : int
    probabilities : tuple of float
        Those of the labels, by the independent classifiers.
    times_seen : int
        Training rows with this labelset; 0 if it was never seen.
    row : int or None
        The nearest of these, as a position in the data of `fit`.
    Dx : float or None
        Its distance from the features.
    parts : PosteriorWeights or None
        What distance, probabilities, frequency and size add to the score z of the labelset.
    runner_up : PosteriorExplanation or None
        The most probable other labelset that was seen.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X, noise = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> on = X + 0.5 * noise > 0
    >>> Y = [{name for name, y in zip(("right", "up"), row) if y} for row in on]
    >>> model = NLDDClassifier(None, decision="subset", random_state=0).fit(X, Y)
    >>> print(model.explain([[1.0, -0.2]])[0])
    labelset {right}
      exactly right with probability 0.696
      theta 0.156: about 1 label in 6 is wrong, 0.3 of 2
      training rows with it: 46; the nearest is row 113, Dx = 0.047
      next best {right, up} with probability 0.274
      ahead of it in log-odds by distance +0.00, probabilities +0.67, frequency +0.05, size +0.21
    """

    labels: tuple[Any, ...]
    probability: float
    theta: float
    n_labels: int
    probabilities: tuple[float, ...]
    times_seen: int = 0
    row: int | None = None
    Dx: float | None = None
    parts: PosteriorWeights | None = None
    runner_up: "PosteriorExplanation | None" = None

    @property
    def expected_loss(self) -> float:
        """Expected number of wrong labels, L * theta."""
        return self.n_labels * self.theta

    def __str__(self) -> str:
        lines = [
            f"labelset {braces(self.labels)}",
            f"  exactly right with probability {self.probability:.3f}",
            f"  {theta_in_words(self.theta, self.n_labels)}",
        ]
        if self.parts is None:
            lines.append("  never seen in training: made of labels that are probable one by one")
        else:
            lines.append(
                f"  training rows with it: {self.times_seen}; the nearest is row {self.row}, "
                f"Dx = {self.Dx:.3f}"
            )
        if (other := self.runner_up) is not None:
            lines.append(
                f"  next best {braces(other.labels)} with probability {other.probability:.3f}"
            )
            if self.parts is not None and other.parts is not None:
                ahead = np.subtract(self.parts, other.parts).tolist()
                named = zip(self.parts._fields, ahead, strict=True)
                told = ", ".join(f"{name} {by:+.2f}" for name, by in named)
                lines.append(f"  ahead of it in log-odds by {told}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class ProbableLabelsets:
    """The k most probable labelsets of each row among those seen in training, best first.

    Attributes
    ----------
    labelsets : ndarray of shape (n_samples, k, n_labels)
    probability : ndarray of shape (n_samples, k)
        That the labelset is exactly right; the rest is left to labelsets not seen.
    theta : ndarray of shape (n_samples, k)
        Expected error rate per label of each.
    row : ndarray of shape (n_samples, k)
        The nearest training row with the labelset, as a position in the data of `fit`.
    Dx : ndarray of shape (n_samples, k)
        Its distance in features.
    parts : PosteriorWeights of ndarray of shape (n_samples, k)
        What distance, probabilities, frequency and size add to the score of each labelset.
    P : ndarray of shape (n_samples, n_labels)
        The probabilities of the labels that these are found by, as by `label_probabilities`.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X, noise = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> Y = (X + 0.5 * noise > 0).astype(int)
    >>> model = NLDDClassifier(None, decision="subset", random_state=0).fit(X, Y)
    >>> best = model.labelset_posterior([[1.0, -0.2]], k=3)
    >>> best.labelsets[0].tolist(), best.probability[0].round(3).tolist()
    ([[1, 0], [1, 1], [0, 0]], [0.696, 0.274, 0.021])
    """

    labelsets: NDArray[np.int64]
    probability: NDArray[np.float64]
    theta: NDArray[np.float64]
    row: NDArray[np.intp]
    Dx: NDArray[np.float64]
    parts: PosteriorWeights
    P: NDArray[np.float64]


def explain_nearest(
    rule: NearestRule, near: Neighbors, P: FloatArray, rows: NDArray[np.intp], names: NDArray[Any]
) -> list[Explanation]:
    """The evidence for the nearest labelset of each row, with the second one as the runner-up."""

    def of_rank(rank: int) -> list[Explanation]:
        regression, Dx, Dy = rule.regression, near.Dx[:, rank], near.Dy[:, rank]
        labels = as_label_sets(rule.index.labelsets[near.labelset[:, rank]], names)
        parts, theta = regression.parts(Dx, Dy), regression.theta(Dx, Dy)
        columns = (each.tolist() for each in (rows[near.row[:, rank]], Dx, Dy, *parts, theta))
        evidence = zip(labels, zip(*columns, strict=True), P.tolist(), strict=True)
        return [
            Explanation(names, row, dx, dy, x_part, y_part, one_theta, len(p), tuple(p))
            for names, (row, dx, dy, x_part, y_part, one_theta), p in evidence
        ]

    return [replace(one, runner_up=two) for one, two in zip(of_rank(0), of_rank(1), strict=True)]


def explain_posterior(
    posterior: Posterior,
    listed: Listed,
    P: FloatArray,
    Y_pred: LabelArray,
    at: NDArray[np.intp],
    theta: FloatArray,
    names: NDArray[Any],
) -> list[PosteriorExplanation]:
    """The evidence for each prediction, with the most probable other labelset as the runner-up.

    The first that is `listed` is the prediction, unless it was never seen and `at` is -1.
    """
    index, parts = posterior.index, posterior.parts(P, listed)

    def seen(i: int, rank: int) -> PosteriorExplanation:
        u = listed.labelset[i, rank]
        (labels,) = as_label_sets(index.labelsets[[u]], names)
        return PosteriorExplanation(
            labels,
            float((1 - posterior.unseen_share) * listed.Q[i, rank]),
            float(listed.theta[i, rank]),
            P.shape[1],
            tuple(P[i].tolist()),
            int(index.counts[u]),
            int(listed.row[i, rank]),
            float(listed.Dx[i, rank]),
            PosteriorWeights(*(float(part[i, rank]) for part in parts)),
        )

    found, probability = [], posterior.probability(Y_pred, at, listed.Q[:, 0], P)
    for i, labels in enumerate(as_label_sets(Y_pred, names)):
        if at[i] >= 0:
            found.append(replace(seen(i, 0), runner_up=seen(i, 1)))
            continue
        p, other = tuple(P[i].tolist()), seen(i, 0)
        sizes = float(probability[i]), float(theta[i]), len(p)
        found.append(PosteriorExplanation(labels, *sizes, p, runner_up=other))
    return found
