"""Save and load fitted models: one checked zip of JSON, arrays and estimators, never pickle."""

import os
from collections.abc import Collection
from typing import Any

from sklearn.utils.validation import check_is_fitted

from nldd.exceptions import InputError
from nldd.persistence._archive import (
    MAX_BYTES,
    Contents,
    damaged,
    naming_file,
    read_archive,
    write_archive,
)
from nldd.persistence._records import is_own
from nldd.persistence._schemas import SCHEMAS

KIND = "nldd-model"


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model of nldd to a file, without pickle.

    Parameters
    ----------
    model : NLDDClassifier, another fitted method of nldd, or a Pipeline that ends in one
    path : path of the file, which is replaced if it is there; ``model.nldd``, say

    Warns
    -----
    NLDDWarning
        Where the model holds estimators of other libraries. The message has the call of
        :func:`load_model` that names their types.

    Notes
    -----
    Models of nldd are stored as arrays and JSON: what predictions need, and nothing that could run.
    Estimators of other libraries in them, such as a forest of scikit-learn or the steps of a
    pipeline, are stored by skops.

    A RandomState instance as the ``random_state`` of a model is stored as None. Predictions do not
    depend on it; a second `fit` would.

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
    if not _is_model(model):
        raise InputError(
            "Only fitted methods of nldd, and pipelines that end in one, can be saved; got "
            f"{type(model).__name__}.",
            hint="save_model(NLDDClassifier().fit(X, Y), path), for instance.",
        )
    check_is_fitted(model)
    write_archive(path, Contents(KIND, models={"model": model}))


def load_model(
    path: str | os.PathLike[str], *, trusted: Collection[str] = (), max_bytes: int = MAX_BYTES
) -> Any:
    """Load a model that :func:`save_model` has saved; nothing is fitted.

    The file may have come from anybody: models of nldd in it are values, without any code. A file
    that is damaged is refused, and so is one with estimators of other libraries, unless you name
    their types.

    Parameters
    ----------
    path : path of the file
    trusted : list of str, default=()
        Names of the types of other libraries that estimators may be of, such as
        ``"sklearn.ensemble._forest.RandomForestClassifier"``: the list that `save_model` and the
        refusal show. skops reads such estimators and runs their code, so name types only for files
        of people you know.
    max_bytes : int, default=4 GiB
        Larger files are refused.

    Returns
    -------
    The model that was saved

    Raises
    ------
    InputError
        Where the file cannot be read; the message says why. Where scikit-learn is of another
        version than the one that saved estimators there is an NLDDWarning.

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
    contents = read_archive(path, kind=KIND, trusted=trusted, max_bytes=max_bytes)
    model = contents.models.get("model")
    with naming_file(path):
        if not _is_model(model) or not hasattr(_last_step(model), "n_features_in_"):
            raise damaged("it holds no fitted method of nldd")
    return model


def _last_step(model: Any) -> Any:
    steps = getattr(model, "steps", None)  # of a pipeline
    return steps[-1][1] if steps else model


def _is_model(model: Any) -> bool:
    """Find out if an object is a multi-label classifier of nldd, or a pipeline that ends in one."""
    return is_own(model) and "label_names_" in SCHEMAS[type(_last_step(model)).__name__].attributes
