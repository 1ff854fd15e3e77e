"""Which labelsets are nearest and why one was predicted, as records and as sentences."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import NotebookText


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


def explanations(
    labels: list[tuple[Any, ...]],
    rows: NDArray[np.intp],
    Dx: NDArray[np.float64],
    Dy: NDArray[np.float64],
    regression: Any,
    P: NDArray[np.float64],
) -> list[Explanation]:
    """The evidence for a labelset of each row, by names and by the training row it came from."""
    theta = regression.theta(Dx, Dy)
    numbers = np.column_stack([Dx, Dy, *regression.parts(Dx, Dy), theta]).tolist()
    evidence = zip(labels, rows.tolist(), numbers, P.tolist(), strict=True)
    return [
        Explanation(names, row, dx, dy, x_part, y_part, one_theta, len(p), tuple(p))
        for names, row, (dx, dy, x_part, y_part, one_theta), p in evidence
    ]


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
