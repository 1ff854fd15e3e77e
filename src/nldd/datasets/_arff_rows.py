"""The rows of an ARFF file, one by one: slow, strict, and the definition of what a row means."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nldd._wording import quote, quote_first
from nldd.datasets._arff_header import QUOTED, Attribute, unquote
from nldd.datasets._numbers import number
from nldd.datasets._source import Refusal, Source

MISSING = "?"
# A cell and the gap behind it: blanks and at most one comma.
_CELL = re.compile(rf"(?s)(?:({QUOTED})|([^,\t]*+))([ \t]*+,?[ \t]*+)")
_ENTRY = re.compile(
    rf"(?s)[ \t]*+([0-9]++)[ \t]++(?:({QUOTED})|([^ \t,{{}}'\"][^,{{}}]*+))[ \t]*+([,}}])"
)
_EMPTY = re.compile(r"\{[ \t]*+\}")
_WEIGHT = re.compile(r"[ \t]*+,[ \t]*+\{")
_WEIGHTS = (
    "the row ends in an instance weight, which is not supported. Remove the braces at its end."
)

Entry = tuple[int, float]


def read_rows(
    rows: Sequence[str], lines: Sequence[int], attributes: Sequence[Attribute], source: Source
) -> Any:
    """The table of some rows: an ndarray if all of them are dense, else a CSR array.

    Numbers are as written, nominal values are their positions in the header, NaN is a missing
    value. So 0 is what a sparse row leaves out, be it a number or the first value of a list.
    """
    entries: list[list[Entry]] = []
    for row, line in zip(rows, lines, strict=True):
        try:
            read = read_sparse_row if row.startswith("{") else read_dense_row
            entries.append(read(row, attributes))
        except Refusal as refusal:
            raise source.error(line, str(refusal)) from None
    if any(row.startswith("{") for row in rows):
        return _as_csr(entries, len(attributes))
    return np.array([[value for _, value in row] for row in entries])


def read_dense_row(row: str, attributes: Sequence[Attribute]) -> list[Entry]:
    """Values of a row such as ``1.5, ?, 'a b'``."""
    cells = _split_cells(row)
    if len(cells) != len(attributes):
        if cells[-1].startswith("{"):
            raise Refusal(_WEIGHTS)
        raise Refusal(
            f"expected {len(attributes)} values, got {len(cells)}. A row needs one value for each "
            "attribute of the header, separated by commas; write ? for a missing one."
        )
    pairs = zip(cells, attributes, strict=True)
    return [(j, cell_value(cell, attribute)) for j, (cell, attribute) in enumerate(pairs)]


def read_sparse_row(row: str, attributes: Sequence[Attribute]) -> list[Entry]:
    """Values other than 0 of a row such as ``{0 1.5, 7 'a b'}``, in the order of indices."""
    entries: dict[int, float] = {}
    empty = _EMPTY.match(row)
    position, end = (empty.end(), "}") if empty else (1, ",")
    while end == ",":
        found = _ENTRY.match(row, position)
        if not found:
            raise _bad_entry(row[position:])
        index = _index(found[1], len(attributes))
        if index in entries:
            raise Refusal(f"index {index} occurs twice in the row. Remove one of the two values.")
        entries[index] = cell_value(found[2] or found[3].rstrip(" \t"), attributes[index])
        position, end = found.end(), found[4]
    rest = row[position:]
    if rest:
        raise Refusal(
            _WEIGHTS if _WEIGHT.match(rest) else f"unexpected {quote(rest)} after the closing }}."
        )
    return sorted((index, value) for index, value in entries.items() if value != 0)


def cell_value(cell: str, attribute: Attribute) -> float:
    """A number, the position of a nominal value, or NaN for a bare question mark."""
    if cell == MISSING:
        return np.nan
    if cell[:1] in ("'", '"'):
        cell = unquote(cell)
    elif not cell:
        raise Refusal(f"attribute {quote(attribute.name)} has no value. Write ? if it is missing.")
    if attribute.codes is None:
        try:
            return number(cell)
        except Refusal as refusal:
            raise Refusal(f"attribute {quote(attribute.name)}: {refusal}") from None
    if cell not in attribute.codes:
        raise Refusal(
            f"attribute {quote(attribute.name)}: expected one of {quote_first(attribute.codes)}; "
            f"got {quote(cell)}. Write a value of the header, or add this one there."
        )
    return attribute.codes[cell]


def _split_cells(row: str) -> list[str]:
    """Cells between commas or tabs; quotes stay, since a quoted question mark is a value."""
    cells: list[str] = []
    position, comma = 0, True
    while position < len(row) or comma:
        found = _CELL.match(row, position)
        assert found  # it matches the empty text too
        quoted, bare, gap = found.groups()
        if not quoted and bare[:1] in ("'", '"'):
            raise Refusal(f"a quote is not closed: {quote(bare)}.")
        position, comma = found.end(), "," in gap
        if quoted and position < len(row) and not comma and "\t" not in gap:
            raise Refusal(f"expected a comma after {quote(quoted)}; got {quote(row[position:])}.")
        cells.append(quoted or bare.rstrip(" "))
    return cells


def _index(digits: str, n_attributes: int) -> int:
    # Python refuses to read numbers of thousands of digits.
    digits = digits.lstrip("0") or "0"
    index = int(digits) if len(digits) <= 18 else -1
    if not 0 <= index < n_attributes:
        raise Refusal(
            f"index {digits[:20]} is out of range: the header has {n_attributes} attributes, "
            f"and they are counted from 0."
        )
    return index


def _bad_entry(text: str) -> Refusal:
    text = text.strip(" \t")
    if "}" not in text:
        return Refusal("the row begins with { but does not end with }. Is the file complete?")
    return Refusal(
        "expected pairs of an index and a value between braces, such as {0 1, 7 0.5}; "
        f"got {quote(text)}."
    )


def _as_csr(entries: list[list[Entry]], n_columns: int) -> Any:
    flat = [(index, value) for row in entries for index, value in row if value != 0]
    counts = [sum(value != 0 for _, value in row) for row in entries]
    return csr_array(
        (
            np.array([value for _, value in flat], dtype=float),
            np.array([index for index, _ in flat], dtype=np.int32),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        ),
        shape=(len(entries), n_columns),
    )
