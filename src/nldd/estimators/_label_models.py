"""The independent classifiers behind a multi-label method, one a label, and how they are fitted."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if

from nldd._base import MultiLabelClassifier, Training
from nldd._parallel import delayed, do_all
from nldd._sklearn import HasMethods, LinearClassifierMixin, get_tags, has_fit_parameter
from nldd.exceptions import InputError


def default_estimator() -> LogisticRegression:
    """The base classifier used where none is given: fast, and probabilities for free."""
    return LogisticRegression(solver="liblinear")


class PredictsFromScores(MultiLabelClassifier):
    """A multi-label classifier that scores all labels of a row and compares them with a bound."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of each row: an indicator array, or the class of largest score if 1-D."""
        scores, labels = self._scores(self._validate_predict(X))
        return self._answer(scores if self.single_label_ else labels)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability, or share of votes, of each label: an array (n_samples, n_labels)."""
        return self._answer_proba(*self._scores(self._validate_predict(X)))

    @abstractmethod
    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Scores from 0 to 1 of all labels, and which of the labels are predicted."""


class WithBaseEstimator(MultiLabelClassifier):
    """A multi-label classifier with a parameter `estimator`, whose None means the default."""

    _parameter_constraints: dict[str, list[Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "random_state": ["random_state"],
    }
    estimator: Any

    def _base_estimator(self) -> Any:
        return default_estimator() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base_estimator()).input_tags.sparse
        return tags


class WithWorkers(WithBaseEstimator):
    """One that fits several base classifiers at a time, and can show how far it is."""

    _parameter_constraints: dict[str, list[Any]] = {
        **WithBaseEstimator._parameter_constraints,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(self, estimator: Any, n_jobs: int | None, random_state: Any, verbose: int) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit_options(self, title: str, rng: np.random.RandomState) -> dict[str, Any]:
        return {"n_jobs": self.n_jobs, "rng": rng, "title": title, "verbose": self.verbose}


def has_probabilities(method: WithBaseEstimator) -> bool:
    """Whether the base estimator of a method gives probabilities."""
    return hasattr(method._base_estimator(), "predict_proba")


where_base_has_probabilities = available_if(has_probabilities)


def check_weights_supported(estimator: Any, sample_weight: Any) -> None:
    """Refuse sample weights that the base classifier would have to ignore."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise InputError(
            f"sample_weight was given, but {estimator!r} does not take it in fit. "
            "Use a base estimator that does, or leave the weights out."
        )


class ConstantLabel:
    """Stands in for the classifier of a label that is the same in all training rows."""

    def __init__(self, value: int) -> None:
        self.value = value

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The value for every row."""
        return np.full(X.shape[0], self.value)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """+1 or -1 for every row."""
        return np.full(X.shape[0], 2.0 * self.value - 1)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Certainty, in the two columns of a binary classifier."""
        return np.tile([1.0 - self.value, float(self.value)], (X.shape[0], 1))

    def __repr__(self) -> str:
        return f"ConstantLabel({self.value})"


def draw_seed(rng: np.random.RandomState) -> int:
    """A seed for one base classifier."""
    return int(rng.randint(np.iinfo(np.int32).max))


class Prototype:
    """An estimator to make unfitted copies of; `clone` for each may take as long as the fit."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = clone(estimator)
        # Every random_state that was left at None, those of nested estimators included.
        self.seed_names = [
            name
            for name, value in self.estimator.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]

    def copy(self, seed: int) -> Any:
        """An unfitted copy."""
        model = deepcopy(self.estimator)
        if self.seed_names == ["random_state"]:
            model.random_state = int(seed)
        elif self.seed_names:
            model.set_params(**dict.fromkeys(self.seed_names, int(seed)))
        return model


def fit_label_models(
    estimator: Any,
    parts: Sequence[Training],
    label_names: NDArray[np.object_],
    *,
    n_jobs: int | None,
    rng: np.random.RandomState,
    title: str,
    verbose: int,
) -> list[list[Any]]:
    """For each of the `parts` of the data, one clone of `estimator` fitted to each label.

    Seeds are drawn before the work is shared out, so the result does not depend on the workers. A
    linear model with ``warm_start=True`` starts from what it learned on the part before.
    """
    for T in parts:
        check_weights_supported(estimator, T.sample_weight)
    n_labels = parts[0].Y.shape[1]
    seeds = [[draw_seed(rng) for _ in range(n_labels)] for _ in parts]
    prototype = Prototype(estimator)
    numbers = range(len(parts))
    chains = [list(numbers)] if _starts_warm(estimator) else [[number] for number in numbers]
    tasks = (
        delayed(_fit_in_turn)(
            prototype, [parts[i] for i in chain], j, [seeds[i][j] for i in chain], label_names[j]
        )
        for chain in chains
        for j in range(n_labels)
    )
    # X was checked at the door, once; the classifiers need not look for NaN again, label by label.
    with config_context(assume_finite=True):
        models = do_all(tasks, len(chains) * n_labels, n_jobs, title if verbose else None)
    if len(chains) == 1:
        return [list(of_part) for of_part in zip(*models, strict=True)]
    return [[model for (model,) in models[n_labels * i : n_labels * (i + 1)]] for i in numbers]


def _starts_warm(estimator: Any) -> bool:
    """Whether a second fit starts from the first one's coefficients; a forest would add trees."""
    return (
        isinstance(estimator, LinearClassifierMixin)
        and getattr(estimator, "warm_start", False)
        and getattr(estimator, "solver", None) != "liblinear"
    )


def _fit_in_turn(
    prototype: Prototype, parts: list[Training], label: int, seeds: list[int], name: Any
) -> list[Any]:
    """Models of one label on each of the parts, each one a start for the next."""
    models: list[Any] = []
    for T, seed in zip(parts, seeds, strict=True):
        warm = models and hasattr(models[-1], "coef_")
        model = deepcopy(models[-1]) if warm else prototype.copy(seed)
        models.append(fit_label(model, T.X, T.Y[:, label], T.weights, name))
    return models


def fit_label(model: Any, X: Any, y: NDArray[np.int8], weights: dict[str, Any], name: Any) -> Any:
    """The model, fitted to one label, or its constant."""
    if (y == y[0]).all():
        return ConstantLabel(int(y[0]))
    try:
        return model.fit(X, y, **weights)
    except Exception as error:
        carriers = f"{int(y.sum())} of {len(y)} rows carry it"
        error.add_note(f"while fitting label {name!r}: {carriers}")
        raise


def label_columns(
    models: list[Any], method: str, X: Any, n_jobs: int | None
) -> NDArray[np.float64]:
    """What `method` of each label's model says about X, as one column a label."""
    tasks = (delayed(_column)(model, method, X) for model in models)
    with config_context(assume_finite=True):
        return np.column_stack(do_all(tasks, len(models), n_jobs))


def _column(model: Any, method: str, X: Any) -> NDArray[np.float64]:
    values = getattr(model, method)(X)
    return np.asarray(values[:, 1] if method == "predict_proba" else values, dtype=np.float64)
