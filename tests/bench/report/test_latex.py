r"""Tables for LaTeX: whole texts, hostile ones, long ones, and compiled."""

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from bench.report.records import LP_SETTINGS, everything, grid
from nldd.bench.report.report import make_report
from nldd.bench.report.results import results
from nldd.present.latex import LONG_ROWS, escape_latex, to_latex
from nldd.present.table import Table, TableEntry
from present.test_table import HOSTILE, LOSSES

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
 &  & {\scriptsize 0.1901 ($-$0.0002)} &  \tabularnewline
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
ODD = [
    *("a_b & c%", "#1 {x} ~^\\", "caf\u00e9 \u00b1", "x" * 45, "$5 <b> [1] *", "-5"),
    *("Ensemble of classifier chains 12", "\u2192 \u221e", "na\u00efve_BR`'\"", "a|b"),
]


def scores(n_datasets, n_methods):
    """A table of numbers with their ranks."""
    values = np.random.default_rng(0).random((n_datasets, n_methods)).tolist()
    rows = tuple(
        (f"data_{i}", *(f"{v:.4f} ({j})" for j, v in enumerate(row)))
        for i, row in enumerate(values)
    )
    return Table("scores", "Scores", ("data", *(f"M{j}" for j in range(n_methods))), rows)


def without_escapes(latex):
    """LaTeX without the escaped characters, so that what is left is syntax."""
    return re.sub(r"\\[{}$&#%_]", "", latex)


def test_table_is_rendered_as_a_whole():
    assert to_latex(LOSSES) == LATEX


def test_cells_with_a_second_line_only_and_tables_without_rows():
    table = Table("t", "T", ("Data", "F"), (("yeast", TableEntry("", bold=True, under="0.64")),))
    assert "yeast &  \\tabularnewline\n & {\\scriptsize 0.64} " in to_latex(table)
    assert to_latex(replace(table, rows=())).count(r"\midrule") == 1


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_in_its_latex_cell(text):
    table = Table(
        "t", text, (text, "F"), ((text, TableEntry("1", bold=True, under=text)),), notes=(text,)
    )
    tame = replace(table, title="x", head=("x", "F"), rows=(("x", TableEntry("1", True, "x")),))
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
    latex = to_latex(scores(LONG_ROWS + 1, 8))
    assert r"\usepackage{booktabs,longtable}" in latex.splitlines()[0]
    assert latex.count(r"\begin{longtable}") == latex.count(r"\label") == 1
    assert latex.count("data & M0") == 2
    assert "longtable" not in to_latex(scores(LONG_ROWS, 8))


def test_long_texts_get_lines_in_which_words_may_be_broken():
    rows = (("LP", "Label powerset", LP_SETTINGS, "3"), ("BR", "Binary relevance", "BR()", "10"))
    table = Table("settings", "Settings", ("method", "name", "settings", "times"), rows)
    latex = to_latex(table)
    assert r"{@{}llp{0.4\linewidth}r@{}}" in latex
    assert r"BR & Binary relevance & \raggedright BR() & 10 \tabularnewline" in latex
    assert r"(\allowbreak{}" in latex


# Compiled

need_tex = pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")


def compile_latex(folder, body, options="", preamble=r"\usepackage{booktabs,graphicx,longtable}"):
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


@pytest.fixture(scope="module")
def tables():
    """All tables of two reports, with ten methods on nine data sets each, and made ones."""
    rng = np.random.default_rng(0)
    odd = grid(rng.random((9, 10)).round(4).tolist(), ODD[:9], ODD)
    reports = make_report(results(everything())), make_report(results(odd))
    found = [*reports[0].tables, *(replace(t, key=f"odd-{t.key}") for t in reports[1].tables)]
    found += [scores(60, 20), replace(scores(12, 20), key="pages")]
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
@pytest.mark.parametrize("options", ["10pt", "12pt"])
def test_all_tables_of_a_report_compile(tables, tmp_path, options):
    for table in tables:
        (tmp_path / f"{table.key}.tex").write_text(to_latex(table), encoding="utf-8")
    body = "".join(rf"\input{{{table.key}}}\clearpage " for table in tables)
    compile_latex(tmp_path, body, options)
