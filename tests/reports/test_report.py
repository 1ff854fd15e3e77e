"""The report put together: which sections there are, and what is in them."""

import re

import pytest

from nldd.displays import ShareDisplay
from nldd.reports import Report, Table, _report as report_module, make_report, render_page, results
from nldd.reports._picture import Picture
from nldd.statistics import WILCOXON_RULE
from reports.records import (
    FIGURES,
    SECTIONS,
    TABLES,
    folds,
    full_report,
    grid,
    published_records,
    record,
)


@pytest.fixture
def quick(monkeypatch):
    """Reports without the illustrations, which take seconds."""
    monkeypatch.setattr(report_module, "illustrations", lambda: ())
    return lambda records: make_report(results(records))


def ids(report):
    return [section.id for section in report.sections]


def keys(report):
    return [table.key for table in report.tables]


def section(report, id):
    return next(section for section in report.sections if section.id == id)


def problems(report):
    (table,) = (table for table in section(report, "run").tables if table.key == "problems")
    return table.rows


def test_full_report_has_all_sections_tables_and_figures():
    report = full_report()
    assert ids(report) == SECTIONS
    assert keys(report) == TABLES
    assert [picture.key for picture in report.pictures] == FIGURES
    shown = [figure.key for section in report.sections for figure in section.figures]
    assert shown == FIGURES
    assert report.title == "Benchmark of multi-label methods: default"
    assert report.subtitle == "10 methods on 10 data sets"


def test_full_report_says_what_went_wrong():
    told = dict(full_report().facts)
    assert (told["protocol"], told["failed cells"]) == ("default", "1")
    assert problems(full_report()) == (
        ("survey_2024", "RFPCT", "1 of 2 folds are there"),
        ("survey_2024", "RFPCT", "fold 1 failed: MemoryError: 12 GB"),
    )


def test_page_has_the_facts_the_sections_and_the_paper():
    report = full_report()
    page = report.page
    assert (page.title, page.subtitle, page.facts) == (report.title, report.subtitle, report.facts)
    assert page.sections == tuple(report.sections)
    assert "arXiv 1702.04684" in page.foot


def test_report_of_the_published_values_has_its_sentences(quick):
    report = quick(published_records())
    assert report.subtitle == "7 methods on 9 data sets"
    (about,) = section(report, "differences").paragraphs
    assert about == (
        "With 9 data sets and 21 pairs of methods the smallest p-value that Holm's correction can "
        "leave is 0.082, so no pair can differ at 0.05 and one bar joins all methods."
    )
    page = render_page(report.page)
    told = re.findall(r"<small>0\.\d{4}\*? \(([+-]\d+\.\d)\)</small>", page)
    assert told == ["+0.0"] * 4 * 63
    assert section(report, "scores").paragraphs[1] == WILCOXON_RULE
    assert page.count("Wilcoxon signed-rank test on the values") == 1
    assert "shares" not in ids(report)
    assert not {"warnings", "problems"} & set(keys(report))


def test_report_of_one_cell(quick):
    report = quick([record("mine", "CC")])
    assert report.subtitle == "1 method on 1 data set"
    assert ids(report) == ["scores", "differences", "times", "subsets", "run"]
    assert report.pictures == []
    assert "two complete data sets" in section(report, "differences").paragraphs[0]


def test_report_of_one_data_set_has_no_diagrams(quick):
    report = quick(grid([[0.1, 0.2, 0.3]], ["yeast"], ("BR", "NLDD", "ECC")))
    assert report.pictures == []
    assert "coefficients" in keys(report)


def test_report_without_NLDD_has_no_weights(quick):
    report = quick([record("yeast", "BR")])
    assert "weights" not in ids(report)
    assert "coefficients" not in keys(report)


def test_report_of_a_running_benchmark_has_what_is_whole(quick):
    cells = [*folds("yeast", "BR", [0.1, 0.2]), *folds("yeast", "NLDD", [0.1, 0.2])[:1]]
    cells += [record("yeast", "NLDD", share=share) for share in (0.5, 1.0)]
    report = quick([*cells, record("mine", "NLDD", error="never")])
    assert report.subtitle == "1 method on 1 data set"
    assert problems(report) == (
        ("yeast", "NLDD", "1 of 2 folds are there"),
        ("mine", "NLDD", "0 of 1 folds are there"),
        ("mine", "NLDD", "fold 1 failed: never"),
    )
    assert "coefficients" not in keys(report)
    assert [picture.key for picture in report.pictures] == ["shares"]


def test_empty_sections_are_not_added():
    report = Report("T", "S", ())
    report.add("nothing", "Nothing", tables=[None])
    assert (report.sections, report.tables, report.pictures) == ([], [], [])
    table = Table("t", "T", ("a",), (("1",),))
    figure = ShareDisplay([1.0], [1.0], [1.0]).plot().figure_
    report.add(
        "some", "Some", tables=[None, table], pictures=iter([Picture("p", "C", "A", figure)])
    )
    assert ids(report) == ["some"]
    assert report.tables == [table]
    assert [figure.key for figure in report.sections[0].figures] == ["p"]
    report.add("words", "Words", ["One sentence."])
    assert ids(report) == ["some", "words"]
