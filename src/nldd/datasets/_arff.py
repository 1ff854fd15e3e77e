"""ARFF files: the format of Weka, which Mulan and MEKA build upon.

Rows are split into cells one by one, and cells are read many at once: numbers by columns, other
cells once for each distinct text. Where one is refused, its row is found by reading row by row.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from nldd._wording import quote, quote_first
from nldd.datasets._arff_header import (
    LISTED,
    QUOTED,
    Attribute,
    parse_header,
    split_braced,
    unclosed,
    unquote,
)
from nldd.datasets._source import MAX_BYTES, Refusal, Source, number, numbers, read_lines

# Characters of a block of rows: large enough for arrays to pay, small beside the file.
BLOCK_LENGTH = 500_000
MISSING = "?"
# A cell and the gap behind it: blanks and at most one comma.
_CELL = re.compile(rf"(?s)(?:({QUOTED})|([^,\t]*+))([ \t]*+,?[ \t]*+)")
_PAIR = re.compile(rf"(?s)[ \t]*+([0-9]++)[ \t]++{LISTED}")
_PAIRS = "expected pairs of an index and a value between braces, such as {0 1, 7 0.5}"
_WEIGHTS = "instance weights are not supported. Remove the braces at the end of the row."

Attributes = Sequence[Attribute]


@dataclass(frozen=True, eq=False)
class Arff:
    """The content of an ARFF file.

    Attributes
    ----------
    source : Source
        Path and size of the file; makes located errors.
    relation : str
    attributes : tuple of Attribute
    table : ndarray or CSR array of shape (n_rows, n_attributes)
        Numbers as written; of a nominal attribute the position of the value in the header; NaN
        where a value is missing. A CSR array if any row was sparse.
    data_line : int
        Line of ``@data``.
    row_lines : ndarray of shape (n_rows,)
        Line of each row.
    """

    source: Source
    relation: str
    attributes: tuple[Attribute, ...]
    table: Any
    data_line: int
    row_lines: NDArray[np.int64]


def read_arff(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Arff:
    r"""Read an ARFF file with numeric and nominal attributes.

    Parameters
    ----------
    path : path
        UTF-8 with or without byte order mark; what is not UTF-8 is taken as Latin-1.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    arff : Arff

    Notes
    -----
    - Rows may be dense (``1, ?, red``), sparse (``{0 1, 7 red}``, in any order of indices, none
      twice), or both in one file. What a sparse row leaves out is 0, or the first value of a
      nominal attribute. Values of dense rows are separated by commas or tabs.
    - Names and values may be bare or in single or double quotes, with the escapes ``\'``, ``\"``,
      ``\\``, ``\%``, ``\t``, ``\n``, ``\r`` and ``\u0041``. In bare text a backslash is itself.
    - A line whose first character is ``%`` is a comment. Behind a row ``%`` is a character like
      others.
    - Refused: string, date and relational attributes, instance weights, ``nan``, infinities,
      repeated names, a file without rows.
    """
    source, lines = read_lines(path, max_bytes)
    relation, attributes, data_line = parse_header(lines, source)
    tables, row_lines = [], []
    for rows, block_lines in _blocks(lines, data_line):
        tables.append(_read_block(rows, block_lines, attributes, source))
        row_lines += block_lines
    if not tables:
        raise source.error(data_line, "no rows follow @data. Is the file complete?")
    return Arff(source, relation, attributes, stack(tables), data_line, np.array(row_lines))


def _blocks(lines: Sequence[str], data_line: int) -> Iterator[tuple[list[str], list[int]]]:
    """Rows without blank lines and comments, and their line numbers, a block at a time."""
    rows: list[str] = []
    row_lines: list[int] = []
    length = 0
    for i, line in enumerate(islice(lines, data_line, None), data_line + 1):
        row = line.strip(" \t")
        if row and row[0] != "%":
            rows.append(row)
            row_lines.append(i)
            length += len(row)
        if length >= BLOCK_LENGTH:
            yield rows, row_lines
            rows, row_lines, length = [], [], 0
    if rows:
        yield rows, row_lines


def stack(tables: Sequence[Any]) -> Any:
    """Tables one below the other: a CSR array if any of them is one."""
    if len(tables) == 1:
        return tables[0]
    if any(map(issparse, tables)):
        return vstack([csr_array(table) for table in tables], format="csr")
    return np.vstack(tables)


def _read_block(rows: list[str], lines: list[int], attributes: Attributes, source: Source) -> Any:
    """The table of some rows: an ndarray if all of them are dense, else a CSR array."""
    read = _read_sparse if any(row.startswith("{") for row in rows) else _read_dense
    try:
        return read(rows, attributes)
    except Refusal:
        for row, line in zip(rows, lines, strict=True):
            try:
                read([row], attributes)
            except Refusal as refusal:
                raise source.error(line, refusal) from None
        raise


def _read_dense(rows: list[str], attributes: Attributes) -> Any:
    width = len(attributes)
    cells = [cell for row in rows for cell in _split_cells(row, width)]
    table = np.empty((len(rows), width))
    for j, attribute in enumerate(attributes):
        column = cells[j::width]
        values: Any = numbers(column, (MISSING,)) if attribute.codes is None else None
        if values is None:
            values = list(map(cache(partial(_cell_value, attribute=attribute)), column))
        table[:, j] = values
    return table


def _split_cells(row: str, width: int) -> list[str]:
    """Cells between commas or tabs; quotes stay, since a quoted question mark is a value."""
    if "'" in row or '"' in row or "\t" in row:
        cells = _split_strange_cells(row)
    else:
        cells = [cell.strip(" ") for cell in row.split(",")]
    if len(cells) == width:
        return cells
    if cells[-1].startswith("{"):
        raise Refusal(_WEIGHTS)
    how = "Write one for each attribute, with commas between them, and ? if it is missing."
    raise Refusal(f"expected {width} values, got {len(cells)}. {how}")


def _split_strange_cells(row: str) -> list[str]:
    cells: list[str] = []
    position, comma = 0, True
    while position < len(row) or comma:
        found = _CELL.match(row, position)
        assert found  # it matches the empty text too
        quoted, bare, gap = found.groups()
        if not quoted and bare[:1] in ("'", '"'):
            raise unclosed(bare)
        position, comma = found.end(), "," in gap
        if quoted and position < len(row) and not comma and "\t" not in gap:
            raise Refusal(f"expected a comma after {quote(quoted)}; got {quote(row[position:])}.")
        cells.append(quoted or bare.rstrip(" "))
    return cells


def _read_sparse(rows: list[str], attributes: Attributes) -> Any:
    read = cache(partial(_read_pair, attributes=attributes))
    starts, indices, values = [0], list[int](), list[float]()
    for row in rows:
        if row.startswith("{"):
            pairs = list(map(read, _split_pairs(row)))
        else:
            cells = _split_cells(row, len(attributes))
            pairs = list(enumerate(map(_cell_value, cells, attributes)))
        entries = dict(pairs)
        if len(entries) < len(pairs):
            index, _ = Counter(index for index, _ in pairs).most_common(1)[0]
            raise Refusal(f"index {index} occurs twice in the row. Remove one of the two values.")
        indices += entries.keys()
        values += entries.values()
        starts.append(len(indices))
    parts = np.array(values, float), np.array(indices, np.int32), np.array(starts, np.int32)
    table = csr_array(parts, shape=(len(rows), len(attributes)))
    table.sum_duplicates()  # there are none; this sorts
    table.eliminate_zeros()
    return table


def _split_pairs(row: str) -> list[str]:
    """Pairs of a row such as ``{0 1.5, 7 'a b'}``."""
    if "}" not in row:
        raise Refusal("the row begins with { but does not end with }. Is the file complete?")
    body, _, rest = row[1:].partition("}")
    pairs = body.split(",") if body.strip(" \t") else []
    if "'" in row or '"' in row:
        found, rest = split_braced(row, _PAIR, _PAIRS)
        pairs = [pair[0][:-1] for pair in found]
    if rest:
        after = f"unexpected {quote(rest)} after the closing }}."
        raise Refusal(_WEIGHTS if rest.lstrip(" \t,").startswith("{") else after)
    return pairs


def _read_pair(pair: str, attributes: Attributes) -> tuple[int, float]:
    found = _PAIR.fullmatch(pair + "}")
    if not found:
        raise Refusal(f"{_PAIRS}; got {quote(pair.strip())}.")
    # Python refuses to read numbers of thousands of digits.
    digits = found[1].lstrip("0") or "0"
    index = int(digits) if len(digits) <= 18 else len(attributes)
    if index >= len(attributes):
        most = f"the header has {len(attributes)} attributes, counted from 0"
        raise Refusal(f"index {digits[:20]} is out of range: {most}.")
    return index, _cell_value(found[2] or found[3].rstrip(" \t"), attributes[index])


def _cell_value(cell: str, attribute: Attribute) -> float:
    """A number, the position of a nominal value, or NaN for a bare question mark."""
    if cell == MISSING:
        return np.nan
    if cell[:1] in ("'", '"'):
        cell = unquote(cell)
    elif not cell:
        raise Refusal(f"attribute {quote(attribute.name)} has no value. Write ? if it is missing.")
    if attribute.codes is None:
        return number(cell, attribute.name)
    if cell not in attribute.codes:
        name, known = quote(attribute.name), quote_first(attribute.codes)
        how = "Write a value of the header, or add this one there."
        raise Refusal(f"attribute {name}: expected one of {known}; got {quote(cell)}. {how}")
    return attribute.codes[cell]
