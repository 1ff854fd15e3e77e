"""The model of a coding study: coded answers, the classifier, what is known, and its history."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from nldd import __version__
from nldd._labels import as_label_sets, indicator
from nldd.coding._answers import Answers, Columns
from nldd.coding._features import AnswerFeatures
from nldd.coding._predictions import MEASURES, NO_EVIDENCE, Predictions, Watch, out_of_fold, predict
from nldd.coding._selective import Selection, selective_threshold
from nldd.estimators import NLDDClassifier
from nldd.exceptions import InputError

FEWEST_ANSWERS = 10
# The points of texts have length 1, so their coordinates are small: less shrinkage suits them.
C = 10.0
UPDATED = (
    "The model has learned from an update. If its answers were those left over for people, they "
    "are harder than new ones will be, and the promise is not exact."
)


@dataclass(frozen=True)
class Settings:
    """How a model is fitted: folds of the cross-validation, seed, threads (not kept with it)."""

    n_folds: int = 10
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Event:
    """A fit or update with a file, rows that joined or had no codes, and the model after it."""

    action: str
    time: str
    file: str
    sha256: str
    n_added: int
    n_set_aside: int
    n_answers: int
    n_labels: int
    n_labelsets: int
    subset_accuracy: float
    hamming_accuracy: float
    version: str = __version__


@dataclass(frozen=True, eq=False)
class CodingModel:
    """A fitted model for the codes of open-ended answers; made by :func:`fit_coding_model`.

    `labels` are the codes, `Y` those of its coded `answers` as 0 and 1, and `evidence` has each
    answer as predicted without itself. By `identities`, made of `identity_columns`, answers that
    come a second time are known again; both may be empty.
    """

    columns: Columns
    settings: Settings
    labels: tuple[str, ...]
    answers: Answers
    Y: NDArray[np.int8]
    features: AnswerFeatures
    classifier: NLDDClassifier
    evidence: Predictions
    history: tuple[Event, ...] = ()
    identities: tuple[str, ...] = ()
    identity_columns: tuple[str, ...] = ()

    @property
    def updated(self) -> bool:
        """Whether answers have joined the model since it was first fitted."""
        return any(event.action == "update" for event in self.history)

    def code(self, answers: Answers, X: Any = None) -> Predictions:
        """Predicted codes of answers, whose features may be given, with their evidence."""
        found = predict(self.classifier, self.features.transform(answers) if X is None else X)
        return replace(found, theta=np.where(self.says_nothing(answers), NO_EVIDENCE, found.theta))

    def says_nothing(self, answers: Answers) -> NDArray[np.bool_]:
        """Which answers are empty, unless the model has learned what to make of such."""
        empty = [not self._knows_empty and not text.strip() for text in answers.texts]
        return np.array(empty, dtype=bool)

    @cached_property
    def _knows_empty(self) -> bool:
        # Asked for every block of a table, and the model may have many answers.
        return not self.columns.text or any(not text.strip() for text in self.answers.texts)

    def select(
        self, target: float = 0.9, confidence: float = 0.9, measure: str = "subset"
    ) -> Selection:
        """The theta up to which answers may be coded automatically."""
        right = self.evidence.right(self.Y, measure)
        return selective_threshold(self.evidence.theta, right, target, confidence)

    def codes(self, Y: NDArray[Any]) -> list[tuple[str, ...]]:
        """Names of the codes of each row of an indicator matrix."""
        return as_label_sets(Y, self.labels)

    def with_event(self, event: Event) -> "CodingModel":
        """The model with one more event in its history."""
        return replace(self, history=(*self.history, event))

    def record(
        self, action: str, file: str, sha256: str, n_added: int, n_set_aside: int
    ) -> "CodingModel":
        """The model with an event of now in its history."""
        sizes = (len(self.answers), len(self.labels), len(np.unique(self.Y, axis=0)))
        whole, by_label = (float(self.evidence.right(self.Y, m).mean()) for m in MEASURES)
        event = Event(action, now(), file, sha256, n_added, n_set_aside, *sizes, whole, by_label)
        return self.with_event(event)


def fit_coding_model(
    answers: Answers,
    codes: Sequence[set[str]],
    columns: Columns,
    settings: Settings = Settings(),
    watch: Watch = lambda folds, total: folds,
) -> CodingModel:
    """Fit a model to coded answers; to those with an empty set, no code applies."""
    labels = order_codes(codes, columns)
    _check_codes(codes, labels)
    Y = indicator(codes, np.array(labels, dtype=object))
    features = AnswerFeatures.fit(answers)
    X = features.transform(answers)
    _check_features(answers, X)
    classifier = new_classifier(settings).fit(X, Y)
    evidence = out_of_fold(classifier, answers, Y, settings.n_folds, settings.random_state, watch)
    return CodingModel(columns, settings, labels, answers, Y, features, classifier, evidence)


def add_answers(
    model: CodingModel,
    answers: Answers,
    codes: Sequence[set[str]],
    watch: Watch = lambda folds, total: folds,
    corrections: Mapping[int, set[str]] = MappingProxyType({}),
) -> CodingModel:
    """The model fitted anew to its own answers, with corrected codes by place, and further ones."""
    known = [corrections.get(i, set(names)) for i, names in enumerate(model.codes(model.Y))]
    joined = Answers.join([model.answers, answers])
    fitted = fit_coding_model(joined, [*known, *codes], model.columns, model.settings, watch)
    return replace(fitted, history=model.history)


def new_classifier(settings: Settings) -> NLDDClassifier:
    """The classifier of answers, not fitted yet."""
    return NLDDClassifier(
        LogisticRegression(solver="liblinear", C=C),
        # Texts are points of length 1, numbers are standardised already.
        standardize="none",
        n_jobs=settings.n_jobs,
        random_state=settings.random_state,
    )


def order_codes(codes: Sequence[set[str]], columns: Columns) -> tuple[str, ...]:
    """All codes: the columns of 0 and 1 as they stand, or what the lists hold, 2 before 10."""
    if not columns.codes.listed:
        return columns.codes.names
    return tuple(sorted(set().union(*codes), key=lambda name: (_natural(name), name)))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sorts numbers within names by their value, and before letters."""
    parts = re.findall(r"0*([0-9]+)|([^0-9]+)", name)
    return [(0, len(digits), digits) if digits else (1, 0, other) for digits, other in parts]


def _check_features(answers: Answers, X: Any) -> None:
    if np.isinf(answers.numbers).any():
        hint = "leave such cells empty"
        raise InputError("A numeric feature of the answers is infinite.", hint=hint)
    if X.shape[1] == 0:
        message = "The answers say nothing: their texts are empty, and there are no other features."
        raise InputError(message, hint="check that --text names the column with the answers")


def _check_codes(codes: Sequence[set[str]], labels: tuple[str, ...]) -> None:
    if len(codes) < FEWEST_ANSWERS:
        needed = f"At least {FEWEST_ANSWERS} coded answers are needed to learn from"
        hint = "code more answers by hand first; a few hundred are a good start"
        raise InputError(f"{needed}; there are {len(codes)}.", hint=hint)
    if len(set(map(frozenset, codes))) < 2:
        same = f"All {len(codes)} coded answers carry the same codes, {{{', '.join(labels)}}}"
        hint = "check that the right column is named by --labels, or code more answers"
        raise InputError(f"{same}: there is nothing to choose from.", hint=hint)


def now() -> str:
    """The time in UTC; SOURCE_DATE_EPOCH sets it, so that a run can be repeated exactly."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        message = f"SOURCE_DATE_EPOCH must be seconds since 1970; got {epoch!r}."
        hint = "unset SOURCE_DATE_EPOCH, or set it to a whole number"
        raise InputError(message, hint=hint) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def checksum(path: Path) -> str:
    """Sha256 of a file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
