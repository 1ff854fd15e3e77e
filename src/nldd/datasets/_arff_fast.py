"""The rows of an ARFF file, many at once.

Whole blocks of rows are split and converted by a few operations in C. Where anything in a block
could be read in two ways, the answer is None, and the strict reader of ``_arff_rows`` decides:
it is the definition, and it knows what to say about an error.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nldd.datasets._arff_header import Attribute
from nldd.datasets._arff_rows import MISSING, cell_value
from nldd.datasets._numbers import numbers, pick
from nldd.datasets._source import Refusal

# Printable ASCII but for quotes and braces: there cells end at commas and nowhere else.
_PLAIN = bytes(set(range(32, 127)) - set(b"'\"{}"))
_MISSING = frozenset({MISSING})
_SPACE, _COMMA = b" ,"


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
            values = _read_cells(pick(cells, columns), example)
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
        if indices is None:
            return None
        values = self._look_up(cells[1::2], self.kind[indices])
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
        return numbers(cells, _MISSING)
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
        return cell_value(cell, attribute)
    except Refusal:
        return np.inf
