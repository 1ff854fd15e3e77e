r"""Tables as CSV, text and LaTeX: whole texts to compare, and hostile ones to survive."""

import csv
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from nldd.exceptions import InputError
from nldd.present.table import (
    LONG_ROWS,
    Table,
    TableEntry,
    escape_latex,
    right_aligned,
    tabulate,
    to_csv,
    to_latex,
    to_text,
)
from nldd.present.text import escape_formula

LOSSES = Table(
    key="hamming_loss",
    title="Hamming loss (lower is better)",
    head=("Data", "BR", "NLDD", "Rule"),
    rows=(
        (
            "emotions",
            "0.1970",
            TableEntry("0.1899", bold=True, under="\u00b1 0.0030\n0.1901 (-0.1)"),
            "10 folds",
        ),
        ("tmc2007", TableEntry("0.0583", bold=True), "-", "75/25"),
    ),
    foot=(("av. ranks", "1.5", TableEntry("1.5", under="2.7"), ""),),
    notes=("NLDD > {BR}", "Published values are below ours."),
)

CSV = """\
Data,BR,NLDD,Rule
emotions,0.1970,"0.1899 (\u00b1 0.0030, 0.1901 (-0.1))",10 folds
tmc2007,0.0583,-,75/25
av. ranks,1.5,1.5 (2.7),
"""

TEXT = """\
Hamming loss (lower is better)
  Data           BR    NLDD                             Rule
  emotions   0.1970  0.1899  (± 0.0030, 0.1901 (-0.1))  10 folds
  tmc2007    0.0583       -                             75/25
  av. ranks     1.5     1.5  (2.7)"""

LATEX = r"""% Needs \usepackage{booktabs,graphicx}.
\begin{table*}[ht]
\centering
\caption{Hamming loss (lower is better)}\label{tab:hamming_loss}
\par\smallskip
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{@{}lrrl@{}}
\toprule
Data & BR & NLDD & Rule \tabularnewline
\midrule
emotions & 0.1970 & \textbf{0.1899} & 10 folds \tabularnewline
 &  & {\scriptsize $\pm$ 0.0030} &  \tabularnewline
 &  & {\scriptsize 0.1901 ($-$0.1)} &  \tabularnewline
tmc2007 & \textbf{0.0583} & - & 75/25 \tabularnewline
\midrule
av. ranks & 1.5 & 1.5 &  \tabularnewline
 &  & {\scriptsize 2.7} &  \tabularnewline
\bottomrule
\end{tabular}}
\par\smallskip{\footnotesize NLDD \textgreater{} \{BR\}\par}
\par\smallskip{\footnotesize Published values are below ours.\par}
\end{table*}
"""

# Each would break a table in one of the forms if it came through as it is.
HOSTILE = [
    *("a|b", "two\nlines", "two\r\n\r\nparagraphs", "lone\rreturn"),
    *("tab\tand \x00 control \x1b[31m", r"back\slash \| \\", "100% & $5 #1 a_b ~x ^y {z}"),
    *("[1] and [2](http://example.org)", "*star* __bold__ `code` ~~gone~~"),
    *("<b>html</b> &amp; <script>", "say \"no\", 'yes', ``both''"),
    *(r"\input{/etc/passwd} \end{table}", "}", "{", "--- and --", "# heading"),
    *("\u00fc \u00b1 \u00d7 \u2264 \u2212 ", ",;,,"),
]


@pytest.mark.parametrize(
    ("render", "expected"),
    [(to_csv, CSV), (to_text, TEXT), (to_latex, LATEX)],
    ids=["csv", "text", "latex"],
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


def test_cells_with_a_second_line_only_and_tables_without_rows():
    table = Table("t", "T", ("Data", "F"), (("yeast", TableEntry("", bold=True, under="0.64")),))
    assert to_csv(table) == "Data,F\nyeast,0.64\n"
    assert "yeast &  \\tabularnewline\n & {\\scriptsize 0.64} " in to_latex(table)
    none = tabulate("t", "T", [], {"Data": str, "F": str}, "nothing")
    assert to_csv(none) == "Data,F\n"
    assert to_latex(none).count(r"\midrule") == 1


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["0.5", "-0.5", "12"], True),
        (["1e-05", "+3", "1,234", "50 %", "12 s", "3.5 (2)", "<0.001", "0.2 +- 0.1", "4*"], True),
        *((["\u22120.5", "1 \u00b1 2", ".5"], True), (["0.5", "", "-", "--", "n/a", "nan"], True)),
        *((["", "-"], False), (["0.5", "BR"], False), (["10 folds"], False), (["A1"], False)),
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


# LaTeX


def without_escapes(latex):
    """LaTeX without the escaped characters, so that what is left is syntax."""
    return re.sub(r"\\[{}$&#%_]", "", latex)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_in_its_latex_cell(text):
    table = Table(
        "t", text, (text, "F"), ((text, TableEntry("1", bold=True, under=text)),), notes=(text,)
    )
    lines = "\n".join("x" * bool(line) for line in text.splitlines())
    tame = replace(table, title="x", head=("x", "F"), rows=(("x", TableEntry("1", True, lines)),))
    tame = replace(tame, notes=("x",))
    latex, expected = to_latex(table), to_latex(tame)
    assert len(latex.splitlines()) == len(expected.splitlines())
    for line, harmless in zip(latex.splitlines(), expected.splitlines(), strict=True):
        syntax = without_escapes(line)
        braces = syntax.count("{") - syntax.count("}")
        assert braces == harmless.count("{") - harmless.count("}")
        assert syntax.count("&") == harmless.count("&")
        assert syntax.count("%") == harmless.count("%")
        assert syntax.count(r"\\") == harmless.count(r"\\")
        assert syntax.count("$") % 2 == 0
        assert not re.search(r"[\x00-\x1f#_~^]", syntax)
    commands = re.findall(r"\\[A-Za-z]+", without_escapes(escape_latex(text)))
    allowed = "textbackslash textasciitilde textasciicircum textless textgreater textbar char pm"
    assert set(commands) <= {f"\\{name}" for name in f"{allowed} times leq geq".split()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50% of a_b & c", r"50\% of a\_b \& c"),
        (r"\x{y}", r"\textbackslash{}x\{y\}"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("a < b | c", r"a \textless{} b \textbar{} c"),
        # After the \\ of the row before, [ and * would be its arguments.
        ("[a] *", "{[}a] {*}"),
        ("-0.5 (-.5), 10-20, 1e-05, x-1", "$-$0.5 ($-$.5), 10-20, 1e-05, x-1"),
        ("--folds", "-{}-folds"),
        ("---", "-{}-{}-"),
        ("``a''", "`{}`a'{}'"),
        ('"', r"{\char34}"),
        ("1 \u00b1 2 \u2264 3", r"1 $\pm$ 2 $\leq$ 3"),
        ("a\n\nb", "a b"),
        ("caf\u00e9 \u0141\u00f3d\u017a", "caf\u00e9 \u0141\u00f3d\u017a"),
    ],
)
def test_escape_latex(text, expected):
    assert escape_latex(text) == expected


def test_tables_of_more_rows_than_a_page_repeat_their_head():
    table = Table("t", "T", ("data", "M0"), tuple((f"d{i}", "0.5") for i in range(LONG_ROWS + 1)))
    latex = to_latex(table)
    assert r"\usepackage{booktabs,longtable}" in latex.splitlines()[0]
    assert latex.count(r"\begin{longtable}") == latex.count(r"\label") == 1
    assert latex.count("data & M0") == 2
    assert "longtable" not in to_latex(replace(table, rows=table.rows[1:]))


def test_long_texts_get_lines_in_which_words_may_be_broken():
    rows = (("LP", f"LabelPowerset(estimator=PlattSVC(C={'1' * 50}))"), ("BR", "BR()"))
    latex = to_latex(Table("settings", "Settings", ("method", "settings"), rows))
    assert r"{@{}lp{0.4\linewidth}@{}}" in latex
    assert r"BR & \raggedright BR() \tabularnewline" in latex
    assert r"(\allowbreak{}" in latex
