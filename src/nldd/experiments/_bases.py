"""Base classifiers that a protocol can name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from nldd.estimators import PlattSVC, linear_machine


@dataclass(frozen=True, slots=True)
class Base:
    """A kind of base classifier, made for a seed in the shape that a method needs.

    Attributes
    ----------
    key : str
        Name in protocols.
    name : str
        Name in reports.
    probabilities : callable
        For one label, with probabilities: what BR, SMBR and NLDD share.
    decisions : callable
        For one label where decisions are enough: links of a chain.
    classes : callable
        For several classes: labelsets.
    """

    key: str
    name: str
    probabilities: Callable[[int], Any]
    decisions: Callable[[int], Any]
    classes: Callable[[int], Any]

    def for_method(self, method: str, seed: int) -> Any:
        """The base classifier of `method`, or None if the method has none."""
        shape = SHAPES.get(method)
        return None if shape is None else getattr(self, shape)(seed)


SHAPES = {
    "BR": "probabilities",
    "SMBR": "probabilities",
    "NLDD": "probabilities",
    "CC": "decisions",
    "ECC": "decisions",
    "LP": "classes",
    "RAKEL": "classes",
}


def _logistic(seed: int) -> LogisticRegression:
    return LogisticRegression(solver="liblinear", random_state=seed)


def _libsvm(seed: int) -> Any:
    return linear_machine()


def _liblinear(seed: int) -> Any:
    return linear_machine(solver="liblinear", random_state=seed)


_RECORDS = (
    Base(
        "logistic",
        "logistic regression",
        probabilities=_logistic,
        decisions=_logistic,
        # One class against the rest, as for labels: with all classes in one model, scikit-learn's
        # solver stops short of the optimum on features of different scales.
        classes=lambda seed: OneVsRestClassifier(_logistic(seed)),
    ),
    Base(
        "platt-svc",
        "linear SVM (libsvm, C = 1) with Platt's probabilities",
        probabilities=lambda seed: PlattSVC(random_state=seed),
        decisions=_libsvm,
        classes=_libsvm,
    ),
    Base(
        "platt-linear-svc",
        "linear SVM (liblinear, hinge loss, C = 1) with Platt's probabilities",
        probabilities=lambda seed: PlattSVC(solver="liblinear", random_state=seed),
        decisions=_liblinear,
        classes=_liblinear,
    ),
)

BASES: dict[str, Base] = {base.key: base for base in _RECORDS}
