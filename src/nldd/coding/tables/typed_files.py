"""Files whose columns have types: Parquet, SPSS, Stata and SAS, and what these say beside values.

A number that has a label is read as the label, which is what coders know; its value goes along, so
that a file of the same kind gets the number back, see :class:`Labelled`.
"""

import datetime
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from nldd.coding.tables.spreadsheet import MAX_BYTES, Cell, Spreadsheet, TableFormat, frame_of
from nldd.coding.tables.text_tables import nested_value
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


def read_parquet(path: Path) -> Spreadsheet:
    """A Parquet file; what Python has no value for becomes text."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        message = f"{path}: reading Parquet files needs pyarrow."
        raise MissingExtraError(message, extra="parquet") from error
    try:
        with ParquetFile(path) as file:
            header = tuple(map(str, file.schema_arrow.names))
            _check_parquet(path, file.metadata)
            arrays = file.read().columns
        frame = frame_of({j: map(nested_value, a.to_pylist()) for j, a in enumerate(arrays)})
    except InputError:
        raise  # it is a ValueError too
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0][:200]
        message = f"{path} cannot be read as Parquet: {reason}."
        raise InputError(message, hint="write it again, or save the table as CSV") from error
    if not header:
        raise InputError(f"{path} has no columns.", hint="write it again, with the answers")
    return Spreadsheet(path, frame, header, TableFormat("parquet"))


def _check_parquet(path: Path, found: Any) -> None:
    """Refuse a file that claims more than it can hold, or that unpacks to too much."""
    groups = map(found.row_group, range(found.num_row_groups))
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    # A row has several values where these are lists.
    check_claim(path, max([found.num_rows, *(chunk.num_values for chunk in chunks)]))
    if (n_bytes := sum(chunk.total_uncompressed_size for chunk in chunks)) > MAX_BYTES:
        message = f"{path} unpacks to {n_bytes:,} bytes; at most {MAX_BYTES:,} are read."
        raise InputError(message, hint="leave out the columns that are not needed")


def check_claim(path: Path, n_rows: int) -> None:
    """Refuse a file that claims far more rows than it has bits.

    A column that says the same in all rows takes a few bytes, however many they are.
    """
    if n_rows > 2**20 + 64 * path.stat().st_size:
        message = f"{path} claims {n_rows:,} values in a column, too many for a file of its size"
        raise InputError(f"{message}.", hint="write it again, or save the table as CSV")


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
    """What a statistics file says of its variables.

    `program` is SPSS, Stata or SAS, `found` the metadata of pyreadstat.
    """

    program: str
    found: Any

    def is_text(self, name: str) -> bool | None:
        """Whether a variable holds text; None if there is no such variable."""
        kind = self.found.readstat_variable_types.get(name)
        return kind and kind.startswith("string")

    @property
    def values(self) -> Mapping[str, Mapping[float | str, str]]:
        """The labels of values, by the names of variables."""
        return self.found.variable_value_labels

    @property
    def sets(self) -> Mapping[str, Mapping[str, Any]]:
        """Multiple-response sets, all variables of which are in the file."""
        names, sets = {*self.found.column_names}, getattr(self.found, "mr_sets", None) or {}
        return {name: one for name, one in sets.items() if {*one["variable_list"]} <= names}

    def response_set(self, name: str) -> Mapping[str, Any] | None:
        """The multiple-response set of a name, with or without its dollar sign."""
        plain = name.strip().removeprefix("$").casefold()
        return next((one for given, one in self.sets.items() if given.casefold() == plain), None)


def read_statistics(path: Path, encoding: str | None = None) -> Spreadsheet:
    """An SPSS, Stata or SAS file."""
    program, reader = READERS[path.suffix.lower()]
    read = getattr(load_pyreadstat(path), reader)
    if encoding and reader == "read_por":
        message = f"{path} says by itself how its letters are written."
        raise InputError(message, hint="leave out --encoding")
    # Dates as numbers, which not all are that a calendar has.
    how: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    how |= {"encoding": encoding} if encoding else {}
    if "user_missing" in inspect.signature(read).parameters:
        how["user_missing"] = True
    try:
        claimed = read(str(path), metadataonly=True, **how)[1]
        check_claim(path, claimed.number_rows or 0)
        columns, found = read(str(path), **how)
        header = tuple(found.column_names)
        if not all(isinstance(name, str) and name for name in header):
            raise ValueError("a variable has no name")
    except (OSError, InputError):
        raise
    except Exception as error:  # of a library in C, which raises what it likes
        raise _refusal(path, program, error) from error
    if not header:
        raise InputError(f"{path} has no variables.", hint="save it again, with the answers")
    variables = Variables(program, found)
    cells = {j: map(_converter(variables, n), columns[n]) for j, n in enumerate(header)}
    format = TableFormat(kind=path.suffix.lower()[1:], variables=variables)
    return Spreadsheet(path, frame_of(cells), header, format)


def _refusal(path: Path, program: str, error: Exception) -> InputError:
    reason = str(error).partition("\n")[0][:200].rstrip(". ") or type(error).__name__
    message = f"{path} cannot be read as a file of {program}: {reason}."
    hint = f"open it in {program}, save it again or as CSV"
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


def _converter(variables: Variables, name: str) -> Callable[[Any], Cell]:
    """How the values of a variable become cells."""
    found, is_text = variables.found, variables.is_text(name)
    labels = found.variable_value_labels.get(name, {})
    missing = found.missing_ranges.get(name, ())
    sets = (one for one in variables.sets.values() if name in one["variable_list"])
    counted = next((one["counted_value"] for one in sets if one["is_dichotomy"]), None)
    kind = None if is_text else time_kind(found.original_variable_types.get(name) or "")

    def convert(value: Any) -> Cell:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, str):
            value = value.rstrip(" \x00")
        is_letter = isinstance(value, str) and not is_text
        if is_letter or _is_missing(value, missing):
            return Labelled("", value)
        if counted is not None and not is_text:
            return Labelled("1" if value == counted else "0", value)
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
