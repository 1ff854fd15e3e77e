"""Base classifiers: how they are fitted, their probabilities, and how one is chosen.

The parameter `estimator` of the methods is a base classifier, or candidates to choose one from.
Candidates are fitted to one random half of the training rows and compared by the Brier score of
their probabilities on the other half.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from nldd._base import MultiLabelClassifier, Training, by_rows, random_halves, random_part
from nldd._parallel import delayed, do_all
from nldd._validation import HasMethods, Method, StrOptions, get_tags, has_fit_parameter
from nldd._wording import NotebookText
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


def fits_all_labels(estimator: Any) -> bool:
    """Whether one fit gives each label the classifier that it would have alone.

    Of a class derived from ours nobody knows what it overrides.
    """
    return type(estimator) is MultiLabelLogisticRegression


class ScoreClassifier(MultiLabelClassifier):
    """A multi-label classifier that scores all labels of a row, and takes some of them."""

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of each row, or the likeliest class for a 1-D target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) for a 1-D target
        """
        X = self._validate_predict(X)
        return self._answer(self._labels(X))

    @by_rows
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability, or share of votes, of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            For a 1-D target the rows sum to one.
        """
        X = self._validate_predict(X)
        return self._answer_proba(*self._scores(X))

    @abstractmethod
    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """Scores from 0 to 1 of all labels, and the labels that they are to agree with, if any."""

    def _labels(self, X: Any) -> NDArray[Any]:
        """Which labels are predicted, or for a 1-D target the scores, of which the largest wins."""
        scores, labels = self._scores(X)
        return scores if self.single_label_ or labels is None else labels


class ConstantLabel:
    """Stands in for the classifier of a label that is the same in all training rows.

    Parameters
    ----------
    value : {0, 1}

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.estimators._base_classifiers import ConstantLabel
    >>> ConstantLabel(1).predict_proba(np.zeros((2, 1)))
    array([[0., 1.],
           [0., 1.]])
    """

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


def draw_share(n: int, share: float, rng: np.random.RandomState) -> NDArray[np.intp]:
    """A share of the numbers below n, at least one of them, in rising order."""
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])


def take_columns(X: Any, columns: NDArray[np.intp]) -> Any:
    """The columns of `X` in this order; `X` itself where these are all."""
    return X if len(columns) == X.shape[1] else X[:, columns]


class Prototype:
    """An estimator to fit copies of to `T`; `clone` for each may take as long as the fit."""

    def __init__(self, estimator: Any, T: Training) -> None:
        if T.weights and not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(
                f"sample_weight was given, but {estimator!r} does not take it in fit. "
                "Use a base estimator that does, or leave the weights out."
            )
        self.estimator = clone(estimator)
        # Every random_state that was left at None, those of nested estimators included.
        self.seed_names = [
            name
            for name, value in self.estimator.get_params(deep=True).items()
            if value is None and name.split("__")[-1] == "random_state"
        ]

    def copy(self, seed: int) -> Any:
        """An unfitted copy, with this seed where it has none."""
        model = deepcopy(self.estimator)
        if self.seed_names == ["random_state"]:  # as set_params would, in less time than a fit
            model.random_state = seed
        elif self.seed_names:
            model.set_params(**dict.fromkeys(self.seed_names, seed))
        return model


def fit_label_models(
    estimator: Any,
    T: Any,
    label_names: NDArray[np.object_],
    *,
    n_jobs: int | None,
    rng: np.random.RandomState,
    title: str | None = None,
    start: NDArray[np.float64] | None = None,
) -> list[Any]:
    """One clone of `estimator` fitted to each label.

    Or one clone for all of them, where that comes to the same; it starts from the coefficients
    `start`, if there are any. Results do not depend on the workers: seeds are drawn before the work
    is shared out.
    """
    if fits_all_labels(estimator):
        return [clone(estimator).fit_checked(T, label_names, start, n_jobs=n_jobs, title=title)]
    prototype, seeds = Prototype(estimator, T), [draw_seed(rng) for _ in label_names]
    tasks = (
        delayed(fit_label)(prototype.copy(seed), T.X, y, T.weights, name)
        for seed, y, name in zip(seeds, T.Y.T, label_names, strict=True)
    )
    # X was checked at the door, once; the classifiers need not look for NaN again, label by label.
    with config_context(assume_finite=True):
        return do_all(tasks, len(label_names), n_jobs, title)


def fit_label(model: Any, X: Any, y: NDArray[np.int8], weights: dict[str, Any], name: Any) -> Any:
    """The model, fitted to one label, or its constant."""
    if (y == y[0]).all():
        return ConstantLabel(int(y[0]))
    try:
        return model.fit(X, y, **weights)
    except Exception as error:
        error.add_note(f"while fitting label {name!r}: {y.sum()} of {len(y)} rows carry it")
        raise


def predict_scores(model: Any, method: str, X: Any, *n_columns: int) -> NDArray[Any]:
    """What `method` of a fitted classifier says about X: one row for each, of so many columns."""
    return with_shape(getattr(model, method)(X), (X.shape[0], *n_columns), model, method)


def with_shape(answer: Any, shape: tuple[int, ...], model: Any, method: str) -> NDArray[Any]:
    """The answer of a classifier as an array, or an error if it has another shape."""
    if np.shape(answer) != shape:
        raise InputError(
            f"{method} of the base classifier {model!r} must give an array of shape {shape}; "
            f"got {np.shape(answer)}. Correct it, or use another base classifier."
        )
    return np.asarray(answer)


def label_columns(
    models: list[Any], method: str, X: Any, n_jobs: int | None
) -> NDArray[np.float64]:
    """What `method` of each label's model says about X, as one column a label."""
    if fits_all_labels(models[0]):
        Z: NDArray[np.float64] = models[0]._log_odds(X)  # X was checked at the door
        return np.asarray(expit(Z)) if method == "predict_proba" else Z
    both = [2] if method == "predict_proba" else []
    tasks = (delayed(predict_scores)(model, method, X, *both) for model in models)
    with config_context(assume_finite=True):
        columns = do_all(tasks, len(models), n_jobs)
    if both:
        columns = [column[:, 1] for column in columns]
    return np.column_stack(columns).astype(np.float64, copy=False)


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
    estimator: Any, T: Any, label_names: NDArray[np.object_], **options: Any
) -> LabelModel:
    """Fit `estimator` to T: once if it is multi-label, else as `fit_label_models` does."""
    if fits_all_labels(estimator):
        models = fit_label_models(estimator, T, label_names, **options)
        return JointModel(models, np.full(len(label_names), np.nan))
    if _is_multilabel(estimator):
        return fit_joint(estimator, T, options["rng"])
    return SeparateModels(fit_label_models(estimator, T, label_names, **options))


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
    with_trees : bool
        Whether probabilities are averaged with those of extra trees.

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
    with_trees: bool = False

    def or_with_trees(
        self, P: NDArray[np.float64], P_mean: NDArray[np.float64], T2: Training
    ) -> "Choice":
        """The same candidate, with trees if probabilities `P_mean` are better on T2 than `P`."""
        alone, mean = brier_score(P, T2), brier_score(P_mean, T2)
        brier = {**self.brier, self.name: alone, f"{self.name} with trees": mean}
        return replace(self, brier=brier, with_trees=mean < alone)

    def __str__(self) -> str:
        lines = [f"base classifier {self.name!r}" + ", with extra trees" * self.with_trees]
        if self.brier:
            scores = ", ".join(f"{name} {score:.4f}" for name, score in self.brier.items())
            lines.append(f"  Brier score on {self.n_rows} rows not fitted to: {scores}")
        return "\n".join(lines)


def candidates_for(estimator: Any, T: Training) -> Mapping[str, Any]:
    """What there is to choose from for such rows, by name."""
    if isinstance(estimator, str):
        return CANDIDATES[T.kind]
    candidates: Mapping[str, Any] = estimator
    fine = all(isinstance(name, str) and hasattr(each, "fit") for name, each in candidates.items())
    if not candidates or not fine:
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
    random_state: Any

    def _base_estimator(self) -> Any:
        """The base classifier; before `fit`, in place of one that is still open, the default."""
        if self.estimator is not None and not self._selects_base:
            return self.estimator
        is_chosen = self._selects_base and hasattr(self, "chosen_")
        return self._adapted(self.chosen_.estimator if is_chosen else self._default_estimator())

    def _default_estimator(self) -> Any:
        return MultiLabelLogisticRegression()  # fast, and probabilities for free

    def _adapted(self, chosen: Any) -> Any:
        """A candidate, or the default, as this method uses such."""
        return chosen

    @property
    def _selects_base(self) -> bool:
        return isinstance(self.estimator, str | dict)

    def _begin_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Training, RandomState]:
        """Check the training data, and choose the base classifier, where that is open."""
        T, rng = self._validate_fit(X, y, sample_weight), check_random_state(self.random_state)
        self._settle_base(T, rng)
        return T, rng

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
        T1, T2, options = T[first], T[second], self._fit_options("candidates", rng)
        self.chosen_, *_ = choose_base(candidates, T1, T2, self.label_names_, **options)

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
