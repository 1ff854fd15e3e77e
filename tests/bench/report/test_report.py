"""The report of a benchmark: which sections, tables, figures and files there are."""

import csv
import json
import re
import shutil
import subprocess
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from bench.report.records import (
    FIGURES,
    LP_SETTINGS,
    SECTIONS,
    TABLES,
    everything,
    folds,
    full_report,
    grid,
    published_records,
    record,
    write_records,
)
from drawn import assert_legible
from nldd.bench.report import report as report_module
from nldd.bench.report.published import published
from nldd.bench.report.report import difference_diagrams, make_report, save_report, write_report
from nldd.bench.report.results import results
from nldd.bench.report.score_tables import choose_measures
from nldd.bench.statistics import WILCOXON_RULE
from nldd.exceptions import InputError
from nldd.present.page import render_page
from nldd.present.table import Table, TableEntry, to_latex
from present.test_table import HOSTILE

NAMES = [f"data{k:02}" for k in range(20)]
OWN_VALUES = [[0.3, 0.1, 0.2, 0.4], [0.25, 0.15, 0.2, 0.3], [0.3, 0.2, 0.1, 0.35]]


def ids(report):
    return [section.id for section in report.sections]


def section(report, id):
    return next(section for section in report.sections if section.id == id)


def contents(folder):
    """Bytes of every file by its name in the folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


# What is in it


def test_full_report_has_all_sections_tables_and_figures_and_says_what_went_wrong():
    report = full_report()
    assert ids(report) == SECTIONS
    assert [table.key for table in report.tables] == TABLES
    assert [figure.key for figure in report.figures] == FIGURES
    assert report.subtitle == "10 methods on 10 data sets"
    assert "arXiv 1702.04684" in report.foot
    assert dict(report.facts)["failed cells"] == "1"
    (problems,) = (table for table in report.tables if table.key == "problems")
    assert ("survey_2024", "RFPCT", "fold 1 failed: MemoryError: 12 GB") in problems.rows


def test_report_of_the_published_values_has_their_differences():
    report = make_report(results(published_records()))
    page = render_page(report)
    told = re.findall(r"± 0\.0100\n0\.\d{4}\*? \(([+-]\d+\.\d)\)</small>", page)
    assert told == ["+0.0"] * 4 * 63
    assert page.count(WILCOXON_RULE[:40]) == 1
    assert "shares" not in ids(report)
    hamming, *_, f_measure = report.figures
    assert hamming.alt == "Average ranks on Hamming loss: NLDD is best with 2.72."
    assert f_measure.alt == "Average ranks on F-measure: ECC is best with 2.11."
    assert "chi-square 29.0 over 9 data sets, p = 6.1e-05" in f_measure.caption
    assert f_measure.caption.endswith("no p can fall below 0.08203, so a bar joins all.")


def test_report_of_own_data_says_nothing_of_other_data_and_names_are_text():
    names = ("<script>document.title = 'owned'</script>", r"50 % & \input{x} $y_1$ ^", 'a|b, "c"')
    cells = grid(OWN_VALUES, names, ("BR", "NLDD", "ECC", "CBM"), title="three of my own")
    more = [record(names[0], "LP", error="<img src=x>"), record(names[1], "NLDD", share=1.0)]
    page = make_report(results([*cells, *more]), choose_measures(["f_measure", "macro_auroc"]))
    assert dict(page.facts)["title"] == "three of my own"
    texts = [render_page(page), *map(to_latex, page.tables)]
    assert not re.search("<script|<img", texts[0]) and texts[0].count("&lt;script&gt;") >= 8
    assert not [text for text in texts[1:] if r"\input" in text]
    foreign = "paper|gweon|arxiv|peerj|yeast|emotions|medical|ohsumed|tmc2007|bibtex"
    assert not [found for text in texts for found in re.findall(foreign, text, re.IGNORECASE)]


def test_report_of_a_running_benchmark_has_what_is_whole():
    cells = [*folds("yeast", "BR", [0.1, 0.2]), *folds("yeast", "NLDD", [0.1, 0.2])[:1]]
    report = make_report(results([*cells, record("mine", "NLDD", error="never")]))
    assert report.subtitle == "1 method on 1 data set"
    assert ids(report) == ["scores", "differences", "times", "subsets", "datasets", "run"]
    assert report.figures == []


# Diagrams


def test_methods_that_differ_are_not_joined():
    # NLDD is better on all of 7 data sets: p = 2 / 2^7 = 0.016.
    values = [[0.3 + 0.01 * k, 0.2] for k in range(7)]
    apart = next(difference_diagrams(results(grid(values, NAMES[:7], ("BR", "NLDD")))))
    # On six data sets with one tie, five differences: p = 2 / 2^5 = 0.062.
    values[0] = [0.2, 0.2]
    found = results(grid(values[:6], NAMES[:6], ("BR", "NLDD")))
    joined = next(difference_diagrams(found, nemenyi=True))
    notes = [[t.get_text() for t in f.drawing.axes[0].texts] for f in (apart, joined)]
    assert [any("A bar joins" in text for text in texts) for texts in notes] == [False, True]
    assert "chi-square 7.0 over 7 data sets, p = 0.0082" in apart.caption
    assert "Nemenyi's critical difference at 0.05, 0.80." in joined.caption
    assert "NLDD is best with 1.08" in joined.alt


def test_each_diagram_is_told_about_its_own_methods_and_complete_data_sets():
    # On 6 data sets two methods have the F-measure (1 pair), three the Hamming loss (3 pairs).
    cells = grid([[0.3, 0.2, 0.1]] * 6, NAMES[:6], ("BR", "NLDD", "ECC"))
    for cell in cells:
        del cell.scores["zero_one_loss"]
        if cell.method == "ECC":
            del cell.scores["f_measure"], cell.scores["multilabel_accuracy"]
    cells += folds(NAMES[7], "BR", [0.1])
    differences = section(make_report(results(cells)), "differences")
    assert differences.paragraphs[0].startswith("No diagram of 0/1 loss: methods are compared")
    hamming, _, f_measure = (figure.caption for figure in differences.figures)
    assert "over 6 data sets" in hamming
    assert hamming.endswith("and 3 pairs no p can fall below 0.09375, so a bar joins all.")
    assert f_measure.endswith("(two-sided Wilcoxon tests at 0.05).")


@pytest.mark.parametrize(
    "records",
    [
        grid([[0.1, 0.2]], ["yeast"], ("BR", "NLDD")),
        grid([[0.1], [0.2], [0.3]], NAMES[:3], ["BR"]),
        grid([[0.1, 0.2], [0.3, None], [None, 0.1]], NAMES[:3], ("BR", "NLDD")),
    ],
    ids=["one-data-set", "one-method", "one-complete"],
)
def test_too_little_to_compare_is_said_and_not_drawn(records):
    differences = section(make_report(results(records)), "differences")
    assert "two complete data sets" in differences.paragraphs[0]
    assert differences.figures == ()


# Files

EXPECTED = {
    "report.html",
    *(f"tables/{key}.{ending}" for key in TABLES for ending in ("csv", "tex")),
    *(f"figures/{key}.{ending}" for key in FIGURES for ending in ("svg", "png")),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    paths = save_report(full_report(), folder)
    assert {path.relative_to(folder).as_posix() for path in paths} == EXPECTED
    assert paths[0] == folder / "report.html"
    return contents(folder)


def test_page_tables_and_figures_are_written_and_nothing_else(written):
    assert set(written) == EXPECTED
    page = written["report.html"].decode()
    assert re.findall(r'id="table-([\w]+)"', page) == TABLES
    assert re.findall(r'id="figure-([\w]+)"', page) == FIGURES
    for key in FIGURES:
        assert written[f"figures/{key}.png"].startswith(b"\x89PNG\r\n")
        assert ElementTree.fromstring(written[f"figures/{key}.svg"]).tag.endswith("svg")
    assert_legible(full_report().figures[0].drawing)
    lines = csv.DictReader(written["tables/f_measure.csv"].decode().splitlines())
    rows = {(row["dataset"], row["method"]): row for row in lines}
    assert len(rows) == 10 * 10
    assert float(rows["yeast", "NLDD"]["value"]) == published("f_measure").value("yeast", "NLDD")
    assert rows["survey_2024", "RFPCT"]["value"] == ""


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(written, tmp_path):
    write_report(write_records(tmp_path, everything()))
    again = contents(tmp_path)
    assert set(again) == EXPECTED | {"cells.jsonl"}
    # Looking at the first drawing, as another test does, changes its bytes.
    assert [name for name in EXPECTED if written[name] != again[name]] == []


def test_a_new_report_takes_away_what_the_earlier_one_had_and_nothing_else(tmp_path):
    cells = grid([[0.3, 0.2]] * 2, NAMES[:2], ("BR", "NLDD"))
    folder = write_records(tmp_path, [*cells, record(NAMES[0], "CC", error="no")])
    write_report(folder)
    (folder / "tables" / "own.csv").write_text("mine")
    write_records(tmp_path, [cell for cell in cells if cell.method == "BR"])
    paths = write_report(str(folder), measures=["f_measure"])
    expected = {path.relative_to(folder).as_posix() for path in paths}
    assert set(contents(folder)) == expected | {"cells.jsonl", "tables/own.csv"}
    assert not [name for name in expected if re.search(r"hamming|pairs|problems|differ", name)]


def test_facts_are_read_from_the_folder_and_damaged_ones_refused(tmp_path):
    folder = write_records(tmp_path, [record("alpha")])
    about = {"alpha": {"facts": {}, "notes": ["Column id was left out."]}}
    (folder / "datasets.json").write_text(json.dumps(about))
    write_report(folder, measures=["f_measure"])
    assert "Column id was left out" in (folder / "report.html").read_text(encoding="utf-8")
    (folder / "datasets.json").write_text("{")
    with pytest.raises(InputError, match=r"datasets\.json"):
        write_report(folder)


def test_a_line_that_was_cut_short_is_left_out_and_left_alone(tmp_path):
    folder = write_records(tmp_path, [record(), record(method="NLDD")])
    cells = folder / "cells.jsonl"
    whole = cells.read_bytes()
    cells.write_bytes(whole + whole[:100])
    write_report(folder)
    assert cells.read_bytes() == whole + whole[:100]
    assert b"2 methods on 1 data set" in (folder / "report.html").read_bytes()


@pytest.mark.parametrize("breaks", ["page", "disk"])
def test_a_run_that_breaks_leaves_the_old_files_whole(breaks, tmp_path, monkeypatch):
    folder = write_records(tmp_path, [record()])
    write_report(folder)
    before = contents(folder)
    if breaks == "disk":
        write_records(tmp_path, [record(score=0.3)])

    def fail(_):
        raise OSError(28, "No space left on device")

    where = {"page": (report_module, "render_page"), "disk": ("os", "fsync")}[breaks]
    monkeypatch.setattr(*where if breaks == "page" else (f"{where[0]}.{where[1]}",), fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(folder)
    after = contents(folder)
    assert {name for name in {*before, *after} if after.get(name) != before.get(name)} == (
        {"cells.jsonl"} if breaks == "disk" else set()
    )


# LaTeX, compiled

ODD = [
    *("a_b & c%", "#1 {x} ~^\\", "caf\u00e9 \u00b1", "x" * 45, "$5 <b> [1] *", "-5"),
    *("Ensemble of classifier chains 12", "\u2192 \u221e", "na\u00efve_BR`'\"", "a|b"),
]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("options", ["10pt", "12pt"])
def test_all_tables_of_a_report_compile(tmp_path, options):
    odd = grid(np.random.default_rng(0).random((9, 10)).round(4).tolist(), ODD[:9], ODD)
    tables = full_report().tables
    tables += [replace(t, key=f"odd-{t.key}") for t in make_report(results(odd)).tables]
    settings = tuple((name, LP_SETTINGS, "x" * 80) for name in 4 * ODD)
    tables.append(Table("texts", "Texts", ("name", "settings", "a head " * 20), settings))
    hostile = tuple((text, TableEntry(text, True, text)) for text in HOSTILE)
    tables.append(
        Table("hostile", " ".join(ODD), (ODD[0], ODD[-1]), hostile, notes=(*ODD, *HOSTILE))
    )
    for table in tables:
        (tmp_path / f"{table.key}.tex").write_text(to_latex(table), encoding="utf-8")
    body = "".join(rf"\input{{{table.key}}}\clearpage " for table in tables)
    (tmp_path / "all.tex").write_text(
        rf"\documentclass[{options}]{{article}}\usepackage{{booktabs,graphicx,longtable}}"
        rf"\begin{{document}}{body}\end{{document}}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert run.returncode == 0, (tmp_path / "all.log").read_text(errors="replace")[-3000:]
