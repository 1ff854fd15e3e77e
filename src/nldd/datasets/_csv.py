"""CSV files with label columns."""

import csv
import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.datasets._dataset import Dataset
from nldd.datasets._label_columns import Labels, label_columns
from nldd.datasets._numbers import number, numbers, pick, truth
from nldd.datasets._source import MAX_BYTES, Refusal, Source, read_text, split_lines
from nldd.exceptions import InputError

SEPARATORS = (",", ";", "\t")
MISSING = frozenset({"", "NA", "?"})
_BITS = {"0": 0, "1": 1}
_BLOCK_CELLS = 50_000

Row = list[str]


def read_csv(
    path: str | os.PathLike[str],
    labels: Labels,
    *,
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
    sep : str, optional
        Separator; by default the one of comma, semicolon and tab that splits the header into
        most columns.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    dataset : Dataset
        All other columns are features and must be numbers; an empty cell, ``NA`` and ``?`` are
        missing values, NaN in `X`. Columns keep the order of the file.

    Raises
    ------
    InputError
        With the name of the file, the number of the line and the column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("tempo;label_sad;label_calm\\n90.5;1;1\\n;0;1\\n")
    ...     songs = read_csv(path, "label_*")
    >>> songs.X.tolist(), songs.Y.tolist(), songs.label_names
    ([[90.5], [nan]], [[1, 1], [0, 1]], ['label_sad', 'label_calm'])
    """
    source, text = read_text(path, max_bytes)
    rows = _rows(split_lines(text), sep, source)
    line, names = next(rows, (1, []))
    names = [name.strip(" \t") for name in names]
    try:
        _check_names(names)
        columns = label_columns(labels, names)
        if len(columns) == len(names):
            raise Refusal(f"all {len(names)} columns are labels, and none is left as a feature.")
    except Refusal as refusal:
        raise source.error(line, str(refusal)) from None
    chosen = set(columns)
    features = [j for j in range(len(names)) if j not in chosen]
    X, Y = [], []
    for block in _blocks(rows, len(names), source):
        X.append(_read_features(block, features, names, source))
        Y.append(_read_labels(block, columns, names, source))
    if not X:
        raise source.error(line, "no rows follow the header. Is the file complete?")
    return Dataset(
        X=np.vstack(X),
        Y=np.vstack(Y),
        label_names=[names[j] for j in columns],
        feature_names=[names[j] for j in features],
        name=source.path.stem,
    )


def _separator(lines: Sequence[str], sep: str | None) -> str:
    if sep is None:
        first = next(filter(None, lines), "")
        return max(SEPARATORS, key=lambda separator: _n_columns(first, separator))
    if not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n ':
        raise InputError(f"sep must be one character such as ',' or ';'; got {sep!r}.")
    return sep


def _n_columns(line: str, separator: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=separator)))
    except csv.Error:
        return 0


def _rows(lines: Sequence[str], sep: str | None, source: Source) -> Iterator[tuple[int, Row]]:
    """Rows that are not blank, with the line in which each begins."""
    reader = csv.reader(
        # With their ends again: a cell in quotes may go over several lines.
        (f"{line}\n" for line in lines),
        delimiter=_separator(lines, sep),
        skipinitialspace=True,
        strict=True,
    )
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise source.error(line, f"the row cannot be split into cells: {error}.") from None
        if row:
            yield line, row


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise Refusal("the file is empty. Expected a line with the names of the columns.")
    if "" in names:
        raise Refusal(
            f"column {names.index('') + 1} has no name. Name it; if it only numbers the rows, "
            "leave it out."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refusal(f"two columns are called {quote(name)}. Rename one of them.")
        seen.add(name)
    if len(names) == 1:
        raise Refusal(
            f"only one column, {quote(names[0])}; at least one feature and one label are needed. "
            "Is the separator something else than comma, semicolon and tab? Then set sep."
        )


def _blocks(
    rows: Iterator[tuple[int, Row]], n_columns: int, source: Source
) -> Iterator[list[tuple[int, Row]]]:
    block: list[tuple[int, Row]] = []
    for line, row in rows:
        if len(row) != n_columns:
            raise source.error(
                line,
                f"expected {n_columns} cells as in the header, got {len(row)}. "
                "Leave a cell empty if its value is missing; quote text that holds separators.",
            )
        block.append((line, row))
        if len(block) * n_columns >= _BLOCK_CELLS:
            yield block
            block = []
    if block:
        yield block


def _read_features(
    block: list[tuple[int, Row]], columns: list[int], names: list[str], source: Source
) -> NDArray[np.float64]:
    values = numbers(pick([row for _, row in block], columns), MISSING)
    if values is None:
        values = np.array(
            [
                _located(_feature, row[j], names[j], line, source)
                for line, row in block
                for j in columns
            ]
        )
    return values.reshape(len(block), len(columns))


def _read_labels(
    block: list[tuple[int, Row]], columns: list[int], names: list[str], source: Source
) -> NDArray[np.int64]:
    cells = pick([row for _, row in block], columns)
    try:
        values = np.fromiter(map(_BITS.__getitem__, cells), np.int64, len(cells))
    except KeyError:
        checked = [
            _located(_label, row[j], names[j], line, source) for line, row in block for j in columns
        ]
        values = np.array(checked, dtype=np.int64)
    return values.reshape(len(block), len(columns))


def _located(
    read: Callable[[str], float], cell: str, name: str, line: int, source: Source
) -> float:
    try:
        return read(cell.strip(" \t"))
    except Refusal as refusal:
        raise source.error(line, f"column {quote(name)}: {refusal}") from None


def _feature(cell: str) -> float:
    return np.nan if cell in MISSING else number(cell)


def _label(cell: str) -> float:
    value = truth(cell)
    if value is None:
        raise Refusal(f"a label must be 0 or 1, false or true; got {quote(cell)}.")
    return value
