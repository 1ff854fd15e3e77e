"""Opening tables: what can be read, what is said of the rest, and rows of the header."""

import gzip
import os
import random

import pytest
from table_files import hint_of, load, load_text, put, save

from nldd.coding.tables.reading import TableOptions, read_table
from nldd.exceptions import InputError


def test_missing_file(tmp_path):
    assert str(tmp_path) in hint_of(r"none\.csv does not exist", read_table, tmp_path / "none.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="is not a regular file"):
        read_table(tmp_path / "pipe.csv")


@pytest.mark.parametrize("name", ["empty.csv", "empty.xlsx", "empty.jsonl", "empty.parquet"])
def test_empty_file(tmp_path, name):
    with pytest.raises(InputError, match=f"{name} is empty"):
        read_table(put(tmp_path, "", name))


FOREIGN = [
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file"),
    (b"PAR1\x15\x00", "a Parquet file"),
    (gzip.compress(b"a,b\n"), "a gzip archive"),
    (b"%PDF-1.7\n", "a PDF file"),
    (b"$FL2@(#) SPSS DATA FILE", "an SPSS file"),
    (b"<stata_dta><header>", "a Stata file"),
    (b"SQLite format 3\0", "a database, such as a review"),
    (b"\xef\xbb\xbf  <!DOCTYPE html><html>", "a web page"),
    (b'<?xml version="1.0"?><Workbook>', "an XML file"),
    (b"PK\x03\x04", "a zip archive: a workbook, a document or a model of nldd"),
]


@pytest.mark.parametrize(("content", "what"), FOREIGN, ids=[what for _, what in FOREIGN])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.unknown"])
def test_other_files_are_named(tmp_path, content, what, name):
    assert hint_of(f"it seems to be {what}", read_table, put(tmp_path, content, name))


@pytest.mark.parametrize(
    "content",
    [bytes(range(256)) * 20, b"\0" * 1000, b"ab\0\0\0" * 50, random.Random(0).randbytes(5000)],
    ids=["all", "zeros", "padded", "random"],
)
def test_bytes_that_are_no_text(tmp_path, content):
    with pytest.raises(InputError, match="it holds bytes that no text has"):
        read_table(put(tmp_path, b"x" + content))


@pytest.mark.parametrize("name", ["answers", "answers.dat", "answers.xls"])
def test_text_with_any_ending_is_csv(tmp_path, name):
    loaded = load_text(tmp_path, "a,b\n1,2\n", name=name)
    assert (loaded.rows, loaded.format.kind) == ([("1", "2")], "csv")


def test_sheet_of_a_text(tmp_path):
    with pytest.raises(InputError, match=r"only workbooks such as \.xlsx do"):
        load_text(tmp_path, "a,b\n", sheet="One")


def test_column_by_name(tmp_path):
    table = read_table(put(tmp_path, "Age,answer, Region ,answer\n1,2,3,4\n"))
    assert [table.cells(name) for name in table.names] == [["1"], ["2"], ["3"], ["4"]]
    for wrong, hint in (
        ("age", "Did you mean 'Age'?"),
        ("anwser", "Did you mean 'answer' or 'answer (2)'?"),
        ("zzz", "name one of its columns: 'Age', 'answer', 'Region', 'answer (2)'"),
    ):
        assert hint_of(rf"answers\.csv has no column '{wrong}'", table.find, wrong) == hint


@pytest.mark.parametrize(
    ("free", "hint"),
    [
        (["id", "Answers"], "rename the column 'Answers' to 'answer' in the file, or use"),
        (["id", "nsw"], "rename the right column to 'answer' in the file, or use another file;"),
        ([], "add the column 'answer' to the file, or use another file"),
    ],
    ids=["near", "far", "none"],
)
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_column_that_nobody_can_name_otherwise(tmp_path, name, free, hint):
    path = save(tmp_path / name, ["id", "x"], [(1, 2)])
    table = read_table(path)
    assert table.find("x", free) == "x"
    said = hint_of(f"{name} has no column 'answer'", table.find, "answer", free)
    assert said.startswith(hint)
    assert all(repr(other) in said for other in free if "right" in hint)


IDS = '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1_TEXT""}"'
QUALTRICS = f'ResponseId,Q1\nResponse ID,"What would\nyou change?"\n{IDS}\nR_1,more buses\nR_2,\n'


@pytest.mark.parametrize(
    "content",
    [
        "id,answer\n1,Response\n2,late\n",
        "id,answer\n,Response\n,late\n",
        "id,answer\n,responses are slow\n2,late\n",
        "id,answer\n,Response\n",
        'id;age;answer\n1;3;{"ImportId": 1}\n2;4;{"ImportId": 1}\n',
    ],
    ids=["with an id", "no ids at all", "a sentence", "one row", "it speaks of ids"],
)
def test_first_rows_that_are_answers(tmp_path, content):
    loaded = load_text(tmp_path, content)
    assert (len(loaded.rows), loaded.notes) == (content.count("\n") - 1, [])


def test_rows_are_skipped_as_a_person_says(tmp_path):
    loaded = load_text(tmp_path, "a,b\nnames,of these\n1,2\n3,4\n", skip_rows=1)
    assert loaded.rows == [("1", "2"), ("3", "4")]
    assert loaded.notes == ["1 row below the header skipped; rows are counted after that."]
    # Then nothing else is skipped by itself.
    loaded = load_text(tmp_path, QUALTRICS, skip_rows=1)
    assert [row[0] for row in loaded.rows] == ['{"ImportId":"_recordId"}', "R_1", "R_2"]
    assert load_text(tmp_path, "a,b\n1,2\n", skip_rows=5).rows == []
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"a": 1}\n{"a": 2}\n')
    assert load(lines, skip_rows=1).rows == [(2,)]


def test_titles_above_the_header(tmp_path):
    content = "Staff 2024;;\n\nid;answer;age\n1;late, again;3\n\n2;;4\n"
    loaded = load_text(tmp_path, content, header_row=3)
    assert loaded.header == ("id", "answer", "age")
    assert loaded.rows == [("1", "late, again", "3"), ("2", "", "4")]
    assert loaded.notes == ["1 blank line was skipped."]
    rows = [("", ""), ("id", "answer"), (1, "late"), ("", ""), (2, None)]
    loaded = load(save(tmp_path / "answers.xlsx", ["Staff 2024", ""], rows), header_row=3)
    assert (loaded.header, loaded.rows) == (("id", "answer"), [(1, "late"), (2, None)])
    assert loaded.notes == ["1 empty row was skipped."]


@pytest.mark.parametrize("name", ["answers.csv", "answers.xlsx"])
def test_a_title_in_the_place_of_the_header_is_told(tmp_path, name):
    rows = [("", ""), ("id", "answer"), (1, "late")]
    path = save(tmp_path / name, ["Staff 2024", ""], rows)
    with pytest.raises(InputError) as refused:
        read_table(path).find("answer")
    assert "--header-row N" in refused.value.hint
    table = read_table(path, TableOptions(header_row=3))
    assert hint_of("no column 'answers'", table.find, "answers") == "Did you mean 'answer'?"
