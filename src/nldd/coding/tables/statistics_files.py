"""Rows of SPSS, Stata and SAS files, and what these say of their variables beside the values.

A number that has a label is read as the label, which is what coders know; its value goes along, so
that a file of the same kind gets the number back, see :class:`Labelled`.
"""

import datetime
import inspect
import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from nldd.coding.tables.cells import Cell, Row, RowSource, TableFormat, check_claim
from nldd.coding.tables.response_sets import ResponseSet
from nldd.exceptions import InputError, MissingExtraError

# By the ending of a file: what programs call it, and the function that reads it.
READERS = {
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".por": ("SPSS", "read_por"),
    ".dta": ("Stata", "read_dta"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
}
# What is read at a time, so that no file fills the memory: cells, letters of texts, and rows.
BATCH_CELLS, BATCH_BYTES, MOST_ROWS = 2**20, 2**26, 20_000
FIRST_ROWS = 100

# Where the days of a program begin, and how many of its numbers make a second and a day.
_DAY = 86_400
_UNITS = {
    "SPSS": (datetime.datetime(1582, 10, 14), 1, _DAY),
    "SAS": (datetime.datetime(1960, 1, 1), 1, 1),
    "Stata": (datetime.datetime(1960, 1, 1), 1000, 1),
}
_DATES = re.compile(
    r"[AEJS]?DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(E8601|B8601|IS8601)DA|%td.*|%d.*"
)
_MOMENTS = re.compile(
    r"DATETIME|YMDHMS|DATEAMPM|MDYAMPM|(E8601|B8601|IS8601)D[TN]|%tc(?!(HH|hh)).*|%tC.*"
)
_TIMES = re.compile(r"TIME|TIMEAMPM|HHMM|TOD|(E8601|B8601|IS8601)TM|%tc(HH|hh).*")


class Labelled(str):
    """What a value of a statistics file means, with the `value` itself.

    The text is the label of the value, or empty where the value is one of those that the file
    declares to be missing.

    >>> Labelled("Price", 1.0) == "Price", Labelled("Price", 1.0).value
    (True, 1.0)
    """

    __slots__ = ("value",)
    value: float | str

    def __new__(cls, text: str, value: float | str) -> "Labelled":
        cell = super().__new__(cls, text)
        cell.value = value
        return cell


@dataclass(frozen=True, eq=False)
class Variables:
    """What a statistics file says of its variables, by their names, and of itself.

    `program` is SPSS, Stata or SAS. `labels` are texts of variables, `values` those of their
    values. Missing are values of the ranges in `missing`, and letters among numbers, such as
    Stata's ``.a``. `formats` say how numbers are shown, `is_text` which variables hold text.
    """

    program: str
    is_text: Mapping[str, bool]
    labels: Mapping[str, str]
    values: Mapping[str, Mapping[float | str, str]]
    missing: Mapping[str, Sequence[Any]]
    formats: Mapping[str, str]
    measures: Mapping[str, str]
    display: Mapping[str, int]
    widths: Mapping[str, int]
    sets: tuple[ResponseSet, ...] = ()
    file_label: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)

    def text_width(self, name: str) -> int:
        """Bytes that a text may have, by the format of SPSS (A20), or as it is stored."""
        shown = re.fullmatch(r"A(\d+)", self.formats.get(name, ""))
        return int(shown[1]) if shown else self.widths.get(name, 0)

    def response_set(self, name: str) -> ResponseSet | None:
        """The multiple-response set of a name, with or without its dollar sign."""
        plain = name.strip().removeprefix("$").casefold()
        return next((found for found in self.sets if found.name.casefold() == plain), None)


class StatisticsRows(RowSource):
    """An SPSS, Stata or SAS file, read in batches of rows."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._path, self._encoding = path, encoding
        self._program, self._reader = READERS[path.suffix.lower()]
        load_pyreadstat(path)
        if encoding and self._reader == "read_por":
            message = f"{path} says by itself how its letters are written."
            raise InputError(message, hint="leave out --encoding")
        found = self._call(metadataonly=True)[1]
        self.header = tuple(found.column_names)
        if not all(isinstance(name, str) and name for name in self.header):
            raise self._refusal(ValueError("a variable has no name"))
        if not self.header:
            raise InputError(f"{path} has no variables.", hint="save it again, with the answers")
        self._n_read, self._n_rows = 0, found.number_rows or 0
        check_claim(path, self._n_rows)
        widths = [max(8, width or 8) for width in found.variable_storage_width.values()]
        n_fitting = min(BATCH_CELLS // len(widths), BATCH_BYTES // sum(widths))
        self._n_batch = min(MOST_ROWS, max(1, n_fitting))
        self.variables = _variables(self._program, found)
        self.format = TableFormat(kind=path.suffix.lower()[1:], variables=self.variables)
        self._convert = [_converter(self.variables, name) for name in self.header]

    def rows(self) -> Generator[Row, None, None]:
        self._n_read = 0
        # Who wants a look at the first rows does not wait for thousands.
        n_new = n_batch = min(FIRST_ROWS, self._n_batch)
        while n_new == n_batch:
            n_batch = self._n_batch if self._n_read else n_batch
            columns = self._call(row_offset=self._n_read, row_limit=n_batch)[0]
            cells = [
                list(map(convert, columns[name]))
                for name, convert in zip(self.header, self._convert, strict=True)
            ]
            n_new = len(cells[0])
            for row in zip(*cells, strict=True):
                self._n_read += 1
                yield row

    def fraction(self) -> float:
        return min(1.0, self._n_read / self._n_rows) if self._n_rows > 0 else 1.0

    def _call(self, **how: Any) -> Any:
        """What pyreadstat reads; dates as numbers, which not all are that a calendar has."""
        read = getattr(load_pyreadstat(self._path), self._reader)
        if "user_missing" in inspect.signature(read).parameters:
            how["user_missing"] = True
        how |= {"output_format": "dict", "disable_datetime_conversion": True}
        how |= {"encoding": self._encoding} if self._encoding else {}
        try:
            return read(str(self._path), **how)
        except OSError:
            raise
        except Exception as error:  # of a library in C, which raises what it likes
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> InputError:
        reason = str(error).partition("\n")[0][:200].rstrip(". ") or type(error).__name__
        message = f"{self._path} cannot be read as a file of {self._program}: {reason}."
        hint = f"open it in {self._program}, save it again or as CSV"
        if isinstance(error, UnicodeError) or re.search("encod|codec|byte", reason):
            hint += "; or name its letters, such as --encoding cp1252"
        return InputError(message, hint=hint)


def load_pyreadstat(path: Path) -> Any:
    """The library that reads and writes statistics files; it comes with an extra."""
    try:
        import pyreadstat
    except ImportError as error:
        message = f"{path}: files of SPSS, Stata and SAS need pyreadstat."
        raise MissingExtraError(message, extra="spss") from error
    return pyreadstat


def _variables(program: str, found: Any) -> Variables:
    """What pyreadstat tells of a file, without what is empty."""
    types = found.readstat_variable_types
    sets = tuple(
        ResponseSet(name, one["type"], tuple(one["variable_list"]), one["label"] or "", counted)
        for name, one in (getattr(found, "mr_sets", None) or {}).items()
        if set(one["variable_list"]) <= set(types)
        for counted in [one["counted_value"]]
    )
    return Variables(
        program,
        {name: types[name] in ("string", "string_ref", "string-ref") for name in types},
        _present(found.column_names_to_labels),
        {name: dict(values) for name, values in found.variable_value_labels.items() if values},
        _present(found.missing_ranges),
        _present(found.original_variable_types),
        _present(found.variable_measure),
        _present(found.variable_display_width),
        _present(found.variable_storage_width),
        sets,
        found.file_label or "",
        tuple(map(str, found.notes or ())),
    )


def _present(mapping: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (mapping or {}).items() if value}


def _converter(variables: Variables, name: str) -> Callable[[Any], Cell]:
    """How the values of a variable become cells."""
    labels, missing = variables.values.get(name, {}), variables.missing.get(name, ())
    marked = next((s for s in variables.sets if s.is_marked and name in s.variables), None)
    is_text = variables.is_text[name]
    kind = None if is_text else time_kind(variables.formats.get(name, ""))

    def convert(value: Any) -> Cell:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, str):
            value = value.rstrip(" \x00")
        is_letter = isinstance(value, str) and not is_text
        if is_letter or _is_missing(value, missing):
            return Labelled("", value)
        if marked is not None and marked.counted is not None and not is_text:
            return Labelled("1" if value == marked.counted else "0", value)
        if label := labels.get(value):
            return Labelled(label.strip(), value)
        if isinstance(value, str):
            return value
        return value_moment(value, kind, variables.program) if kind else _whole(value)

    # Few values are in many rows, which then share their cells.
    return convert if is_text and not labels else lru_cache(maxsize=1024)(convert)


def _is_missing(value: Any, ranges: Sequence[Any]) -> bool:
    """Whether a value is in one of the ranges that the file declares to be missing."""
    for one in ranges:
        low, high = (one["lo"], one["hi"]) if isinstance(one, Mapping) else (one, one)
        if isinstance(value, str) == isinstance(low, str) and low <= value <= high:
            return True
    return False


def _whole(value: float) -> Cell:
    return int(value) if abs(value) < 2**53 and value == int(value) else value


def time_kind(format: str) -> str | None:
    """Whether numbers are shown as a date, a moment or a time of the day, by their format."""
    name = format if format.startswith("%") else re.sub(r"[\d.]+$", "", format.upper())
    for kind, pattern in (("moment", _MOMENTS), ("time", _TIMES), ("date", _DATES)):
        if pattern.fullmatch(name):
            return kind
    return None


def value_moment(value: float, kind: str, program: str) -> Cell:
    """A number as the date or time that it stands for; the number, if it would not come back.

    >>> value_moment(13797302400.0, "date", "SPSS"), value_moment(0.5, "date", "Stata")
    (datetime.date(2020, 1, 2), 0.5)
    """
    start, second, day = _UNITS[program]
    seconds = value / day * _DAY if kind == "date" else value / second
    try:
        moment = start + datetime.timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return _whole(value)
    found: datetime.date | datetime.time = moment
    if kind == "date" and moment.time() == datetime.time():
        found = moment.date()
    elif kind == "time":
        found = moment.time()  # not the same number, if it had more hours than a day
    return found if moment_value(found, program) == value else _whole(value)


def moment_value(cell: datetime.date | datetime.time, program: str) -> float:
    """The number by which a program writes a date or a time.

    >>> moment_value(datetime.date(2020, 1, 2), "SPSS"), moment_value(datetime.time(0, 1), "Stata")
    (13797302400.0, 60000.0)
    """
    start, second, day = _UNITS[program]
    if isinstance(cell, datetime.time):
        cell = datetime.datetime.combine(start, cell)
    if isinstance(cell, datetime.datetime):
        return (cell.replace(tzinfo=None) - start) / datetime.timedelta(seconds=1) * second
    return float((cell - start.date()).days * day)
