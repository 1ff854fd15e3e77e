"""Save and load fitted models of nldd."""

import os
from collections.abc import Sequence
from copy import copy
from typing import Any

from sklearn.utils.validation import check_is_fitted

from nldd._base import MultiLabelClassifier
from nldd.estimators import BinaryRelevance, NLDDClassifier, SubsetMapping
from nldd.exceptions import InputError
from nldd.io._allowed_types import OBJECTS, full_name
from nldd.io._archive import MAX_BYTES, Contents, read_archive, write_archive
from nldd.io._classifier import KIND, pack_classifier, unpack_classifier
from nldd.io._refusal import damaged, naming_file

ESTIMATOR_KIND = "nldd-estimator"


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
    Linear base classifiers, such as the default, are stored as arrays. Others go through skops:
    support vector machines, trees and their forests, neighbours, naive Bayes, scalers, and
    pipelines and calibrations of these are loaded again as they are. Whoever loads a model with
    anything else in it must name that in the parameter `trusted` of :func:`load_model`.

    A RandomState instance, as the ``random_state`` of the model or inside of its classifiers, is
    stored as None. Predictions do not depend on it; a second `fit` would.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd import NLDDClassifier, load_yeast
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
    if not isinstance(model, MultiLabelClassifier) or full_name(type(model)) not in OBJECTS:
        raise InputError(
            f"Only models of nldd can be saved; got {type(model).__name__}.",
            hint="Save estimators of scikit-learn by skops.io.dump.",
        )
    check_is_fitted(model)
    write_archive(path, _pack_estimator(model))


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
    """
    kinds = (KIND, ESTIMATOR_KIND)
    contents = read_archive(path, kind=kinds, trusted=trusted, max_bytes=max_bytes)
    if contents.kind == KIND:
        return unpack_classifier(contents)
    with naming_file(path):
        return _unpack_estimator(contents)


def _pack_estimator(model: MultiLabelClassifier) -> Contents:
    if type(model) not in (BinaryRelevance, SubsetMapping):
        return Contents(ESTIMATOR_KIND, estimators={"model": [model]})
    rest = copy(model)
    rest.estimators_ = []  # kept apart, as arrays where they are linear
    return Contents(ESTIMATOR_KIND, estimators={"model": [rest], "models": model.estimators_})


def _unpack_estimator(contents: Contents) -> Any:
    (model,) = contents.estimators.get("model") or [None]
    if not isinstance(model, MultiLabelClassifier):
        raise damaged("it holds no estimator of nldd")
    if "models" in contents.estimators:
        model.estimators_ = contents.estimators["models"]
        n_models, n_labels = len(model.estimators_), model.n_labels_
        if n_models != n_labels:
            raise damaged(f"it has {n_models} classifiers for {n_labels} labels")
    return model
