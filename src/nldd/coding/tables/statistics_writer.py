"""Write SPSS, Stata and SAS files: values as they were, and labels of all variables, old and new.

``cells -> values and what is said of them -> pyreadstat -> response sets -> the file``
"""

import datetime
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pandas as pd

from nldd._wording import quote_first
from nldd.coding.tables.cells import Cell, cell_place, cell_text, python_value
from nldd.coding.tables.typed_files import (
    Labelled,
    ResponseSet,
    Variables,
    load_pyreadstat,
    moment_value,
)
from nldd.exceptions import InputError, NLDDWarning, warn_caller

BLANK_WIDTH = 200


@dataclass(frozen=True)
class Target:
    """What a format can hold: letters of names, of labels, bytes of a text; and how it is written.

    Of names, `signs` are the letters that they may have, as a pattern, and `reserved` the words
    that the program keeps for itself.
    """

    program: str
    writer: str
    longest_name: int
    longest_label: int
    longest_title: int
    longest_text: int
    signs: str
    reserved: str
    times: Mapping[str, str]


_SPSS_WORDS = "all and by eq ge gt le lt ne not or to with"
_STATA_WORDS = "byte double float if in int long str strl using with"
TARGETS = {
    ".sav": Target(
        *("SPSS", "write_sav", 64, 250, 64, 32_767, r"[\w.@#$]", _SPSS_WORDS),
        times={"date": "DATE11", "moment": "DATETIME20", "time": "TIME8"},
    ),
    ".dta": Target(
        *("Stata", "write_dta", 32, 80, 40, 2_000_000, r"\w", _STATA_WORDS),
        times={"date": "%td", "moment": "%tc", "time": "%tcHH:MM:SS"},
    ),
    ".xpt": Target(
        *("SAS", "write_xport", 32, 250, 40, 32_767, r"[A-Za-z0-9_]", ""),
        times={"date": "DATE9", "moment": "DATETIME20", "time": "TIME8"},
    ),
}
_TIMES = ((datetime.datetime, "moment"), (datetime.date, "date"), (datetime.time, "time"))
_INTEGERS = 2_147_483_620  # beyond it, Stata's whole numbers are missing values


def write_statistics(
    stream: BinaryIO,
    path: Path,
    header: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    known: Variables | None,
    descriptions: Mapping[str, str],
) -> None:
    """Write columns of cells, with what is known of them.

    `known` is what the origin says of its variables, `descriptions` are labels of new columns.
    """
    library, target = load_pyreadstat(path), TARGETS[path.suffix.lower()]
    known = known or Variables("")
    names = valid_names(header, target)
    columns = {
        name: _column(given, column, known, target, path)
        for name, given, column in zip(names, header, cells, strict=True)
    }
    # As before, as described, or as the column was named.
    described = {**{n: n for n in header if n not in names}, **descriptions, **known.labels}
    how: dict[str, Any] = {"file_label": _cut(known.file_label, target.longest_title)}
    for given, (name, column) in zip(header, columns.items(), strict=True):
        about = _describe(column, known, target)
        about["column_labels"] = _cut(described.get(given, ""), target.longest_label)
        for key, value in about.items():
            how.setdefault(key, {}).update({name: value} if value else {})
    if target.program == "SPSS" == known.program:
        how["note"] = list(known.notes)
    if target.program == "Stata":
        how["version"] = 14
    frame = pd.DataFrame({name: column.array(target) for name, column in columns.items()})
    sets = _sets(known, dict(zip(header, names, strict=True)), target)
    with TemporaryDirectory(prefix="nldd-") as folder:
        place = Path(folder, f"table{path.suffix.lower()}")
        try:
            getattr(library, target.writer)(frame, str(place), **how)
        except (library.PyreadstatError, library.ReadstatError, ValueError) as error:
            if "write" in str(error).lower():
                raise OSError(str(error)) from error
            message = f"{path} cannot be written as a file of {target.program}: {error}."
            raise InputError(message, hint="write the table as CSV or .xlsx") from error
        content = place.read_bytes()
    stream.write(add_response_sets(content, sets) if sets else content)
    for loss in _losses(header, columns, known, target):
        warn_caller(f"{path.name}: {loss}.", NLDDWarning)


@dataclass(frozen=True, eq=False)
class _Column:
    """A variable: its values, its name in the origin if it has one, and what is special in it.

    `time` says which dates or times the numbers are; `letters` are missing values of Stata.
    """

    values: list[Any]
    is_text: bool
    own: str = ""
    time: str = ""
    letters: tuple[str, ...] = ()
    n_dropped: int = 0

    def array(self, target: Target) -> Any:
        """The values for a frame, of a type by which the library knows what to write."""
        if self.is_text:
            return pd.array(self.values, dtype="string")
        if self.letters:
            return pd.Series(self.values, dtype=object)
        whole = target.program == "Stata" and self.is_whole()
        return pd.Series(self.values, dtype="Int32" if whole else "float64")

    def is_whole(self) -> bool:
        """True if these are whole numbers."""
        numbers = (v for v in self.values if not (v is None or isinstance(v, str)))
        return all(value == int(value) and abs(value) <= _INTEGERS for value in numbers)


def _column(
    name: str, cells: Sequence[Cell], known: Variables, target: Target, path: Path
) -> _Column:
    """Numbers, where all cells are some or were, with the values behind their labels; else text."""
    was_text, same = known.is_text.get(name, False), known.program == target.program
    keep = same and target.program != "SAS"  # values that mean that there is none
    if not was_text:
        values = [_value(cell, keep) for cell in cells]
        # Missing values such as Stata's .a have a letter instead of a number.
        labelled = {cell.value for cell in cells if isinstance(cell, Labelled)}
        marks = {*labelled, *known.values.get(name, ())} if keep else set()
        letters = tuple(sorted(mark for mark in marks if isinstance(mark, str)))
        is_filled = name in known.is_text or any(value is not None for value in values)
        if is_filled and all(not isinstance(v, str) or v in letters for v in values):
            own = name if name in known.is_text else ""
            kinds = set(map(type, values))
            times = {time for kind in kinds for base, time in _TIMES if issubclass(kind, base)}
            time = "moment" if len(times) > 1 else "".join(times)
            n_dropped = sum(isinstance(c, Labelled) and not (c or keep) for c in cells)
            numbers = [_number(value, target) for value in values]
            return _Column(numbers, False, own, time, letters, n_dropped)
    texts = [
        str(cell.value if cell or same else "")
        if was_text and isinstance(cell, Labelled)
        else cell_text(cell)
        for cell in cells
    ]
    _check_lengths(texts, name, target, path)
    if texts and was_text and same and target.program != "Stata":
        # As wide as it was: these programs fill texts up with spaces anyway.
        width = min(known.text_width(name), target.longest_text)
        texts[0] += " " * (width - _n_bytes(texts[0]))
    elif texts and not any(texts) and target.program == "SPSS":
        texts[0] = " " * BLANK_WIDTH  # for people to fill in, who could type one letter only
    return _Column(texts, True, name if was_text else "")


def _value(cell: Cell, keep: bool) -> Any:
    """What a file of numbers has for a cell: the value behind a label, None for nothing."""
    if isinstance(cell, Labelled):
        return cell.value if cell or keep else None
    if cell is None or cell == "":
        return None
    known = (str, int, float, datetime.date, datetime.time)
    return cell if isinstance(cell, known) else python_value(cell)


def _number(value: Any, target: Target) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return moment_value(value, target.program)
    return float(value) if math.isfinite(value) else None


def _check_lengths(texts: list[str], name: str, target: Target, path: Path) -> None:
    for number, text in enumerate(texts, 1):
        if 4 * len(text) > target.longest_text and _n_bytes(text) > target.longest_text:
            place, n_bytes = cell_place(path, number, name), _n_bytes(text)
            what = f"the text has {n_bytes:,} bytes; {target.program} takes at most"
            hint = "shorten the text, or write the table as CSV or .xlsx"
            raise InputError(f"{place}: {what} {target.longest_text:,}.", hint=hint)


def valid_names(header: Sequence[str], target: Target) -> list[str]:
    """Names that a program takes, no two alike in its eyes; those that it takes are left alone.

    >>> valid_names(["age", "home office", "2nd", "AGE", "by"], TARGETS[".sav"])
    ['age', 'home_office', 'v_2nd', 'AGE_2', 'by_2']
    """
    taken = set(target.reserved.split())
    names = []
    for given in header:
        signs = (c if re.fullmatch(target.signs, c) else "_" for c in given.strip())
        name = "".join(signs)
        if not name or not (name[0].isalpha() or name[0] == "_"):
            name = f"v_{name.lstrip('@#$.')}"
        name = _cut(name, target.longest_name).rstrip(".") or "v_"
        chosen, k = name, 1
        while chosen.casefold() in taken:
            k += 1
            chosen = f"{_cut(name, target.longest_name - len(f'_{k}'))}_{k}"
        taken.add(chosen.casefold())
        names.append(chosen)
    return names


def _n_bytes(text: str) -> int:
    return len(text.encode())


def _cut(text: str, n_bytes: int) -> str:
    return text.encode()[:n_bytes].decode(errors="ignore")


def _describe(column: _Column, known: Variables, target: Target) -> dict[str, Any]:
    """What the library writes beside the values, as far as the format has a place for it."""
    own, is_spss = column.own, target.program == "SPSS"
    as_before = bool(own) and known.program == target.program
    form = known.formats.get(own, "") if as_before and not column.is_text else ""
    form = form or target.times.get(column.time, "")
    if is_spss and column.is_text and as_before:
        # Else older versions of the library take the width of the display for that of the text.
        form = f"A{max([1, *map(_n_bytes, column.values)])}"
    elif is_spss and not column.is_text and not own:
        # Chances of the default format would be 0.00 and 1.00.
        form = form or ("F8.0" if column.is_whole() else "F10.6")
    about: dict[str, Any] = {"variable_format": form}
    if target.program != "SAS":
        about["variable_value_labels"] = _value_labels(column, known, target)
    if target.program == "Stata":
        about["missing_user_values"] = list(column.letters)
    if is_spss:
        about["variable_measure"] = "nominal" if column.is_text else "scale"
    if is_spss and as_before:
        about["variable_measure"] = known.measures.get(own, "unknown")
        about["missing_ranges"] = list(known.missing.get(own, ()))
        about["variable_display_width"] = known.display.get(own, 8)
    return about


def _value_labels(column: _Column, known: Variables, target: Target) -> dict[Any, str]:
    """The labels of values that a format can hold, with values of its type."""
    labels = known.values.get(column.own, {})
    if target.program == "SPSS":
        return {str(v) if column.is_text else float(v): label for v, label in labels.items()}
    whole = int if column.is_whole() else float
    return {
        value if isinstance(value, str) else whole(value): label
        for value, label in labels.items()
        if (value in column.letters if isinstance(value, str) else value == int(value))
    }


def _losses(
    header: Sequence[str], columns: Mapping[str, _Column], known: Variables, target: Target
) -> Iterator[str]:
    """What a person should know that the file cannot hold, or not by its name."""
    pairs = zip(header, columns, strict=True)
    if renamed := [f"{given} -> {name}" for given, name in pairs if given != name]:
        what = f"{target.program} does not take all names; labels keep them as they were"
        yield f"{what}: {quote_first(renamed)}"
    if target.program == "SAS" and known.values:
        yield "this format of SAS has no value labels; the numbers are there without them"
    if n_dropped := sum(column.n_dropped for column in columns.values()):
        yield f"{n_dropped:,} values that {known.program} declares to be missing are empty"
    lost = [s.name for s in known.sets if target.program != "SPSS" or not s.is_writable]
    if lost:
        yield f"the multiple-response sets {quote_first(lost)} are lost, their variables are not"


def _sets(known: Variables, names: Mapping[str, str], target: Target) -> list[ResponseSet]:
    """Multiple-response sets whose variables are all there, under the names of the new file."""
    return [
        replace(one, variables=tuple(names[n] for n in one.variables))
        for one in known.sets
        if target.program == "SPSS" and one.is_writable and {*one.variables} <= names.keys()
    ]


def add_response_sets(content: bytes, sets: Sequence[ResponseSet]) -> bytes:
    """An SPSS file with multiple-response sets, for which the library has no place.

    They are one record more before the end of the dictionary (kind 7, subtype 7), a line for each
    set, in which variables have their short names.
    """
    short: dict[str, str] = {}
    for kind, start, end in _dictionary_records(content):
        if kind == (7, 13):
            text = content[start + 16 : end].decode()
            short = {long: name for name, long in (part.split("=") for part in text.split("\t"))}
        if kind == (999, 0):
            lines = "".join(_line(s, [short[name].lower() for name in s.variables]) for s in sets)
            record = struct.pack("<4i", 7, 7, 1, len(lines.encode())) + lines.encode()
            return content[:start] + record + content[start:]
    raise ValueError("the dictionary has no end")


def _line(one: ResponseSet, names: Sequence[str]) -> str:
    counted = str(one.counted)
    way = {"C": "C", "D": f"D{len(counted)} {counted}", "E": f"E 1 {len(counted)} {counted}"}
    return f"${one.name}={way[one.kind]} {len(one.label.encode())} {one.label} {' '.join(names)}\n"


def _dictionary_records(content: bytes) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Kind, subtype, beginning and end of the records before the data of an SPSS file."""
    at, kind = 176, 0
    while kind != 999:
        start, subtype = at, 0
        kind, a, b, c = struct.unpack("<4i", content[at : at + 16].ljust(16, b"\0"))
        if kind == 2:  # a variable: type, whether it has a label, missing values
            at += 32 + 8 * abs(c)
            if b:
                at += 4 + -(-struct.unpack_from("<i", content, start + 32)[0] // 4) * 4
        elif kind == 3:  # labels of values
            at += 8
            for _ in range(a):
                at += 8 + (content[at + 8] + 8) // 8 * 8
        elif kind == 4:  # the variables that have them
            at += 8 + 4 * a
        elif kind == 6:  # notes
            at += 8 + 80 * a
        elif kind == 7:
            subtype, at = a, at + 16 + b * c
        elif kind != 999:
            raise ValueError(f"a record of kind {kind} is unknown")
        yield (kind, subtype), start, at
