"""The report of a benchmark: which sections, tables, figures and files there are."""

import csv
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from bench.report.records import (
    FIGURES,
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
from nldd.bench.report.report import (
    N_TRAIN,
    about_bars,
    difference_diagrams,
    make_report,
    save_report,
    write_report,
)
from nldd.bench.report.results import results
from nldd.bench.statistics.significance import WILCOXON_RULE
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.metrics._measures import PAPER_MEASURES
from nldd.persistence._schemas import LABELS
from nldd.present.page import render_page


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
    assert [figure.key for figure in report.figures] == FIGURES
    assert report.title == "Benchmark of multi-label methods: default"
    assert report.subtitle == "10 methods on 10 data sets"
    assert "arXiv 1702.04684" in report.foot


def test_full_report_says_what_went_wrong():
    told = dict(full_report().facts)
    assert (told["protocol"], told["failed cells"]) == ("default", "1")
    assert problems(full_report()) == (
        ("survey_2024", "RFPCT", "1 of 2 folds are there"),
        ("survey_2024", "RFPCT", "fold 1 failed: MemoryError: 12 GB"),
    )


def test_report_of_the_published_values_has_its_sentences(quick):
    report = quick(published_records())
    assert report.subtitle == "7 methods on 9 data sets"
    differences = section(report, "differences")
    assert differences.paragraphs == ()
    assert differences.figures[0].caption.endswith(
        "With 9 data sets and 21 pairs of methods the smallest p-value that Holm's correction can "
        "leave is 0.082, so by these tests no pair can differ at 0.05 and a bar joins all."
    )
    page = render_page(report)
    told = re.findall(r"<small>0\.\d{4}\*? \(([+-]\d+\.\d)\)</small>", page)
    assert told == ["+0.0"] * 4 * 63
    assert section(report, "scores").paragraphs[2] == WILCOXON_RULE
    assert page.count("Wilcoxon signed-rank test on the values") == 1
    assert "shares" not in ids(report)
    assert not {"warnings", "problems"} & set(keys(report))


def test_report_of_one_cell(quick):
    report = quick([record("mine", "CC")])
    assert report.subtitle == "1 method on 1 data set"
    assert ids(report) == ["scores", "differences", "times", "subsets", "datasets", "run"]
    assert report.figures == []
    assert "two complete data sets" in section(report, "differences").paragraphs[0]


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
    assert [figure.key for figure in report.figures] == ["shares"]


def test_yeast_is_fitted_once_and_only_where_it_was_benchmarked(monkeypatch):
    n_fits = 0
    fit = NLDDClassifier.fit

    def count_fits(self, X, Y):
        nonlocal n_fits
        n_fits += 1
        return fit(self, X, Y)

    monkeypatch.setattr(NLDDClassifier, "fit", count_fits)
    for other in (record("mine", "NLDD"), record("yeast", "BR")):
        assert "illustrations" not in ids(make_report(results([other])))
    assert n_fits == 0
    assert "illustrations" in ids(make_report(results([record("yeast", "NLDD")])))
    assert n_fits == 1


NAMES = [f"data{k:02}" for k in range(20)]


@pytest.fixture(scope="module")
def published_diagrams():
    return list(difference_diagrams(results(published_records())))


def texts_of(picture):
    return [text.get_text() for text in picture.drawing.axes[0].texts]


def test_diagrams_show_average_ranks_of_the_published_values(published_diagrams):
    hamming, *_, f_measure = published_diagrams
    assert hamming.alt == "Average ranks on Hamming loss: NLDD is best with 2.72."
    assert f_measure.alt == "Average ranks on F-measure: ECC is best with 2.11."
    shown = texts_of(f_measure)
    ranks = {shown[k + 1]: shown[k] for k in range(10, 24, 2)}
    assert ranks == {
        **{"ECC": "2.11", "NLDD": "2.67", "CBM": "3.11", "SMBR": "4.00"},
        **{"RAKEL": "4.11", "BR": "5.33", "MLKNN": "6.67"},
    }


def test_captions_state_friedmans_test(published_diagrams):
    for picture, measure in zip(published_diagrams, PAPER_MEASURES, strict=True):
        test = friedmanchisquare(*published(measure.key).array().T)
        assert (
            f"Friedman's test over 9 data sets: chi-square {test.statistic:.1f}, "
            f"p = {test.pvalue:.2g}."
        ) in picture.caption


@pytest.mark.usefixtures("written")  # before, since looking at a drawing changes its bytes
def test_diagrams_of_ten_methods_are_legible():
    assert_legible(full_report().figures[0].drawing)


@pytest.mark.parametrize(
    ("n_datasets", "n_methods", "told"),
    [
        # m pairs and n data sets: the smallest p-value that Holm leaves is 2 m / 2^n.
        (9, 7, "21 pairs {} 0.082, so by these tests no pair"),
        (10, 7, "21 pairs {} 0.041."),
        (2, 3, "3 pairs {} 1, so by these tests no pair can differ at 0.05"),
        (6, 3, "3 pairs {} 0.094, so by these tests no pair can differ at 0.05"),
        (7, 3, "3 pairs {} 0.047."),
    ],
)
def test_the_smallest_p_value_is_told(n_datasets, n_methods, told):
    sentence = about_bars(n_datasets, n_methods)
    assert sentence.startswith(f"With {n_datasets} data sets and ")
    told = told.format("of methods the smallest p-value that Holm's correction can leave is")
    assert told in sentence
    assert sentence.endswith("a bar joins all." if "so by" in told else told)


def test_each_diagram_is_told_about_its_own_methods(quick):
    # On 6 data sets two methods have the F-measure (1 pair), three the Hamming loss (3 pairs).
    cells = grid([[0.3, 0.2, 0.1]] * 6, NAMES[:6], ("BR", "NLDD", "ECC"))
    for cell in cells:
        del cell.scores["zero_one_loss"]
        if cell.method == "ECC":
            del cell.scores["f_measure"], cell.scores["multilabel_accuracy"]
    differences = section(quick(cells), "differences")
    assert differences.paragraphs == (
        "No diagram of 0/1 loss: methods are compared from two of them and two complete data sets "
        "on.",
    )
    hamming, _, f_measure = (figure.caption for figure in differences.figures)
    assert "3 pairs of methods" in hamming
    assert hamming.endswith("a bar joins all.")
    assert f_measure.endswith(
        "1 pair of methods the smallest p-value that Holm's correction can leave is 0.031."
    )


def test_methods_that_differ_are_not_joined():
    # NLDD is better on all of 7 data sets: p = 2 / 2^7 = 0.016.
    values = [[0.3 + 0.01 * k, 0.2] for k in range(7)]
    apart = next(difference_diagrams(results(grid(values, NAMES[:7], ("BR", "NLDD")))))
    # On six data sets with one tie, five differences: p = 2 / 2^5 = 0.062.
    values[0] = [0.2, 0.2]
    joined = next(difference_diagrams(results(grid(values[:6], NAMES[:6], ("BR", "NLDD")))))
    assert not [word for word in texts_of(apart) if word.startswith("A bar joins")]
    assert [word for word in texts_of(joined) if word.startswith("A bar joins")]
    assert "chi-square 7.0, p = 0.0082" in apart.caption
    assert "NLDD is best with 1.00" in apart.alt
    assert "NLDD is best with 1.08" in joined.alt


@pytest.mark.parametrize(
    "records",
    [
        grid([[0.1, 0.2]], ["yeast"], ("BR", "NLDD")),
        grid([[0.1], [0.2], [0.3]], NAMES[:3], ["BR"]),
        grid([[0.1, 0.2], [0.3, None], [None, 0.1]], NAMES[:3], ("BR", "NLDD")),
        [*grid([[0.1], [0.2]], NAMES[:2], ["BR"]), record(NAMES[0], "NLDD", error="no")],
    ],
    ids=["one-data-set", "one-method", "one-complete", "one-failed"],
)
def test_too_little_to_compare_is_said_and_not_drawn(quick, records):
    differences = section(quick(records), "differences")
    assert differences.paragraphs == (
        "Methods are compared from two of them and two complete data sets on.",
    )
    assert differences.figures == ()


def test_incomplete_data_sets_are_left_out():
    values = [[0.1, 0.2], [0.3, None], [0.1, 0.2]]
    some = folds(NAMES[1], "NLDD", [0.1, 0.2])[:1]
    found = results([*grid(values, NAMES[:3], ("BR", "NLDD")), *some])
    assert " With 2 data sets " in next(difference_diagrams(found)).caption
    assert "Friedman's test over 2 data sets" in next(difference_diagrams(found)).caption
    assert next(difference_diagrams(found)).alt == (
        "Average ranks on Hamming loss: BR is best with 1.00."
    )


@pytest.fixture(scope="module")
def pictures():
    return {figure.key: figure for figure in full_report().figures[-3:]}


def all_texts(picture):
    return [text.get_text() for axes in picture.drawing.axes for text in axes.texts]


def test_there_are_three_with_captions_and_words_for_who_cannot_see_them(pictures):
    assert list(pictures) == ["hypercube", "pair_choice", "pairs"]
    for picture in pictures.values():
        assert picture.caption.endswith(".")
        assert len(picture.alt) > 30
        assert f'id="{picture.key}-' in picture.svg


def test_cube_has_the_seven_labelsets_of_training_with_their_rows(pictures, yeast):
    Y = yeast.Y[:N_TRAIN, LABELS]
    labelsets, counts = np.unique(Y, axis=0, return_counts=True)
    assert len(labelsets) == 7
    shown = dict(
        re.findall(r"\((\d, \d, \d)\)\n(\d+) rows", "\n".join(all_texts(pictures["hypercube"])))
    )
    assert {vertex: int(n) for vertex, n in shown.items()} == {
        ", ".join(map(str, labelset)): n
        for labelset, n in zip(labelsets.tolist(), counts.tolist(), strict=True)
    }
    assert "40 genes" in pictures["hypercube"].caption


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("key", ["hypercube", "pair_choice"])
def test_words_are_legible(pictures, key):
    assert_legible(pictures[key].drawing)


EXPECTED = {
    "report.html",
    *(f"tables/{key}.{ending}" for key in TABLES for ending in ("csv", "tex")),
    *(f"figures/{key}.{ending}" for key in FIGURES for ending in ("svg", "png")),
}


def contents(folder):
    """Bytes of every file by its name in the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What a report wrote over old files."""
    folder = tmp_path_factory.mktemp("report")
    for name in EXPECTED:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("old")
    paths = save_report(full_report(), folder)
    assert {path.relative_to(folder).as_posix() for path in paths} == EXPECTED
    assert paths[0] == folder / "report.html"
    return contents(folder)


def test_all_tables_figures_and_the_page_are_written_and_nothing_else(written):
    assert set(written) == EXPECTED
    assert b"old" not in written.values()


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(written, tmp_path):
    write_report(write_records(tmp_path, everything()))
    again = contents(tmp_path)
    assert set(again) == EXPECTED | {"cells.jsonl"}
    assert [name for name in EXPECTED if written[name] != again[name]] == []


def test_figures_are_pictures(written):
    for key in FIGURES:
        assert written[f"figures/{key}.png"].startswith(b"\x89PNG\r\n")
        assert len(written[f"figures/{key}.png"]) > 5000
        root = ElementTree.fromstring(written[f"figures/{key}.svg"])
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 10


def test_page_has_every_table_and_figure(written):
    page = written["report.html"].decode()
    assert re.findall(r'id="table-([\w]+)"', page) == TABLES
    assert re.findall(r'id="figure-([\w]+)"', page) == FIGURES
    assert "survey_2024" in page


def test_csv_files_are_the_long_form(written):
    lines = written["tables/f_measure.csv"].decode().splitlines()
    assert len(lines) == 1 + 10 * 10
    rows = {(row["dataset"], row["method"]): row for row in csv.DictReader(lines)}
    assert float(rows["yeast", "NLDD"]["value"]) == published("f_measure").value("yeast", "NLDD")
    assert rows["yeast", "NLDD"]["difference"] == "0.0"
    assert rows["survey_2024", "RFPCT"]["value"] == ""


def test_latex_tables_are_whole(written):
    text = written["tables/hamming_loss.tex"].decode()
    assert len(re.findall(r"\\begin{tabular}{@{}lr{10}@{}}", text)) == 1
    rows = [line for line in text.splitlines() if line.endswith(r"\tabularnewline")]
    assert {line.count("&") for line in rows} == {10}


def test_report_goes_to_another_folder_if_asked(quick, tmp_path):
    folder = write_records(tmp_path / "run", [record()])
    before = contents(folder)
    written = write_report(folder, tmp_path / "new" / "deep")
    assert contents(folder) == before
    assert written[0] == tmp_path / "new" / "deep" / "report.html"
    assert set(contents(tmp_path / "new" / "deep")) == {
        path.relative_to(tmp_path / "new" / "deep").as_posix() for path in written
    }


def test_report_leaves_the_records_alone_and_out_a_line_cut_short(quick, tmp_path):
    folder = write_records(tmp_path, [record(), record(method="NLDD")])
    cells = folder / "cells.jsonl"
    whole = cells.read_bytes()
    cells.write_bytes(whole + whole[:100])
    write_report(folder)
    assert cells.read_bytes() == whole + whole[:100]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "2 methods on 1 data set" in page


def test_report_takes_the_protocol_that_is_asked_for(quick, tmp_path):
    cells = [record("yeast"), record("emotions", protocol="paper")]
    folder = write_records(tmp_path, cells)
    with pytest.raises(InputError, match="several protocols: default, paper"):
        write_report(folder)
    assert not (folder / "report.html").exists()
    write_report(folder, protocol="paper")
    assert "emotions" in (folder / "tables" / "hamming_loss.csv").read_text()
    assert "yeast" not in (folder / "tables" / "hamming_loss.csv").read_text()


def test_a_run_that_breaks_leaves_the_old_page(quick, tmp_path, monkeypatch):
    folder = write_records(tmp_path, [record()])
    write_report(folder)
    before = contents(folder)

    def fail(page):
        raise MemoryError

    monkeypatch.setattr(report_module, "render_page", fail)
    with pytest.raises(MemoryError):
        write_report(folder)
    assert contents(folder) == before


def test_a_disk_that_fills_up_leaves_no_half_files(quick, tmp_path, monkeypatch):
    folder = write_records(tmp_path, [record()])
    write_report(folder)
    before = contents(folder)
    write_records(tmp_path, [record(score=0.3)])

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(folder)
    after = contents(folder)
    assert set(after) == set(before)
    assert {name for name in before if after[name] != before[name]} == {"cells.jsonl"}


@pytest.mark.parametrize("there", [False, True], ids=["no-folder", "empty-folder"])
def test_folders_without_records_are_refused(tmp_path, there):
    folder = tmp_path / "run"
    if there:
        folder.mkdir()
    with pytest.raises(InputError, match=r"run has no cells.jsonl. Give the folder of a benchmark"):
        write_report(folder)
    assert list(tmp_path.rglob("*")) == ([folder] if there else [])


def test_files_without_records_are_refused(tmp_path):
    with pytest.raises(InputError, match="There are no finished cells"):
        write_report(write_records(tmp_path, []))
    (tmp_path / "cells.jsonl").write_text('{"dataset": "yeast"}\n')
    with pytest.raises(InputError, match=r"cells\.jsonl, line 1 is not a record of a benchmark"):
        write_report(tmp_path)
