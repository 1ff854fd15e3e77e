"""Coded answers from a table: what the columns mean, and which rows are coded."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from nldd._wording import count_noun, quote_first
from nldd.coding._alike import MARKS, composed, groups_alike
from nldd.coding._answers import (
    Answers,
    is_missing,
    is_numeric,
    likely_separator,
    place_of,
    read_answers,
    read_codes,
)
from nldd.coding._coded_answers import CodedAnswers
from nldd.coding._columns import CodeColumns, Columns, expanded, matching
from nldd.coding._identities import Identities
from nldd.exceptions import InputError
from nldd.tables import Cell, TableOptions, TableReader, cell_text

SHOWN_GROUPS = 5


@dataclass(frozen=True)
class Request:
    """Columns as a person names them.

    Attributes
    ----------
    text : tuple of str
    labels : str
        The column that lists codes; or empty.
    label_columns : str
        Pattern or names of the columns of 0 and 1; or empty.
    separator, none : str
        See :class:`nldd.coding.CodeColumns`.
    features, categorical : tuple of str
        Further columns to code from; those named as categorical are so even if they hold numbers.
    """

    text: tuple[str, ...] = ()
    labels: str = ""
    label_columns: str = ""
    separator: str = ";"
    none: str = ""
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()


def find_columns(path: Path, request: Request, options: TableOptions) -> Columns:
    """What the columns of a table mean: the named ones, with features told apart by their cells."""
    with options.open(path) as table:
        if bool(request.labels) == bool(request.label_columns):
            raise InputError(
                "Name either the column that lists the codes or the columns of 0 and 1.",
                hint=f"--labels NAME or --label-columns PATTERN; {path.name} has the columns "
                + ", ".join(map(repr, table.names[:12])),
            )
        if request.label_columns:
            codes = CodeColumns(matching(request.label_columns, table.names), separator="")
        else:
            codes = CodeColumns((request.labels,), request.separator, request.none)
        text, features, categorical = (
            expanded(given, table.names)
            for given in (request.text, request.features, request.categorical)
        )
        for name in (*text, *features, *categorical, *codes.names):
            table.column(name)  # says so if there is none
        asked = [name for name in features if name not in categorical]
        numeric = _numeric_columns(table, asked)
    return Columns(
        text=text,
        codes=codes,
        numeric=tuple(name for name in asked if name in numeric),
        categorical=(
            *(name for name in asked if name not in numeric),
            *categorical,
        ),
    )


def _numeric_columns(table: TableReader, names: Sequence[str]) -> set[str]:
    places = {name: table.column(name) for name in names}
    if not places:
        return set()
    values: dict[str, set[Cell]] = {name: set() for name in names}
    for block in table.blocks():
        for name, place in places.items():
            values[name].update(row[place] for row in block.rows)
    return {name for name in names if is_numeric(values[name], table.format.decimal)}


def read_coded(
    path: Path, columns: Columns, options: TableOptions, identity_columns: Sequence[str] = ()
) -> CodedAnswers:
    """All rows of a table that have codes; those of an earlier table may be known again by it."""
    parts: list[Answers] = []
    codes: list[set[str]] = []
    rows: list[int] = []
    n_rows = 0
    cells: list[str] = []
    with options.open(path) as table:
        identities = Identities(table, columns, identity_columns)
        for block in table.blocks():
            found = read_codes(table, block, columns.codes)
            coded = [i for i, labels in enumerate(found) if labels is not None]
            parts.append(read_answers(table, block, columns, coded))
            codes += [composed(found[i] or ()) for i in coded]
            rows += [block.first + i for i in coded]
            identities.add([block.rows[i] for i in coded])
            n_rows += len(block.rows)
            if columns.codes.listed:
                place = place_of(table, columns.codes.names[0])
                texts = (cell_text(row[place]).strip() for row in block.rows)
                cells += [text for text in texts if text]
        notes = list(table.notes)
        if not columns.codes.listed:
            notes += _notes_on_columns(table.names, columns, identity_columns)
    if not codes:
        raise _none_coded(path, n_rows, columns)
    if columns.codes.listed:
        notes += _notes_on_codes(cells, codes, columns.codes)
    answers = Answers.join(parts)
    return CodedAnswers(
        *(answers, codes, rows, n_rows, notes),
        identities=identities.digests,
        identity_columns=identities.names,
        tell_apart=identities.tell_apart(),
    )


def _none_coded(path: Path, n_rows: int, columns: Columns) -> InputError:
    if not n_rows:
        return InputError(f"{path.name} has no rows below its header.", hint="another file")
    return InputError(
        f"{path.name}: none of the {n_rows} rows has codes in {quote_first(columns.codes.names)}.",
        hint="code some answers there first; or another file, or another column of codes",
    )


def _notes_on_columns(names: Sequence[str], columns: Columns, earlier: Sequence[str]) -> list[str]:
    """Columns that look like codes of 0 and 1 and were not in the earlier table."""
    first, last = min(columns.codes.names), max(columns.codes.names)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    start = "".join(letter for letter, _ in same)
    known = {*columns.codes.names, *columns.inputs, *earlier}
    new = [name for name in names if start and name.startswith(start) and name not in known]
    if not (earlier and new):
        return []
    return [f"{quote_first(new)}: no codes of the model, and left out; to use them, fit anew."]


def _notes_on_codes(cells: list[str], codes: list[set[str]], named: CodeColumns) -> list[str]:
    """What looks like a slip in a column that lists codes."""
    notes = []
    other = likely_separator(cells, named.separator)
    if other:
        notes.append(
            f"No cell of {named.names[0]!r} holds {named.separator!r}, but many hold {other!r}. "
            f'If that separates codes, use --sep "{other}".'
        )
    n_missing = sum(is_missing(cell, named) for cell in cells)
    if n_missing:
        said = f"{count_noun(n_missing, 'cell')} of {named.names[0]!r}"
        notes.append(f"{said}: NA or the like, taken as not coded.")
    names = sorted(set().union(*codes))
    notes += [
        f"{quote_first(group)} are taken as different codes; write them alike if they are one."
        for group in groups_alike(names)[:SHOWN_GROUPS]
    ]
    notes += [
        f"{mark!r} is taken as a code; if it means that no code applies, use --no-code {mark!r}."
        for mark in names
        if mark in MARKS
    ]
    return notes
