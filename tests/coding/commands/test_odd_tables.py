"""Tables that nobody here wrote, from fit to coded output: no row, column or cell is lost."""

import csv
import datetime
import json
from collections import Counter
from statistics import median

import pytest

from coding_tables import (
    ADDED,
    COLUMNS,
    HEADER,
    QUICK,
    answers,
    read_csv,
    refuse,
    succeed,
    write_csv,
)
from nldd.present.text import escape_formula
from odd_tables import N_CODED, ODD, N, as_text

MALICIOUS = (
    "=cmd|'/C calc'!A0",
    "+1+cmd|'/C calc'!A0",
    "-2+3+cmd|'/C calc'!A0",
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\uff1d1+1",
    '=HYPERLINK("http://example.org?"&A1,"click")',
)


@pytest.fixture(params=ODD.values(), ids=ODD.keys())
def odd(request, tmp_path):
    return request.param(tmp_path)


def read_workbook(path):
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.utils.escape import unescape

    rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    texts = [tuple(unescape(c) if isinstance(c, str) else c for c in row) for row in rows]
    cells = [tuple(map(in_workbook, row)) for row in texts]
    return cells[0], cells[1:]


def read_lines(path):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(records[0]), [tuple(record.values()) for record in records]


def in_workbook(cell):
    """A cell as far as openpyxl tells: dates have a time, and empty text may be no cell."""
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    return None if cell == "" else cell


def in_line(cell):
    return as_text(cell) if isinstance(cell, datetime.date) else cell


def read_coded(odd, path):
    """Header, rows and the cells that the origin had, by readers that are not nldd's own."""
    if path.suffix == ".csv":
        return *read_csv(path, delimiter=odd.delimiter), odd.texts
    read, form = (read_workbook, in_workbook) if path.suffix == ".xlsx" else (read_lines, in_line)
    return *read(path), [tuple(map(form, row)) for row in odd.rows]


def added_cells(odd, path):
    """Compare the cells of a coded file with those of its origin; return those that are new."""
    header, rows, expected = read_coded(odd, path)
    n_old = len(odd.header)
    names = (*ADDED, *(f"nldd_{name}" for name in odd.marks))
    assert header[n_old:] == names
    if path.suffix != ".jsonl":  # whose keys must be distinct
        assert tuple(name or "" for name in header[:n_old]) == odd.header
    assert [row[:n_old] for row in rows] == expected
    return [dict(zip(names, map(as_text, row[n_old:]), strict=True)) for row in rows]


def check_added(odd, row):
    options = dict(zip(odd.options, odd.options[1:], strict=False))
    codes = set(row["nldd_codes"].split(options.get("--sep", ";"))) - {""}
    assert codes <= set(odd.counts)
    assert 0 <= float(row["nldd_theta"]) <= 1
    assert bool(row["nldd_why"]) == (row["nldd_status"] == "review")
    assert all(int(row[f"nldd_{name}"]) == (name in codes) for name in odd.marks)


def test_from_fit_to_coded_files_nothing_is_lost(odd, tmp_path, capsys):
    model = tmp_path / "model.nldd"
    fitted = succeed(capsys, "fit", odd.path, *odd.options, *QUICK, "-o", model, "--json").json
    assert (fitted["rows"], fitted["coded"], fitted["set_aside"]) == (N, N_CODED, N - N_CODED)
    assert fitted["labels"] == odd.counts
    assert tuple(fitted["notes"]) == odd.notes

    theta, coded = 1.0, []
    for name in ("coded.jsonl", "coded.xlsx", "coded.csv"):
        words = ("predict", model, odd.path, "-o", tmp_path / name, "--max-theta", theta)
        counts = succeed(capsys, *words, "--raw", "--json").json
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


def test_a_list_with_one_code_only_is_refused(tmp_path, capsys):
    rows = [(*row[:-1], "pay") for row in answers(30)]
    path = write_csv(tmp_path / "odd.csv", rows)
    error, hint = refuse(capsys, "fit", path, *COLUMNS, *QUICK, "-o", tmp_path / "model.nldd")
    assert "30 coded answers" in error and "{pay}" in error
    assert "--labels" in hint
    assert not (tmp_path / "model.nldd").exists()


@pytest.fixture
def malicious(tmp_path, capsys):
    """A model that knows malicious answers and codes, and a table of new ones of the kind."""
    rows = [
        (a, f"{MALICIOUS[i % len(MALICIOUS)]} {b}", c, MALICIOUS[-i % len(MALICIOUS)], f"={e}")
        for i, (a, b, c, _, e) in enumerate(answers(60))
    ]
    header = ("id", "answer", "age", "=region", "codes")
    path = write_csv(tmp_path / "answers.csv", rows, header, quoting=csv.QUOTE_ALL)
    words = ("fit", path, *COLUMNS, "--features", "=region", *QUICK, "-o", tmp_path / "model.nldd")
    succeed(capsys, *words)
    new = [(f"new {row[0]}", *row[1:4]) for row in rows]  # of other respondents
    write_csv(tmp_path / "new.csv", new, header[:4], quoting=csv.QUOTE_ALL)
    return tmp_path, header[:4], new


def predict(capsys, folder, out, *options, new="new.csv", theta=1):
    words = ("predict", folder / "model.nldd", folder / new, "-o", folder / out, *options)
    succeed(capsys, *words, "--max-theta", theta)


def test_formulas_are_guarded_in_csv(malicious, capsys):
    folder, _, rows = malicious
    predict(capsys, folder, "coded.csv", "--explain")
    found, coded = read_csv(folder / "coded.csv")
    assert found[:4] == ("id", "answer", "age", "'=region")
    assert [row[1] for row in coded] == [escape_formula(row[1]) for row in rows]
    assert [row[3] for row in coded] == [escape_formula(row[3]) for row in rows]
    assert all(row[1].startswith("'") and row[3].startswith("'") for row in coded)
    assert all(row[4].startswith("'=") and row[8].startswith("'") for row in coded)
    begins = tuple("=+-@\t\r\uff1d")
    cells = {cell for row in coded for cell in row if cell.lstrip(" ").startswith(begins)}
    assert {cell for cell in cells if not is_number(cell)} == set()


def is_number(cell):
    return cell.replace(".", "").replace("e-", "").removeprefix("-").isdecimal()


def test_formulas_are_guarded_in_review_and_audit_files(malicious, capsys):
    folder, _, rows = malicious
    predict(capsys, folder, "coded.csv", "--review", folder / "review.csv", theta=0)
    review = [row[1] for row in read_csv(folder / "review.csv")[1]]
    assert sorted(review) == sorted(escape_formula(row[1]) for row in rows)
    predict(capsys, folder, "raw.csv", "--raw")
    succeed(capsys, "audit", folder / "raw.csv", "--sample", "5")
    assert all(row[1].startswith("'") for row in read_csv(folder / "raw.audit.csv")[1])
    succeed(capsys, "audit", folder / "raw.csv", "--sample", "5", "--raw", "--force")
    assert all(row[1].startswith(MALICIOUS) for row in read_csv(folder / "raw.audit.csv")[1])


def test_raw_leaves_formulas_as_they_are(malicious, capsys):
    folder, header, rows = malicious
    predict(capsys, folder, "coded.csv", "--raw")
    found, coded = read_csv(folder / "coded.csv")
    assert found[:4] == header
    assert [row[:4] for row in coded] == rows
    assert all(row[4].startswith("=") for row in coded)


def test_formulas_come_through_workbooks_exactly(malicious, capsys):
    folder, header, rows = malicious
    predict(capsys, folder, "coded.xlsx")
    predict(capsys, folder, "again.xlsx", new="coded.xlsx")
    predict(capsys, folder, "back.csv", "--raw", new="again.xlsx")
    first = read_workbook(folder / "coded.xlsx")
    assert first[0][:4] == header
    assert [row[:4] for row in first[1]] == [tuple(map(in_workbook, row)) for row in rows]
    again = read_workbook(folder / "again.xlsx")
    assert [row[:11] for row in again[1]] == first[1]
    assert again[0][11:] == tuple(f"{name} (2)" for name in ADDED)
    assert [row[:4] for row in read_csv(folder / "back.csv")[1]] == rows


def test_workbooks_hold_formulas_as_text(malicious, capsys):
    openpyxl = pytest.importorskip("openpyxl")
    folder, *_ = malicious
    predict(capsys, folder, "coded.xlsx")
    cells = [cell for row in openpyxl.load_workbook(folder / "coded.xlsx").active for cell in row]
    assert {cell.data_type for cell in cells} <= {"inlineStr", "s", "n"}


def test_a_table_without_rows_stays_one(tmp_path, capsys):
    path, model = write_csv(tmp_path / "a.csv", answers(40)), tmp_path / "model.nldd"
    succeed(capsys, "fit", path, *COLUMNS, *QUICK, "-o", model)
    new = write_csv(tmp_path / "new.csv", [])
    words = ("predict", model, new, "-o", tmp_path / "coded.csv", "--json")
    counts = succeed(capsys, *words).json
    assert (counts["rows"], counts["auto"], counts["review"]) == (0, 0, 0)
    assert read_csv(tmp_path / "coded.csv") == ((*HEADER, *ADDED), [])
