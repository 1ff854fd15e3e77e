"""ARFF files: the format of Weka, which Mulan and MEKA build upon."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from nldd.datasets._arff_header import Attribute, parse_header
from nldd.datasets._arff_rows import FastRows, read_rows
from nldd.datasets._source import MAX_BYTES, Source, read_lines

# Characters of a block of rows: large enough for arrays to pay, small beside the file.
BLOCK_LENGTH = 500_000


@dataclass(frozen=True, eq=False)
class Arff:
    """The content of an ARFF file.

    Attributes
    ----------
    source : Source
        Path and size of the file; makes located errors.
    relation : str
    attributes : tuple of Attribute
        Name, values (None for a numeric attribute) and line of each.
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
        Memory is proportional to the size of the file.

    Raises
    ------
    InputError
        With the name of the file and the number of the line.

    Notes
    -----
    - Rows may be dense (``1, ?, red``), sparse (``{0 1, 7 red}``, in any order of indices, none
      twice), or both in one file. What a sparse row leaves out is 0, or the first value of a
      nominal attribute. Values of dense rows are separated by commas or tabs.
    - The shape follows the header and the rows: empty rows and columns that are never used stay.
    - Names and values may be bare or in single or double quotes, with the escapes ``\'``, ``\"``,
      ``\\``, ``\%``, ``\t``, ``\n``, ``\r`` and ``\u0041``. In bare text a backslash is itself.
    - A line whose first character is ``%`` is a comment. Behind a row there are no comments:
      ``%`` is a character like others there.
    - Refused: string, date and relational attributes, instance weights, ``nan``, infinities,
      repeated names, a file without rows.
    """
    source, lines = read_lines(path, max_bytes)
    relation, attributes, data_line = parse_header(lines, source)
    reader = FastRows(attributes)
    tables, row_lines = [], []
    for rows, numbers in _blocks(lines, data_line):
        table = reader.read(rows)
        tables.append(read_rows(rows, numbers, attributes, source) if table is None else table)
        row_lines += numbers
    if not tables:
        raise source.error(data_line, "no rows follow @data. Is the file complete?")
    return Arff(source, relation, attributes, stack(tables), data_line, np.array(row_lines))


def _blocks(lines: Sequence[str], data_line: int) -> Iterator[tuple[list[str], list[int]]]:
    """Rows without blank lines and comments, and their line numbers, a block at a time."""
    rows: list[str] = []
    numbers: list[int] = []
    length = 0
    for i in range(data_line, len(lines)):
        row = lines[i].strip(" \t")
        if not row or row[0] == "%":
            continue
        rows.append(row)
        numbers.append(i + 1)
        length += len(row)
        if length >= BLOCK_LENGTH:
            yield rows, numbers
            rows, numbers, length = [], [], 0
    if rows:
        yield rows, numbers


def stack(tables: Sequence[Any]) -> Any:
    """Tables one below the other: a CSR array if any of them is one."""
    if len(tables) == 1:
        return tables[0]
    if any(map(issparse, tables)):
        return vstack([csr_array(table) for table in tables], format="csr")
    return np.vstack(tables)
