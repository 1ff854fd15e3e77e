r"""Tables for LaTeX: whole texts, hostile ones, how they are fitted to a page, and compiled."""

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from bench.report.records import LP_SETTINGS, everything, grid
from nldd.bench.report.report import make_report
from nldd.bench.report.results import results
from nldd.present.latex import (
    CHARACTERS,
    HEIGHT,
    KNOWN,
    WIDTH,
    breakable,
    choose_layout,
    escape_latex,
    head_lines,
    text_width,
    to_latex,
)
from nldd.present.table import Table, TableEntry
from present.test_table import HOSTILE, LOSSES

LATEX = r"""% Needs \usepackage{booktabs}.
\begin{table}[ht]
\centering
\caption{Hamming loss (lower is better)}\label{tab:hamming_loss}
\par\smallskip\setlength{\tabcolsep}{3pt}
\begin{tabular}{@{}lrrl@{}}
\toprule
Data & BR & NLDD & Rule \\
\midrule
emotions & 0.1970 & \textbf{0.1899} & 10 folds \\
 &  & {\scriptsize 0.1901 ($-$0.0002)} &  \\
tmc2007 & \textbf{0.0583} & - & 75/25 \\
\midrule
av. ranks & 1.5 & 1.5 &  \\
 &  & {\scriptsize 2.7} &  \\
\bottomrule
\end{tabular}
\par\smallskip{\footnotesize\raggedright NLDD \textgreater{} \{BR\}\par}
\par\smallskip{\footnotesize\raggedright Published values are below ours.\par}
\end{table}
"""
ODD = [
    *("a_b & c%", "#1 {x} ~^\\", "caf\u00e9 \u00b1 \u4e2d\u6587", "x" * 45, "$5 <b> [1] *", "-5"),
    *("Ensemble of classifier chains 12", "\u0394\u03b8 \u03b1 \u2192 \u221e", "na\u00efve_BR`'\""),
    "\u0141\u00f3d\u017a \u00dfo \u00f0\u00fe \u201equote\u201c \u0105\u0119 \U0001f600 \u0645",
]


def scores(n_datasets, n_methods, text="{:.4f} ({})", under=""):
    """A table of numbers with their ranks."""
    values = np.random.default_rng(0).random((n_datasets, n_methods)).tolist()
    rows = tuple(
        (f"data_{i}", *(TableEntry(text.format(v, j), under=under) for j, v in enumerate(row)))
        for i, row in enumerate(values)
    )
    return Table("scores", "Scores", ("data", *(f"M{j}" for j in range(n_methods))), rows)


def without_escapes(latex):
    """LaTeX without the escaped characters, so that what is left is syntax."""
    return re.sub(r"\\[{}$&#%_]", "", latex)


# Texts


def test_table_is_rendered_as_a_whole():
    assert to_latex(LOSSES) == LATEX


def test_cells_with_a_second_line_only_and_tables_without_rows():
    table = Table("t", "T", ("Data", "F"), (("yeast", TableEntry("", bold=True, under="0.64")),))
    assert "yeast &  \\\\\n & {\\scriptsize 0.64} \\\\\n" in to_latex(table)
    assert to_latex(replace(table, rows=())).count(r"\midrule") == 1


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_in_its_latex_cell(text):
    table = Table(
        "t", text, (text, "F"), ((text, TableEntry("1", bold=True, under=text)),), notes=(text,)
    )
    tame = replace(table, title="x", head=("x", "F"), rows=(("x", TableEntry("1", True, "x")),))
    tame = replace(tame, notes=("x",))
    latex, expected = to_latex(table).replace("table*", "table"), to_latex(tame)
    # A head in lines is a small table of its own.
    latex = re.sub(r"\\begin{tabular}\[b\].*?\\end{tabular}", "x", latex)
    assert len(latex.splitlines()) == len(expected.splitlines())
    for line, harmless in zip(latex.splitlines(), expected.splitlines(), strict=True):
        syntax = without_escapes(line)
        assert syntax.count("{") == syntax.count("}")
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
        ("\u03b8\u4e2d", r"\nlddletter{952}{03B8}\nlddletter{20013}{4E2D}"),
    ],
)
def test_escape_latex(text, expected):
    assert escape_latex(text) == expected


def test_letters_without_a_font_bring_their_command():
    assert r"\providecommand{\nlddletter}" not in to_latex(LOSSES)
    lines = to_latex(replace(LOSSES, title="\u03b8")).splitlines()
    assert lines[1].startswith(r"\providecommand{\nlddletter}[2]")


def test_long_words_may_be_broken_after_signs_and_at_capitals():
    pieces = breakable("OneVsRestClassifier(C=1.5,x=None)").split(r"\allowbreak{}")
    assert pieces == ["One", "Vs", "Rest", "Classifier(", "C=", "1.", "5,", "x=", "None)"]
    pieces = breakable("intercept='penalised',steps=('impute')").split(r"\allowbreak{}")
    assert pieces == ["intercept=", "'penalised',", "steps=(", "'impute')"]
    assert breakable("short_name and x=1") == r"short\_name and x=1"
    assert breakable("x" * 30).split(r"\allowbreak{}") == ["x" * 14, "x" * 14, "xx"]


# Layout


@pytest.mark.parametrize(
    ("n_methods", "size", "panels"),
    [
        (3, "", [4]),
        (6, r"\small", [7]),
        (7, "", [4, 5]),
        (10, "", [6, 6]),
        (12, r"\small", [7, 7]),
        (18, r"\footnotesize", [7, 7, 7]),
    ],
)
def test_wide_tables_are_set_smaller_and_then_parted(n_methods, size, panels):
    layout = choose_layout(scores(9, n_methods))
    found = [panel for page in layout.pages for panel in page]
    assert (layout.size, [len(panel) for panel in found]) == (size, panels)
    assert sorted(j for panel in found for j in panel[1:]) == list(range(1, n_methods + 1))
    assert all(panel[0] == 0 for panel in found)
    assert layout.width <= WIDTH and not layout.long and not layout.lines


def test_panels_that_share_no_page_are_continued_on_the_next():
    table = replace(scores(12, 20, under="0.1234 (+0.0)"), notes=("A note.",))
    layout = choose_layout(table)
    assert len(layout.pages) > 1 and not layout.long
    latex = to_latex(table)
    assert latex.count(r"\begin{table*}") == len(layout.pages)
    assert latex.count("(continued)") == latex.count("{table}{-1}") == len(layout.pages) - 1
    assert latex.count(r"\label") == latex.count("A note.") == 1
    assert latex.index("A note.") > latex.rindex(r"\end{tabular}")


def test_tables_of_more_rows_than_a_page_repeat_their_head():
    latex = to_latex(scores(60, 8))
    assert r"\usepackage{booktabs,longtable}; in two columns" in latex.splitlines()[0]
    assert latex.count(r"\begin{longtable}") == latex.count(r"\endhead") == 2
    assert latex.count("data & M0") == 2 and latex.count(r"data\_59 &") == 2
    assert choose_layout(scores(20, 3)).long is False
    assert choose_layout(scores(int(HEIGHT), 3)).long


def test_long_texts_get_lines_and_short_ones_keep_their_width():
    rows = (("LP", "Label powerset", LP_SETTINGS, "3"), ("BR", "Binary relevance", "BR()", "10"))
    table = Table("settings", "Settings", ("method", "name", "settings", "times"), rows)
    layout = choose_layout(table)
    assert (layout.size, list(layout.lines)) == (r"\footnotesize", [2])
    assert layout.lines[2] > 180
    assert r"BR & Binary relevance & \raggedright BR() & 10 \tabularnewline" in to_latex(table)


def test_names_of_the_foot_have_lines_where_room_is_short():
    table = replace(scores(9, 10), foot=(("among the methods of the paper", *10 * ["1"]),))
    assert list(choose_layout(table).lines) == [0]
    assert not choose_layout(replace(table, foot=())).lines


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ("BR", ("BR",)),
        ("", ("",)),
        ("wrong labels a row", ("wrong", "labels a", "row")),
        ("my_own_method_2", ("my_own_", "method_2")),
        ("wins/ties/losses", ("wins/ties/", "losses")),
        ("x" * 20, ("x" * 12, "x" * 8)),
        ("\u4e2d\u6587\u5b57", ("\u4e2d\u6587", "\u5b57")),
    ],
)
def test_heads_are_broken_between_words_or_else_anywhere(head, lines):
    assert head_lines(head, 52) == lines
    assert all(text_width(line) <= 70 for line in lines)


# Compiled

need_tex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")


def compile_latex(folder, body, options="", preamble=r"\usepackage{booktabs,longtable}"):
    """The log of a document; it must come out without an error."""
    document = (
        rf"\documentclass[{options}]{{article}}{preamble}"
        rf"\begin{{document}}{body}\end{{document}}"
    )
    (folder / "all.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    log = (folder / "all.log").read_text(encoding="utf-8", errors="replace")
    assert run.returncode == 0, log[-3000:]
    return log


def overfull(log):
    """Points by which lines, or floats, are larger than the page."""
    found = re.findall(r"Overfull \\hbox \(([\d.]+)pt|Float too large for page by ([\d.]+)pt", log)
    return [float(width or height) for width, height in found]


@pytest.fixture(scope="module")
def tables():
    """All tables of two reports, with ten methods on nine data sets each, and made ones."""
    rng = np.random.default_rng(0)
    odd = grid(rng.random((9, 10)).round(4).tolist(), ODD[:9], ODD)
    reports = make_report(results(everything())), make_report(results(odd))
    found = [*reports[0].tables, *(replace(t, key=f"odd-{t.key}") for t in reports[1].tables)]
    found += [scores(60, 20), replace(scores(12, 20, under="0.1234 (+12.3)"), key="pages")]
    settings = tuple((name, LP_SETTINGS, "x" * 80) for name in 4 * ODD)
    found.append(Table("texts", "Texts", ("name", "settings", "a head " * 20), settings))
    hostile = tuple((text, TableEntry(text, True, text)) for text in HOSTILE)
    found.append(
        Table("hostile", " ".join(ODD), (ODD[0], ODD[-1]), hostile, notes=(*ODD, *HOSTILE))
    )
    return found


@need_tex
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("options", ["10pt", "11pt", "12pt"])
def test_all_tables_of_a_report_compile_and_fit_the_page(tables, tmp_path, options):
    for table in tables:
        (tmp_path / f"{table.key}.tex").write_text(to_latex(table), encoding="utf-8")
    body = "".join(rf"\input{{{table.key}}}\clearpage " for table in tables)
    found = overfull(compile_latex(tmp_path, body, options))
    assert max(found, default=0) < 4


@need_tex
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
def test_tables_fit_both_columns_of_a_document_of_two(tables, tmp_path):
    short = [table for table in tables if not choose_layout(table).long]
    # Pairs of ten methods are more rows than a page has.
    assert len(short) > len(tables) - 13
    for table in short:
        (tmp_path / f"{table.key}.tex").write_text(to_latex(table), encoding="utf-8")
    body = "".join(rf"\input{{{table.key}}}\clearpage " for table in short)
    assert max(overfull(compile_latex(tmp_path, body, "twocolumn")), default=0) < 4


@need_tex
@pytest.mark.slow
def test_every_character_of_the_first_pages_of_unicode_compiles(tmp_path):
    letters = [chr(c) for c in range(0x20, 0x250)] + [*KNOWN, *CHARACTERS, *"\u0394\u20ac\ufb01"]
    body = r" \par ".join(escape_latex(letter) for letter in letters)
    command = to_latex(replace(LOSSES, title="\u03b8")).splitlines()[1]
    compile_latex(tmp_path, f"{command}\n{body}")
