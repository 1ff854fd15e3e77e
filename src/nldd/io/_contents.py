"""What a model file holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Contents:
    """What a model file holds, before it is written and after it is read.

    Names are of letters, digits, ``_``, ``-`` and ``.``, in parts that ``/`` separates:
    ``"classifier/Y"``.

    Attributes
    ----------
    kind : str
        What the file is, such as ``"nldd-classifier"`` or ``"coding-model"``.
    documents : mapping of name to JSON value
    arrays : mapping of name to ndarray
        Numbers, booleans or text, but no objects.
    estimators : mapping of name to a list of scikit-learn estimators
    manifest : mapping
        Filled on reading: ``format``, ``kind``, ``created``, ``versions`` of the libraries that
        wrote the file, ``members`` with size and sha256 of each, and ``path``. On writing only
        ``created`` is looked at, see :func:`nldd.io.write_archive`.
    """

    kind: str
    documents: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    estimators: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
