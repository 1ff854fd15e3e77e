"""Save and load fitted models of nldd."""

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from nldd._base import MultiLabelClassifier
from nldd.estimators import NLDDClassifier
from nldd.exceptions import InputError
from nldd.io._allowed_types import OWN
from nldd.io._archive import MAX_BYTES, read_archive, read_manifest, write_archive
from nldd.io._classifier import KIND, pack_classifier, unpack_classifier
from nldd.io._contents import Contents
from nldd.io._manifest import check_kind
from nldd.io._refusal import AGAIN, refusals_of

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
    name = f"{type(model).__module__}.{type(model).__name__}"
    if not isinstance(model, MultiLabelClassifier) or name not in OWN:
        raise InputError(
            f"Only models of nldd can be saved; got {type(model).__name__}.",
            hint="Save estimators of scikit-learn by skops.io.dump.",
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
        Where the file cannot be read; the message says why.

    Warns
    -----
    NLDDWarning
        Where the model was saved with another version of scikit-learn.
    """
    with refusals_of(path):
        check_kind(read_manifest(path), (KIND, ESTIMATOR_KIND))
    contents = read_archive(path, trusted=trusted, max_bytes=max_bytes)
    if contents.kind == KIND:
        return unpack_classifier(contents)
    model = contents.estimators.get("model", [None])[0]
    if not isinstance(model, MultiLabelClassifier):
        raise InputError(f"{path}: damaged: it holds no estimator of nldd.", hint=AGAIN)
    return model
