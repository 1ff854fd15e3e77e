"""A fitted NLDD classifier as the parts of a model file, and back."""

import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from nldd._labels import LabelTable
from nldd.estimators import JointModel, NLDDClassifier, SeparateModels
from nldd.exceptions import InputError, MissingExtraError
from nldd.io._archive import Contents
from nldd.io._refusal import Refusal, damaged, in_one_line, naming_file
from nldd.io._skops import other_version
from nldd.io._values import check_compressed
from nldd.regression import DistanceRegression, Pairs
from nldd.search import FaissLabelsetIndex, LabelsetIndex

Arrays = Mapping[str, NDArray[Any]]

KIND = "nldd-classifier"
# Fields of the records that are arrays; the others stand in the document.
PAIRS = {"Dx": "f", "Dy": "f", "errors": "i", "instance": "i", "row": "i", "weight": "f"}
REGRESSION = ("beta", "covariance_matrix", "robust_covariance_matrix")
# Tried in this order: counts and words that occur or not fit a byte, single precision fits a half.
NARROW = (np.uint8, np.float32)


def pack_classifier(model: NLDDClassifier, prefix: str = "classifier") -> Contents:
    """A fitted classifier as the parts of a model file, all with names that begin with `prefix`.

    Merge them with parts of your own, and :func:`unpack_classifier` finds its own among them. A
    ``random_state`` that is a RandomState instance is stored as None: the classifier is the same,
    but fitted again it draws other halves.
    """
    check_is_fitted(model)
    if type(model) is not NLDDClassifier:
        raise InputError(f"model must be an NLDDClassifier; got {type(model).__name__}.")
    classifiers = model._classifiers
    is_joint = isinstance(classifiers, JointModel)
    arrays = {
        **_pack_rows(model.index_),
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

    The contents may be of any kind, as :func:`nldd.io.read_archive` gives them.
    """
    with naming_file(contents.manifest.get("path", f"classifier {prefix!r}")):
        try:
            return _unpacked(contents, prefix)
        except (Refusal, MissingExtraError):
            raise
        except Exception as error:  # parts missing, or of types that make no sense
            raise damaged(f"its classifier cannot be rebuilt: {in_one_line(error)}") from error


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


def _scalars(record: Any, arrays: Any) -> dict[str, Any]:
    return {
        field.name: _plain(getattr(record, field.name))
        for field in fields(record)
        if field.name not in arrays
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _label_name(name: Any) -> Any:
    if isinstance(name, str) or (isinstance(name, bool | int | float) and np.isfinite(name)):
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
    index = _unpack_rows(arrays, FaissLabelsetIndex if model.search == "faiss" else LabelsetIndex)
    _restore_names(model, document, index)
    model.pairs_ = _unpack_pairs(document["pairs"], arrays)
    model.regression_ = _unpack_regression(document["regression"], arrays)
    if model.regression_.model != model.model:
        raise damaged("its regression is of another model than it says")
    model.beta_ = model.regression_.beta
    models = contents.estimators[f"{prefix}/models"]
    model._classifiers = _classifiers(document["classifiers"], models, arrays, model.n_labels_)
    model.estimators_ = model._classifiers.estimators
    model.index_ = index
    model.labelsets_ = index.labelsets.astype(np.int64)
    model.rows_ = _vector(arrays, "rows", len(index), "i").astype(np.intp)
    model._n_rows_given = _whole(document["n_rows_given"])
    _try_out(model, contents.manifest.get("versions", {}))
    return model


def _restore_names(model: NLDDClassifier, document: Any, index: LabelsetIndex) -> None:
    names = np.empty(index.labelsets.shape[1], dtype=object)
    given = document["label_names"]
    if len(given) != len(names) or not all(isinstance(x, str | bool | int | float) for x in given):
        raise damaged("it does not name each of its labels")
    names[:] = given
    model._remember_labels(LabelTable(index.labelsets, names, bool(document["single_label"])))
    model.n_features_in_ = _whole(document["n_features"])
    if model.n_features_in_ != len(index.scale):
        raise damaged("its rows have another number of features than it says")
    if document["feature_names"] is not None:
        if len(document["feature_names"]) != model.n_features_in_:
            raise damaged("it does not name each of its features")
        model.feature_names_in_ = np.array(document["feature_names"], dtype=object)


def _unpack_pairs(document: Any, arrays: Arrays) -> Pairs:
    n_pairs = len(arrays["pairs.errors"])
    vectors = {name: _vector(arrays, f"pairs.{name}", n_pairs, PAIRS[name]) for name in PAIRS}
    return Pairs(n_labels=_whole(document["n_labels"]), **vectors)


def _unpack_regression(document: Any, arrays: Arrays) -> DistanceRegression:
    parts: dict[str, Any] = {name: arrays[f"regression.{name}"] for name in REGRESSION}
    beta = parts["beta"]
    if beta.shape != (3,) or beta.dtype != np.float64 or not _is_finite(beta):
        raise damaged("its regression has no three coefficients")
    if (beta[1:] < 0).any() or any(parts[name].shape != (3, 3) for name in REGRESSION[1:]):
        raise damaged("its regression is none that nldd fits")
    return DistanceRegression(**{**document, "fixed": tuple(document["fixed"])}, **parts)


def _classifiers(
    form: str, models: list[Any], arrays: Arrays, n_labels: int
) -> SeparateModels | JointModel:
    if not all(hasattr(classifier, "predict_proba") for classifier in models):
        raise damaged("one of its classifiers gives no probabilities")
    if form == "separate":
        if len(models) != n_labels:
            raise damaged(f"it has {len(models)} classifiers for {n_labels} labels")
        return SeparateModels(models)
    constants = _vector(arrays, "constants", n_labels, "f")
    if len(models) != int(np.isnan(constants).any()):
        raise damaged("it has more or fewer classifiers than it says")
    return JointModel(models, constants)


def _try_out(model: NLDDClassifier, versions: Mapping[str, str]) -> None:
    """Let the classifiers answer for one training row: what cannot is refused now, not later."""
    X, scale = model.index_._rows()[:1], model.index_.scale
    if issparse(X):
        narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = csr_array((X.data * scale[X.indices], *narrow), shape=X.shape)
    else:
        X = X * scale
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            P = model._classifiers.probabilities(X, None)
    except Exception as error:  # mostly attributes that another version of scikit-learn has not
        what = f"its classifiers cannot answer here: {in_one_line(error)}"
        raise other_version(what, versions) from error
    if P.shape != (1, model.n_labels_) or not _is_finite(P):
        raise damaged("its classifiers give no probability for each label")


def _pack_rows(index: LabelsetIndex) -> dict[str, NDArray[Any]]:
    """Rows by number, as the index holds them: divided by the scale, not as they were given.

    Multiplied by the scale and divided again, some would not be what they are now, to the last bit.
    """
    order = np.argsort(index.groups.number)
    Z = index._rows()[order]
    labelset = np.repeat(np.arange(len(index.counts)), index.counts)[order]
    arrays: dict[str, NDArray[Any]] = {
        "scale": index.scale,
        "Y": index.labelsets[labelset].astype(np.uint8),
    }
    if not issparse(Z):
        return {**arrays, "Z": narrowed(Z)}
    return {**arrays, "Z.data": narrowed(Z.data), "Z.indices": Z.indices, "Z.indptr": Z.indptr}


def _unpack_rows(
    arrays: Arrays, Index: type[LabelsetIndex] | type[FaissLabelsetIndex]
) -> LabelsetIndex:
    """The index of the same rows, grouped anew."""
    Y, scale = arrays["Y"], arrays["scale"]
    if Y.ndim != 2 or Y.dtype != np.uint8 or not Y.size or Y.max() > 1:
        raise damaged("the labels of its rows are no table of 0 and 1")
    is_scale = scale.ndim == 1 and scale.dtype == np.float64 and _is_finite(scale)
    if not is_scale or (scale <= 0).any():
        raise damaged("the scale of its features is no positive number for each")
    Z = _unpack_matrix(arrays, len(Y), len(scale))
    # Divided by 1 each row stays what it is.
    index = Index(Z, Y.astype(np.int8), np.ones(len(scale)))
    index.scale = scale
    return index


def _unpack_matrix(arrays: Arrays, n_rows: int, n_features: int) -> Any:
    if "Z" in arrays:
        Z = arrays["Z"]
        if Z.shape != (n_rows, n_features) or Z.dtype.kind not in "uf" or not _is_finite(Z):
            raise damaged("its rows are no table of finite numbers, as many as the labels tell")
        return Z.astype(np.float64)
    data, indices, indptr = (arrays[f"Z.{part}"] for part in ("data", "indices", "indptr"))
    check_compressed(data, indices, indptr, n_rows, n_features)
    if data.dtype.kind not in "uf" or not _is_finite(data):
        raise damaged("its rows hold numbers that are not finite")
    return csr_array((data.astype(np.float64), indices, indptr), shape=(n_rows, n_features))


def narrowed(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in fewer bytes, where all of them fit to the last bit.

    Examples
    --------
    >>> narrowed(np.array([0.0, 1.0, 3.0])).dtype, narrowed(np.array([0.5])).dtype
    (dtype('uint8'), dtype('float32'))
    >>> narrowed(np.array([0.1])).dtype, narrowed(np.array([-0.0])).dtype
    (dtype('float64'), dtype('float32'))
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    for kind in NARROW:
        with np.errstate(all="ignore"):
            narrow = values.astype(kind)
        if np.array_equal(np.ascontiguousarray(narrow, dtype=np.float64).view(np.int64), bits):
            return narrow
    return values


def _is_finite(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())


def _vector(arrays: Arrays, name: str, length: int, kind: str) -> NDArray[Any]:
    array = arrays[name]
    if array.shape != (length,) or array.dtype.kind != kind:
        raise damaged(f"array {name!r} has shape {array.shape} and type {array.dtype}")
    return array


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise damaged(f"it says {value!r} where a count belongs")
    return value
