"""Tables with label columns, such as CSV files."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote, quote_first
from nldd.bench.datasets.label_columns import Labels, label_columns, named_columns
from nldd.bench.datasets.source import MAX_BYTES, DataError, find_file, number, numbers, truth
from nldd.coding.tables.cells import TableBlock, cell_text
from nldd.coding.tables.opening import open_table
from nldd.coding.tables.reader import TableReader
from nldd.datasets import Dataset
from nldd.exceptions import InputError

MISSING = frozenset({"", "NA", "?"})
_BLOCK_CELLS = 50_000


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
        Its encoding is found out; see :func:`nldd.coding.tables.opening.open_table`.
    labels : list of str, str or int
        The label columns: names, a pattern such as ``"label_*"``, or a number (3: the first
        three columns; -3: the last three). Their cells are 0 or 1, false or true.
    text : str, optional
        Name of a column of texts, which `X` will hold; other columns that are no labels are left
        out.
    groups : str, optional
        Name of a column that says which rows belong together. It is no feature, and may hold texts.
    sep : str, optional
        Separator; by default comma, semicolon, tab or bar, whichever splits the rows as it does
        the header.
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
    file = find_file(path, max_bytes).path
    with open_table(file, separator=sep) as table:
        names = [name.strip(" \t") for name in table.header]
        try:
            _check_names(names)
            columns = label_columns(labels, names)
            chosen = named_columns([text], names, "that should be the text") if text else []
            grouping = named_columns([groups], names, "that should be the groups") if groups else []
        except DataError as refusal:
            raise InputError(f"{file}: {refusal}") from None
        if set(grouping) & {*columns, *chosen}:
            raise InputError(f"{file}: {quote(groups or '')} is a label or the text, and no group.")
        features = sorted(set(range(len(names))) - {*columns, *grouping})
        if not features:
            raise InputError(f"{file}: all {len(names)} columns are labels, none is a feature.")
        if chosen and chosen[0] not in features:
            raise InputError(f"{file}: {quote(names[chosen[0]])} is a label and not the text too.")
        others = [names[j] for j in features if chosen and j not in chosen]
        X, Y, together = _read_rows(table, chosen or features, columns, grouping, bool(chosen))
    label_names, feature_names = (
        [names[j] for j in part] for part in (columns, chosen or features)
    )
    notes = (f"Left out beside the text: {quote_first(others)}.",) if others else ()
    return Dataset(X, Y, label_names, feature_names, file.stem, notes=notes, groups=together)


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


def _read_rows(
    table: TableReader,
    features: Sequence[int],
    labels: Sequence[int],
    grouping: Sequence[int],
    as_text: bool,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any] | None]:
    """Features, labels, and the column of groups if there is one."""
    X: list[NDArray[Any]] = []
    Y, groups = [], []
    for block in table.blocks(max(1, _BLOCK_CELLS // len(table.header))):
        if as_text:
            texts = [cell_text(row[features[0]]) for row in block.rows]
            X.append(np.array(texts, dtype=object))
        else:
            X.append(_read_cells(block, features, _feature, table))
        Y.append(_read_cells(block, labels, _label, table))
        groups += _read_groups(block, grouping, table)
    if not X:
        raise InputError(f"{table.path}: no rows follow the header. Is the file complete?")
    # A table of answers may leave out the last cells of a row; here a number was lost.
    short = next((note for note in table.notes if "fewer cells" in note), None)
    if short:
        how = "Leave a cell empty if its value is missing, but write the separator before it."
        raise InputError(f"{table.path}: {short.partition(';')[0]}. {how}")
    together = np.array(groups, dtype=object) if grouping else None
    return np.concatenate(X), np.vstack(Y).astype(np.int64), together


def _read_groups(block: TableBlock, grouping: Sequence[int], table: TableReader) -> list[str]:
    """The groups of rows; those without one are strangers, and no group of their own."""
    found = [cell_text(row[j]) for row in block.rows for j in grouping]
    for row, group in enumerate(found):
        if group.strip(" \t") in MISSING:
            where = table.where(block.first + row, grouping[0])
            raise InputError(f"{where}: there is no group. Each row needs one.")
    return found


def _read_cells(
    block: TableBlock, columns: Sequence[int], read: Callable[[str], float], table: TableReader
) -> NDArray[np.float64]:
    """Cells of some columns: numbers all at once, or else each distinct cell once."""
    cells = [cell_text(row[j]) for row in block.rows for j in columns]
    values = numbers(cells, MISSING) if read is _feature else None
    if values is None:
        known: dict[str, float] = {}
        for cell in dict.fromkeys(cells):
            try:
                known[cell] = read(cell.strip(" \t"))
            except DataError as refusal:
                row, column = divmod(cells.index(cell), len(columns))
                where = table.where(block.first + row, columns[column])
                raise InputError(f"{where}: {refusal}") from None
        values = np.array([known[cell] for cell in cells])
    return values.reshape(len(block.rows), len(columns))


def _feature(cell: str) -> float:
    return np.nan if cell in MISSING else number(cell)


def _label(cell: str) -> float:
    value = truth(cell)
    if value is None:
        raise DataError(f"a label must be 0 or 1, false or true; got {quote(cell)}.")
    return value
