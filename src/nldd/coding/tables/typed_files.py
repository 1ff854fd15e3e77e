"""Files whose columns have types: Parquet, SPSS, Stata and SAS, and what these say beside values.

A number that has a label is read as the label, which is what coders know; its value goes along, so
that a file of the same kind gets the number back, see :class:`Labelled`. A file of the same program
as before also gets formats, measures and missing values of the old one; one of another program
values, labels, and labels of values.
"""

import datetime
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pandas as pd

from nldd._wording import quote_first
from nldd.coding.tables import spreadsheet as sheets
from nldd.coding.tables.text_tables import nested_value
from nldd.exceptions import InputError, MissingExtraError, NLDDWarning, warn_caller

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
# What numbers are shown as, by their formats.
_ISO = "(E8601|B8601|IS8601)"
_KINDS = {
    "date": rf"[AEJS]?DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|{_ISO}DA|%td.*|%d.*",
    "moment": rf"DATETIME|YMDHMS|DATEAMPM|MDYAMPM|{_ISO}D[TN]|%tc(?!(HH|hh)).*|%tC.*",
    "time": rf"TIME|TIMEAMPM|HHMM|TOD|{_ISO}TM|%tc(HH|hh).*",
}


def read_parquet(path: Path) -> sheets.Spreadsheet:
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
        frame = sheets.frame_of({j: map(nested_value, a.to_pylist()) for j, a in enumerate(arrays)})
    except InputError:
        raise  # it is a ValueError too
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0][:200]
        message = f"{path} cannot be read as Parquet: {reason}."
        raise InputError(message, hint="write it again, or save the table as CSV") from error
    if not header:
        raise InputError(f"{path} has no columns.", hint="write it again, with the answers")
    return sheets.Spreadsheet(path, frame, header, sheets.TableFormat("parquet"))


def _check_parquet(path: Path, found: Any) -> None:
    """Refuse a file that claims more than it can hold, or that unpacks to too much."""
    groups = map(found.row_group, range(found.num_row_groups))
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    # A row has several values where these are lists.
    check_claim(path, max([found.num_rows, *(chunk.num_values for chunk in chunks)]))
    if (n_bytes := sum(chunk.total_uncompressed_size for chunk in chunks)) > sheets.MAX_BYTES:
        message = f"{path} unpacks to {n_bytes:,} bytes; at most {sheets.MAX_BYTES:,} are read."
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


def read_statistics(path: Path, encoding: str | None = None) -> sheets.Spreadsheet:
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
        reason = str(error).partition("\n")[0][:200].rstrip(". ") or type(error).__name__
        hint = f"open it in {program}, save it again or as CSV"
        if isinstance(error, UnicodeError) or re.search("encod|codec|byte", reason):
            hint += "; or name its letters, such as --encoding cp1252"
        message = f"{path} cannot be read as a file of {program}: {reason}."
        raise InputError(message, hint=hint) from error
    if not header:
        raise InputError(f"{path} has no variables.", hint="save it again, with the answers")
    variables = Variables(program, found)
    cells = {j: map(_converter(variables, n), columns[n]) for j, n in enumerate(header)}
    format = sheets.TableFormat(kind=path.suffix.lower()[1:], variables=variables)
    return sheets.Spreadsheet(path, sheets.frame_of(cells), header, format)


def load_pyreadstat(path: Path) -> Any:
    """The library that reads and writes statistics files; it comes with an extra."""
    try:
        import pyreadstat
    except ImportError as error:
        message = f"{path}: files of SPSS, Stata and SAS need pyreadstat."
        raise MissingExtraError(message, extra="spss") from error
    return pyreadstat


def _converter(variables: Variables, name: str) -> Callable[[Any], sheets.Cell]:
    """How the values of a variable become cells."""
    found, is_text = variables.found, variables.is_text(name)
    labels = found.variable_value_labels.get(name, {})
    missing = found.missing_ranges.get(name, ())
    sets = (one for one in variables.sets.values() if name in one["variable_list"])
    counted = next((one["counted_value"] for one in sets if one["is_dichotomy"]), None)
    kind = None if is_text else time_kind(found.original_variable_types.get(name) or "")

    def convert(value: Any) -> sheets.Cell:
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
    ends = ((r["lo"], r["hi"]) if isinstance(r, Mapping) else (r, r) for r in ranges)
    kind = isinstance(value, str)
    return any(isinstance(low, str) == kind and low <= value <= high for low, high in ends)


def _whole(value: float) -> sheets.Cell:
    return int(value) if abs(value) < 2**53 and value == int(value) else value


def time_kind(format: str) -> str | None:
    """Whether numbers are shown as a date, a moment or a time of the day, by their format."""
    name = format if format.startswith("%") else re.sub(r"[\d.]+$", "", format.upper())
    return next((kind for kind, form in _KINDS.items() if re.fullmatch(form, name)), None)


def value_moment(value: float, kind: str, program: str) -> sheets.Cell:
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


# Of a column of SPSS without texts: whoever fills it in may type more than a letter.
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
    longest_text: int
    signs: str
    reserved: str
    times: Mapping[type, str]


_SPSS_WORDS = "all and by eq ge gt le lt ne not or to with"
_STATA_WORDS = "byte double float if in int long str strl using with"
_DATE, _MOMENT, _TIME = datetime.date, datetime.datetime, datetime.time
_FORMATS = {_DATE: "DATE11", _MOMENT: "DATETIME20", _TIME: "TIME8"}
_STATA_FORMATS = {_DATE: "%td", _MOMENT: "%tc", _TIME: "%tcHH:MM:SS"}
TARGETS = {
    ".sav": Target("SPSS", "write_sav", 64, 250, 32_767, r"[\w.@#$]", _SPSS_WORDS, _FORMATS),
    ".dta": Target("Stata", "write_dta", 32, 80, 2_000_000, r"\w", _STATA_WORDS, _STATA_FORMATS),
    ".xpt": Target("SAS", "write_xport", 32, 250, 32_767, r"[A-Za-z0-9_]", "", _FORMATS),
}


def write_statistics(
    stream: BinaryIO,
    path: Path,
    header: Sequence[str],
    cells: Sequence[Sequence[sheets.Cell]],
    known: Variables | None,
    descriptions: Mapping[str, str],
) -> None:
    """Write columns of cells, with what is known of them.

    `known` is what the origin says of its variables, `descriptions` are labels of new columns.
    """
    library, target = load_pyreadstat(path), TARGETS[path.suffix.lower()]
    names = dict(zip(valid_names(header, target), header, strict=True))
    about = _describe(names, known, target, descriptions)
    frame: dict[str, Any] = {}
    n_dropped = 0
    for (name, given), column in zip(names.items(), cells, strict=True):
        was_text = None if known is None else known.is_text(given)
        values = [_value(cell, was_text, known, target) for cell in column]
        pairs = list(zip(column, values, strict=True))
        n_dropped += sum(isinstance(cell, Labelled) and value is None for cell, value in pairs)
        # A letter behind a label is a missing value among numbers, such as .a of Stata.
        holds_text = any(isinstance(v, str) and not isinstance(c, Labelled) for c, v in pairs)
        is_empty = was_text is None and values.count(None) == len(values)
        if was_text or holds_text or is_empty:
            frame[name] = _text_column(values, name, path, target, about)
        else:
            frame[name] = _number_column(values, name, target, about)
    with TemporaryDirectory(prefix="nldd-") as folder:
        place = Path(folder, f"table{path.suffix.lower()}")
        try:
            getattr(library, target.writer)(pd.DataFrame(frame), str(place), **about)
        except (library.PyreadstatError, library.ReadstatError, ValueError) as error:
            if "write" in str(error).lower():
                raise OSError(str(error)) from error
            message = f"{path} cannot be written as a file of {target.program}: {error}."
            raise InputError(message, hint="write the table as CSV or .xlsx") from error
        stream.write(place.read_bytes())
    for loss in _losses(names, n_dropped, known, target):
        warn_caller(f"{path.name}: {loss}.", NLDDWarning)


def _describe(
    names: Mapping[str, str],
    known: Variables | None,
    target: Target,
    descriptions: Mapping[str, str],
) -> dict[str, Any]:
    """What the library writes beside the values, by the names that it has for it."""
    before = known.found.column_names_to_labels if known else {}
    # As before, as described, or as the column was named.
    labels = {
        name: before.get(given) or descriptions.get(given) or (given if given != name else "")
        for name, given in names.items()
    }
    labels = {name: _cut(label, target.longest_label) for name, label in labels.items()}
    about: dict[str, Any] = {"column_labels": labels, "variable_format": {}}
    same = known.found if known and known.program == target.program else None
    if same:
        formats = {n: form for n, form in same.original_variable_types.items() if form}
        about |= {"file_label": same.file_label or "", "variable_format": formats}
    if known and target.program != "SAS":
        about["variable_value_labels"] = {
            name: {v: label for v, label in known.values[given].items() if same or _is_whole(v)}
            for name, given in names.items()
            if given in known.values and (same or not known.is_text(given))
        }
    if target.program == "Stata":
        about |= {"missing_user_values": {n: [*ascii_lowercase] for n in names}, "version": 14}
    if target.program == "SPSS":
        about["variable_measure"] = dict(same.variable_measure) if same else {}
        about |= {"missing_ranges": same.missing_ranges, "note": same.notes} if same else {}
    return about


def _value(cell: Any, was_text: bool | None, known: Variables | None, target: Target) -> Any:
    """What a file has for a cell: the value behind a label, None for nothing."""
    if isinstance(cell, Labelled) and known is not None and was_text is not None:
        # Another program would take the values that mean that there is none for others.
        keep = known.program == target.program != "SAS"
        return cell.value if cell or keep else None
    if cell is None or cell == "":
        return None
    is_plain = isinstance(cell, str | int | float | _DATE | _TIME)
    return cell if is_plain else sheets.python_value(cell)


def _number_column(values: list[Any], name: str, target: Target, about: dict[str, Any]) -> Any:
    numbers = [_number(value, target.program) for value in values]
    kinds = {type(value) for value in values} & {*target.times}
    if kinds:
        form = target.times[kinds.pop() if len(kinds) == 1 else _MOMENT]
        about["variable_format"].setdefault(name, form)
    if target.program == "SPSS":
        # Chances of the default format would be 0.00 and 1.00.
        form = "F8.0" if all(map(_is_whole, numbers)) else "F10.6"
        about["variable_format"].setdefault(name, form)
        about["variable_measure"].setdefault(name, "scale")
    holds_letters = any(isinstance(number, str) for number in numbers)
    return pd.Series(numbers, dtype=object if holds_letters else "float64")


def _number(value: Any, program: str) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, _DATE | _TIME):
        return moment_value(value, program)
    return float(value) if math.isfinite(value) else None


def _is_whole(value: Any) -> bool:
    return value is None or (not isinstance(value, str) and value == int(value))


def _text_column(
    values: list[Any], name: str, path: Path, target: Target, about: dict[str, Any]
) -> Any:
    texts = list(map(sheets.cell_text, values))
    for number, text in enumerate(texts, 1):
        if 4 * len(text) > target.longest_text and (n := len(text.encode())) > target.longest_text:
            what = f"the text has {n:,} bytes; {target.program} takes at most"
            hint = "shorten the text, or write the table as CSV or .xlsx"
            place = sheets.cell_place(path, number, name)
            raise InputError(f"{place}: {what} {target.longest_text:,}.", hint=hint)
    form = about["variable_format"].pop(name, "")
    if target.program == "SPSS":
        about["variable_measure"].setdefault(name, "nominal")
        # Spaces behind the first text make the variable as wide as it was.
        width = int(form.strip("A")) if re.fullmatch(r"A\d+", form) else 0
        width = width or (0 if any(texts) else BLANK_WIDTH)
        texts[:1] = [text + " " * (width - len(text.encode())) for text in texts[:1]]
    return pd.array(texts, dtype="string")


def valid_names(header: Sequence[str], target: Target) -> list[str]:
    """Names that a program takes, no two alike in its eyes; those that it takes are left alone.

    >>> valid_names(["age", "home office", "2nd", "AGE", "by"], TARGETS[".sav"])
    ['age', 'home_office', 'v_2nd', 'AGE_2', 'by_2']
    """
    taken = set(target.reserved.split())
    names = []
    for given in header:
        name = re.sub(f"(?!{target.signs}).", "_", given.strip(), flags=re.DOTALL)
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


def _cut(text: str, n_bytes: int) -> str:
    return text.encode()[:n_bytes].decode(errors="ignore")


def _losses(
    names: Mapping[str, str], n_dropped: int, known: Variables | None, target: Target
) -> Iterator[str]:
    """What a person should know that the file cannot hold, or not by its name."""
    if renamed := [f"{given} -> {name}" for name, given in names.items() if given != name]:
        what = f"{target.program} does not take all names; labels keep them as they were"
        yield f"{what}: {quote_first(renamed)}"
    if known is None:
        return
    if target.program == "SAS" and known.values:
        yield "this format of SAS has no value labels; the numbers are there without them"
    if n_dropped:
        yield f"{n_dropped:,} values that {known.program} declares to be missing are empty"
    if known.sets:
        lost = quote_first(known.sets)
        yield f"the multiple-response sets {lost} are lost, their variables are not"
