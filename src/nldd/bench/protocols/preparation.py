"""What is done to the training rows of a fold around a method: preparation and search.

Both see the training rows only. Steps and method are one scikit-learn pipeline, and the search
for parameters goes around it, so that its inner folds prepare their rows for themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from nldd.bench.protocols.methods import predict_labels, predict_probabilities, seeded
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES
from nldd.metrics._probability_measures import PROBABILITY_MEASURES

METHOD = "method"


def make_steps(
    transformers: Sequence[Any], *, is_text: bool, seed: int = 0
) -> list[tuple[str, Any]]:
    """Unfitted steps by the names that scikit-learn gives them.

    Transformers of texts come first and are for texts only, which have tf-idf in any case.
    """
    numeric = [each for each in transformers if get_tags(each).input_tags.two_d_array]
    of_texts = [each for each in transformers if each not in numeric] or [TfidfVectorizer()]
    chosen = [*of_texts, *numeric] if is_text else numeric
    return list(make_pipeline(*(seeded(clone(each), seed) for each in chosen)).steps)


def prepared(estimator: Any, steps: Sequence[tuple[str, Any]]) -> Any:
    """The estimator behind its steps; itself if there are none."""
    return Pipeline([*steps, (METHOD, estimator)]) if steps else estimator


@dataclass(frozen=True)
class Scorer:
    """A measure as scikit-learn's searches want it: the greater the better."""

    key: str

    @property
    def sign(self) -> int:
        return 1 if (MEASURES | PROBABILITY_MEASURES)[self.key].greater_is_better else -1

    def __call__(self, model: Any, X: Any, Y: Any) -> float:
        if self.key in MEASURES:
            found: Any = predict_labels(model, X, Y.shape[1])
            return self.sign * MEASURES[self.key].function(Y, found)
        found = predict_probabilities(model, X, Y.shape[1])
        if found is None:
            raise InputError(f"{self.key} is a measure of probabilities, which the method has not.")
        return self.sign * PROBABILITY_MEASURES[self.key].function(Y, found)


def inner_folds(n_folds: int, n_groups: int | None, seed: int) -> Any:
    """Folds of the training rows of a fold; where a group is left out they keep groups whole."""
    if n_groups is not None and n_groups > 2:  # one of them is the test rows
        return GroupKFold(min(n_folds, n_groups - 1))
    return KFold(n_folds, shuffle=True, random_state=seed)


def searched(model: Any, grid: Mapping[str, Iterable[Any]], scoring: str, folds: Any) -> Any:
    """The model with the best of all combinations of parameters; itself without any.

    A parameter belongs to the method, or to a step of preparation (``simpleimputer__strategy``).
    """
    if not grid:
        return model
    method, own = (model[-1], model.named_steps) if isinstance(model, Pipeline) else (model, {})
    known = model.get_params()
    names = {
        name: name if not own or name.split("__")[0] in own else f"{METHOD}__{name}"
        for name in grid
    }
    for name in (name for name, full in names.items() if full not in known):
        raise InputError(
            f"search: there is no parameter {name!r} of {type(method).__name__}. "
            "A parameter of what is inside is written as estimator__C."
        )
    values = {full: list(grid[name]) for name, full in names.items()}
    return GridSearchCV(model, values, scoring=Scorer(scoring), cv=folds, error_score="raise")


def split_fitted(model: Any) -> tuple[Pipeline | None, Any]:
    """Fitted steps, if there are any, and the fitted method itself."""
    model = model.best_estimator_ if isinstance(model, GridSearchCV) else model
    return (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)


def search_details(model: Any) -> dict[str, Any]:
    """What a search has chosen, with its mean score over the inner folds."""
    best, scorer = model.best_params_.items(), model.scoring
    score = scorer.sign * float(model.best_score_)
    return {
        "best": {name.removeprefix(f"{METHOD}__"): _import_path(value) for name, value in best},
        "scoring": scorer.key,
        "score": score if np.isfinite(score) else None,  # some measures are not defined on few rows
        "n_candidates": len(model.cv_results_["params"]),
    }


def _import_path(value: Any) -> Any:
    """An estimator as a protocol names it, without the private modules inside of a package."""
    if not hasattr(value, "get_params"):
        return value
    parts = type(value).__module__.split(".")
    public = ".".join(takewhile(lambda part: not part.startswith("_"), parts)) or parts[0]
    return f"{public}:{type(value).__qualname__}"
