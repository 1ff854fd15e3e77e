"""What the rows of a table say: answers, and the codes that people or the model gave them.

A suggestion that nobody has looked at must not come back as a decision. So an answer of a review
sheet counts as decided if its codes are others than the suggested ones, or if it is marked in the
column for that; one that came without a suggestion, if it has codes. An answer of a check sample is
decided once somebody has checked it: by the suggested codes if these are right, or by the given.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding import columns as own
from nldd.coding.answers import Answers, FloatArray, RowArray, normalize_text
from nldd.coding.code_slips import DASHES
from nldd.coding.codebook import Codebook
from nldd.coding.columns import MISSING, NO, YES, CodeColumns, Codes, Columns, latest_column
from nldd.coding.tables.spreadsheet import Cell, Spreadsheet, cell_number, plain_text, unescape_cell
from nldd.coding.wording import fill_words
from nldd.exceptions import InputError

EXTRA = "--extra-features FILE.npy"
# Beyond this, squares are no numbers any more.
LARGEST = 1e150
# What people write beside a suggestion that is right.
RIGHT = YES | {"ok", "okay", "right", "correct", "r", "richtig", "vrai", "+", "\u2713", "\u2714"}
WRONG = NO | {"wrong", "incorrect", "w", "falsch", "faux", "-", "\u2212", "\u2013", "\u2717"}
CHECKS = {"": None, **dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)}
CHECKS_HINT = "yes where all codes of the row are right, no where one is wrong or missing"
CHECKS_HINT += " (also y/n, j/n, ja/nein, oui/non, si/no, 1/0, +/-; x is right)"
SHEET, SAMPLE = "review sheet", "check sample"


def read_answers(table: Spreadsheet, columns: Columns, needed: RowArray | None = None) -> Answers:
    """The answers of a table, with all by which they may be known again.

    A word among numbers is refused in the rows that are `needed`, which are all if left out.
    Answers without ids are known by their cells, unless these do not tell the needed ones apart.
    """
    used = (*columns.inputs, *columns.codes.names)
    read = (columns.text, columns.numeric, columns.categorical)
    text, numeric, categorical = ([own.find_column(table, n, used) for n in part] for part in read)
    n = len(table)
    texts = list(map("\n".join, zip(*map(table.texts, text), strict=True))) if text else [""] * n
    numbers = np.array([_read_numbers(table, name, needed) for name in numeric], dtype=float)
    words = [[cell.strip() for cell in table.texts(name)] for name in categorical]
    plain = own.own_columns(table)
    marks = table.texts(plain[columns.id]) if columns.id in plain else []
    marks = [plain_id(mark).strip() for mark in marks]
    ids = ["" if mark.lower() in MISSING else mark for mark in marks]
    keys = list[tuple[str, ...]]()
    if ids:
        said = zip(ids, map(normalize_text, texts), strict=True)
        keys = [(make_key("id", *both),) if both[0] else () for both in said]
    elif columns.identity and set(columns.identity) <= plain.keys():
        rows = identity_rows(table, columns.identity)
        if needed is None or _tell_apart([rows[i] for i in needed.tolist()], columns):
            keys = [(make_key("cells", *row),) for row in rows]
    numbers, categories = numbers.reshape(len(numeric), n).T, list(zip(*words, strict=True))
    return Answers(texts, numbers, categories, _read_extra(table, columns), ids, keys)


def _read_numbers(table: Spreadsheet, name: str, needed: RowArray | None) -> FloatArray:
    def number(cell: Cell) -> float | None:
        try:
            value = cell_number(unescape_cell(cell), decimal=table.format.decimal)
            return np.inf if value is not None and abs(value) > LARGEST else value
        except ValueError:
            return np.inf

    cells = table.cells(name)
    numbers = np.array(list(map(number, cells)), dtype=float)
    wrong = np.flatnonzero(np.isinf(numbers))
    for row in wrong if needed is None else np.intersect1d(wrong, needed):
        found, where = quote(plain_text(cells[row])), table.where(int(row) + 1, name)
        hint = f"correct the cell, or fit the model with --categorical {quote(name)}"
        raise InputError(f"{where}: expected a number, got {found}.", hint=hint)
    numbers[wrong] = np.nan
    return numbers


def plain_id(text: str) -> str:
    """A cell as it is after a spreadsheet took it for a number."""
    return text.lstrip("0") or "0" if text.isdecimal() else text


def make_key(kind: str, *parts: str) -> str:
    """A short name for an answer: a digest of what tells it apart from others."""
    digest = sha256("\x1f".join(parts).encode()).hexdigest()
    return f"{kind}:{digest}"


def identity_rows(table: Spreadsheet, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The cells of each row in some of the answers' own columns, by which they are known again."""
    plain = own.own_columns(table)
    cells = [list(map(plain_id, table.texts(plain[name]))) for name in names]
    return list(zip(*cells, strict=True)) if cells else [()] * len(table)


def _read_extra(table: Spreadsheet, columns: Columns) -> NDArray[np.float32]:
    """Extra features, in the order of the table, or by numbers that ``nldd predict`` wrote."""
    numbers = table.numbers
    n_given = 0 if numbers is None else numbers.n_columns
    if n_given != columns.n_extra:
        has = f"was fitted with {columns.n_extra or 'no'} extra features of each answer"
        hint = EXTRA + ", made as for nldd fit" if columns.n_extra else f"leave out {EXTRA}"
        raise InputError(f"The model {has}; got {n_given or 'none'}.", hint=hint)
    if numbers is None:
        return np.empty((len(table), 0), dtype=np.float32)
    if own.ROW not in table.names:
        if numbers.n_rows != len(table):
            counts = f"{numbers.n_rows} rows, {table.path.name} has {len(table)}"
            hint = "one row of numbers per row of the table, coded or not, in the same order"
            raise InputError(f"{numbers.path.name} has {counts}.", hint=hint)
        return numbers.rows(np.arange(len(table)))
    texts = [text.strip().removesuffix(".0") for text in table.texts(own.ROW)]
    for row, text in enumerate(texts, 1):
        if not (text.isdecimal() and 1 <= int(text) <= numbers.n_rows):
            expected = f"expected a row of {numbers.path.name}, 1 to {numbers.n_rows}"
            hint = f"leave the column {own.ROW} as nldd predict wrote it, and give the same file"
            message = f"{table.where(row, own.ROW)}: {expected}, got {quote(text)}."
            raise InputError(message, hint=hint)
    return numbers.rows(np.array(texts, dtype=np.intp) - 1)


def _tell_apart(rows: Sequence[tuple[str, ...]], columns: Columns) -> bool:
    """True if no rows are equal, or a column (not of text) tells nearly all others apart."""
    # Otherwise equal rows may as well be two people who say the same.
    distinct = len(set(rows))
    cells = zip(columns.identity, zip(*rows, strict=True), strict=True)
    most = max((len(set(column)) for name, column in cells if name not in columns.text), default=-1)
    return distinct == len(rows) or most >= own.DISTINCT * distinct


def decided_codes(
    table: Spreadsheet,
    codes: CodeColumns,
    labels: Sequence[str],
    codebook: Codebook = Codebook(),
    accept: bool = False,
    strict: bool = False,
) -> tuple[list[Codes | None], str, list[str]]:
    """The codes of each row that somebody has decided, what the table is, and what is open.

    If `strict`, who says that codes of a check sample are wrong must say which are right.
    """
    is_sample = latest_column(table, own.CHECK) is not None
    kind = SAMPLE if is_sample else SHEET if latest_column(table, own.OK) else "table"
    found, notes = list[Codes | None]([None] * len(table)), list[str]()
    # In a sample, codes may stand in its own column for them instead.
    if codes.are_in(table) or not (is_sample or strict):
        read = (codes.read(table), notes) if accept else looked_at_codes(table, codes, codebook)
        found, notes = read
    if is_sample:
        suggested = suggested_codes(table, codes, labels)
        found = _checked_codes(table, codes, suggested, found, codebook, strict)
    return found, kind, notes


def looked_at_codes(
    table: Spreadsheet, codes: CodeColumns, codebook: Codebook = Codebook()
) -> tuple[list[Codes | None], list[str]]:
    """The codes that somebody gave or agreed to, and what to note about the others.

    In a table without the columns of a review sheet, all codes are that.
    """
    found = codes.read(table)
    names = (own.OK, own.CODES, own.STATUS)
    there = {name: latest_column(table, name, codes.names) for name in names}
    if latest_column(table, own.NEXT[0], codes.names) is None and there[own.OK] is None:
        return found, []
    if lost := [name for name, column in there.items() if column is None]:
        message = f"{table.path.name} is a review without its column {lost[0]!r}, so that"
        hint = "give it with all its columns; or --accept-suggestions, if all rows were looked at"
        raise InputError(f"{message} suggestions cannot be told from decisions.", hint=hint)
    ok, *shown = (column or "" for column in there.values())
    hint = f"x in {own.OK} where the suggested codes are right; nothing where nobody has looked"
    marks = own.read_marks(table, ok, RIGHT | NO | MISSING, "x, or nothing", hint)
    n_open = n_bare = 0
    cells = (map(str.strip, table.texts(name)) for name in shown)
    for i, (mark, suggested, status) in enumerate(zip(marks, *cells, strict=True)):
        agreed, given = mark in RIGHT, found[i]
        if given is None:
            n_bare += agreed or suggested != ""
        elif not agreed and status != "" and _shows(suggested, given, codes, codebook):
            found[i] = None
            n_open += 1
    return found, list(fill_words("review_sheet", n_open=n_open, n_bare=n_bare))


def _shows(cell: str, given: Codes, codes: CodeColumns, codebook: Codebook) -> bool:
    """True if codes are those of a cell that lists a suggestion."""
    if codes.listed:
        return codes.split(cell) == given
    # As names of columns, codes may hold the separator; the codebook may have renamed them since.
    names = codes.join([name for name in codes.names if name in given]).strip()
    return cell == names or codebook.translate(cell.split(";")) == codebook.translate(given)


def _checked_codes(
    table: Spreadsheet,
    columns: CodeColumns,
    suggested: Sequence[Codes],
    given: Sequence[Codes | None],
    codebook: Codebook,
    strict: bool,
) -> list[Codes | None]:
    """The right codes of the rows of a check sample; None where they are not known.

    They are the suggested ones, or `given` in the table's own columns, or in the one for them.
    """
    check, right = latest_column(table, own.CHECK) or "", latest_column(table, own.RIGHT_CODES)
    marks = own.read_marks(table, check, CHECKS, "yes or no", CHECKS_HINT)
    cells = [""] * len(marks) if right is None else [cell.strip() for cell in table.texts(right)]
    found, current = list[Codes | None](), codebook.translate
    each = zip(map(CHECKS.get, marks), cells, given, suggested, strict=True)
    for row, (is_right, cell, names, shown) in enumerate(each, 1):
        if names is None and right is not None:
            names = frozenset() if cell in DASHES else _listed_codes(columns, cell)
        if is_right and names is not None and current(names) != current(shown):
            message = f"{table.where(row, check)}: says yes, but other codes are given as the right"
            hint = "no, if one of the machine's codes is wrong or missing; else clear the others"
            raise InputError(f"{message} ones.", hint=hint)
        if strict and is_right is False and names is None:
            message = f"{table.where(row, check)}: says no, but not which codes are right."
            hint = f"write them into the column {quote(right or columns.names[0])}"
            raise InputError(message, hint=hint + "; - if none applies" * bool(right))
        found.append(shown if is_right else names)
    return found


def suggested_codes(table: Spreadsheet, columns: CodeColumns, labels: Sequence[str]) -> list[Codes]:
    """The codes that ``nldd predict`` gave to the rows of a table.

    Names of columns may hold the separator: where codes are columns, their marks are read.
    """
    names = () if columns.listed else (*columns.names, *labels)
    marks = {name: column for name in names if (column := latest_column(table, own.PREFIX + name))}
    if set(labels) <= marks.keys():  # else it was coded before codes were merged or renamed
        marks = {name: marks[name] for name in labels or marks}
    if marks:
        cells = (map(str.strip, table.texts(column)) for column in marks.values())
        rows = (zip(marks, row, strict=True) for row in zip(*cells, strict=True))
        return [frozenset(name for name, cell in row if cell in YES) for row in rows]
    column = latest_column(table, own.CODES) or table.find(own.CODES)
    return [_listed_codes(columns, cell) or frozenset() for cell in table.texts(column)]


def _listed_codes(columns: CodeColumns, cell: str) -> Codes | None:
    """Codes of a cell that lists them as ``nldd predict`` does; None if it is empty."""
    return (columns if columns.listed else replace(columns, separator=";")).split(cell)


def read_drawn(table: Spreadsheet, silent: bool = False) -> list[bool]:
    """Which rows belong to the random check sample, as they say; or as `silent` ones are."""
    if (column := latest_column(table, own.DRAWN)) is None:
        return [silent] * len(table)
    hint = f"leave {own.DRAWN} as nldd predict wrote it"
    marks = own.read_marks(table, column, YES | NO | MISSING, "yes or no", hint)
    return [mark in YES or (mark in MISSING and silent) for mark in marks]
