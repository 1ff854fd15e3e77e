"""ARFF files read and written: the format of Weka, which Mulan and MEKA build upon.

Rows are split into cells one by one, and cells are read many at once: numbers by columns, other
cells once for each distinct text.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from nldd._files import open_replacement, refuse_existing
from nldd._wording import quote, quote_first
from nldd.bench.datasets.source import DataError, DataFile, number, numbers, read_lines
from nldd.datasets import Dataset
from nldd.exceptions import InputError

# Repetitions are possessive (*+, ++) so that no damaged line, however long, is searched twice.
_QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
# A quoted or bare value between braces, and the comma or brace behind it.
_LISTED = rf"(?:({_QUOTED})|([^ \t,{{}}'\"][^,{{}}]*+))[ \t]*+([,}}])"
_DECLARATION = re.compile(r"(?is)@(relation|attribute|data)(?![^ \t'\"%])(.*)")
_NAME = re.compile(rf"(?s)(?:({_QUOTED})|([^ \t{{'\"][^ \t{{]*+))[ \t]*+(.*)")
_VALUE = re.compile(rf"(?s)[ \t]*+{_LISTED}")
_ESCAPE = re.compile(r"(?s)\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"'": "'", '"': '"', "\\": "\\", "%": "%", "t": "\t", "n": "\n", "r": "\r"}
_NUMERIC = ("numeric", "real", "integer")

# Characters of a block of rows: large enough for arrays to pay, small beside the file.
BLOCK_LENGTH = 500_000
MISSING = "?"
# A cell and the gap behind it: blanks and at most one comma.
_CELL = re.compile(rf"(?s)(?:({_QUOTED})|([^,\t]*+))([ \t]*+,?[ \t]*+)")
_PAIR = re.compile(rf"(?s)[ \t]*+([0-9]++)[ \t]++{_LISTED}")
_PAIRS = "expected pairs of an index and a value between braces, such as {0 1, 7 0.5}"
_WEIGHTS = "instance weights are not supported. Remove the braces at the end of the row."
# What needs no quotes, and what Weka writes with a backslash in quotes: no other control character.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.=+/-]*")
_ESCAPES = str.maketrans(
    {"\\": r"\\", "'": r"\'", "\n": r"\n", "\t": r"\t", "\r": r"\r", "%": r"\%"}
)
_LARGEST_INTEGER = 2**53

Codes = dict[str, float]
Rows = Sequence[tuple[int, str]]
Attributes = Sequence["Attribute"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a data file.

    Attributes
    ----------
    name : str
    codes : dict of str to float, or None
        Position of each value of a nominal attribute; None for a numeric one. Of a string
        attribute the texts as they were met, in ARFF files after the empty text, which sparse rows
        leave out.
    line : int
        Where it is declared, counted from 1.
    is_text : bool
        Whether it is a string attribute, or the cells of a CSV file.
    """

    name: str
    codes: Codes | None
    line: int
    is_text: bool = False


@dataclass(frozen=True, eq=False)
class DataTable:
    """The content of a file of rows and columns.

    Attributes
    ----------
    source : DataFile
        Path and size of the file; makes located errors.
    attributes : sequence of Attribute
    cells : ndarray or CSR array of shape (n_rows, n_attributes)
        Numbers as written; of nominal and string attributes the code of the value; NaN where a
        value is missing. A CSR array if any row was sparse.
    header_line : int
        Line of ``@data``, or of the names of columns.
    row_lines : ndarray of shape (n_rows,)
        Line of each row.
    relation : str or None
        Name of the table in an ARFF file; None for a CSV file, whose cells are all texts.
    """

    source: DataFile
    attributes: Attributes
    cells: Any
    header_line: int
    row_lines: NDArray[np.int64]
    relation: str | None = None


def stack(tables: Sequence[Any]) -> Any:
    """Arrays one below the other: a CSR array if any of them is one."""
    if any(map(issparse, tables)):
        return vstack([csr_array(table) for table in tables], format="csr")
    return np.concatenate(tables)


def read_arff(path: str | os.PathLike[str]) -> DataTable:
    r"""Read an ARFF file with numeric, nominal and string attributes.

    Notes
    -----
    - UTF-8 with or without byte order mark; what is not UTF-8 is taken as Latin-1.
    - Rows may be dense (``1, ?, red``), sparse (``{0 1, 7 red}``, in any order of indices, none
      twice), or both in one file. What a sparse row leaves out is 0, or the first value of a
      nominal attribute. Values of dense rows are separated by commas or tabs.
    - Names and values may be bare or in single or double quotes, with the escapes ``\'``, ``\"``,
      ``\\``, ``\%``, ``\t``, ``\n``, ``\r`` and ``\u0041``. In bare text a backslash is itself.
    - A line whose first character is ``%`` is a comment. Behind a row ``%`` is a character like
      others.
    - Refused: date and relational attributes, instance weights, ``nan``, infinities,
      repeated names, a file without rows.
    """
    source, lines = read_lines(path)
    content = _numbered(lines)
    relation, attributes, data_line = _parse_header(content, source, len(lines))
    rows = list(content)
    if not rows:
        raise source.error(data_line, "no rows follow @data. Is the file complete?")
    step = 1 + BLOCK_LENGTH * len(rows) // sum(len(row) for _, row in rows)
    blocks = [rows[k : k + step] for k in range(0, len(rows), step)]
    cells = []
    for block in blocks:
        is_sparse = any(row.startswith("{") for _, row in block)
        cells.append((_read_sparse if is_sparse else _read_dense)(block, attributes, source))
    row_lines = np.array([line for line, _ in rows])
    return DataTable(source, attributes, stack(cells), data_line, row_lines, relation)


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those that are blank or comments."""
    for line, content in enumerate(lines, start=1):
        text = content.strip(" \t")
        if text and text[0] != "%":
            yield line, text


def _parse_header(
    content: Iterator[tuple[int, str]], source: DataFile, n_lines: int
) -> tuple[str, list[Attribute], int]:
    """The relation, the attributes, and the line of ``@data``; the rows are left in `content`."""
    relation: str | None = None
    attributes: dict[str, Attribute] = {}
    for line, text in content:
        with source.locate_errors(line):
            keyword, rest = _parse_declaration(text)
            if keyword == "data":
                _check_end(rest, "@data")
                if not attributes:
                    raise DataError("@data comes before any @attribute. Declare the columns first.")
                return relation or "", list(attributes.values()), line
            if keyword == "attribute":
                attribute = _parse_attribute(rest, line)
                first = attributes.setdefault(attribute.name, attribute)
                if first is not attribute:
                    where = f"was declared before, in line {first.line}"
                    name = quote(first.name)
                    raise DataError(f"attribute {name} {where}. Rename one of them.")
            if keyword == "relation":
                if relation is not None:
                    raise DataError("a second @relation. A file holds one table; remove one.")
                relation = rest.partition("%")[0].rstrip(" \t")
                if rest[:1] in ("'", '"'):
                    relation, end = _split_name(rest)
                    _check_end(end, "the name of the relation")
    raise source.error(n_lines, "the file ends without a line @data. Is it complete?")


def _parse_declaration(text: str) -> tuple[str, str]:
    found = _DECLARATION.fullmatch(text)
    if not found:
        known = "@relation, @attribute, @data or a comment (%)"
        raise DataError(f"expected {known} in the header; got {quote(text)}.")
    return found[1].lower(), found[2].strip(" \t")


def _split_name(text: str) -> tuple[str, str]:
    """The quoted or bare name at the beginning of a text, and what comes after it."""
    found = _NAME.fullmatch(text)
    if found:
        return _unquote(found[1]) if found[1] else found[2], found[3]
    if text[:1] in ("'", '"'):
        raise _unclosed(text)
    return "", ""


def _parse_attribute(text: str, line: int) -> Attribute:
    name, kind = _split_name(text)
    if kind.startswith("{") and name:
        return Attribute(name, _parse_values(kind, name), line)
    kind, _, rest = kind.partition("%")[0].replace("\t", " ").partition(" ")
    if not name or not kind:
        form = "@attribute needs a name and a type, such as: @attribute age numeric"
        raise DataError(f"{form}; got {quote(text)}.")
    is_text = kind.lower() == "string"
    if not is_text and kind.lower() not in _NUMERIC:
        raise wrong_type(name, kind)
    _check_end(rest, f"the type of attribute {quote(name)}")
    return Attribute(name, {"": 0.0} if is_text else None, line, is_text)


def wrong_type(name: str, kind: str) -> DataError:
    """What to say about an attribute of a type that nothing can be made of."""
    kinds = "numeric, real, integer or a list of values such as {0,1}"
    wrong = f"attribute {quote(name)} is of type {quote(kind)}; expected {kinds}"
    other = ", or name it by text" if kind == "string" else ""
    return DataError(f"{wrong}. Remove it, or turn it into numbers first{other}.")


def _parse_values(text: str, name: str) -> Codes:
    which = f"the values of attribute {quote(name)}"
    if "}" not in text:
        raise DataError(f"{which} do not end with }}.")
    codes: Codes = {}
    found, rest = _split_braced(text, _VALUE, f"{which} should read like {{a, 'b c', d}}")
    for quoted, bare, _ in map(re.Match.groups, found):
        value = _unquote(quoted) if quoted else bare.rstrip(" \t")
        if value in codes:
            raise DataError(f"attribute {quote(name)} lists the value {quote(value)} twice.")
        codes[value] = float(len(codes))
    _check_end(rest, which)
    return codes


def _split_braced(text: str, item: re.Pattern[str], form: str) -> tuple[list[re.Match[str]], str]:
    """Items between braces, each of which matches with its comma or brace, and what follows."""
    found: list[re.Match[str]] = []
    position = 1
    while not found or found[-1][0].endswith(","):
        match = item.match(text, position)
        if not match:
            raise DataError(f"{form}; got {quote(text[position:].strip())}.")
        found.append(match)
        position = match.end()
    return found, text[position:]


def _check_end(text: str, after: str) -> None:
    text = text.strip(" \t")
    if text and not text.startswith("%"):
        raise DataError(f"unexpected {quote(text)} after {after}.")


def _unquote(text: str) -> str:
    r"""The text between quotes, with escapes such as ``\'`` resolved."""
    return _ESCAPE.sub(_resolve, text[1:-1]) if "\\" in text else text[1:-1]


def _resolve(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) == 5 and not 0xD800 <= int(code[1:], 16) <= 0xDFFF:
        return chr(int(code[1:], 16))
    if code in _ESCAPED:
        return _ESCAPED[code]
    known = r"""\' \" \\ \% \t \n \r and \u with four hexadecimal digits"""
    raise DataError(f"unknown escape {quote(escape[0])} in quotes. Known are {known}.")


def _unclosed(text: str) -> DataError:
    """What to say about a quote without its end."""
    return DataError(f"a quote is not closed: {quote(text)}.")


def _read_dense(rows: Rows, attributes: Attributes, source: DataFile) -> Any:
    width = len(attributes)
    cells: list[str] = []
    for line, row in rows:
        with source.locate_errors(line):
            cells += _split_cells(row, width)
    table = np.empty((len(rows), width))
    for j, attribute in enumerate(attributes):
        column = cells[j::width]
        values: Any = numbers(column, (MISSING,)) if attribute.codes is None else None
        if values is None:
            known = dict.fromkeys(column, 0.0)
            for cell in known:
                try:
                    known[cell] = _cell_value(cell, attribute)
                except DataError as refusal:
                    raise source.error(rows[column.index(cell)][0], refusal) from None
            values = [known[cell] for cell in column]
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
        raise DataError(_WEIGHTS)
    how = "Write one for each attribute, with commas between them, and ? if it is missing."
    raise DataError(f"expected {width} values, got {len(cells)}. {how}")


def _split_strange_cells(row: str) -> list[str]:
    cells: list[str] = []
    position, comma = 0, True
    while position < len(row) or comma:
        found = _CELL.match(row, position)
        assert found  # it matches the empty text too
        quoted, bare, gap = found.groups()
        if not quoted and bare[:1] in ("'", '"'):
            raise _unclosed(bare)
        position, comma = found.end(), "," in gap
        if quoted and position < len(row) and not comma and "\t" not in gap:
            raise DataError(f"expected a comma after {quote(quoted)}; got {quote(row[position:])}.")
        cells.append(quoted or bare.rstrip(" "))
    return cells


def _read_sparse(rows: Rows, attributes: Attributes, source: DataFile) -> Any:
    read = cache(partial(_read_pair, attributes=attributes))
    starts, indices, values = [0], list[int](), list[float]()
    for line, row in rows:
        with source.locate_errors(line):
            if row.startswith("{"):
                pairs = list(map(read, _split_pairs(row)))
            else:
                cells = _split_cells(row, len(attributes))
                pairs = list(enumerate(map(_cell_value, cells, attributes)))
            entries = dict(pairs)
            if len(entries) < len(pairs):
                index, _ = Counter(index for index, _ in pairs).most_common(1)[0]
                how = "Remove one of the two values."
                raise DataError(f"index {index} occurs twice in the row. {how}")
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
        raise DataError("the row begins with { but does not end with }. Is the file complete?")
    body, _, rest = row[1:].partition("}")
    pairs = body.split(",") if body.strip(" \t") else []
    if "'" in row or '"' in row:
        found, rest = _split_braced(row, _PAIR, _PAIRS)
        pairs = [pair[0][:-1] for pair in found]
    if rest:
        after = f"unexpected {quote(rest)} after the closing }}."
        raise DataError(_WEIGHTS if rest.lstrip(" \t,").startswith("{") else after)
    return pairs


def _read_pair(pair: str, attributes: Attributes) -> tuple[int, float]:
    found = _PAIR.fullmatch(pair + "}")
    if not found:
        raise DataError(f"{_PAIRS}; got {quote(pair.strip())}.")
    # Python refuses to read numbers of thousands of digits.
    digits = found[1].lstrip("0") or "0"
    index = int(digits) if len(digits) <= 18 else len(attributes)
    if index >= len(attributes):
        most = f"the header has {len(attributes)} attributes, counted from 0"
        raise DataError(f"index {digits[:20]} is out of range: {most}.")
    return index, _cell_value(found[2] or found[3].rstrip(" \t"), attributes[index])


def _cell_value(cell: str, attribute: Attribute) -> float:
    """A number, the code of a nominal value or text, or NaN for a bare question mark."""
    if cell == MISSING:
        return np.nan
    if cell[:1] in ("'", '"'):
        cell = _unquote(cell)
    elif not cell:
        raise DataError(f"column {quote(attribute.name)}: no value. Write ? if it is missing.")
    if attribute.codes is None:
        return number(cell, attribute.name)
    if attribute.is_text:
        return attribute.codes.setdefault(cell, float(len(attribute.codes)))
    if cell not in attribute.codes:
        name, known = quote(attribute.name), quote_first(attribute.codes)
        how = "Write a value of the header, or add this one there."
        raise DataError(f"column {name}: expected one of {known}; got {quote(cell)}. {how}")
    return attribute.codes[cell]


def export_dataset(
    dataset: Dataset, path: str | os.PathLike[str], *, force: bool = True
) -> list[Path]:
    """Write a data set as an ARFF file in which MEKA finds the labels.

    Labels come first, as ``{0,1}``, and their number stands as ``-C`` in the relation. Features are
    numbers, or one string; rows are sparse where `X` is. Loading the file gives the same data set,
    with ``keep_ids=True`` also where `dataset` was loaded so.

    Parameters
    ----------
    dataset : Dataset
    path : path
        File that ends in ``.arff``. Of a data set with a given split two files are written:
        ``birds-train.arff`` and ``birds-test.arff`` for ``birds.arff``.
    force : bool, default=True
        Whether to overwrite files.

    Returns
    -------
    paths : list of Path
        The files that were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from nldd.bench.datasets.arff import export_dataset
    >>> from nldd.datasets import Dataset
    >>> songs = Dataset(np.array([[90.5]]), np.array([[1, 0]]), ["sad", "calm"], ["tempo"], "songs")
    >>> with TemporaryDirectory() as folder:
    ...     (path,) = export_dataset(songs, Path(folder, "songs.arff"))
    ...     print(path.read_text())
    @relation 'songs: -C 2'
    <BLANKLINE>
    @attribute sad {0,1}
    @attribute calm {0,1}
    @attribute tempo numeric
    <BLANKLINE>
    @data
    1,0,90.5
    <BLANKLINE>
    """
    path = Path(path)
    if path.suffix.lower() != ".arff":
        raise InputError(f"The file must end in .arff; got {path}.")
    stem, cuts = path.stem, {"": slice(None)}
    if (n_train := dataset.n_train) is not None:
        stem = stem.removesuffix("-train")
        cuts = {"-train": slice(n_train), "-test": slice(n_train, None)}
    paths = [path.with_name(f"{stem}{part}{path.suffix}") for part in cuts]
    refuse_existing(*paths, force=force)
    names = {*dataset.label_names, *dataset.feature_names} - {""}
    if len(names) != dataset.n_labels + dataset.n_features:
        raise InputError("To be exported, each label and each feature needs a name of its own.")
    if not dataset.is_text and (abs(dataset.X) == np.inf).sum():
        raise InputError("A feature is infinite, which ARFF files cannot say. Replace it.")
    for place, rows in zip(paths, cuts.values(), strict=True):
        with open_replacement(place) as stream:
            stream.writelines(f"{line}\n".encode() for line in _arff_lines(dataset, rows))
    return paths


def _arff_lines(dataset: Dataset, rows: slice) -> Iterator[str]:
    # A colon or another -C would be taken for options of MEKA.
    name = re.sub(r"[^\w.]+", "_", dataset.name) or "data"
    yield f"@relation {_quoted(f'{name}: -C {dataset.n_labels}', always=True)}"
    yield ""
    for label in dataset.label_names:
        yield f"@attribute {_quoted(label)} {{0,1}}"
    kind = "string" if dataset.is_text else "numeric"
    for feature in dataset.feature_names:
        yield f"@attribute {_quoted(feature)} {kind}"
    yield ""
    yield "@data"
    X, Y = dataset.X[rows], dataset.Y[rows]
    if dataset.is_text:
        texts = (_quoted(text, always=True) for text in X)
        yield from (f"{_join_cells(labels)},{text}" for labels, text in zip(Y, texts, strict=True))
    elif issparse(X):
        yield from _sparse_lines(X, Y)
    else:
        yield from map(_join_cells, np.hstack([Y, X]))


def _sparse_lines(X: Any, Y: Any) -> Iterator[str]:
    table = csr_array(hstack([csr_array(Y), X]))
    table.sort_indices()
    for begin, end in pairwise(table.indptr):
        cells = zip(table.indices[begin:end].tolist(), table.data[begin:end].tolist(), strict=True)
        yield f"{{{','.join(f'{j} {_as_text(value)}' for j, value in cells)}}}"


def _join_cells(values: Any) -> str:
    return ",".join(map(_as_text, values.tolist()))


def _as_text(value: float) -> str:
    """The shortest text that reads as the same number; a question mark for NaN."""
    if value != value:
        return "?"
    whole = abs(value) < _LARGEST_INTEGER and value == int(value)
    return str(int(value)) if whole else repr(value)


def _quoted(text: str, always: bool = False) -> str:
    """A name or text in quotes where it needs them, as Weka writes and reads it."""
    if not always and _BARE.fullmatch(text):
        return text
    return f"'{text.translate(_ESCAPES)}'"
