"""CSV files that nobody here wrote: their rows, their separators, and what is refused."""

import csv
from io import StringIO

import pytest
from hypothesis import given, settings, strategies as st
from table_files import hint_of, load, load_text

from nldd.coding.tables.text_tables import NO_SEPARATOR, find_separator
from nldd.exceptions import InputError

TWO = [("1", "2"), ("3", "4")]
FILLED = "2 rows had fewer cells than the header, the first in line 4; empty ones were added."


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
    assert "'a (3)', 'a (4)', 'column 3 (2)'" in loaded.notes[0]
    assert loaded.notes[1] == "1 column had no name: 'column 3'."


@pytest.mark.parametrize(
    ("text", "rows", "notes"),
    [
        ("\n\na,b\n\n1,2\n  \n\n3,4\n\n\n\x1a", TWO, ["8 blank lines were skipped."]),
        (  # of one column, a blank line between others is an empty answer
            'answer\ngood\n\n\nbad, really\n""\n\n',
            [("good",), ("",), ("",), ("bad, really",), ("",)],
            ["1 blank line was skipped."],
        ),
        (
            'a,b,c\n"1\nx",2,3\n4\n5,6\n',
            [("1\nx", "2", "3"), ("4", "", ""), ("5", "6", "")],
            [FILLED],
        ),
        ("a,b\n1,2,,\n3,4, \n", TWO, []),
        ('id,b\n1," ""so"" he said"\n2, x\n', [("1", ' "so" he said'), ("2", " x")], []),
        ("id\n1,2\n3,4\n", [("1,2",), ("3,4",)], []),
    ],
    ids=["blank lines", "one column", "short rows", "empty cells too many", "spaces", "one name"],
)
def test_rows(tmp_path, text, rows, notes):
    loaded = load_text(tmp_path, text)
    assert (loaded.rows, loaded.notes) == (rows, notes)


@pytest.mark.parametrize(
    ("text", "match", "hint"),
    [
        (
            'a,b\n"1\n2\n3",x\n\n' + "4,5\n" * 150 + "6,7,,spill\x00ed\n",
            r"line 156: the row has 4 cells, the header 2; .* 'spill\\x00ed'",
            "in quotes",
        ),
        ("id\n1,2\n3,4\n", "line 2: the row has 2 cells, the header 1", "--header-row"),
        ('a,b\n1,2\n3,"open\n' + f"{'4' * 4000}\n" * 300, "line 3: .* longer than", "quote"),
        *((text, "holds nothing but blank lines", "names") for text in ("\n\n", "\ufeff", " \n")),
    ],
)
def test_rows_that_are_refused_with_their_line(tmp_path, text, match, hint):
    assert hint in hint_of(match, load_text, tmp_path, text, separator=",")


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


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_detected(tmp_path, separator):
    rows = [("1", "good", "30"), ("2", "not, so; good | or\tbad", "41"), ("3", "", "")]
    lines = [separator.join(("id", "answer", "age"))]
    lines += [separator.join((a, f'"{b}"', c)) for a, b, c in rows]
    loaded = load_text(tmp_path, "\n".join(lines) + "\n")
    assert (loaded.rows, loaded.format.separator) == (rows, separator)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("id;weight\n1;1,5\n2;2,25\n", ";"),  # decimal commas
        ("id;a, b or c;age\n1;x, y;5\n2;z;6\n", ";"),  # commas in the header
        ("id,answer,codes\n1,x,1;2\n2,y,3;4;5\n", ","),  # several codes in a cell
        ("id,answer,codes\n1,x,1|2\n2,y,3|4\n", ","),
        ("id\tanswer\n1\tgood, cheap, near\n2\tbad, far, late\n", "\t"),
        ("a,b\n1,2\n3\n4,5\n", ","),  # a short row
        ("a,b\n1,2,3\n4,5,6\n", ","),  # cells too many, an error of the reader
        ("a;b\n", ";"),
        ('id,"x;y;z"\n1,"p;q;r"\n', ","),
        ("answer\ngood, cheap\nbad\nso, so, so\n", NO_SEPARATOR),
        ("What, if anything, was good?\nthe price\nthe staff\n", NO_SEPARATOR),
        ("answer\n", NO_SEPARATOR),
    ],
)
def test_separator_of_difficult_files(text, separator):
    assert find_separator(text.splitlines(keepends=True), True) == separator


@pytest.mark.parametrize("line", ["sep=;", "SEP=;"])
def test_first_line_of_excel(tmp_path, line):
    loaded = load_text(tmp_path, f"{line}\r\na,1;b,2\r\nx,y;z\r\n")
    assert (loaded.header, loaded.rows) == (("a,1", "b,2"), [("x,y", "z")])
    assert (loaded.format.separator, loaded.format.newline) == (";", "\r\n")


@pytest.mark.parametrize("separator", ["", ", ", '"', "\n", " ", "comma"])
def test_separator_that_is_none(tmp_path, separator):
    with pytest.raises(InputError, match="The separator must be one character"):
        load_text(tmp_path, "a,b\n", separator=separator)


def read_naively(text, separator):
    """Header and rows by the csv module, or None for what has to be refused."""
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    while rows and is_blank(rows[0]):
        rows.pop(0)
    if not rows:
        return None
    header, rows = rows[0], rows[1:]
    width = len(header)
    if width == 1:
        while rows and not rows[-1]:
            rows.pop()
        rows = [row or [""] for row in rows]
    else:
        rows = [row for row in rows if len(row) == width or not is_blank(row)]
    if any(cell.strip(" \t\x1a\xa0") for row in rows for cell in row[width:]):
        return None
    return tuple(header), [tuple(row[:width] + [""] * (width - len(row))) for row in rows]


def is_blank(row):
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t\x1a\xa0"))


CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8
) | st.sampled_from(["", " ", '"', '""', ",", "\n", "\r", "\r\n", ' "', "x,", '",', "\x1a"])


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@settings(max_examples=60, deadline=None)
def test_well_formed_files_are_read_as_the_csv_module_does(
    tmp_path_factory, rows, separator, end, quoting
):
    out = StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    path = tmp_path_factory.getbasetemp() / "well formed.csv"
    path.write_bytes(out.getvalue().encode())
    expected = read_naively(out.getvalue(), separator)
    try:
        loaded = load(path, encoding="utf-8", separator=separator)
    except InputError:
        assert expected is None
    else:
        assert (loaded.header, loaded.rows) == expected
