"""Methods of one's own: imported by name, with what they predict in the form of ours."""

import importlib
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from inspect import isclass
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from nldd._wording import quote
from nldd.estimators._registry import METHODS, Method
from nldd.exceptions import InputError
from nldd.present.text import printable

OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
LONGEST = 200
NAME = re.compile(r"[\w-][\w.-]*")


def is_own(entry: Any) -> bool:
    """Whether an entry of a list of methods is ``module:Class`` or ``Name=module:Class``."""
    return isinstance(entry, str) and is_path(entry.rpartition("=")[2].strip())


def is_path(value: Any) -> bool:
    """Whether a value of a protocol is ``module:Class``."""
    return isinstance(value, str) and len(value) <= LONGEST and OBJECT.fullmatch(value) is not None


def own_method(entry: str) -> Method:
    """The method that ``module:Class`` or ``Name=module:Class`` stands for.

    Examples
    --------
    >>> own_method("KNN=sklearn.neighbors:KNeighborsClassifier").key
    'KNN'
    >>> own_method("sklearn.tree:DecisionTreeClassifier").key
    'DecisionTreeClassifier'
    """
    name, _, path = (part.strip() for part in entry.rpartition("="))
    key = name or path.rpartition(":")[2].rpartition(".")[2]
    if not NAME.fullmatch(key):
        raise InputError(f"{quote(key)} is no name for a method: use letters, digits, '-', '_'.")
    if key.upper() in METHODS:
        raise InputError(f"{quote(key)} is a method of nldd: give {path} another name.")
    found = import_class(path, ("fit", "predict", "get_params"))
    return Method(key, path, found, by_measure=getattr(found, "by_measure", {}))


def import_class(path: str, needed: Sequence[str]) -> Any:
    """The class that ``module:Class`` names, if it has the methods of an estimator.

    Nothing else is called: a protocol could name any function, such as one that removes files. The
    current folder is where modules are looked for last.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # worker processes have the same path
    importlib.invalidate_caches()
    try:
        found = resolve_name(path)
    except ModuleNotFoundError as error:
        is_own_module = path.replace(":", ".").startswith(f"{error.name}.")
        why = f"there is no module {error.name!r} in the current folder nor in this Python"
        missing = f"its module needs {error.name!r}, which is missing"
        raise InputError(f"{path}: {why if is_own_module else missing}.") from error
    except AttributeError as error:
        owner = getattr(error.obj, "__file__", None) or f"{error.obj!r:.80}"
        near = did_you_mean(str(error.name), dir(error.obj))
        raise InputError(f"{path}: {owner} has no {error.name!r}{near}.") from error
    except (Exception, SystemExit) as error:
        why = printable(f"{type(error).__name__}: {error}")
        raise InputError(f"{path}: its module cannot be imported ({why:.200}).") from error
    if not isclass(found):
        raise InputError(f"{path} is no class; a class is needed that has {', '.join(needed)}.")
    if lacking := [name for name in needed if not hasattr(found, name)]:
        how = f"derive it from sklearn.base.BaseEstimator, with {', '.join(needed[:-1])}"
        raise InputError(f"{path} cannot be used here, it has no {', '.join(lacking)}: {how}.")
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest of the `known` that a misspelt word may mean; nothing if none is near."""
    known = tuple(known)
    near = get_close_matches(word, known, n=1) or get_close_matches(word.upper(), known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def build(factory: Any, values: Mapping[str, Any], seed: int | None) -> Any:
    """The estimator of a factory with parameters, also those of what is inside (``estimator__C``).

    A text ``module:Class`` among the values is an estimator of that class, a list of numbers a
    tuple.
    """
    made = {name: resolve(value, seed) for name, value in values.items()}
    inner = {name: made.pop(name) for name in list(made) if "__" in name}
    estimator = factory(**made)
    return estimator.set_params(**inner) if inner else estimator


def resolve(value: Any, seed: int | None) -> Any:
    """A value of a parameter: an estimator of the class if it is a text ``module:Class``."""
    if isinstance(value, list) and all(type(each) in (int, float) for each in value):
        return tuple(value)  # as scikit-learn has it in `ngram_range`; TOML has lists only
    if not is_path(value):
        return value
    return seeded(import_class(value, ("fit", "get_params"))(), seed)


def seeded(estimator: Any, seed: int | None) -> Any:
    """The estimator, with a seed wherever it would draw without one."""
    if hasattr(estimator, "get_params"):
        open_seeds = {
            name: seed
            for name, value in estimator.get_params().items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        estimator.set_params(**open_seeds)
    return estimator


def check_classifier(method: Method, values: Mapping[str, Any]) -> None:
    """Refuse what cannot be made or is no classifier before anything is run."""
    if is_regressor(make(method.factory, values, method.name, f"parameters.{method.key}")):
        raise InputError(f"{method.name} is a regressor, and a classifier is needed.")


def make(factory: Any, values: Mapping[str, Any], name: str, where: str) -> Any:
    """An estimator with the values of a table of the protocol, or one refusal of both."""
    try:
        made = build(factory, values, seed=None)  # cells have the seed of their fold
        get_tags(made)  # of a class that is like one of scikit-learn, but is none
        if hasattr(made, "_parameter_constraints"):
            made._validate_params()
    except (AttributeError, TypeError, ValueError) as error:
        why = printable(str(error).partition("\n")[0])
        raise InputError(f"{name} cannot be made with [{where}]: {why:.200}.") from error
    return made


def predict_labels(model: Any, X: Any, n_labels: int) -> Any:
    """Predicted labels as 0 and 1, whether the model gives an array, a sparse one or lists.

    Classifiers of scikit-learn give a single label without a dimension for it.
    """
    found, shape = model.predict(X), (X.shape[0], n_labels)
    form = "expected an array of 0 and 1, a row for each row of X and a column for each label."
    try:
        Y: Any = found.toarray() if issparse(found) else np.asarray(found)
    except ValueError:
        raise InputError(f"predict gave rows of different lengths; {form}") from None
    Y = Y.reshape(-1, 1) if n_labels == 1 and Y.ndim == 1 else Y
    if Y.shape != shape:
        raise InputError(f"predict gave an array of shape {Y.shape} and not {shape}; {form}")
    if not ((Y == 0) | (Y == 1)).all():
        raise InputError(f"predict gave other values than 0 and 1; {form}")
    return Y if np.issubdtype(Y.dtype, np.integer) else Y.astype(np.int64)


def predict_probabilities(model: Any, X: Any, n_labels: int) -> NDArray[np.float32] | None:
    """Probabilities of all labels, in the form in which they are kept; None without them.

    scikit-learn has an array with a column for each label, or a list with an array for each label
    that has a column for each of its classes.
    """
    if not hasattr(model, "predict_proba"):
        return None
    found = model.predict_proba(X)
    if isinstance(found, list):
        columns = [_of_class_1(part, model.classes_[j], j) for j, part in enumerate(found)]
        found = np.column_stack(columns)
    elif n_labels == 1 and _is_of_classes(found, classes := getattr(model, "classes_", None)):
        found = _of_class_1(found, classes, 0).reshape(-1, 1)
    P = np.asarray(found.toarray() if issparse(found) else found, dtype=np.float32)
    if P.shape != (X.shape[0], n_labels):
        raise InputError(
            f"predict_proba gave an array of shape {P.shape} and not {X.shape[0], n_labels}: it "
            "shall have the probability of each label in each row."
        )
    return P


def _is_of_classes(found: Any, classes: Any) -> bool:
    """Whether a single label was taken for a class, with a column for each value that it had."""
    return np.ndim(classes) == 1 and bool(
        np.isin(classes, (0, 1)).all() and np.shape(found)[1:] == np.shape(classes)
    )


def _of_class_1(columns: Any, classes: Any, label: int) -> NDArray[Any]:
    """The probability that a row carries a label, which may have been always there or never."""
    columns = np.asarray(columns)
    if columns.ndim != 2 or columns.shape[1] > 2:
        raise InputError(f"predict_proba gave an array of shape {columns.shape} for label {label}.")
    if columns.shape[1] == 2:
        return columns[:, 1]
    always = int(np.asarray(classes).ravel()[0]) == 1
    return columns[:, 0] if always else 1 - columns[:, 0]
