"""The parameter `estimator` of the methods: a base classifier, or candidates to choose one from.

Candidates are fitted to one random half of the training rows and compared by the Brier score of
their probabilities on the other half.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from nldd._base import MultiLabelClassifier
from nldd._parallel import delayed, do_all
from nldd._training import Training, random_halves, random_part
from nldd._validation import HasMethods, Method, StrOptions, get_tags
from nldd._wording import NotebookText
from nldd.estimators._label_models import (
    LabelModel,
    default_estimator,
    fit_label_probabilities,
    fits_all_labels,
)
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression

# Fewer rows cannot be cut into halves that say anything.
FEWEST_ROWS = 4
# Rows to compare candidates on, as many as NLDD pairs by default.
MOST_COMPARED = 2000

LOGISTIC = "logistic"
# What "auto" chooses from; a dict of your own in its place is compared in the same way.
CANDIDATES: Mapping[str, Mapping[str, Any]] = {
    "numbers": {
        LOGISTIC: MultiLabelLogisticRegression(),
        "rbf": MultiLabelLogisticRegression(features="rbf", C=5.0),
    },
    "many rows": {LOGISTIC: MultiLabelLogisticRegression()},
    "words": {
        LOGISTIC: MultiLabelLogisticRegression(),
        "normalised": MultiLabelLogisticRegression(features="normalised", C=5.0),
        "tfidf": MultiLabelLogisticRegression(features="tfidf", C=5.0),
    },
}
"""What ``estimator="auto"`` chooses from, by the kind of the training data.

>>> from nldd.estimators._base_choice import CANDIDATES
>>> {kind: list(candidates) for kind, candidates in CANDIDATES.items() if kind != "many rows"}
{'numbers': ['logistic', 'rbf'], 'words': ['logistic', 'normalised', 'tfidf']}
"""


@dataclass(frozen=True, eq=False)
class Choice(NotebookText):
    """The base classifier that was chosen, and how good the candidates were.

    Attributes
    ----------
    name : str
        That of the candidate.
    estimator : classifier, not fitted
    brier : dict of float
        By candidate, the mean squared distance of a label from its probability, over rows that were
        not fitted to; empty where there was nothing to compare.
    n_rows : int
        How many such rows there were.
    f : dict of float
        The F-measure of NLDD on them "alone" and "with trees", if these were tried.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd import NLDDClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = NLDDClassifier(random_state=0).fit(X, np.column_stack([X > 0, X.sum(axis=1) > 0]))
    >>> print(model.chosen_)
    base classifier 'rbf'
      Brier score on 50 rows not fitted to: logistic 0.0522, rbf 0.0465
    """

    name: str
    estimator: Any
    brier: Mapping[str, float]
    n_rows: int = 0
    f: Mapping[str, float] | None = None

    @property
    def with_trees(self) -> bool:
        """Whether probabilities are averaged with those of extra trees."""
        return self.f is not None and self.f["with trees"] > self.f["alone"]

    def __str__(self) -> str:
        lines = [f"base classifier {self.name!r}" + ", with extra trees" * self.with_trees]
        if self.brier:
            scores = ", ".join(f"{name} {score:.4f}" for name, score in self.brier.items())
            lines.append(f"  Brier score on {self.n_rows} rows not fitted to: {scores}")
        if self.f is not None:
            alone, with_trees = self.f["alone"], self.f["with trees"]
            lines.append(f"  F-measure there: {alone:.4f} alone, {with_trees:.4f} with extra trees")
        return "\n".join(lines)


def candidates_for(estimator: Any, T: Training) -> Mapping[str, Any]:
    """What there is to choose from for such rows, by name."""
    return CANDIDATES[T.kind] if isinstance(estimator, str) else _checked(estimator)


def _checked(candidates: Mapping[str, Any]) -> Mapping[str, Any]:
    """Candidates of the user."""
    fine = all(hasattr(each, "fit") for each in candidates.values())
    if not candidates or not fine or not all(isinstance(name, str) for name in candidates):
        raise InputError(
            "Candidates for the base classifier must be a dict of at least one, by name, such as "
            f'{{"plain": nldd.linear.MultiLabelLogisticRegression()}}; got {candidates!r:.200}.'
        )
    for name, each in candidates.items():
        if not hasattr(each, "predict_proba"):
            raise InputError(
                f"Candidates are compared by their probabilities, but {name!r} has no "
                "predict_proba. Leave it out, or wrap it in CalibratedClassifierCV."
            )
    return candidates


def brier_score(P: NDArray[np.float64], T: Training) -> float:
    """Mean squared distance between labels and their probabilities, with the rows' weights.

    Of probabilities that are no such numbers it is 1, the worst there is.
    """
    squares = ((P - T.Y) ** 2).mean(axis=1)
    score = float(np.average(squares, weights=T.sample_weight))
    return score if score <= 1 else 1.0  # which NaN is not


def choose_base(
    candidates: Mapping[str, Any],
    T1: Training,
    T2: Training,
    label_names: NDArray[np.object_],
    **options: Any,
) -> tuple[Choice, LabelModel, NDArray[np.float64]]:
    """The candidate of lowest Brier score on T2, fitted to T1, and its probabilities of T2.

    Among equals it is the first. Options are those of :func:`fit_label_probabilities`.
    """

    def fit(estimator: Any, n_jobs: int | None) -> tuple[LabelModel, NDArray[np.float64]]:
        model = fit_label_probabilities(estimator, T1, label_names, **{**options, "n_jobs": n_jobs})
        return model, model.probabilities(T2.X, n_jobs)

    # Several at a time if they draw no seeds, whose order would depend on the workers.
    several = all(map(fits_all_labels, candidates.values()))
    inner, outer = (1, options["n_jobs"]) if several else (options["n_jobs"], 1)
    tasks = (delayed(fit)(estimator, inner) for estimator in candidates.values())
    fitted = dict(zip(candidates, do_all(tasks, len(candidates), outer), strict=True))
    scores = {name: brier_score(P, T2) for name, (_, P) in fitted.items()}
    best = min(scores, key=scores.__getitem__)
    compared = scores if len(scores) > 1 else {}
    return Choice(best, candidates[best], compared, len(T2)), *fitted[best]


class BaseEstimatorMixin(MultiLabelClassifier):
    """A multi-label classifier with a parameter `estimator`, whose None means the default.

    Where `estimator` leaves it open which one, as "auto" and dicts of candidates do, `fit` chooses.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), StrOptions({"auto"}), dict, None],
        "random_state": ["random_state"],
    }
    estimator: Any

    def _base_estimator(self) -> Any:
        """The base classifier; before `fit`, in place of one that is still open, the default."""
        if self.estimator is None or (self._selects_base and not hasattr(self, "chosen_")):
            return self._default_estimator()
        return self._adapted(self.chosen_.estimator) if self._selects_base else self.estimator

    def _default_estimator(self) -> Any:
        return default_estimator()

    def _adapted(self, chosen: Any) -> Any:
        """A candidate as this method uses such."""
        return chosen

    @property
    def _selects_base(self) -> bool:
        return isinstance(self.estimator, str | dict)

    def _settle_base(self, T: Training, rng: RandomState) -> None:
        """Choose the base classifier, where that is open, by halves of the training rows."""
        self.__dict__.pop("chosen_", None)  # of an earlier fit
        if not self._selects_base:
            return
        candidates = candidates_for(self.estimator, T)
        if len(candidates) == 1 or len(T) < FEWEST_ROWS:
            name, estimator = next(iter(candidates.items()))
            self.chosen_ = Choice(name, estimator, {})
            return
        first, second = random_halves(len(T), rng)
        second = second[random_part(len(second), MOST_COMPARED, rng)]
        self.chosen_, *_ = choose_base(
            candidates,
            T[first],
            T[second],
            self.label_names_,
            **self._fit_options("candidates", rng),
        )

    def _fit_options(self, title: str, rng: RandomState) -> dict[str, Any]:
        """Workers, seeds and the title of the lines of progress, for fits of base classifiers."""
        shown = title if getattr(self, "verbose", 0) else None
        return {"n_jobs": getattr(self, "n_jobs", None), "rng": rng, "title": shown}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base_estimator()).input_tags.sparse
        return tags


class BaseMetaClassifier(BaseEstimatorMixin):
    """One that fits several base classifiers at a time, and can show how far it is."""

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseEstimatorMixin._parameter_constraints,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(self, estimator: Any, n_jobs: int | None, random_state: Any, verbose: int) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


def has_probabilities(method: BaseEstimatorMixin) -> bool:
    """Whether the base estimator of a method gives probabilities."""
    return hasattr(method._base_estimator(), "predict_proba")


where_base_has_probabilities: Callable[[Method], Method] = available_if(has_probabilities)
