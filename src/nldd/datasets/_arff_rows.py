"""The rows of an ARFF file: one by one, which defines what a row means, and many at once.

The strict reader is slow and knows what to say about an error. The fast one splits and converts
whole blocks of rows by a few operations in C; where anything in a block could be read in two
ways it answers None, and the strict one decides.
"""

import re
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nldd._wording import quote, quote_first
from nldd.datasets._arff_header import QUOTED, Attribute, unquote
from nldd.datasets._source import Refusal, Source, number, numbers

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
# Printable ASCII but for quotes and braces: there cells end at commas and nowhere else.
_PLAIN = bytes(set(range(32, 127)) - set(b"'\"{}"))
_SPACE, _COMMA = b" ,"

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
            read = _read_sparse_row if row.startswith("{") else _read_dense_row
            entries.append(read(row, attributes))
        except Refusal as refusal:
            raise source.error(line, str(refusal)) from None
    if any(row.startswith("{") for row in rows):
        return _as_csr(entries, len(attributes))
    return np.array([[value for _, value in row] for row in entries])


def _read_dense_row(row: str, attributes: Sequence[Attribute]) -> list[Entry]:
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
    return [(j, _cell_value(cell, attribute)) for j, (cell, attribute) in enumerate(pairs)]


def _read_sparse_row(row: str, attributes: Sequence[Attribute]) -> list[Entry]:
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
        entries[index] = _cell_value(found[2] or found[3].rstrip(" \t"), attributes[index])
        position, end = found.end(), found[4]
    rest = row[position:]
    if rest:
        raise Refusal(
            _WEIGHTS if _WEIGHT.match(rest) else f"unexpected {quote(rest)} after the closing }}."
        )
    return sorted((index, value) for index, value in entries.items() if value != 0)


def _cell_value(cell: str, attribute: Attribute) -> float:
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
    cells = [(i, j, value) for i, row in enumerate(entries) for j, value in row if value != 0]
    rows, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
    return csr_array(
        (np.array(values, dtype=float), (rows, columns)), shape=(len(entries), n_columns)
    )


class FastRows:
    """Reader of blocks of rows for one list of attributes.

    Attributes that take the same values are of one kind and are read together.
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        kinds: dict[Any, list[int]] = {}
        for j, attribute in enumerate(attributes):
            kinds.setdefault(attribute.values, []).append(j)
        self.n_attributes = len(attributes)
        self.columns = list(kinds.values())
        self.examples = [attributes[columns[0]] for columns in self.columns]
        self.kind = np.empty(len(attributes), dtype=np.intp)
        for k, columns in enumerate(self.columns):
            self.kind[columns] = k

    def read(self, rows: Sequence[str]) -> Any:
        """The table of some rows as ``read_rows`` makes it, or None where it is in doubt."""
        if all(row[0] == "{" and row[-1] == "}" for row in rows):
            return self._read_sparse([row[1:-1].strip(" ") for row in rows])
        return self._read_dense(rows)

    def _read_dense(self, rows: Sequence[str]) -> NDArray[np.float64] | None:
        if not _is_plain("".join(rows)):
            return None
        cells = [row.replace(", ", ",").split(",") for row in rows]
        if any(len(row) != self.n_attributes for row in cells):
            return None
        table = np.empty((len(rows), self.n_attributes))
        for example, columns in zip(self.examples, self.columns, strict=True):
            values = _read_cells(_pick(cells, columns), example)
            if values is None:
                return None
            table[:, columns] = values.reshape(len(rows), len(columns))
        return table

    def _read_sparse(self, rows: Sequence[str]) -> Any:
        text = ",".join(filter(None, rows)).replace(", ", ",")
        if not _is_plain(text) or not _holds_pairs(text):
            return None
        counts = np.fromiter((row.count(",") + 1 if row else 0 for row in rows), int, len(rows))
        cells = text.replace(",", " ").split(" ") if text else []
        indices = _read_indices(cells[0::2], counts, self.n_attributes)
        values = None if indices is None else self._look_up(cells[1::2], self.kind[indices])
        if values is None:
            return None
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        table = csr_array((values, indices, indptr), shape=(len(rows), self.n_attributes))
        table.eliminate_zeros()
        return table

    def _look_up(self, cells: list[str], kinds: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Values of cells of the given kinds: each distinct cell is read once for each kind."""
        position = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        if len(position) * len(self.examples) > 2 * len(cells) + 100:
            return None  # not in doubt, but no longer the fast way
        which = np.fromiter(map(position.__getitem__, cells), np.intp, len(cells))
        by_kind = np.array([[_value(cell, kind) for cell in position] for kind in self.examples])
        values = by_kind[kinds, which]
        return None if np.isinf(values).any() else values


def _is_plain(text: str) -> bool:
    return text.isascii() and not text.encode("ascii").translate(None, _PLAIN)


def _pick(rows: Sequence[Sequence[str]], columns: Sequence[int]) -> list[str]:
    """Cells of some columns, row after row."""
    if len(columns) == 1:
        return [row[columns[0]] for row in rows]
    return list(chain.from_iterable(map(itemgetter(*columns), rows)))


def _holds_pairs(text: str) -> bool:
    """Whether each part between commas has exactly one space."""
    characters = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    separators = characters[(characters == _SPACE) | (characters == _COMMA)]
    spaces, commas = separators[0::2], separators[1::2]
    return bool(
        (not text or len(spaces) == len(commas) + 1)
        and (spaces == _SPACE).all()
        and (commas == _COMMA).all()
    )


def _read_cells(cells: list[str], example: Attribute) -> NDArray[np.float64] | None:
    if example.codes is None:
        return numbers(cells, (MISSING,))
    codes = {**example.codes, MISSING: np.nan}
    # An empty cell is an error, even where the empty text is a value of the list.
    codes.pop("", None)
    try:
        return np.fromiter(map(codes.__getitem__, cells), float, len(cells))
    except KeyError:
        return None


def _read_indices(
    cells: list[str], counts: NDArray[np.int_], n_attributes: int
) -> NDArray[np.int32] | None:
    """Indices that are in range and rise within each row, or None."""
    if cells and not "".join(cells).isdigit():
        return None
    try:
        indices = np.fromiter(map(int, cells), np.int32, len(cells))
    except (ValueError, OverflowError):
        return None
    rises = np.diff(indices) > 0
    starts = np.cumsum(counts)[:-1]
    rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    in_range = not len(indices) or indices.max() < n_attributes
    return indices if in_range and rises.all() else None


def _value(cell: str, attribute: Attribute) -> float:
    """The value of a cell; infinity, which no cell may hold, stands for a refusal."""
    try:
        return _cell_value(cell, attribute)
    except Refusal:
        return np.inf
