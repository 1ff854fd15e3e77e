"""Read labels in the forms people have them; write predictions back by name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from nldd._validation import to_canonical
from nldd.exceptions import InputError, NLDDWarning, warn_caller

FORMS = (
    "Give one 0/1 column per label (array, sparse matrix or frame), "
    "or a list with one set of label names per row."
)


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels as an indicator matrix; names are columns, members of label sets, or 0, 1, ...

    A 1-D target is `single`: every class is one label, and every row has exactly one.
    """

    Y: NDArray[np.int8]
    names: NDArray[np.object_]
    single: bool = False


def read_labels(Y: Any) -> LabelTable:
    """Read any supported form of labels.

    >>> read_labels([{"sad", "quiet"}, {"happy"}, set()]).Y
    array([[0, 1, 1],
           [1, 0, 0],
           [0, 0, 0]], dtype=int8)
    >>> read_labels(["b", "a", "b"]).names
    array(['a', 'b'], dtype=object)
    """
    if Y is None:
        raise InputError(f"fit requires y to be passed, but the target y is None. {FORMS}")
    if is_frame(Y) or issparse(Y):
        return read_indicator(Y)
    if (sets := _label_sets(Y)) is not None:
        names = _sorted_names(sets)
        if not len(names):
            raise InputError(f"No row of Y carries any label: all {len(sets)} sets are empty.")
        return LabelTable(indicator(sets, names), names)
    values = _as_array(Y)
    if values.ndim == 2 and values.shape[1] == 1 and not _is_binary(values):
        warn_caller(
            "A column-vector y was passed when a 1d array was expected: its values are classes.",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim == 1:
        return _read_classes(values)
    return _check_indicator(values, range(values.shape[1]))


def read_indicator(Y: Any) -> LabelTable:
    """Read a 2-D form only: an array of 0 and 1, a sparse matrix or a frame."""
    if is_frame(Y):
        return _read_frame(Y)
    values = to_canonical(Y, "Y").toarray() if issparse(Y) else _as_array(Y)
    if values.ndim != 2:
        raise InputError(f"Y must be 2-D, one 0/1 column per label; got shape {values.shape}.")
    return _check_indicator(values, range(values.shape[1]))


def read_labels_as(Y: Any, names: NDArray[np.object_]) -> LabelTable:
    """Read labels in the columns `names` of a model; unknown labels become extra columns.

    Label sets and named frames are matched by name, everything else by position.
    """
    if (sets := _label_sets(Y)) is not None:
        unknown = _sorted_names([labels - set(names) for labels in sets])
        names = np.concatenate([names, unknown])
        return LabelTable(indicator(sets, names), names)
    table = read_indicator(Y)
    unnamed = list(names) == list(range(len(names)))
    if not is_frame(Y) or (unnamed and set(table.names) != set(names)):
        return table
    missing = [name for name in names if name not in table.names]
    if missing:
        raise InputError(
            f"Y lacks {len(missing)} of the {len(names)} label columns that the model knows: "
            f"{missing[:5]}. Pass all of them, with 0 where a label is absent."
        )
    position = {name: j for j, name in enumerate(table.names)}
    names = _as_names([*names, *(name for name in table.names if name not in names)])
    return LabelTable(table.Y[:, [position[name] for name in names]], names)


def is_frame(Y: Any) -> bool:
    """Whether `Y` is a pandas, polars or similar frame with named columns."""
    return hasattr(Y, "columns") and hasattr(Y, "to_numpy")


def indicator(sets: Sequence[Iterable[Any]], names: NDArray[np.object_]) -> NDArray[np.int8]:
    """Indicator matrix of label sets over the columns `names`."""
    column = {name: j for j, name in enumerate(names)}
    Y = np.zeros((len(sets), len(names)), dtype=np.int8)
    for row, labels in enumerate(sets):
        Y[row, [column[label] for label in labels]] = 1
    return Y


def as_label_sets(Y: Any, label_names: Sequence[Any] | NDArray[Any]) -> list[tuple[Any, ...]]:
    """Names of the labels of each row of an indicator matrix.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels as 0 and 1, such as those of a prediction.
    label_names : sequence of length n_labels
        Such as ``label_names_`` of a fitted model.

    Returns
    -------
    list of tuple
        One per row, with names in the order of the columns.

    Examples
    --------
    >>> from nldd import as_label_sets
    >>> as_label_sets([[1, 0, 1], [0, 0, 0]], ["sad", "happy", "quiet"])
    [('sad', 'quiet'), ()]
    """
    Y = to_canonical(Y, "Y").toarray() if issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] != len(label_names):
        raise InputError(
            f"Y must have one column for each of the {len(label_names)} label names; "
            f"got shape {Y.shape}."
        )
    return [tuple(label_names[j] for j in np.flatnonzero(row).tolist()) for row in Y]


def _read_frame(frame: Any) -> LabelTable:
    names = _as_names(frame.columns)
    try:
        # Only pandas has missing values that do not become NaN by themselves.
        options = {"dtype": float, "na_value": np.nan} if hasattr(frame, "isna") else {}
        values = np.asarray(frame.to_numpy(**options), dtype=float)
    except (TypeError, ValueError) as error:
        what = f"Y must hold only 0 and 1, but a label column holds text ({error})."
        raise InputError(f"{what} {FORMS}") from None
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise InputError(
            f"Y contains NaN: label column {names[column]!r} has no value in row {row}. "
            "Drop the rows that nobody labelled, or write 0 where the label is absent."
        )
    return _check_indicator(values, names)


def _as_array(Y: Any) -> NDArray[Any]:
    if isinstance(Y, str | bytes | Number):
        raise InputError(f"Y must hold one entry per row; got {Y!r}. {FORMS}")
    options = {"ensure_2d": False, "allow_nd": True, "ensure_min_features": 0}
    values = check_array(Y, dtype=None, input_name="y", **options)
    if values.ndim > 2:
        raise InputError(f"Y must have two dimensions; got shape {values.shape}. {FORMS}")
    if values.dtype == object and values.ndim == 2:
        try:
            return np.asarray(values.astype(float))
        except (TypeError, ValueError):
            raise InputError(f"Y must hold only 0 and 1; it holds other objects. {FORMS}") from None
    return np.asarray(values)


def _read_classes(y: NDArray[Any]) -> LabelTable:
    check_classification_targets(y)
    classes, code = np.unique(y, return_inverse=True)
    _warn_of_listed_labels({name for name in classes.tolist() if isinstance(name, str)})
    Y = (code.reshape(-1, 1) == np.arange(len(classes))).astype(np.int8)
    return LabelTable(Y, _as_names(classes), single=True)


def _warn_of_listed_labels(classes: set[str]) -> None:
    """Hint at texts that seem to list labels, separated by a mark or by spaces.

    Words of a list change places: each begins some text and ends some text, if only a text of one
    word. So "sad quiet" beside "sad" and "quiet happy" is a list; "New York" beside "New Jersey"
    and "strongly agree" beside "agree" are names.
    """
    words = {text: text.split() for text in sorted(classes)}
    ends = {word for parts in words.values() for word in parts[-1:]}
    movable = {word for parts in words.values() for word in parts[:1] if word in ends}
    for text, parts in words.items():
        mark = re.search("[,;|] ?", text)
        if mark or (len(parts) > 1 and movable.issuperset(parts)):
            split = f"text.split({mark.group()!r})" if mark else "text.split()"
            warn_caller(
                f"Labels such as {text!r} are taken as one class each. If they list several "
                f"labels, pass lists: [{split} for text in y].",
                NLDDWarning,
            )
            break


def _check_indicator(values: NDArray[Any], names: Iterable[Any]) -> LabelTable:
    labels = _as_names(names)
    if values.shape[1] == 0:
        raise InputError(f"Y has no label columns: shape {values.shape}. {FORMS}")
    if len(set(labels)) < len(labels):
        repeated = next(name for name in labels if list(labels).count(name) > 1)
        raise InputError(f"Label names must be distinct; {repeated!r} names several columns of Y.")
    if not _is_binary(values):
        column = next(j for j in range(values.shape[1]) if not _is_binary(values[:, j]))
        found = np.unique(values[:, column])[:4].tolist()
        texts = (f"{value:g}" if isinstance(value, float) else repr(value) for value in found)
        raise InputError(
            f"Y must hold only 0 and 1; label column {labels[column]!r} holds {', '.join(texts)}. "
            f"{FORMS}"
        )
    return LabelTable(values.astype(np.int8), labels)


def _is_binary(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "biuf" and bool(np.all((values == 0) | (values == 1)))


def _label_sets(Y: Any) -> list[set[Any]] | None:
    """The label names of each row, or None if `Y` does not have a collection of them per row."""
    is_vector = isinstance(Y, np.ndarray) and Y.dtype == object and Y.ndim == 1
    if not (isinstance(Y, list | tuple) or is_vector or hasattr(Y, "to_list")):
        return None
    rows = Y.to_list() if hasattr(Y, "to_list") else list(Y)
    has_collections = any(isinstance(row, list | tuple | set | frozenset) for row in rows)
    if not has_collections or (isinstance(Y, list | tuple) and _is_matrix(rows)):
        return None
    sets = []
    for i, labels in enumerate(rows):
        members: Any = None if isinstance(labels, str) else labels
        try:
            sets.append(set(members))
        except TypeError:
            message = f"Y must have one set of label names per row; row {i} holds {labels!r}."
            raise InputError(f"{message} {FORMS}") from None
    return sets


def number_groups(groups: Any) -> NDArray[np.intp]:
    """Groups as numbers, in the order in which they first occur.

    >>> number_groups(["b", "a", "b", "c"])
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _is_matrix(rows: list[Any]) -> bool:
    """Whether lists in a list are rows of a matrix: numbers, and all of one length."""
    return (
        all(isinstance(row, list | tuple) for row in rows)
        and len({len(row) for row in rows}) == 1
        and not any(isinstance(label, str) for row in rows for label in row)
    )


def _sorted_names(sets: Iterable[Iterable[Any]]) -> NDArray[np.object_]:
    found = set[Any]().union(*sets)
    try:
        return _as_names(sorted(found))
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in found}))
        raise InputError(f"Label names must be of one type, to be sorted; got {kinds}.") from None


def _as_names(names: Iterable[Any]) -> NDArray[np.object_]:
    plain = (name.item() if isinstance(name, np.generic) else name for name in names)
    return np.fromiter(plain, dtype=object)
