"""Data sets of the Hugging Face hub, where its library ``datasets`` is installed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.datasets._catalogue import Folder, data_folder
from nldd.datasets._dataset import Dataset, join
from nldd.datasets._label_columns import FORMS, Labels, label_columns, named_columns
from nldd.datasets._row_ids import left_out, names_rows, note_on_numbers, sounds_like_a_row_id
from nldd.datasets._source import Refusal, truth
from nldd.exceptions import InputError, MissingExtraError, NLDDError

PREFIX = "hf:"
# The first of these that is there is what the training rows are tested on.
_TEST_SPLITS = ("test", "validation")
_NUMBERS = ("int", "uint", "float", "double", "bool")


def load_hugging_face(
    name: str,
    labels: Labels | os.PathLike[str] | None,
    *,
    text: str | None = None,
    keep_ids: bool = False,
    data_dir: Folder = None,
) -> Dataset:
    """The data set ``hf:owner/name``, or one configuration of it, ``hf:owner/name/configuration``.

    Labels are a column of lists of classes, by default the only one that there is, or several
    columns of 0 and 1. Features are a column of texts, or all other columns, which must be numbers
    or classes. The splits train and test (else validation) are the given split.
    """
    parts, dropped = _splits(name, _fetch(name, data_folder(data_dir)))
    columns, kinds = list(parts[0].column_names), parts[0].features
    try:
        chosen = _label_column(labels, columns, kinds)
        label_names, Ys = _read_labels(parts, chosen, kinds)
        rest = [column for column in columns if column not in chosen]
        features, notes = _feature_columns(parts, rest, kinds, text, keep_ids)
    except Refusal as refusal:
        raise InputError(f"{name}: {refusal}") from None
    notes += [f"Splits that were left out: {quote_first(dropped)}."] if dropped else []
    names = [made for column in features for made in _names_made_of(column, kinds[column])]
    datasets = [
        Dataset(_read_features(part, features, kinds, text), Y, label_names, names, name)
        for part, Y in zip(parts, Ys, strict=True)
    ]
    joined = join(datasets, name.removeprefix(PREFIX))
    if joined.n_train is not None:
        sizes = f"the first {joined.n_train:,} rows are to train on, the others to test on"
        notes.append(f"As the data set is split, {sizes}.")
    return replace(joined, notes=tuple(notes))


def _fetch(name: str, folder: Any) -> Any:
    try:
        # Any folder of that name can be imported, but has no function in it.
        load = import_module("datasets").load_dataset
    except (ImportError, AttributeError) as error:
        message = f"{name} is on the Hugging Face hub, which needs the library datasets."
        raise MissingExtraError(message, hint="pip install datasets") from error
    path, _, configuration = name.removeprefix(PREFIX).partition("/")
    if configuration:
        owned, _, configuration = configuration.partition("/")
        path = f"{path}/{owned}"
    if not path.strip("/"):
        raise InputError(f"Say {PREFIX}owner/name; got {quote(name)}.")
    try:
        return load(path, configuration or None, cache_dir=str(folder / "huggingface"))
    # The library has errors of many kinds: of the network, of the hub, of names, of scripts.
    except Exception as error:
        how = "Check the name and the network; a configuration is the third part of the name."
        reason = " ".join(str(error).split()).rstrip(".")
        raise NLDDError(f"{name} could not be loaded: {reason:.300}. {how}") from error


def _splits(name: str, found: Any) -> tuple[list[Any], list[str]]:
    """Rows to train on and to test on, or all of them, and the names of other splits."""
    if not isinstance(found, Mapping):
        return [found], []
    if len(found) == 1:
        return list(found.values()), []
    test = next((split for split in _TEST_SPLITS if split in found), None)
    if "train" not in found or test is None:
        raise InputError(f"{name} has the splits {quote_first(found)}; expected train and test.")
    others = [split for split in found if split not in ("train", test)]
    return [found["train"], found[test]], others


def _label_column(
    labels: Labels | os.PathLike[str] | None, columns: Sequence[str], kinds: Mapping[str, Any]
) -> list[str]:
    """One column of lists, or several of 0 and 1."""
    if labels is None:
        lists = [column for column in columns if _class_names(kinds[column])]
        if len(lists) == 1:
            return lists
        found = "several columns have" if lists else "no column has"
        known = f"the columns are {quote_first(columns)}"
        raise Refusal(f"{found} lists of classes; {known}. Say which: {FORMS}.")
    if isinstance(labels, os.PathLike):
        raise InputError(f"{FORMS}; got {labels!r}.")
    return [columns[j] for j in label_columns(labels, columns)]


def _class_names(kind: Any) -> list[str] | None:
    """The names of the classes of which a column holds lists; None of another column."""
    return getattr(getattr(kind, "feature", None), "names", None)


def _read_labels(
    parts: Sequence[Any], chosen: Sequence[str], kinds: Mapping[str, Any]
) -> tuple[list[str], list[NDArray[np.int64]]]:
    if len(chosen) > 1 or not hasattr(kinds[chosen[0]], "feature"):
        return list(chosen), [_read_cells(part, chosen) for part in parts]
    column = chosen[0]
    names = _class_names(kinds[column])
    rows = [[list(row or ()) for row in part[column]] for part in parts]
    values = (
        range(len(names)) if names else sorted({v for part in rows for row in part for v in row})
    )
    place = {value: j for j, value in enumerate(values)}
    Ys = []
    for part in rows:
        Y = np.zeros((len(part), len(place)), dtype=np.int64)
        for i, row in enumerate(part):
            unknown = [value for value in row if value not in place]
            if unknown:
                raise Refusal(f"row {i}: {unknown[0]!r:.40} is none of the {len(place)} classes.")
            Y[i, [place[value] for value in row]] = 1
        Ys.append(Y)
    if not place:
        raise Refusal(f"no row of column {quote(column)} has a label.")
    return list(map(str, names or values)), Ys


def _read_cells(part: Any, columns: Sequence[str]) -> NDArray[np.int64]:
    Y = np.empty((len(part), len(columns)))
    for j, column in enumerate(columns):
        for i, cell in enumerate(part[column]):
            value = truth(str(cell))
            if value is None:
                where = f"row {i}, column {quote(column)}"
                raise Refusal(f"{where}: a label must be 0 or 1, false or true; got {cell!r:.40}.")
            Y[i, j] = value
    return Y.astype(np.int64)


def _feature_columns(
    parts: Sequence[Any],
    columns: Sequence[str],
    kinds: Mapping[str, Any],
    text: str | None,
    keep_ids: bool,
) -> tuple[list[str], list[str]]:
    """Columns that become features, and what to tell about others."""
    if text is not None:
        (place,) = named_columns([text], columns, "that should be the text")
        others = [column for column in columns if column != columns[place]]
        return [text], [f"Left out beside the text: {quote_first(others)}."] if others else []
    features: list[str] = []
    odd: list[str] = []
    notes = []
    for column in columns:
        kind = kinds[column]
        is_number = str(getattr(kind, "dtype", "")).startswith(_NUMBERS)
        note = None if keep_ids else _note_on_row_id(parts, column, kind, is_number)
        if note:
            notes.append(note)
        else:
            (features if is_number else odd).append(column)
    if odd or not features:
        known = f"{quote_first(odd or columns)} cannot be made features as they are"
        raise Refusal(f"{known}, since they are no numbers. Say which column is the text by text.")
    return features, notes


def _note_on_row_id(parts: Sequence[Any], column: str, kind: Any, is_number: bool) -> str | None:
    if is_number and _codes(kind) is None:
        if not sounds_like_a_row_id(column):
            return None
        return note_on_numbers(column, [_read_column(part[column], kind)[:, 0] for part in parts])
    values = {str(value) for part in parts for value in part[column]}
    n_rows = sum(map(len, parts))
    is_id = names_rows(values, n_rows, texts=not is_number)
    return left_out(column, len(values), n_rows) if is_id else None


def _codes(kind: Any) -> NDArray[np.float64] | None:
    """What each class of a column of classes becomes, as in ARFF files; None of numbers."""
    names = getattr(kind, "names", None)
    if not names:
        return None
    spelt = [truth(name) for name in names]
    if None not in spelt:
        return np.array(spelt, dtype=float)[:, np.newaxis]
    return np.eye(len(names)) if len(names) > 2 else np.arange(float(len(names)))[:, np.newaxis]


def _names_made_of(column: str, kind: Any) -> list[str]:
    codes = _codes(kind)
    if codes is None or codes.shape[1] == 1:
        return [column]
    return [f"{column}={name}" for name in kind.names]


def _read_features(
    part: Any, columns: Sequence[str], kinds: Mapping[str, Any], text: str | None
) -> NDArray[Any]:
    if text is not None:
        return np.array([str(value or "") for value in part[text]], dtype=object)
    return np.hstack([_read_column(part[column], kinds[column]) for column in columns])


def _read_column(values: Sequence[Any], kind: Any) -> NDArray[np.float64]:
    """One column, or one a class; NaN where a value is missing."""
    cells = np.array([np.nan if value is None else value for value in values], dtype=float)
    codes = _codes(kind)
    if codes is None:
        return cells[:, np.newaxis]
    # The library has -1 for a class that is not known.
    known = cells >= 0
    made = np.full((len(cells), codes.shape[1]), np.nan)
    made[known] = codes[cells[known].astype(int)]
    return made
