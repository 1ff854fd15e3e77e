"""What an experiment does: folds, seeds, methods and settings, as people name them.

Preparation and search see the training rows of a fold only. Steps and method are one scikit-learn
pipeline, and the search for parameters goes around it, so that its inner folds prepare their rows
for themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from nldd.bench.runner.methods import build, predict_labels, predict_probabilities, resolve, seeded
from nldd.bench.runner.splits import Split
from nldd.datasets import Dataset
from nldd.estimators._registry import METHODS, Method
from nldd.estimators._svm import PlattSVC, Solver, make_linear_svc
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.metrics import MEASURES, PROBABILITY_MEASURES

METHOD = "method"
ALL_MEASURES = MEASURES | PROBABILITY_MEASURES
SETTINGS = ("default", "paper")
BASES = ("logistic", "auto", "platt-svc", "platt-linear-svc")
# What methods ask of a base classifier: probabilities or decisions of a label, or classes.
SHAPES = {
    **dict.fromkeys(("BR", "SMBR", "NLDD", "NLDD-P"), "probabilities"),
    **dict.fromkeys(("CC", "ECC"), "decisions"),
    **dict.fromkeys(("LP", "RAKEL"), "classes"),
}


def base_classifier(base: str, shape: str, seed: int) -> Any:
    """One of the `BASES` in one of the `SHAPES`."""
    if base == "auto":  # each method chooses, and shapes what it has chosen
        return base
    if base == "logistic":
        # One class against the rest, as for labels; chains as their default has it.
        return MultiLabelLogisticRegression(
            intercept="penalised" if shape == "decisions" else "free"
        )
    solver: Solver = "libsvm" if base == "platt-svc" else "liblinear"
    machine = PlattSVC if shape == "probabilities" else make_linear_svc
    return machine(solver=solver, random_state=seed)


@dataclass(frozen=True)
class Shares:
    """The study of one method on growing shares of the training rows of one data set.

    Attributes
    ----------
    dataset, method : str
    steps : tuple of float
        The shares, above 0 and up to 1.
    parameters : dict
        Parameters of the method that differ from those of the protocol.

    Examples
    --------
    >>> from nldd.bench import load_protocol
    >>> study = load_protocol("paper").shares
    >>> study.dataset, study.method, study.steps[:3]
    ('tmc2007', 'NLDD', (0.1, 0.2, 0.3))
    """

    dataset: str
    method: str
    steps: tuple[float, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetRules:
    """What a protocol says of a single data set, or of large ones, before what it says of all.

    Attributes
    ----------
    split : Split or None
    base : str or None
    parameters : dict of dict
        By method.
    labels, text : str or None
        Which columns of the data set's file are labels and text, in the words of the command.

    Examples
    --------
    >>> from nldd.bench import load_protocol
    >>> load_protocol("paper").datasets["bibtex"].base
    'platt-svc'
    """

    split: Split | None = None
    base: str | None = None
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    labels: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Protocol:
    """An experiment, as a TOML file says it.

    Attributes
    ----------
    name, title : str
    seed : int
        Decides the folds; fold number k of every method draws from `seed` + k.
    folds, split_from, splits, test_share : int, int, int, float
        Data sets with fewer than `split_from` rows are cross-validated; others are split at
        random so many times, each time with that share of the rows to test on.
    split : Split or None
        How all data sets are cut instead, whatever their size.
    settings : {"default", "paper"}
        Which settings of :data:`nldd.METHODS` the methods have.
    base : str
        The base classifier.
    methods : tuple of str
    own : dict of Method
        Those of them that are not in :data:`nldd.METHODS`.
    parameters : dict of dict
        Parameters by method that differ from the settings.
    large, datasets : DatasetRules, dict of DatasetRules
        What else holds from `split_from` rows on; and by data set, which comes first.
    prepare : tuple of transformers
        What is done to the features, learned from the training rows of each fold.
    search : dict of dict of tuple
        Values of parameters by method, of which the best are chosen on the training rows.
    scoring, inner_folds : str, int
        The measure by which they are chosen, and the folds of the training rows.
    shares : Shares or None

    Examples
    --------
    >>> from nldd.bench import Protocol
    >>> protocol = Protocol("mine", "A first look", folds=3, methods=("BR", "NLDD"))
    >>> protocol.split_of("songs", n_samples=500).folds
    3
    >>> protocol.estimator("BR", "songs", n_samples=500, fold=0).random_state
    0
    """

    name: str
    title: str
    seed: int = 0
    folds: int = 10
    split_from: int = 5000
    splits: int = 1
    test_share: float = 0.25
    split: Split | None = None
    settings: str = "default"
    base: str = "logistic"
    methods: tuple[str, ...] = tuple(METHODS)
    own: Mapping[str, Method] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    large: DatasetRules = DatasetRules()
    datasets: Mapping[str, DatasetRules] = field(default_factory=dict)
    prepare: tuple[Any, ...] = ()
    search: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    scoring: str = "f_measure"
    inner_folds: int = 3
    shares: Shares | None = None

    @property
    def known_methods(self) -> Mapping[str, Method]:
        """All methods by name: those of nldd, and those of one's own."""
        return METHODS | dict(self.own)

    @property
    def named_datasets(self) -> set[str]:
        """Data sets about which the protocol says something."""
        return {*self.datasets, *([] if self.shares is None else [self.shares.dataset])}

    def rules_of(self, dataset: str) -> DatasetRules:
        """What holds for a data set before all else."""
        return self.datasets.get(dataset, DatasetRules())

    def split_of(self, dataset: str, n_samples: int) -> Split:
        """How a data set of so many rows is cut into folds."""
        if chosen := self.rules_of(dataset).split or self.split:
            return chosen
        if n_samples >= self.split_from:
            return Split("random", splits=self.splits, test_share=self.test_share)
        return Split("k-fold", folds=self.folds)

    def columns_of(self, dataset: str) -> dict[str, str]:
        """What columns of a data set's file are: `labels`, `text` and `groups`, if it is said."""
        rules = self.rules_of(dataset)
        split = rules.split or self.split or Split()
        columns = {"labels": rules.labels, "text": rules.text, "groups": split.groups}
        return {key: column for key, column in columns.items() if column is not None}

    def estimator(
        self, method: str, dataset: str, n_samples: int, fold: int, **parameters: Any
    ) -> Any:
        """The method of a cell; `parameters` come before those of the protocol."""
        record, large = self.known_methods[method], n_samples >= self.split_from
        rules = [*([self.large] if large else []), self.rules_of(dataset)]
        chosen, seed = dict[str, Any](), self.seed + fold
        if method in SHAPES:
            bases = [self.base, *(each.base for each in rules if each.base is not None)]
            chosen["estimator"] = base_classifier(bases[-1], SHAPES[method], seed)
        if "random_state" in signature(record.factory).parameters:
            chosen["random_state"] = seed
        for of_methods in (self.parameters, *(each.parameters for each in rules)):
            chosen |= of_methods.get(method, {})
        chosen |= parameters
        is_paper = self.settings == "paper"
        factory = partial(record.as_in_paper, large=large) if is_paper else record.default
        try:
            estimator = build(factory, chosen, seed)
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(f"{method} on {dataset} cannot be made: {error}") from error
        return seeded(estimator, seed) if method in self.own else estimator

    def model(self, method: str, dataset: Dataset, fold: int, **parameters: Any) -> Any:
        """The method of a cell with its preparation and the search for its parameters."""
        name, n_samples, seed = dataset.name, dataset.n_samples, self.seed + fold
        model = self.estimator(method, name, n_samples, fold, **parameters)
        if steps := make_steps(self.prepare, is_text=dataset.is_text, seed=seed):
            model = Pipeline([*steps, (METHOD, model)])
        grid = {
            name: [resolve(value, seed) for value in values]
            for name, values in self.search.get(method, {}).items()
        }
        if not grid:
            return model
        folds: Any = KFold(self.inner_folds, shuffle=True, random_state=seed)
        if self.split_of(name, n_samples).kind == "leave-one-group-out":
            # Groups are kept whole; one of them is the test rows, and one alone cannot be cut.
            n_groups = len(np.unique(np.asarray(dataset.groups))) - 1
            folds = GroupKFold(min(self.inner_folds, n_groups)) if n_groups > 1 else folds
        return searched(model, grid, self.scoring, folds)


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


@dataclass(frozen=True)
class Scorer:
    """A measure as scikit-learn's searches want it: the greater the better."""

    key: str

    def __call__(self, model: Any, X: Any, Y: Any) -> float:
        predict: Any = predict_labels if self.key in MEASURES else predict_probabilities
        found = predict(model, X, Y.shape[1])
        if found is None:
            raise InputError(f"{self.key} is a measure of probabilities, which the method has not.")
        return self.signed(ALL_MEASURES[self.key](Y, found))

    def signed(self, score: float) -> float:
        """The score, or minus a loss; and the other way round."""
        return score if ALL_MEASURES[self.key].greater_is_better else -score


def searched(model: Any, grid: Mapping[str, Sequence[Any]], scoring: str, folds: Any) -> Any:
    """The model with the best of all combinations of parameters.

    A parameter belongs to the method, or to a step of preparation (``simpleimputer__strategy``).
    """
    method, steps = model, dict[str, Any]()
    if isinstance(model, Pipeline):
        method, steps = model[-1], model.named_steps
    known, values = model.get_params(), dict[str, Any]()
    for name, candidates in grid.items():
        full = name if not steps or name.split("__")[0] in steps else f"{METHOD}__{name}"
        if full not in known:
            raise InputError(
                f"search: there is no parameter {name!r} of {type(method).__name__}. "
                "A parameter of what is inside is written as estimator__C."
            )
        values[full] = candidates
    return GridSearchCV(model, values, scoring=Scorer(scoring), cv=folds, error_score="raise")


def split_fitted(model: Any) -> tuple[Pipeline | None, Any]:
    """Fitted steps, if there are any, and the fitted method itself."""
    model = model.best_estimator_ if isinstance(model, GridSearchCV) else model
    return (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)


def search_details(model: Any) -> dict[str, Any]:
    """What a search has chosen, with its mean score over the inner folds."""
    best, scorer = model.best_params_.items(), model.scoring
    score = scorer.signed(float(model.best_score_))
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
