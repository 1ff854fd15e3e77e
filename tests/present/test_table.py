"""Tables as CSV and text, with whole texts to compare and hostile ones to survive."""

import csv
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from nldd.exceptions import InputError
from nldd.present.table import Table, TableEntry, right_aligned, to_csv, to_text
from nldd.present.text import escape_formula

LOSSES = Table(
    key="hamming_loss",
    title="Hamming loss (lower is better)",
    head=("Data", "BR", "NLDD", "Rule"),
    rows=(
        (
            "emotions",
            "0.1970",
            TableEntry("0.1899", bold=True, under="0.1901 (-0.0002)"),
            "10 folds",
        ),
        ("tmc2007", TableEntry("0.0583", bold=True), "-", "75/25"),
    ),
    foot=(("av. ranks", "1.5", TableEntry("1.5", under="2.7"), ""),),
    notes=("NLDD > {BR}", "Published values are below ours."),
)

CSV = """\
Data,BR,NLDD,Rule
emotions,0.1970,0.1899 (0.1901 (-0.0002)),10 folds
tmc2007,0.0583,-,75/25
av. ranks,1.5,1.5 (2.7),
"""

TEXT = """\
Hamming loss (lower is better)
  Data           BR    NLDD                      Rule
  emotions   0.1970  0.1899  (0.1901 (-0.0002))  10 folds
  tmc2007    0.0583       -                      75/25
  av. ranks     1.5     1.5  (2.7)"""

# Each would break a table in one of the forms if it came through as it is.
HOSTILE = [
    "a|b",
    "two\nlines",
    "two\r\n\r\nparagraphs",
    "lone\rreturn",
    "tab\tand \x00 control \x1b[31m",
    r"back\slash \| \\",
    "100% & $5 #1 a_b ~x ^y {z}",
    "[1] and [2](http://example.org)",
    "*star* __bold__ `code` ~~gone~~",
    "<b>html</b> &amp; <script>",
    "say \"no\", 'yes', ``both''",
    r"\input{/etc/passwd} \end{table}",
    "}",
    "{",
    "--- and --",
    "# heading",
    "\u00fc \u00b1 \u00d7 \u2264 \u2212 ",
    ",;,,",
]


@pytest.mark.parametrize(
    ("render", "expected"),
    [(to_csv, CSV), (to_text, TEXT)],
    ids=["csv", "text"],
)
def test_table_is_rendered_as_a_whole(render, expected):
    assert render(LOSSES) == expected


def test_text_of_some_columns_and_rows():
    table = replace(LOSSES, foot=())
    assert to_text(table, columns=(0, 3), most=1).splitlines()[1:] == [
        "  Data      Rule",
        "  emotions  10 folds",
        "  and 1 more",
    ]
    assert "more" not in to_text(table, most=2)


def test_csv_of_data_is_the_long_form():
    table = replace(
        LOSSES,
        data_head=("dataset", "method", "value", "n", "note"),
        data=(
            ("emotions", "BR", 0.1 + 0.2, 10, None),
            ("emotions", "NLDD", np.float64(0.1899), 10, 'x, "y"'),
            ("tmc2007", "NLDD", float("nan"), 1, ""),
            ("tmc2007", "BR", 1e-20, 1, "two\r\nlines"),
        ),
    )
    assert to_csv(table) == (
        "dataset,method,value,n,note\n"
        "emotions,BR,0.30000000000000004,10,\n"
        'emotions,NLDD,0.1899,10,"x, ""y"""\n'
        "tmc2007,NLDD,nan,1,\n"
        'tmc2007,BR,1e-20,1,"two\nlines"\n'
    )


def test_a_cell_with_a_second_line_only():
    table = Table("t", "T", ("Data", "F"), (("yeast", TableEntry("", bold=True, under="0.64")),))
    assert to_csv(table) == "Data,F\nyeast,0.64\n"


def test_a_table_without_rows_is_a_head():
    table = Table("t", "T", ("Data", "F"), ())
    assert to_csv(table) == "Data,F\n"


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["0.5", "-0.5", "12"], True),
        (["1e-05", "+3", "1,234", "50 %", "12 s", "3.5 (2)", "<0.001", "0.2 +- 0.1", "4*"], True),
        (["\u22120.5", "1 \u00b1 2", ".5"], True),
        (["0.5", "", "-", "--", "n/a", "nan"], True),
        (["", "-"], False),
        (["0.5", "BR"], False),
        (["10 folds"], False),
        (["A1"], False),
        (["2-fold cross-validation"], False),
    ],
    ids=str,
)
def test_columns_of_numbers_are_right_aligned(texts, right):
    table = Table("t", "T", ("Name", "Column"), tuple((text, TableEntry(text)) for text in texts))
    assert right_aligned(table) == (False, right)


def test_csv_holds_no_formulas():
    """Names of data sets and errors come from a file that somebody may have sent."""
    rows = (
        ("=1+1", "-0.5"),
        ("@SUM(A1)", TableEntry("+cmd|' /C calc'!A0", under="x")),
        ("ok", "-5"),
    )
    assert to_csv(Table("t", "T", ("=head", "F"), rows)) == (
        "'=head,F\n'=1+1,-0.5\n'@SUM(A1),'+cmd|' /C calc'!A0 (x)\nok,-5\n"
    )
    long = Table("t", "T", ("a",), (), data_head=("a", "b"), data=(("=1", -0.25), (None, -3)))
    assert to_csv(long) == "a,b\n'=1,-0.25\n,-3\n"


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_in_its_csv_cell(text):
    table = Table("t", text, (text, "F"), ((text, TableEntry(text)),))
    long = replace(table, data_head=(text, "value"), data=((text, 0.5),))
    kept = escape_formula(text.replace("\r\n", "\n").replace("\r", "\n"))
    rows = list(csv.reader(StringIO(to_csv(table), newline="")))
    assert rows == [[kept, "F"], [kept, kept]]
    rows = list(csv.reader(StringIO(to_csv(long), newline="")))
    assert rows == [[kept, "value"], [kept, "0.5"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": (("emotions", "0.1"),)}, "each of the 4 columns of its head; got 2 cells"),
        ({"foot": (("ranks",),)}, "got 1 cells"),
        ({"data": ((1, 2),)}, "each of the 0 columns of its data_head; got 2 cells"),
    ],
    ids=["row", "foot", "data"],
)
def test_tables_that_do_not_fit_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(LOSSES, **change)
