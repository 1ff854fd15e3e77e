"""CSV files that nobody here wrote."""

import csv

import pytest
from hypothesis import given, settings, strategies as st
from naive_table_csv import read_naively
from table_files import load, load_text

from nldd.exceptions import InputError


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "not ended"])
def test_line_ends(tmp_path, end, last):
    text = end.join(["id,answer", '1,"two', 'lines"', "2,x"]) + end * last
    loaded = load_text(tmp_path, text)
    assert loaded.rows == [("1", f"two{end}lines"), ("2", "x")]
    assert loaded.format.newline == ("\r\n" if end == "\r\n" else "\n")


def test_duplicate_and_empty_headers(tmp_path):
    loaded = load_text(tmp_path, "a,a,,a (2), a ,column 3\n1,2,3,4,5,6\n")
    assert loaded.header == ("a", "a", "", "a (2)", " a ", "column 3")
    assert loaded.names == ("a", "a (3)", "column 3", "a (2)", "a (4)", "column 3 (2)")
    assert loaded.notes == [
        "Repeated column names got a number: 'a (3)', 'a (4)', 'column 3 (2)'.",
        "1 column had no name: 'column 3'.",
    ]


def test_blank_lines_are_skipped_and_counted(tmp_path):
    loaded = load_text(tmp_path, "\n\na,b\n\n1,2\n  \n\n3,4\n\n\n\x1a")
    assert loaded.rows == [("1", "2"), ("3", "4")]
    assert loaded.notes == ["8 blank lines were skipped."]


def test_blank_line_of_one_column_is_an_empty_answer(tmp_path):
    loaded = load_text(tmp_path, 'answer\ngood\n\n\nbad, really\n""\n\n')
    assert loaded.rows == [("good",), ("",), ("",), ("bad, really",), ("",)]
    assert loaded.notes == ["1 blank line was skipped."]


def test_short_rows_are_filled(tmp_path):
    loaded = load_text(tmp_path, 'a,b,c\n"1\nx",2,3\n4\n5,6\n')
    assert loaded.rows == [("1\nx", "2", "3"), ("4", "", ""), ("5", "6", "")]
    assert loaded.notes == [
        "2 rows had fewer cells than the header, the first in line 4; empty ones were added."
    ]


def test_empty_cells_too_many_are_dropped(tmp_path):
    loaded = load_text(tmp_path, "a,b\n1,2,,\n3,4, \n")
    assert loaded.rows == [("1", "2"), ("3", "4")]
    assert loaded.notes == []


def test_cell_too_many_is_refused_with_its_line(tmp_path):
    text = 'a,b\n"1\n2\n3",x\n\n' + "4,5\n" * 150 + "6,7,,spill\x00ed\n"
    with pytest.raises(InputError) as caught:
        load_text(tmp_path, text)
    assert str(caught.value).endswith(
        "answers.csv, line 156: the row has 4 cells, the header 2; the first cell too many is "
        "'spill\\x00ed'."
    )
    assert "in quotes" in caught.value.hint


def test_a_header_of_one_name_is_that_of_one_column(tmp_path):
    assert load_text(tmp_path, "id\n1,2\n3,4\n").rows == [("1,2",), ("3,4",)]
    with pytest.raises(InputError, match="line 2: the row has 2 cells, the header 1"):
        load_text(tmp_path, "id\n1,2\n3,4\n", separator=",")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,2\n3,"open\n' + "4,5\n" * 500, 3),
        ('a,b\n"1\n2","3\n4\n5\n', 2),
        ('a,b\n1,2\n"', 3),
        ('"a,b\n1,2\n', 1),
        ("a,b\n" + "1,2\n" * 300 + '"\n\n', 302),
        ('sep=,\na,b\n1,"2\n', 3),
    ],
)
def test_open_quote_is_refused_with_its_line(tmp_path, text, line):
    with pytest.raises(InputError, match=f"line {line}: a quote of the row .* is never"):
        load_text(tmp_path, text)


def test_cell_that_is_far_too_long(tmp_path):
    with pytest.raises(InputError, match="line 3: a cell is longer than 1,048,576") as caught:
        load_text(tmp_path, 'a,b\n1,2\n3,"open\n' + f"{'4' * 4000}\n" * 300)
    assert "quote" in caught.value.hint


@pytest.mark.parametrize("text", ["\n\n\n", "\ufeff", "  \n", "\ufeff\n"])
def test_nothing_but_blank_lines(tmp_path, text):
    with pytest.raises(InputError, match="holds nothing but blank lines") as caught:
        load_text(tmp_path, text)
    assert "column names" in caught.value.hint


def test_text_that_begins_with_a_space_and_a_quote_stays(tmp_path):
    loaded = load_text(tmp_path, 'id,answer\n1," ""so"" he said"\n2, x\n')
    assert loaded.rows == [("1", ' "so" he said'), ("2", " x")]


CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8
) | st.sampled_from(["", " ", '"', '""', ",", "\n", "\r", "\r\n", ' "', "x,", '",', "\x1a"])


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_well_formed_files_are_read_as_the_csv_module_does(
    tmp_path_factory, rows, separator, end, all_quoted
):
    path = tmp_path_factory.getbasetemp() / "well formed.csv"
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    with path.open(newline="", encoding="utf-8") as stream:
        expected = read_naively(stream.read(), separator)
    try:
        loaded = load(path, encoding="utf-8", separator=separator)
    except InputError:
        assert expected is None
    else:
        assert (loaded.header, loaded.rows) == expected
