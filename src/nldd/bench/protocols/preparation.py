"""What is done to the training rows of a fold around a method: preparation and search.

Both see the training rows only. Steps and method are one scikit-learn pipeline, and the search
for parameters goes around it, so that its inner folds prepare their rows for themselves.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectorMixin, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from nldd._sklearn import validate_data
from nldd.bench.protocols.methods import predict_labels, predict_probabilities
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES
from nldd.metrics._probability_measures import PROBABILITY_MEASURES

METHOD = "method"
STATISTICS = {"f-classif": f_classif, "chi2": chi2}
SCORES = (*STATISTICS, "variance")
POOLS = ("max", "mean")


@dataclass(frozen=True)
class PreparationStep:
    """A step of preparation of the features, learned from the training rows of each fold.

    Attributes
    ----------
    name : {"impute", "standardise", "select", "tfidf"}
    settings : dict
        What a protocol says about it, such as the number `k` of features to select.

    Examples
    --------
    >>> from nldd.bench import Protocol
    >>> from nldd.bench.protocols.preparation import PreparationStep
    >>> impute = PreparationStep("impute", {"strategy": "median"})
    >>> Protocol("mine", "Mine", prepare=(impute,)).prepare[0].name
    'impute'
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class SelectFeatures(SelectorMixin, BaseEstimator):
    """Keep the `k` features of the highest score; all if there are no more.

    Parameters
    ----------
    k : int, default=100
    score : {"f-classif", "chi2", "variance"}, default="f-classif"
        A statistic of scikit-learn, taken label by label, or the variance of the feature, which
        knows nothing of labels.
    pool : {"max", "mean"}, default="max"
        How the statistics of the labels become one: by "max" a feature is kept that tells much
        about a single label, and be it a rare one. Labels that all rows carry or none have none.

    Examples
    --------
    >>> X, Y = [[0, 5], [0, 6], [1, 5], [1, 6]], [[0, 1], [0, 1], [1, 1], [1, 1]]
    >>> SelectFeatures(k=1).fit(X, Y).get_support().tolist()
    [True, False]
    """

    def __init__(self, k: int = 100, *, score: str = "f-classif", pool: str = "max") -> None:
        self.k = k
        self.score = score
        self.pool = pool

    def fit(self, X: Any, Y: Any) -> "SelectFeatures":
        """Score the features on training rows."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self.scores_ = feature_scores(X, np.asarray(Y), self.score, self.pool)
        order = np.argsort(-self.scores_, kind="stable")  # ties go to the first
        self.support_ = np.zeros(len(order), dtype=bool)
        self.support_[order[: self.k]] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_


def feature_scores(X: Any, Y: Any, score: str, pool: str) -> NDArray[np.float64]:
    """The score of each feature, pooled over labels."""
    if score == "variance":
        return np.asarray(mean_variance_axis(X, axis=0)[1] if issparse(X) else X.var(axis=0))
    counts = Y.sum(axis=0)
    labels = np.flatnonzero((counts > 0) & (counts < len(Y)))
    if not len(labels):
        return np.zeros(X.shape[1])
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # a constant feature has no statistic, and scores 0
        found = np.array([STATISTICS[score](X, Y[:, j])[0] for j in labels])
    largest = np.finfo(np.float64).max / len(found)  # of a feature that is as the label
    found = np.nan_to_num(found, nan=0.0, posinf=largest)
    return np.asarray(found.max(axis=0) if pool == "max" else found.mean(axis=0))


def _impute(is_sparse: bool, strategy: str = "mean") -> Any:
    # A column without any value in training stays, so that all folds have the same columns.
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _standardise(is_sparse: bool) -> Any:
    return StandardScaler(with_mean=not is_sparse)  # centred, zeros would be no longer zero


def _select(is_sparse: bool, k: int = 100, score: str = "f-classif", pool: str = "max") -> Any:
    return SelectFeatures(k, score=score, pool=pool)


def _tfidf(
    is_sparse: bool,
    min_df: int = 1,
    ngrams: int = 1,
    max_features: int | None = None,
    sublinear: bool = False,
) -> Any:
    return TfidfVectorizer(
        min_df=min_df, ngram_range=(1, ngrams), max_features=max_features, sublinear_tf=sublinear
    )


STEPS = {"impute": _impute, "standardise": _standardise, "select": _select, "tfidf": _tfidf}


def make_steps(steps: Sequence[PreparationStep], dataset: Dataset) -> list[tuple[str, Any]]:
    """Unfitted steps for a data set: tf-idf for texts only, and for them in any case."""
    chosen = [step for step in steps if step.name != "tfidf"]
    if dataset.is_text:
        own = [step for step in steps if step.name == "tfidf"]
        chosen = [*(own or [PreparationStep("tfidf")]), *chosen]
    is_sparse = dataset.is_text or issparse(dataset.X)
    return [(step.name, STEPS[step.name](is_sparse, **step.settings)) for step in chosen]


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

    A parameter belongs to the method, or to a step of preparation (``select__k``).
    """
    if not grid:
        return model
    steps = dict(model.steps) if isinstance(model, Pipeline) else {}
    known = model.get_params()
    names = {
        name: name if not steps or name.split("__")[0] in steps else f"{METHOD}__{name}"
        for name in grid
    }
    for name, full in names.items():
        if full not in known:
            raise InputError(
                f"search: there is no parameter {name!r} of {type(_method_of(model)).__name__}. "
                "A parameter of what is inside is written as estimator__C."
            )
    values = {full: list(grid[name]) for name, full in names.items()}
    return GridSearchCV(model, values, scoring=Scorer(scoring), cv=folds, error_score="raise")


def _method_of(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def fitted_method(model: Any) -> Any:
    """The fitted method itself."""
    return _method_of(model.best_estimator_ if isinstance(model, GridSearchCV) else model)


def prepared_rows(model: Any, X: Any) -> Any:
    """Rows as the fitted method sees them."""
    model = model.best_estimator_ if isinstance(model, GridSearchCV) else model
    return model[:-1].transform(X) if isinstance(model, Pipeline) else X


def search_details(model: Any) -> dict[str, Any]:
    """What a search has chosen, with its mean score over the inner folds."""
    best = {
        name.removeprefix(f"{METHOD}__"): _import_path(value)
        for name, value in model.best_params_.items()
    }
    scorer = model.scoring
    score = scorer.sign * float(model.best_score_)
    return {
        "best": best,
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
