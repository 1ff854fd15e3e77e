"""A fitted NLDD classifier as the parts of a model file, and back."""

import warnings
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from nldd._labels import LabelTable
from nldd.estimators import JointModel, NLDDClassifier, SeparateModels
from nldd.exceptions import InputError, MissingExtraError
from nldd.io._contents import Contents
from nldd.io._refusal import SAME_VERSIONS, Refusal, damaged, refusals_of, told
from nldd.io._rows import pack_rows, unpack_rows, unscaled_row
from nldd.regression import DistanceRegression, Pairs
from nldd.search import FaissLabelsetIndex, LabelsetIndex

KIND = "nldd-classifier"
# Fields of the records that are arrays; the others stand in the document.
PAIRS = ("Dx", "Dy", "errors", "instance", "row", "weight")
REGRESSION = ("beta", "covariance_matrix", "robust_covariance_matrix")


def pack_classifier(model: NLDDClassifier, prefix: str = "classifier") -> Contents:
    """A fitted classifier as the parts of a model file, all with names that begin with `prefix`.

    Merge them with parts of your own, and :func:`unpack_classifier` finds its own among them.

    Parameters
    ----------
    model : NLDDClassifier
    prefix : str, default="classifier"

    Returns
    -------
    Contents
        Of kind ``"nldd-classifier"``: one document, arrays and estimators.

    Notes
    -----
    A ``random_state`` that is a RandomState instance is stored as None: the classifier is the
    same, but fitted again it draws other halves.
    """
    check_is_fitted(model)
    if type(model) is not NLDDClassifier:
        raise InputError(f"model must be an NLDDClassifier; got {type(model).__name__}.")
    classifiers = model._classifiers
    is_joint = isinstance(classifiers, JointModel)
    arrays = {
        **pack_rows(model.index_),
        **{f"pairs.{name}": getattr(model.pairs_, name) for name in PAIRS},
        **{f"regression.{name}": getattr(model.regression_, name) for name in REGRESSION},
        "rows": model.rows_,
        **({"constants": classifiers.constants} if is_joint else {}),
    }
    estimators = {f"{prefix}/models": list(classifiers.estimators)}
    if model.estimator is not None:
        estimators[f"{prefix}/estimator"] = [model.estimator]
    return Contents(
        KIND,
        {prefix: _document(model, is_joint)},
        {f"{prefix}/{name}": array for name, array in arrays.items()},
        estimators,
    )


def unpack_classifier(contents: Contents, prefix: str = "classifier") -> NLDDClassifier:
    """The classifier whose parts :func:`pack_classifier` has put into a file; nothing is fitted.

    Parameters
    ----------
    contents : Contents
        Of any kind, as :func:`nldd.io.read_archive` gives it.
    prefix : str, default="classifier"

    Returns
    -------
    NLDDClassifier
    """
    with refusals_of(contents.manifest.get("path", f"classifier {prefix!r}")):
        try:
            return _unpacked(contents, prefix)
        except (Refusal, MissingExtraError):
            raise
        except Exception as error:  # parts missing, or of types that have no sense
            raise damaged(f"its classifier cannot be rebuilt: {told(error)}") from error


def _document(model: NLDDClassifier, is_joint: bool) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    del parameters["estimator"]
    if isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None
    names = getattr(model, "feature_names_in_", None)
    return {
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "label_names": [_label_name(name) for name in model.label_names_],
        "single_label": model.single_label_,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
        "n_rows_given": model._n_rows_given,
        "classifiers": "joint" if is_joint else "separate",
        "pairs": _scalars(model.pairs_, PAIRS),
        "regression": _scalars(model.regression_, REGRESSION),
    }


def _scalars(record: Any, arrays: tuple[str, ...]) -> dict[str, Any]:
    return {
        field.name: _plain(getattr(record, field.name))
        for field in fields(record)
        if field.name not in arrays
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _label_name(name: Any) -> Any:
    is_number = isinstance(name, Real) and name == name and abs(name) != float("inf")
    if isinstance(name, str) or (is_number and isinstance(name, bool | int | float)):
        return name
    raise InputError(
        f"Label names must be text, numbers or booleans to be stored; got {name!r} of type "
        f"{type(name).__name__}.",
        hint="Rename the labels, to text say, and fit again.",
    )


def _unpacked(contents: Contents, prefix: str) -> NLDDClassifier:
    document = contents.documents[prefix]
    arrays = {
        name.removeprefix(f"{prefix}/"): array
        for name, array in contents.arrays.items()
        if name.startswith(f"{prefix}/")
    }
    (estimator,) = contents.estimators.get(f"{prefix}/estimator", [None])
    model = NLDDClassifier(estimator, **document["parameters"])
    model._validate_params()
    index = unpack_rows(arrays, FaissLabelsetIndex if model.search == "faiss" else LabelsetIndex)
    _restore_names(model, document, index)
    model.pairs_ = _unpack_pairs(document["pairs"], arrays)
    model.regression_ = _unpack_regression(document["regression"], arrays)
    if model.regression_.model != model.model:
        raise damaged("its regression is of another model than it says")
    model.beta_ = model.regression_.beta
    models = contents.estimators[f"{prefix}/models"]
    model._classifiers = _unpack_classifiers(document["classifiers"], models, arrays, model)
    model.estimators_ = model._classifiers.estimators
    model.index_ = index
    model.labelsets_ = index.labelsets.astype(np.int64)
    model.rows_ = _vector(arrays, "rows", len(index), "i").astype(np.intp)
    model._n_rows_given = _whole(document["n_rows_given"])
    _try_out(model)
    return model


def _restore_names(model: NLDDClassifier, document: Any, index: LabelsetIndex) -> None:
    names = np.empty(index.labelsets.shape[1], dtype=object)
    listed = document["label_names"]
    if len(listed) != len(names) or not all(
        isinstance(x, str | bool | int | float) for x in listed
    ):
        raise damaged("it does not name each of its labels")
    names[:] = listed
    model._remember_labels(LabelTable(index.labelsets, names, bool(document["single_label"])))
    model.n_features_in_ = _whole(document["n_features"])
    if model.n_features_in_ != len(index.scale):
        raise damaged("its rows have another number of features than it says")
    if document["feature_names"] is not None:
        if len(document["feature_names"]) != model.n_features_in_:
            raise damaged("it does not name each of its features")
        model.feature_names_in_ = np.array(document["feature_names"], dtype=object)


def _unpack_pairs(document: Any, arrays: Mapping[str, NDArray[Any]]) -> Pairs:
    n_pairs = len(arrays["pairs.errors"])
    kinds = {"Dx": "f", "Dy": "f", "weight": "f", "errors": "i", "instance": "i", "row": "i"}
    vectors = {name: _vector(arrays, f"pairs.{name}", n_pairs, kinds[name]) for name in PAIRS}
    return Pairs(n_labels=_whole(document["n_labels"]), **vectors)


def _unpack_regression(document: Any, arrays: Mapping[str, NDArray[Any]]) -> DistanceRegression:
    parts: dict[str, Any] = {name: arrays[f"regression.{name}"] for name in REGRESSION}
    beta = parts["beta"]
    if beta.shape != (3,) or beta.dtype != np.float64 or not np.isfinite(beta).all():
        raise damaged("its regression has no three coefficients")
    if (beta[1:] < 0).any() or any(parts[name].shape != (3, 3) for name in REGRESSION[1:]):
        raise damaged("its regression is none that nldd fits")
    return DistanceRegression(**{**document, "fixed": tuple(document["fixed"])}, **parts)


def _unpack_classifiers(
    form: str, models: list[Any], arrays: Mapping[str, NDArray[Any]], model: NLDDClassifier
) -> SeparateModels | JointModel:
    if not all(hasattr(classifier, "predict_proba") for classifier in models):
        raise damaged("one of its classifiers gives no probabilities")
    if form == "separate":
        if len(models) != model.n_labels_:
            raise damaged(f"it has {len(models)} classifiers for {model.n_labels_} labels")
        return SeparateModels(models)
    constants = _vector(arrays, "constants", model.n_labels_, "f")
    if len(models) != int(np.isnan(constants).any()):
        raise damaged("it has more or fewer classifiers than it says")
    return JointModel(models, constants)


def _try_out(model: NLDDClassifier) -> None:
    """Let the classifiers answer for one training row: what cannot is refused now, not later."""
    X = unscaled_row(model.index_)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            P = model._classifiers.probabilities(X, None)
    except Exception as error:  # mostly attributes that another version of scikit-learn has not
        raise Refusal(
            f"its classifiers cannot answer here: {told(error)}", SAME_VERSIONS
        ) from error
    if P.shape != (1, model.n_labels_) or not np.isfinite(P).all():
        raise damaged("its classifiers give no probability for each label")


def _vector(arrays: Mapping[str, NDArray[Any]], name: str, length: int, kind: str) -> NDArray[Any]:
    array = arrays[name]
    if array.shape != (length,) or array.dtype.kind != kind:
        raise damaged(f"array {name!r} has shape {array.shape} and type {array.dtype}")
    return array


def _whole(value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise damaged(f"it says {value!r} where a count belongs")
    return int(value)
