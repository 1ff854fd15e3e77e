"""What separates the cells of a file."""

import pytest
from table_files import load_text

from nldd.coding.tables.text_tables import NO_SEPARATOR, find_separator
from nldd.exceptions import InputError


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_detected(tmp_path, separator):
    rows = [("1", "good", "30"), ("2", "not, so; good | or\tbad", "41"), ("3", "", "")]
    lines = [separator.join(("id", "answer", "age"))]
    lines += [separator.join((a, f'"{b}"', c)) for a, b, c in rows]
    loaded = load_text(tmp_path, "\n".join(lines) + "\n")
    assert loaded.rows == rows
    assert loaded.format.separator == separator


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
        ("answer\ngood\nbad\n", NO_SEPARATOR),
        ("answer\ngood, cheap\nbad\nso, so, so\n", NO_SEPARATOR),
        ("What, if anything, was good?\nthe price\nthe staff\n", NO_SEPARATOR),
        ("answer\n", NO_SEPARATOR),
        ("answer\nI like it, really\nI do not, sorry\n", NO_SEPARATOR),
    ],
)
def test_separator_of_difficult_files(text, separator):
    assert find_separator(text.splitlines(keepends=True), True) == separator


@pytest.mark.parametrize("line", ["sep=;", "SEP=;"])
def test_first_line_of_excel(tmp_path, line):
    loaded = load_text(tmp_path, f"{line}\r\na,1;b,2\r\nx,y;z\r\n")
    assert (loaded.header, loaded.rows) == (("a,1", "b,2"), [("x,y", "z")])
    assert loaded.format.separator == ";"
    assert loaded.format.newline == "\r\n"


@pytest.mark.parametrize("separator", ["", ", ", '"', "\n", " ", "comma"])
def test_separator_that_is_none(tmp_path, separator):
    with pytest.raises(InputError, match="The separator must be one character"):
        load_text(tmp_path, "a,b\n", separator=separator)
