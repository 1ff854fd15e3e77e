"""Write SPSS, Stata and SAS files: values as they were, and labels of all variables, old and new.

A file of the same program as before also gets formats, measures and missing values of the old
one; one of another program values, labels, and labels of values.
"""

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pandas as pd

from nldd._wording import quote_first
from nldd.coding.tables.spreadsheet import Cell, cell_place, cell_text, python_value
from nldd.coding.tables.typed_files import Labelled, Variables, load_pyreadstat, moment_value
from nldd.exceptions import InputError, NLDDWarning, warn_caller

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
_TIMES = {_DATE: "DATE11", _MOMENT: "DATETIME20", _TIME: "TIME8"}
_STATA_TIMES = {_DATE: "%td", _MOMENT: "%tc", _TIME: "%tcHH:MM:SS"}
TARGETS = {
    ".sav": Target("SPSS", "write_sav", 64, 250, 32_767, r"[\w.@#$]", _SPSS_WORDS, _TIMES),
    ".dta": Target("Stata", "write_dta", 32, 80, 2_000_000, r"\w", _STATA_WORDS, _STATA_TIMES),
    ".xpt": Target("SAS", "write_xport", 32, 250, 32_767, r"[A-Za-z0-9_]", "", _TIMES),
}


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
    is_same = known is not None and known.program == target.program
    if known and is_same:
        about["file_label"] = known.found.file_label or ""
        formats = known.found.original_variable_types
        about["variable_format"] = {n: form for n, form in formats.items() if form}
    if known and target.program != "SAS":
        about["variable_value_labels"] = {
            name: {v: label for v, label in known.values[given].items() if is_same or _is_whole(v)}
            for name, given in names.items()
            if given in known.values and (is_same or not known.is_text(given))
        }
    if target.program == "Stata":
        about |= {"missing_user_values": {n: [*ascii_lowercase] for n in names}, "version": 14}
    if target.program == "SPSS":
        about["variable_measure"] = dict(known.found.variable_measure) if known and is_same else {}
    if known and is_same and target.program == "SPSS":
        about |= {"missing_ranges": known.found.missing_ranges, "note": known.found.notes}
    return about


def _value(cell: Cell, was_text: bool | None, known: Variables | None, target: Target) -> Any:
    """What a file has for a cell: the value behind a label, None for nothing."""
    if isinstance(cell, Labelled) and known is not None and was_text is not None:
        # Another program would take the values that mean that there is none for others.
        keep = known.program == target.program != "SAS"
        return cell.value if cell or keep else None
    if cell is None or cell == "":
        return None
    return cell if isinstance(cell, str | int | float | _DATE | _TIME) else python_value(cell)


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
    texts = list(map(cell_text, values))
    for number, text in enumerate(texts, 1):
        if 4 * len(text) > target.longest_text and (n := len(text.encode())) > target.longest_text:
            what = f"the text has {n:,} bytes; {target.program} takes at most"
            hint = "shorten the text, or write the table as CSV or .xlsx"
            place = cell_place(path, number, name)
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
