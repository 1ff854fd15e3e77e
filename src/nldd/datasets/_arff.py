"""ARFF files: the format of Weka, which Mulan and MEKA build upon.

Rows are read one by one, which defines what a row means and knows what to say about an error.
Blocks of plain rows take a fast way: every distinct cell is read once, by the same functions.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from nldd._wording import quote, quote_first
from nldd.datasets._arff_header import LISTED, QUOTED, Attribute, parse_header, unclosed, unquote
from nldd.datasets._source import MAX_BYTES, Refusal, Source, number, numbers, read_lines

# Characters of a block of rows: large enough for arrays to pay, small beside the file.
BLOCK_LENGTH = 500_000
MISSING = "?"
# A cell and the gap behind it: blanks and at most one comma.
_CELL = re.compile(rf"(?s)(?:({QUOTED})|([^,\t]*+))([ \t]*+,?[ \t]*+)")
_PAIR = re.compile(rf"(?s)[ \t]*+([0-9]++)[ \t]++{LISTED}")
_EMPTY = re.compile(r"\{[ \t]*+\}")
_WEIGHT = re.compile(r"[ \t]*+,[ \t]*+\{")
_WEIGHTS = "instance weights are not supported. Remove the braces at the end of the row."
# Printable ASCII but for quotes and braces: there cells end at commas and nowhere else.
_PLAIN = bytes(set(range(32, 127)) - set(b"'\"{}"))

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
        table = read_plain(rows, attributes)
        tables.append(read_rows(rows, block_lines, attributes, source) if table is None else table)
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


def read_rows(
    rows: Sequence[str], lines: Sequence[int], attributes: Attributes, source: Source
) -> Any:
    """The table of some rows: an ndarray if all of them are dense, else a CSR array."""
    entries: list[dict[int, float]] = []
    for row, line in zip(rows, lines, strict=True):
        try:
            read = _read_sparse_row if row.startswith("{") else _read_dense_row
            entries.append(read(row, attributes))
        except Refusal as refusal:
            raise source.error(line, refusal) from None
    if not any(row.startswith("{") for row in rows):
        return np.array([list(row.values()) for row in entries])
    cells = [(i, j, row[j]) for i, row in enumerate(entries) for j in sorted(row) if row[j] != 0]
    i, j, values = np.array(cells, dtype=float).reshape(-1, 3).T
    coords = i.astype(np.int32), j.astype(np.int32)
    return csr_array((values, coords), shape=(len(rows), len(attributes)))


def _read_dense_row(row: str, attributes: Attributes) -> dict[int, float]:
    """Values of a row such as ``1.5, ?, 'a b'``."""
    cells = _split_cells(row)
    if len(cells) != len(attributes):
        if cells[-1].startswith("{"):
            raise Refusal(_WEIGHTS)
        how = "Write one for each attribute, with commas between them, and ? if it is missing."
        raise Refusal(f"expected {len(attributes)} values, got {len(cells)}. {how}")
    return dict(enumerate(map(_cell_value, cells, attributes)))


def _split_cells(row: str) -> list[str]:
    """Cells between commas or tabs; quotes stay, since a quoted question mark is a value."""
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


def _read_sparse_row(row: str, attributes: Attributes) -> dict[int, float]:
    """Values of a row such as ``{0 1.5, 7 'a b'}``."""
    entries: dict[int, float] = {}
    empty = _EMPTY.match(row)
    position, end = (empty.end(), "}") if empty else (1, ",")
    while end == ",":
        found = _PAIR.match(row, position)
        if not found:
            if "}" not in row[position:]:
                raise Refusal("the row begins with { but does not end with }. Is it complete?")
            form = "expected pairs of an index and a value between braces, such as {0 1, 7 0.5}"
            raise Refusal(f"{form}; got {quote(row[position:].strip())}.")
        index, value = _read_pair(found, attributes)
        if index in entries:
            raise Refusal(f"index {index} occurs twice in the row. Remove one of the two values.")
        entries[index] = value
        position, end = found.end(), found[4]
    if rest := row[position:]:
        after = f"unexpected {quote(rest)} after the closing }}."
        raise Refusal(_WEIGHTS if _WEIGHT.match(rest) else after)
    return entries


def _read_pair(pair: re.Match[str], attributes: Attributes) -> tuple[int, float]:
    # Python refuses to read numbers of thousands of digits.
    digits = pair[1].lstrip("0") or "0"
    index = int(digits) if len(digits) <= 18 else len(attributes)
    if index >= len(attributes):
        most = f"the header has {len(attributes)} attributes, counted from 0"
        raise Refusal(f"index {digits[:20]} is out of range: {most}.")
    return index, _cell_value(pair[2] or pair[3].rstrip(" \t"), attributes[index])


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


def read_plain(rows: Sequence[str], attributes: Attributes) -> Any:
    """The table of some rows as ``read_rows`` makes it, or None where that must decide."""
    sparse = all(row[0] == "{" and row[-1] == "}" for row in rows)
    if sparse:
        rows = [row[1:-1].strip(" ") for row in rows]
    text = ",".join(filter(None, rows))
    if not text.isascii() or text.encode("ascii").translate(None, _PLAIN):
        return None
    try:
        return (_read_plain_sparse if sparse else _read_plain_dense)(rows, text, attributes)
    except Refusal:
        return None


def _read_plain_dense(rows: Sequence[str], text: str, attributes: Attributes) -> Any:
    width = len(attributes)
    if " ," in text or ",  " in text or any(row.count(",") != width - 1 for row in rows):
        return None
    cells = text.replace(", ", ",").split(",")
    numeric = [attribute.codes is None for attribute in attributes]
    values = numbers(list(compress(cells, cycle(numeric))), (MISSING,))
    if values is None:
        return None
    table = np.empty((len(rows), width))
    table[:, numeric] = values.reshape(len(rows), -1)
    for j in [j for j in range(width) if not numeric[j]]:
        column = cells[j::width]
        known = {cell: _cell_value(cell, attributes[j]) for cell in set(column)}
        table[:, j] = [known[cell] for cell in column]
    return table


def _read_plain_sparse(rows: Sequence[str], text: str, attributes: Attributes) -> Any:
    pairs = text.split(",") if text else []
    position = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    found = [_PAIR.fullmatch(pair + "}") for pair in position]
    if None in found:
        return None
    read = [_read_pair(pair, attributes) for pair in found if pair]
    which = np.fromiter(map(position.__getitem__, pairs), np.intp, len(pairs))
    indices = np.array([index for index, _ in read], dtype=np.int32)[which]
    values = np.array([value for _, value in read], dtype=float)[which]
    counts = [row.count(",") + 1 if row else 0 for row in rows]
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    table = csr_array((values, indices, indptr), shape=(len(rows), len(attributes)))
    # Else indices do not rise within each row, and one of them may occur twice.
    if not table.has_canonical_format:
        return None
    table.eliminate_zeros()
    return table
