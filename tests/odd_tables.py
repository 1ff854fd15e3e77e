"""Files as other programs and people write them, each with what anybody would say is in it."""

import csv
import datetime
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from coding_tables import COLUMNS, HEADER, PHRASES, answers, counts_of, without_codes, write_csv

N = 60
N_CODED = 40
CODES = sorted(PHRASES)
DAY, MOMENT = datetime.date(2024, 2, 29), datetime.datetime(2023, 12, 31, 23, 59, 30)


def some_coded():
    """Answers of which every third waits for its codes."""
    return without_codes(answers(N), 3)


@dataclass
class Odd:
    """A file and its content.

    `rows` are the cells as they are in the file, `texts` the same as text, `counts` the answers
    with each code, `delimiter` that of coded CSV files, `marks` the columns of 0 and 1.
    """

    path: Path
    header: tuple
    rows: list
    texts: list | None = None
    options: tuple = COLUMNS
    counts: Counter | None = None
    delimiter: str = ","
    marks: tuple = ()
    notes: tuple = ()

    def __post_init__(self):
        self.texts = self.texts or self.rows
        self.counts = self.counts or counts_of(self.rows)


def semicolons_and_a_mark(folder):
    rows = [(*row[:-1], row[-1].replace(";", ",")) for row in some_coded()]
    return Odd(
        write_csv(folder / "odd.csv", rows, encoding="utf-8-sig", delimiter=";", newline="\r\n"),
        HEADER,
        rows,
        options=(*COLUMNS, "--sep", ",", "--features", "age,region"),
        counts=counts_of(rows, ","),
        delimiter=";",
    )


def quotes_over_lines(folder):
    tail = '\nsecond line, "quoted"\n\nfourth;'
    rows = [(a, f"{b}{tail}", *more) for a, b, *more in some_coded()]
    return Odd(write_csv(folder / "odd.csv", rows), HEADER, rows)


def line_that_names_the_separator(folder):
    rows = [
        (a, f"{b}, and so on", *more, codes.replace(";", "|"))
        for a, b, *more, codes in some_coded()
    ]
    return Odd(
        write_csv(folder / "odd.csv", rows, first="sep=;\r\n", delimiter=";", newline="\r\n"),
        HEADER,
        rows,
        options=(*COLUMNS, "--sep", "|"),
        counts=counts_of(rows, "|"),
        delimiter=";",
    )


def repeated_names(folder):
    header = ("id", "answer", "answer", "codes", "codes", "id")
    rows = [(a, "why", b, "", e, a) for a, b, _, _, e in some_coded()]
    return Odd(
        write_csv(folder / "odd.csv", rows, header),
        header,
        rows,
        options=("--text", "answer (2)", "--labels", "codes (2)"),
        counts=counts_of(rows, place=4),
        notes=("Repeated column names got a number: 'answer (2)', 'codes (2)', 'id (2)'.",),
    )


def empty_names(folder):
    header = ("", "answer", "", "", "codes")
    rows = some_coded()
    return Odd(
        write_csv(folder / "odd.csv", rows, header),
        header,
        rows,
        options=(*COLUMNS, "--features", "column 3,column 4"),
        notes=("3 columns had no name: 'column 1', 'column 3', 'column 4'.",),
    )


def emoji_and_right_to_left(folder):
    told = {
        "food": ("🍕", "الطعام 🍕 بارد"),
        "pay": ("أجر", "الراتب 💸 منخفض"),
        "managers": ("מנהל", "המנהל 👩\u200d💻 לא מקשיב"),
        "rooms": ("部屋", "המשרד 🔊 רועש\u200f"),
        "home office": ("é🏠", "お家で働きたい 🏠"),
    }
    header = ("№", "תשובה", "age", "region", "الرموز")
    rows = []
    for (a, _, c, _, codes), coded in zip(answers(N), some_coded(), strict=True):
        names, texts = zip(*(told[code] for code in codes.split(";")), strict=True)
        rows.append((a, " ".join(texts), c, "מרכז", "؛".join(names) if coded[-1] else ""))
    return Odd(
        write_csv(folder / "إجابات 🙂.csv", rows, header),
        header,
        rows,
        options=("--text", "תשובה", "--labels", "الرموز", "--sep", "؛"),
        counts=counts_of(rows, "؛"),
    )


def long_cells(folder):
    rows = [
        (a, (f"{b} {a} " * 1000)[:10_000] if i % 6 == 0 else b, *more)
        for i, (a, b, *more) in enumerate(some_coded())
    ]
    return Odd(write_csv(folder / "odd.csv", rows), HEADER, rows)


def empty_cells_and_blank_lines(folder):
    rows = [row if i % 6 else (row[0], "", "", "", row[-1]) for i, row in enumerate(some_coded())]
    path = write_csv(folder / "odd.csv", rows)
    lines = [f"{line}\n" for line in path.read_text().splitlines()]
    for place in range(len(lines), 0, -9):
        lines.insert(place, "\n")
    path.write_text("\n\n" + "".join(lines))
    return Odd(
        path,
        HEADER,
        rows,
        options=(*COLUMNS, "--features", "age,region"),
        notes=(f"{len(lines) - N - 1 + 2} blank lines were skipped.",),
    )


def line_ends(newline):
    def build(folder):
        rows = [(a, f"{b}\n!", *more) for a, b, *more in some_coded()]
        # All in quotes: Python before 3.13 quotes no line end but the one that it writes itself.
        path = write_csv(folder / "odd.csv", rows, newline=newline, quoting=csv.QUOTE_ALL)
        return Odd(path, HEADER, rows)

    return build


def in_encoding(encoding, read_as):
    def build(folder):
        tail = ". Größe für 5 € \u2013 schön, nicht? Über Äpfel"
        rows = [(a, f"{b}{tail}", c, "Köln", e) for a, b, c, _, e in some_coded()]
        path = write_csv(folder / "odd.csv", rows, encoding=encoding)
        note = f"The file is not in UTF-8; it was read as {read_as}"
        return Odd(path, HEADER, rows, notes=(note,))

    return build


def one_label(folder):
    header = ("id", "answer", "pay")
    rows = [(a, b, str(int("pay" in e)) if e else "") for a, b, _, _, e in some_coded()]
    return Odd(
        write_csv(folder / "odd.csv", rows, header),
        header,
        rows,
        options=("--text", "answer", "--label-columns", "pay"),
        counts=Counter(pay=sum(row[-1] == "1" for row in rows)),
        marks=("pay",),
    )


def marks_of_x(folder):
    header = ("id", *CODES, "answer")
    listed = some_coded()
    rows = [
        (a, *("x" if code in e.split(";") else "" for code in CODES), b) for a, b, _, _, e in listed
    ]
    return Odd(
        write_csv(folder / "odd.csv", rows, header),
        header,
        rows,
        options=("--text", "answer", "--label-columns", ",".join(CODES)),
        counts=counts_of(listed),
        marks=tuple(CODES),
    )


def tabs(folder):
    rows = [(a, f'{b} "so", he said; ok', *more) for a, b, *more in some_coded()]
    return Odd(write_csv(folder / "odd.tsv", rows, delimiter="\t"), HEADER, rows)


def json_lines(folder):
    header = ("id", "answer", "age", "member", "share", "codes")
    rows = [
        (i, b, int(c) if c else None, i % 2 == 0, i / 8, e)
        for i, (_, b, c, _, e) in enumerate(some_coded())
    ]
    path = folder / "odd.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows))
    return Odd(
        path, header, rows, as_texts(rows), options=(*COLUMNS, "--features", "age,member,share")
    )


def parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    header = ("id", "answer", "age", "day", "share", "codes")
    rows = [
        (i, b, int(c) if c else None, DAY, i / 8, e or None)
        for i, (_, b, c, _, e) in enumerate(some_coded())
    ]
    path = folder / "odd.parquet"
    columns = map(list, zip(*rows, strict=True))
    write_table(pyarrow.table(dict(zip(header, columns, strict=True))), path)
    return Odd(
        path,
        header,
        rows,
        as_texts(rows),
        options=(*COLUMNS, "--features", "age,day"),
    )


def excel(folder):
    """Dates, percents, numbers as codes, a second sheet, and formats and a merger below the end."""
    openpyxl = pytest.importorskip("openpyxl")
    header = ("id", "answer", "day", "moment", "share", "codes", "note")
    rows = []
    for i, (_, text, _, _, codes) in enumerate(some_coded()):
        numbers = [CODES.index(code) + 1 for code in codes.split(";") if code]
        cell = numbers[0] if len(numbers) == 1 else ";".join(map(str, numbers)) or None
        rows.append((i, text, DAY, MOMENT, i / 8, cell, None))
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Wave 2"
    for i, row in enumerate([header, *rows], 1):
        sheet.append(row)
        sheet.cell(i, 3).number_format = "dd.mm.yyyy"
        sheet.cell(i, 5).number_format = "0%"
    for cell in sheet[f"A{N + 2}:G{N + 5}"]:
        cell[0].number_format = cell[6].number_format = "0%"
    sheet.merge_cells(f"B{N + 3}:G{N + 5}")
    book.create_sheet("Notes").append(["not this one"])
    book.save(folder / "odd.xlsx")
    return Odd(
        folder / "odd.xlsx",
        header,
        rows,
        as_texts(rows),
        options=(*COLUMNS, "--features", "share,day"),
        counts=counts_of(rows, place=5),
        notes=("The sheet 'Wave 2' was read, and not 'Notes'.",),
    )


def as_texts(rows):
    """Cells as a person would type them."""
    return [tuple(map(as_text, row)) for row in rows]


def as_text(cell):
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:g}"
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return "" if cell is None else str(cell)


ODD = {
    "UTF-8 with a mark and semicolons": semicolons_and_a_mark,
    "quotes over lines": quotes_over_lines,
    "sep=;": line_that_names_the_separator,
    "repeated names": repeated_names,
    "empty names": empty_names,
    "emoji and right to left": emoji_and_right_to_left,
    "10,000 characters": long_cells,
    "empty cells and blank lines": empty_cells_and_blank_lines,
    "CRLF": line_ends("\r\n"),
    "CR": line_ends("\r"),
    "UTF-16": in_encoding("utf-16", "utf-16-le."),
    "cp1252": in_encoding(
        "cp1252", "cp1252, which is a guess. Set --encoding if letters look wrong."
    ),
    "one label": one_label,
    "marks of x": marks_of_x,
    "TSV": tabs,
    "JSONL": json_lines,
    "Parquet": parquet,
    "XLSX": excel,
}
