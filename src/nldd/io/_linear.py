"""Linear classifiers of one label each, as arrays and parameters: no code and no skops.

All labels of a model have classifiers of one type, so each attribute is one array with a row a
classifier: ``coef_`` has a row for each label that varies and a column for each feature. What is
packed is unpacked and compared at once, and classifiers that hold anything else are left to skops.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.estimators import ConstantLabel
from nldd.io._allowed_types import check_threads
from nldd.io._refusal import Refusal, damaged, in_one_line, quote
from nldd.io._skops import other_version

Arrays = Mapping[str, NDArray[Any]]


# An attribute is a row of numbers: their types, how many (None for one a feature), and what makes
# the attribute of them.
_Attribute = tuple[tuple[str, ...], int | None, Callable[[NDArray[Any]], Any]]
_FLOATS, _COUNTS = ("float64", "float32"), ("int64", "int32")
_COEF: dict[str, _Attribute] = {
    "coef_": (_FLOATS, None, lambda row: row[np.newaxis]),
    "intercept_": (_FLOATS, 1, lambda row: row),
}
_STEPS: dict[str, _Attribute] = {**_COEF, "n_iter_": (_COUNTS, 1, lambda row: row.item())}
_GRADIENT: dict[str, _Attribute] = {**_STEPS, "t_": (_FLOATS, 1, lambda row: row.item())}
# Type by its public name -> its attributes, beside those that follow from them.
LINEAR: dict[str, dict[str, _Attribute]] = {
    "sklearn.linear_model.LogisticRegression": {**_COEF, "n_iter_": (_COUNTS, 1, np.asarray)},
    "sklearn.linear_model.SGDClassifier": _GRADIENT,
    "sklearn.linear_model.Perceptron": _GRADIENT,
    "sklearn.linear_model.PassiveAggressiveClassifier": _GRADIENT,
    "sklearn.svm.LinearSVC": _STEPS,
    "nldd.estimators.PlattSVC": {
        **_COEF,
        "sigmoid_": (_FLOATS, 2, lambda row: tuple(row.tolist())),
    },
}
# What `fit` makes anew each time and predictions do not need.
LEFT_OUT = {"_loss_function_", "_expanded_class_weight"}
PLAIN = (bool, int, float, str, type(None))


def pack_linear(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Classifiers as a JSON document and arrays; None where some are no linear ones of a label.

    The classifier of a label that is constant in training is its value.
    """
    constants = [model.value if type(model) is ConstantLabel else None for model in models]
    fitted = [model for model in models if type(model) is not ConstantLabel]
    try:
        (Type,) = {type(model) for model in fitted}
        (name,) = (name for name in LINEAR if _type_of(name) is Type)
        document = {"type": name, "parameters": _parameters(fitted), "constants": constants}
        arrays = {
            attribute: np.stack([np.ravel(getattr(model, attribute)) for model in fitted])
            for attribute in LINEAR[name]
        }
        again = unpack_linear(document, arrays, {})
    except (Refusal, AttributeError, TypeError, ValueError):  # other types, or others in them
        return None
    return (document, arrays) if all(map(_are_same, again, models)) else None


def unpack_linear(document: Any, arrays: Arrays, versions: Mapping[str, str]) -> list[Any]:
    """The classifiers that :func:`pack_linear` has packed, if all that is said of them is sound."""
    forms = {"type": str, "parameters": dict, "constants": list}
    entries = document if isinstance(document, dict) else {}
    if {key: type(value) for key, value in entries.items()} != forms:
        raise damaged("its linear classifiers have no type, parameters and constants")
    name, table, constants = (entries[key] for key in forms)
    if name not in LINEAR:
        raise Refusal(f"its linear classifiers are of the type {quote(name)}, which is none")
    if not {repr(value) for value in constants} <= {"None", "0", "1"}:
        raise damaged("a label that is constant is neither 0 nor 1")
    n_models = constants.count(None)
    _check_parameters(table, n_models)
    _check_arrays(arrays, LINEAR[name], n_models)
    try:
        models = iter([_unpack_one(name, table, arrays, number) for number in range(n_models)])
    except Refusal:
        raise
    except Exception as error:  # parameters that this version does not have, or not such
        raise other_version(f"{name} cannot be made: {in_one_line(error)}", versions) from error
    return [next(models) if value is None else ConstantLabel(value) for value in constants]


def _parameters(models: Sequence[Any]) -> dict[str, list[Any]]:
    """Parameters that are not the default, which another version may have no longer.

    Each has one value for all models or one for each.
    """
    defaults = _make(type(models[0]), {}).get_params(deep=False)
    columns = {name: [getattr(model, name) for model in models] for name in defaults}
    texts = {name: {repr(value) for value in values} for name, values in columns.items()}
    return {
        name: values if len(texts[name]) > 1 else values[:1]
        for name, values in columns.items()
        if texts[name] != {repr(defaults[name])}
    }


def _check_parameters(table: Mapping[str, Any], n_models: int) -> None:
    for name, values in table.items():
        is_column = isinstance(values, list) and len(values) in (1, n_models)
        if not is_column or any(type(value) not in PLAIN for value in values):
            raise damaged(f"{quote(name)} of its classifiers is not a plain value for each")


def _check_arrays(arrays: Arrays, attributes: Mapping[str, _Attribute], n_models: int) -> None:
    if arrays.keys() != attributes.keys() or arrays["coef_"].ndim != 2:
        raise damaged(f"its linear classifiers have {sorted(arrays)}, not {sorted(attributes)}")
    for name, (types, width, _) in attributes.items():
        array = arrays[name]
        shape = (n_models, arrays["coef_"].shape[1] if width is None else width)
        if array.dtype.name not in types or array.shape != shape:
            raise damaged(f"{name} of its classifiers has shape {array.shape} and {array.dtype}")
        if not np.isfinite(array).all() or (types is _COUNTS and (array < 0).any()):
            raise damaged(f"{name} of its classifiers holds numbers that none of them has")


def _unpack_one(name: str, table: Mapping[str, Any], arrays: Arrays, number: int) -> Any:
    parameters = {key: values[number % len(values)] for key, values in table.items()}
    model = _make(_type_of(name), parameters)
    model.n_features_in_ = arrays["coef_"].shape[1]
    model.classes_ = np.array([0, 1], dtype=np.int8)
    for key, (_, _, restore) in LINEAR[name].items():
        setattr(model, key, restore(arrays[key][number]))
    return model


def _type_of(name: str) -> Any:
    module, _, kind = name.rpartition(".")
    return getattr(import_module(module), kind, None)


def _make(Type: Any, parameters: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about types and parameters that will go one day
        model = Type(**parameters)
        model._validate_params()
    check_threads(model)
    return model


def _are_same(loaded: Any, model: Any) -> bool:
    state, expected = (
        {key: value for key, value in vars(each).items() if key not in LEFT_OUT}
        for each in (loaded, model)
    )
    return state.keys() == expected.keys() and all(
        _are_equal(value, expected[key]) for key, value in state.items()
    )


def _are_equal(value: Any, other: Any) -> bool:
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray):
        return type(value) is type(other) and bool(value == other)
    is_like = value.dtype == other.dtype and value.shape == other.shape
    return is_like and value.tobytes() == other.tobytes()
