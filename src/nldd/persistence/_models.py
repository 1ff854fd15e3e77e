"""Save and load fitted models of nldd."""

import os
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from nldd._base import MultiLabelClassifier
from nldd._labels import LabelTable
from nldd.estimators._base_choice import Choice
from nldd.estimators._label_probabilities import JointModel, MeanModel, SeparateModels
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError, MissingExtraError
from nldd.persistence._archive import MAX_BYTES, Contents, read_archive, write_archive
from nldd.persistence._objects import check_parameters, has_schema, other_version
from nldd.persistence._refusal import Refusal, damaged, in_one_line, naming_file
from nldd.persistence._values import check_compressed
from nldd.regression._regression import DistanceRegression, Pairs
from nldd.search._index import LabelsetIndex, check_probabilities
from nldd.search._shards import ShardedIndex

Arrays = Mapping[str, NDArray[Any]]

KIND, ESTIMATOR_KIND = "nldd-classifier", "nldd-estimator"
CLASSIFIER_KINDS = (KIND, ESTIMATOR_KIND)
# Fields of the records that are arrays, with their kind; the others stand in the document.
PAIRS = {"Dx": "f", "Dy": "f", "errors": "i", "instance": "i", "row": "i", "weight": "f"}
REGRESSION = ("beta", "covariance_matrix", "robust_covariance_matrix")
FORMS = {SeparateModels: "separate", JointModel: "joint", MeanModel: "mean"}
TINIEST, LARGEST = np.nextafter(0.0, 1.0), np.finfo(np.float64).max


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model of nldd to a file, without pickle.

    Parameters
    ----------
    model : NLDDClassifier, or another fitted estimator of nldd
    path : path of the file, which is replaced if it is there; ``model.nldd``, say

    Warns
    -----
    NLDDWarning
        Where a base classifier is of a type that can be loaded with ``trusted=`` only.

    Notes
    -----
    Linear classifiers, support vector machines, trees and their forests, neighbours, naive Bayes,
    scalers, and pipelines and calibrations of these are stored as numbers: what predictions need,
    and nothing that could run. Whoever loads a model with anything else in it must name that in
    the parameter `trusted` of :func:`load_model`.

    A RandomState instance, as the ``random_state`` of the model or inside of its classifiers, is
    stored as None. Predictions do not depend on it; a second `fit` would.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd import NLDDClassifier, load_model, load_yeast, save_model
    >>> X, Y, _ = load_yeast()
    >>> model = NLDDClassifier(random_state=0).fit(X[:300], Y[:300])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.nldd")
    ...     again = load_model(Path(folder) / "model.nldd")
    >>> bool((again.predict_theta(X[300:]) == model.predict_theta(X[300:])).all())
    True
    """
    if isinstance(model, NLDDClassifier):
        write_archive(path, pack_classifier(model))
        return
    if not isinstance(model, MultiLabelClassifier) or not has_schema(type(model)):
        raise InputError(
            f"Only models of nldd can be saved; got {type(model).__name__}.",
            hint="Save the classifier of nldd in it, such as pipeline[-1], and the steps before it "
            "by skops.io.dump.",
        )
    check_is_fitted(model)
    write_archive(path, Contents(ESTIMATOR_KIND, estimators={"model": [model]}))


def load_model(
    path: str | os.PathLike[str], *, trusted: Sequence[str] = (), max_bytes: int = MAX_BYTES
) -> Any:
    """Load a model that :func:`save_model` has saved; nothing is fitted.

    The file may have come from anybody: it can hold values, and estimators of types on a list,
    but no code. A file that is damaged or holds anything else is refused.

    Parameters
    ----------
    path : path of the file
    trusted : sequence of str, default=()
        Types beside those on the list that estimators may be of, such as
        ``"mymodule.MyClassifier"``. Their code is imported and run, so name them for files of
        people you know only.
    max_bytes : int, default=4 GiB
        Larger files are refused.

    Returns
    -------
    NLDDClassifier, or the other estimator of nldd that was saved

    Raises
    ------
    InputError
        Where the file cannot be read; the message says why and what to do. Where scikit-learn is
        of another version than the one that saved the model there is an NLDDWarning.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd import BinaryRelevance, load_model, save_model
    >>> model = BinaryRelevance().fit([[0.0], [1.0], [2.0]], [{"low"}, {"low", "odd"}, {"high"}])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.nldd")
    ...     again = load_model(Path(folder) / "model.nldd")
    >>> again.label_names_
    array(['high', 'low', 'odd'], dtype=object)
    """
    contents = read_archive(path, kind=CLASSIFIER_KINDS, trusted=trusted, max_bytes=max_bytes)
    if contents.kind == KIND:
        return unpack_classifier(contents)
    with naming_file(path):
        return _unpack_estimator(contents)


def pack_classifier(model: NLDDClassifier, prefix: str = "classifier") -> Contents:
    """A fitted classifier as the parts of a model file, all with names that begin with `prefix`.

    Merge them with parts of your own, and :func:`unpack_classifier` finds its own among them. A
    ``random_state`` that is a RandomState instance is stored as None: the classifier is the same,
    but fitted again it draws other halves.
    """
    check_is_fitted(model)
    if type(model) is not NLDDClassifier:
        raise InputError(f"model must be an NLDDClassifier; got {type(model).__name__}.")
    model = copy(model)  # as it is now, whatever other threads add to it
    if isinstance(model.index_, ShardedIndex):
        model.index_.__getstate__()  # which says why it cannot be saved
    classifiers = model._classifiers
    form = FORMS[type(classifiers)]
    last = classifiers.models[-1] if isinstance(classifiers, MeanModel) else classifiers
    arrays = {
        **_pack_rows(model.index_),
        **{f"pairs.{name}": getattr(model.pairs_, name) for name in PAIRS},
        **{f"regression.{name}": getattr(model.regression_, name) for name in REGRESSION},
        "rows": model.rows_,
        **({"constants": last.constants} if isinstance(last, JointModel) else {}),
    }
    fitted = {f"{prefix}/models": list(classifiers.estimators)}
    if isinstance(model.estimator, dict):
        fitted[f"{prefix}/estimator"] = list(model.estimator.values())
    elif not isinstance(model.estimator, str | None):
        fitted[f"{prefix}/estimator"] = [model.estimator]
    if hasattr(model, "chosen_"):
        fitted[f"{prefix}/chosen"] = [model.chosen_.estimator]
    return Contents(
        KIND,
        {prefix: _document(model, form)},
        {f"{prefix}/{name}": array for name, array in arrays.items()},
        fitted,
    )


def unpack_classifier(contents: Contents, prefix: str = "classifier") -> NLDDClassifier:
    """The classifier whose parts :func:`pack_classifier` has put into a file; nothing is fitted.

    The contents may be of any kind, as :func:`nldd.persistence._archive.read_archive` gives them.
    """
    with naming_file(contents.manifest.get("path", f"classifier {prefix!r}")):
        try:
            return _unpacked(contents, prefix)
        except (Refusal, MissingExtraError):
            raise
        except Exception as error:  # parts missing, or of types that make no sense
            raise damaged(f"its classifier cannot be rebuilt: {in_one_line(error)}") from error


def _unpack_estimator(contents: Contents) -> Any:
    (model,) = contents.estimators.get("model") or [None]
    if not isinstance(model, MultiLabelClassifier):
        raise damaged("it holds no estimator of nldd")
    return model


def _one_a_label(models: list[Any], n_labels: int) -> list[Any]:
    if len(models) != n_labels:
        raise damaged(f"it has {len(models)} classifiers for {n_labels} labels")
    return models


def _document(model: NLDDClassifier, form: str) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    estimator = parameters.pop("estimator")
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
        "classifiers": form,
        "estimator": list(estimator) if isinstance(estimator, dict) else _text(estimator),
        "chosen": _scalars(model.chosen_, ("estimator",)) if hasattr(model, "chosen_") else None,
        "tau": getattr(model, "tau_", None),
        "pairs": _scalars(model.pairs_, PAIRS),
        "regression": _scalars(model.regression_, REGRESSION),
    }


def _scalars(record: Any, arrays: Any) -> dict[str, Any]:
    names = [field.name for field in fields(record) if field.name not in arrays]
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _label_name(name: Any) -> Any:
    if isinstance(name, str) or (isinstance(name, bool | int | float) and np.isfinite(name)):
        return name
    raise InputError(
        f"Label names must be text, numbers or booleans to be stored; got {name!r} of type "
        f"{type(name).__name__}.",
        hint="Rename the labels, to text say, and fit again.",
    )


def _unpacked(contents: Contents, prefix: str) -> NLDDClassifier:
    document, start = contents.documents[prefix], f"{prefix}/"
    arrays = {
        name.removeprefix(start): array
        for name, array in contents.arrays.items()
        if name.startswith(start)
    }
    given = contents.estimators.get(f"{prefix}/estimator", [])
    estimator = _unpack_base(document.get("estimator"), given)
    model = NLDDClassifier(estimator, **check_parameters("model", document["parameters"]))
    model._validate_params()
    _restore_choice(model, document, contents.estimators.get(f"{prefix}/chosen", []))
    model.index_ = _unpack_rows(arrays)
    _restore_names(model, document)
    n_pairs = len(arrays["pairs.errors"])
    vectors = {name: _take(arrays, f"pairs.{name}", PAIRS[name], (n_pairs,)) for name in PAIRS}
    model.pairs_ = Pairs(n_labels=_whole(document["pairs"]["n_labels"]), **vectors)
    model.regression_ = _unpack_regression(document["regression"], arrays)
    if model.regression_.model != model.model:
        raise damaged("its regression is of another model than it says")
    model.beta_ = model.regression_.beta
    models = contents.estimators[f"{prefix}/models"]
    model._classifiers = _classifiers(document["classifiers"], models, arrays, model.n_labels_)
    model.estimators_ = model._classifiers.estimators
    model.labelsets_ = model.index_.labelsets.astype(np.int64)
    model.rows_ = _take(arrays, "rows", "i", (len(model.index_),)).astype(np.intp)
    model._n_rows_given = _whole(document["n_rows_given"])
    _try_out(model, contents.manifest.get("versions", {}))
    return model


def _restore_names(model: NLDDClassifier, document: Any) -> None:
    given, labelsets = document["label_names"], model.index_.labelsets
    names = np.empty(labelsets.shape[1], dtype=object)
    if len(given) != len(names) or not all(isinstance(x, str | bool | int | float) for x in given):
        raise damaged("it does not name each of its labels")
    names[:] = given
    model._remember_labels(LabelTable(labelsets, names, bool(document["single_label"])))
    model.n_features_in_ = _whole(document["n_features"])
    if model.n_features_in_ != len(model.index_.scale):
        raise damaged("its rows have another number of features than it says")
    if document["feature_names"] is not None:
        if len(document["feature_names"]) != model.n_features_in_:
            raise damaged("it does not name each of its features")
        model.feature_names_in_ = np.array(document["feature_names"], dtype=object)


def _unpack_regression(document: Any, arrays: Arrays) -> DistanceRegression:
    covariances: dict[str, Any] = {
        name: _take(arrays, f"regression.{name}", "f", (3, 3)) for name in REGRESSION[1:]
    }
    beta = _take(arrays, "regression.beta", "f", (3,), -LARGEST).astype(np.float64)
    if (beta[1:] < 0).any():
        raise damaged("its regression is none that nldd fits")
    return DistanceRegression(
        **{**document, "fixed": tuple(document["fixed"])}, beta=beta, **covariances
    )


def _unpack_base(named: Any, given: list[Any]) -> Any:
    """The parameter `estimator`: a word, candidates by name, a classifier, or None."""
    if isinstance(named, list):
        return dict(zip(named, given, strict=True))
    return given[0] if given else named


def _restore_choice(model: NLDDClassifier, document: Any, chosen: list[Any]) -> None:
    """What `fit` found beside the classifiers: why these, and the temperature of its decisions."""
    if (found := document.get("chosen")) is not None:
        scores = [*found["brier"].values(), *(found["f"] or {}).values()]
        is_fine = all(type(score) is float and 0 <= score <= 1 for score in scores)
        if not is_fine or (found["f"] and set(found["f"]) != {"alone", "with trees"}):
            raise damaged("how its base classifier was chosen makes no sense")
        name, n_rows = str(found["name"]), _whole(found["n_rows"])
        model.chosen_ = Choice(name, chosen[0], found["brier"], n_rows, found["f"])
    if model.decision != "nearest":
        model.tau_ = float(document["tau"])
        if not 0 < model.tau_ < LARGEST:
            raise damaged("the temperature of its decisions is none")


def _classifiers(
    form: str, models: list[Any], arrays: Arrays, n_labels: int
) -> SeparateModels | JointModel | MeanModel:
    if not all(hasattr(classifier, "predict_proba") for classifier in models):
        raise damaged("one of its classifiers gives no probabilities")
    if form == "separate":
        return SeparateModels(_one_a_label(models, n_labels))
    constants = _take(arrays, "constants", "f", (n_labels,))
    if form == "mean":
        first = JointModel(models[:1], np.full(n_labels, np.nan))
        return MeanModel([first, _joint(models[1:], constants)])
    return _joint(models, constants)


def _joint(models: list[Any], constants: NDArray[np.float64]) -> JointModel:
    if len(models) != int(np.isnan(constants).any()):
        raise damaged("it has more or fewer classifiers than it says")
    if not (np.isnan(constants) | np.isin(constants, (0, 1))).all():
        raise damaged("array 'constants' holds numbers that no model has")
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
            check_probabilities(P, model.label_names_)
    except Exception as error:  # mostly attributes that another version of scikit-learn has not
        what = f"its classifiers cannot answer here: {in_one_line(error)}"
        raise other_version(what, versions) from error
    if P.shape != (1, model.n_labels_):
        raise damaged("its classifiers give no probability for each label")


def _pack_rows(index: LabelsetIndex) -> dict[str, NDArray[Any]]:
    """Rows by number, as the index holds them: divided by the scale, not as they were given.

    Multiplied by the scale and divided again, some would not be what they are now, to the last bit.
    """
    order = np.argsort(index.groups.number)
    Z = index._rows()[order]
    labelset = np.repeat(np.arange(len(index.counts)), index.counts)[order]
    Y = index.labelsets[labelset].astype(np.uint8)
    arrays: dict[str, NDArray[Any]] = {"scale": index.scale, "Y": Y}
    if not issparse(Z):
        return {**arrays, "Z": _narrowed(Z)}
    places = {"Z.indices": _narrow_places(Z.indices), "Z.indptr": _narrow_places(Z.indptr)}
    return {**arrays, "Z.data": _narrowed(Z.data), **places}


def _unpack_rows(arrays: Arrays) -> LabelsetIndex:
    """The index of the same rows, grouped anew."""
    n_rows, n_labels = arrays["Y"].shape
    (n_features,) = arrays["scale"].shape
    Y = _take(arrays, "Y", "u", (n_rows, n_labels), 0, 1)
    scale = _take(arrays, "scale", "f", (n_features,), TINIEST).astype(np.float64)
    if not Y.size:
        raise damaged("it has no rows")
    if "Z" in arrays:
        Z = _take(arrays, "Z", "uf", (n_rows, n_features), -LARGEST).astype(np.float64)
    else:
        data = _take(arrays, "Z.data", "uf", arrays["Z.data"].shape, -LARGEST).astype(np.float64)
        indices, indptr = arrays["Z.indices"], arrays["Z.indptr"]
        check_compressed(data, indices, indptr, n_rows, n_features)
        Z = csr_array((data, indices, indptr), shape=(n_rows, n_features))
    # Divided by 1 each row stays what it is.
    index = LabelsetIndex(Z, Y.astype(np.int8), np.ones(n_features))
    index.scale = scale
    return index


def _narrow_places(places: NDArray[Any]) -> NDArray[Any]:
    """Positions, which are never negative, in the smallest signed type that holds them."""
    highest = int(places.max(initial=0))
    kinds = (np.int16, np.int32, np.int64)
    return places.astype(next(kind for kind in kinds if highest <= np.iinfo(kind).max))


def _narrowed(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in fewer bytes, where all of them fit to the last bit.

    Counts and words that occur or not fit a byte, single precision fits a half.
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    for kind in (np.uint8, np.float32):
        with np.errstate(all="ignore"):
            narrow = values.astype(kind)
        if np.array_equal(np.ascontiguousarray(narrow, dtype=np.float64).view(np.int64), bits):
            return narrow
    return values


def _take(
    arrays: Arrays,
    name: str,
    kinds: str,
    shape: tuple[int, ...],
    least: float | None = None,
    most: float = LARGEST,
) -> NDArray[Any]:
    """The array if it is such a one; NaN and infinity are beyond any limits."""
    array = arrays[name]
    if array.dtype.kind not in kinds or array.shape != shape:
        raise damaged(f"array {name!r} has shape {array.shape} and type {array.dtype}")
    if least is not None and not ((array >= least) & (array <= most)).all():
        raise damaged(f"array {name!r} holds numbers that no model has")
    return array


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise damaged(f"it says {value!r} where a count belongs")
    return value
