"""The independent classifiers behind a multi-label method: one a label, or one for all."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.linear_model import LogisticRegression

from nldd._base import Training
from nldd._parallel import delayed, do_all
from nldd._sklearn import LinearClassifierMixin, get_tags, has_fit_parameter
from nldd.estimators._prototype import Prototype, draw_seed
from nldd.exceptions import InputError


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


def has_probabilities(self: Any) -> bool:
    """Whether the base estimator of a method gives probabilities."""
    return hasattr(self._base_estimator(), "predict_proba")


def has_decisions(self: Any) -> bool:
    """Whether the base estimator of a method gives decision values."""
    return hasattr(self._base_estimator(), "decision_function")


def default_estimator() -> LogisticRegression:
    """The base classifier used where none is given: fast, and probabilities for free."""
    return LogisticRegression(solver="liblinear")


def is_multilabel(estimator: Any) -> bool:
    """Whether `estimator` takes a whole indicator matrix, as random forests do."""
    tags = get_tags(estimator)
    joint = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    return bool(joint or tags.target_tags.multi_output)


def check_weights_supported(estimator: Any, sample_weight: Any) -> None:
    """Refuse sample weights that the base classifier would have to ignore."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise InputError(
            f"sample_weight was given, but {estimator!r} does not take it in fit. "
            "Use a base estimator that does, or leave the weights out."
        )


def fit_label_models(
    estimator: Any,
    parts: Sequence[Training],
    label_names: NDArray[np.object_],
    *,
    n_jobs: int | None,
    rng: np.random.RandomState,
    title: str = "labels",
    verbose: int = 0,
) -> list[list[Any]]:
    """For each of the `parts` of the data, one clone of `estimator` fitted to each label.

    All fits go to the workers at once. Every one has its own seed, drawn before the work is shared
    out, so the result does not depend on the number of workers. A linear model with
    ``warm_start=True`` starts from what it learned on the part before.
    """
    for T in parts:
        check_weights_supported(estimator, T.sample_weight)
    n_labels = parts[0].Y.shape[1]
    seeds = [[draw_seed(rng) for _ in range(n_labels)] for _ in parts]
    prototype = Prototype(estimator)
    numbers = range(len(parts))
    chains = [list(numbers)] if starts_warm(estimator) else [[number] for number in numbers]
    tasks = (
        delayed(fit_in_turn)(
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


def starts_warm(estimator: Any) -> bool:
    """Whether a second fit starts from the coefficients of the first.

    The parameter is not enough: to a forest, a warm start means more trees beside the old ones.
    """
    return (
        isinstance(estimator, LinearClassifierMixin)
        and getattr(estimator, "warm_start", False)
        and getattr(estimator, "solver", None) != "liblinear"
    )


def fit_in_turn(
    prototype: Prototype, parts: list[Training], label: int, seeds: list[int], name: Any
) -> list[Any]:
    """Models of one label on each of the parts, each one a start for the next."""
    models: list[Any] = []
    for T, seed in zip(parts, seeds, strict=True):
        start = deepcopy(models[-1]) if models and hasattr(models[-1], "coef_") else None
        y = T.Y[:, label]
        models.append(fit_label(prototype, T.X, y, T.sample_weight, seed, name, start))
    return models


def fit_label(
    prototype: Prototype,
    X: Any,
    y: NDArray[np.int8],
    sample_weight: NDArray[np.float64] | None,
    seed: int,
    name: Any,
    start: Any = None,
) -> Any:
    """A copy of the prototype, or the `start`, fitted to one label; or its constant."""
    if (y == y[0]).all():
        return ConstantLabel(int(y[0]))
    model = prototype.copy(seed) if start is None else start
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    try:
        return model.fit(X, y, **weights)
    except Exception as error:
        error.add_note(f"while fitting label {name!r}: {int(y.sum())} of {len(y)} rows carry it")
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
