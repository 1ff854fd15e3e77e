"""The independent classifiers behind a multi-label method: one a label, or one for all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from nldd._base import Training
from nldd._parallel import delayed, do_all
from nldd._sklearn import get_tags, has_fit_parameter
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
    T: Training,
    label_names: NDArray[np.object_],
    *,
    n_jobs: int | None,
    rng: np.random.RandomState,
    title: str = "labels",
    verbose: int = 0,
) -> list[Any]:
    """One clone of `estimator` fitted to each label, in parallel threads.

    Every label has its own seed, drawn before the work is shared out, so the result does not
    depend on the number of workers.
    """
    check_weights_supported(estimator, T.sample_weight)
    n_labels = T.Y.shape[1]
    seeds = [draw_seed(rng) for _ in range(n_labels)]
    return do_all(
        (
            delayed(fit_label)(estimator, T.X, T.Y[:, j], T.sample_weight, seeds[j], label_names[j])
            for j in range(n_labels)
        ),
        n_labels,
        n_jobs,
        title if verbose else None,
    )


def fit_label(
    estimator: Any,
    X: Any,
    y: NDArray[np.int8],
    sample_weight: NDArray[np.float64] | None,
    seed: int,
    name: Any,
) -> Any:
    """A clone of `estimator` fitted to one label, or its constant."""
    if (y == y[0]).all():
        return ConstantLabel(int(y[0]))
    model = with_seed(clone(estimator), seed)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    try:
        return model.fit(X, y, **weights)
    except Exception as error:
        error.add_note(f"while fitting label {name!r}: {int(y.sum())} of {len(y)} rows carry it")
        raise


def draw_seed(rng: np.random.RandomState) -> int:
    """A seed for one base classifier."""
    return int(rng.randint(np.iinfo(np.int32).max))


def with_seed(estimator: Any, seed: int) -> Any:
    """Give every ``random_state`` that was left at None the same `seed`."""
    names = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return estimator.set_params(**dict.fromkeys(names, int(seed)))


def label_columns(
    models: list[Any], method: str, X: Any, n_jobs: int | None
) -> NDArray[np.float64]:
    """What `method` of each label's model says about X, as one column a label."""
    tasks = (delayed(_column)(model, method, X) for model in models)
    return np.column_stack(do_all(tasks, len(models), n_jobs))


def _column(model: Any, method: str, X: Any) -> NDArray[np.float64]:
    values = getattr(model, method)(X)
    return np.asarray(values[:, 1] if method == "predict_proba" else values, dtype=np.float64)
