"""The probabilities p_hat that place an instance inside the hypercube of labelsets."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._sklearn import get_tags
from nldd._training import Training
from nldd.estimators._label_models import (
    Prototype,
    draw_seed,
    fit_label_models,
    fits_all_labels,
    label_columns,
    with_shape,
)


class SeparateModels:
    """One binary classifier a label."""

    def __init__(self, estimators: list[Any]) -> None:
        self.estimators = estimators

    def probabilities(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Probability of each label, of shape (n_samples, n_labels)."""
        return label_columns(self.estimators, "predict_proba", X, n_jobs)


class JointModel:
    """One classifier for all labels that vary; the others have probability 0 or 1."""

    def __init__(self, estimators: list[Any], constants: NDArray[np.float64]) -> None:
        self.estimators = estimators
        self.constants = constants

    def probabilities(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Probability of each label, of shape (n_samples, n_labels)."""
        del n_jobs  # the model has its own
        varies = np.isnan(self.constants)
        if varies.all() and fits_all_labels(self.estimators[0]):
            return label_columns(self.estimators, "predict_proba", X, None)
        P = np.tile(self.constants, (X.shape[0], 1))
        for model in self.estimators:
            P[:, varies] = _positive_columns(model, X, int(varies.sum()))
        return P


class MeanModel:
    """Two classifiers for all labels, each as a joint model; their probabilities are averaged."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models

    @property
    def estimators(self) -> list[Any]:
        """The classifiers of both."""
        return [estimator for model in self.models for estimator in model.estimators]

    def probabilities(self, X: Any, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Probability of each label, of shape (n_samples, n_labels)."""
        return np.asarray(np.mean([m.probabilities(X, n_jobs) for m in self.models], axis=0))


LabelModel = SeparateModels | JointModel | MeanModel


def fit_label_probabilities(
    estimator: Any, parts: Sequence[Any], label_names: NDArray[np.object_], **options: Any
) -> Sequence[LabelModel]:
    """Fit `estimator` to each part: once if it is multi-label, else as `fit_label_models` does."""
    if fits_all_labels(estimator):
        models = fit_label_models(estimator, parts, label_names, **options)
        return [JointModel(of_part, np.full(len(label_names), np.nan)) for of_part in models]
    if _is_multilabel(estimator):
        return [fit_joint(estimator, T, options["rng"]) for T in parts]
    models = fit_label_models(estimator, parts, label_names, **options)
    return [SeparateModels(of_part) for of_part in models]


def fit_joint(estimator: Any, T: Training, rng: np.random.RandomState) -> JointModel:
    """Fit a multi-label `estimator` to all labels of T that vary."""
    prototype = Prototype(estimator, T)
    varies = (T.Y[0] != T.Y).any(axis=0)
    constants = np.where(varies, np.nan, T.Y[0])
    if not varies.any():
        return JointModel([], constants)
    Y = T.Y[:, varies].astype(np.int64)
    model = prototype.copy(draw_seed(rng))
    single = Y.shape[1] == 1 and get_tags(model).target_tags.single_output
    model.fit(T.X, Y.ravel() if single else Y, **T.weights)
    return JointModel([model], constants)


def _is_multilabel(estimator: Any) -> bool:
    """Whether `estimator` takes a whole indicator matrix, as random forests do."""
    tags = get_tags(estimator)
    is_multilabel = getattr(tags.classifier_tags, "multi_label", False)
    return bool(is_multilabel or tags.target_tags.multi_output)


def _positive_columns(model: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    """(n, L) probabilities from any of the shapes that scikit-learn's classifiers return."""
    checked = partial(with_shape, model=model, method="predict_proba")
    P, n_samples = model.predict_proba(X), X.shape[0]
    if isinstance(P, list):
        P = np.transpose([checked(label, (n_samples, 2))[:, 1] for label in P])
    # A single label may come in two columns.
    n_columns = 2 if n_labels == 1 and np.shape(P)[1:] == (2,) else n_labels
    return checked(P, (n_samples, n_columns))[:, -n_labels:]
