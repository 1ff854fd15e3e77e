"""Tables with label columns, such as CSV files."""

import csv
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.bench.datasets.label_columns import Labels, label_columns, named_columns
from nldd.bench.datasets.source import (
    MAX_BYTES,
    DataError,
    DataFile,
    number,
    numbers,
    read_lines,
    truth,
)
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.present.text import count_noun

MISSING = frozenset({"", "NA", "?"})
SEPARATORS = ",;\t|"
# The separator is found by the first lines.
_N_SAMPLE = 1000

# The line on which a row begins, and its cells.
Row = tuple[int, list[str]]


def read_csv(
    path: str | os.PathLike[str],
    labels: Labels,
    *,
    text: str | None = None,
    groups: str | None = None,
    sep: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """Read a table with a header line, some columns of which are labels.

    Parameters
    ----------
    path : path
        UTF-8 with or without byte order mark; what is not UTF-8 is taken as Latin-1.
    labels : list of str, str or int
        The label columns: names, a pattern such as ``"label_*"``, or a number (3: the first
        three columns; -3: the last three). Their cells are 0 or 1, false or true.
    text : str, optional
        Name of a column of texts, which `X` will hold; other columns that are no labels are left
        out.
    groups : str, optional
        Name of a column that says which rows belong together. It is no feature, and may hold texts.
    sep : str, optional
        Separator; by default comma, semicolon, tab or bar, whichever splits most rows into as
        many cells as the header.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    dataset : Dataset
        All other columns are features and must be numbers; an empty cell, ``NA`` and ``?`` are
        missing values, NaN in `X`. Columns keep the order of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench.datasets.csv_dataset import read_csv
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("tempo;label_sad;label_calm\\n90.5;1;1\\n;0;1\\n")
    ...     songs = read_csv(path, "label_*")
    >>> songs.X.tolist(), songs.Y.tolist(), songs.label_names
    ([[90.5], [nan]], [[1, 1], [0, 1]], ['label_sad', 'label_calm'])
    """
    if sep is not None and (not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n '):
        raise InputError(f"sep must be one character such as ',' or ';'; got {sep!r}.")
    source, lines = read_lines(path, max_bytes)
    (line, names), *rows = _read_rows(source, lines, sep)
    try:
        _check_names(names)
        columns = label_columns(labels, names)
        chosen = named_columns([text], names, "that should be the text") if text else []
        grouping = named_columns([groups], names, "that should be the groups") if groups else []
        if set(grouping) & {*columns, *chosen}:
            raise DataError(f"{quote(groups or '')} is a label or the text, and no group.")
        features = sorted(set(range(len(names))) - {*columns, *grouping})
        if not features:
            raise DataError(f"all {len(names)} columns are labels, none is a feature.")
        if set(chosen) & set(columns):
            raise DataError(f"{quote(text or '')} is a label and not the text too.")
        if not rows:
            raise DataError("no rows follow the header. Is the file complete?")
    except DataError as refusal:
        raise source.error(line, refusal) from None
    others = [names[j] for j in features if chosen and j not in chosen]

    def read(column: int, cell: Callable[[str], Any]) -> list[Any] | NDArray[np.float64]:
        return _read_column(source, names[column], [(n, row[column]) for n, row in rows], cell)

    if chosen:
        X = np.array([row[chosen[0]] for _, row in rows], dtype=object)
    else:
        X = np.column_stack([read(j, _feature) for j in features])
    return Dataset(
        X,
        np.column_stack([read(j, _label) for j in columns]).astype(np.int64),
        [names[j] for j in columns],
        [names[j] for j in chosen or features],
        source.path.stem,
        notes=(f"Left out beside the text: {quote_first(others)}.",) if others else (),
        groups=np.array(read(grouping[0], _group), dtype=object) if grouping else None,
    )


def _read_rows(source: DataFile, lines: Sequence[str], sep: str | None) -> list[Row]:
    """The header and the rows below it, all of one width; blank lines are left out."""
    whole = (f"{line}\n" for line in lines)
    rows: list[Row] = []
    line = 1
    limit = csv.field_size_limit(MAX_BYTES)  # a text may be longer than what Python begins with
    try:
        mark = sep or _find_separator(lines)
        reader = csv.reader(whole, delimiter=mark, skipinitialspace=True, strict=True)
        for row in reader:
            cells = [cell.strip(" \t") for cell in row]
            if len(cells) > 1 or any(cells):
                rows.append((line, cells))
                if len(cells) != (width := len(rows[0][1])):
                    how = "Leave a cell empty if its value is missing, but write its separator."
                    wrong = f"the row has {count_noun(len(cells), 'cell')}, the header {width}"
                    raise source.error(line, f"{wrong}. {how}")
            line = reader.line_num + 1
    except csv.Error as error:
        how = "Write a quote within a quoted cell twice."
        raise source.error(line, f"the row that begins here: {error}. {how}") from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise InputError(f"{source.path} is empty: begin it with a line of column names.")
    return rows


def _find_separator(lines: Sequence[str]) -> str:
    def fit(mark: str) -> tuple[float, int]:
        """How many rows are as wide as the header, and how wide that is."""
        reader = csv.reader((f"{line}\n" for line in lines[:_N_SAMPLE]), delimiter=mark)
        widths = [len(row) for row in reader if any(row)] or [0]
        return sum(n == widths[0] > 1 for n in widths) / len(widths), widths[0]

    return max(SEPARATORS, key=fit)


def _check_names(names: Sequence[str]) -> None:
    if "" in names:
        how = "Name it; if it only numbers the rows, leave it out."
        raise DataError(f"column {names.index('') + 1} has no name. {how}")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(f"two columns are called {quote(name)}. Rename one of them.")
    if len(names) == 1:
        how = "A feature and a label are needed. If the separator was not found, set sep."
        raise DataError(f"only one column, {quote(name)}. {how}")


def _read_column(
    source: DataFile, name: str, cells: Sequence[tuple[int, str]], read: Callable[[str], Any]
) -> list[Any] | NDArray[np.float64]:
    """Values of a column: numbers all at once, or else each distinct cell once."""
    values = numbers([cell for _, cell in cells], MISSING) if read is _feature else None
    if values is not None:
        return values
    known: dict[str, Any] = {}
    for line, cell in cells:
        try:
            known[cell] = known[cell] if cell in known else read(cell)
        except DataError as refusal:
            raise source.error(line, f"column {quote(name)}: {refusal}") from None
    return [known[cell] for _, cell in cells]


def _group(cell: str) -> str:
    # Rows without a group are strangers, and no group of their own.
    if cell in MISSING:
        raise DataError("there is no group. Each row needs one.")
    return cell


def _feature(cell: str) -> float:
    return np.nan if cell in MISSING else number(cell)


def _label(cell: str) -> float:
    value = truth(cell)
    if value is None:
        raise DataError(f"a label must be 0 or 1, false or true; got {quote(cell)}.")
    return value
