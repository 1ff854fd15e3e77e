"""Rows below the header that belong to it, as survey programs write them."""

import pytest
from openpyxl import Workbook
from table_files import load, load_text

from nldd.coding.tables.reading import TableOptions, read_table
from nldd.exceptions import InputError

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
    book = Workbook()
    for row in (("Staff 2024",), (), ("id", "answer"), (1, "late"), (), (2, None)):
        book.active.append(row)
    book.save(tmp_path / "answers.xlsx")
    loaded = load(tmp_path / "answers.xlsx", header_row=3)
    assert (loaded.header, loaded.rows) == (("id", "answer"), [(1, "late"), (2, None)])
    assert loaded.notes == ["1 empty row was skipped."]


@pytest.mark.parametrize("name", ["answers.csv", "answers.xlsx"])
def test_a_title_in_the_place_of_the_header_is_told(tmp_path, name):
    path = tmp_path / name
    path.write_text("Staff 2024,\n,\nid,answer\n1,late\n")
    if path.suffix == ".xlsx":
        book = Workbook()
        for row in (("Staff 2024",), (), ("id", "answer"), (1, "late")):
            book.active.append(row)
        book.save(path)
    with pytest.raises(InputError) as refused:
        read_table(path).find("answer")
    assert "--header-row N" in refused.value.hint
    with pytest.raises(InputError) as refused:
        read_table(path, TableOptions(header_row=3)).find("answers")
    assert refused.value.hint == "Did you mean 'answer'?"
