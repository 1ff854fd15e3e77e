"""A report as files: which there are, that they are the same in every run, and only text."""

import csv
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from nldd.exceptions import InputError
from nldd.reports import (
    _report as report_module,
    _report_files as files_module,
    published,
    report,
    write_report,
)
from reports.records import FIGURES, TABLES, everything, full_report, record, write_records

EXPECTED = {
    "report.html",
    *(f"tables/{key}.{ending}" for key in TABLES for ending in ("csv", "md", "tex")),
    *(f"figures/{key}.{ending}" for key in FIGURES for ending in ("svg", "png")),
}
NAMES = (
    "<script>document.title = 'owned'</script>",
    "a|b `c` *d* [e](f)",
    r"50 % & \input{x} $y_1$ {z} #1 ~ ^",
    'comma, "quote"',
)
ERROR = "ValueError: <img src=x onerror=alert(1)> | & $x$ \\end{table}\nsecond line"


def contents(folder):
    """Bytes of every file by its name in the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What two runs wrote: the first to a folder of its own, the second over old files."""
    first, second = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    write_report(full_report(), first)
    write_records(second, everything())
    for name in EXPECTED:
        (second / name).parent.mkdir(exist_ok=True)
        (second / name).write_text("old")
    written = report(second)
    assert {path.relative_to(second).as_posix() for path in written} == EXPECTED
    assert written[0] == second / "report.html"
    return contents(first), contents(second)


@pytest.fixture
def quick(monkeypatch):
    """Reports without the illustrations, which take seconds."""
    monkeypatch.setattr(report_module, "illustrations", lambda: ())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Files of a run whose names and errors look like HTML, Markdown and LaTeX."""
    folder = tmp_path_factory.mktemp("hostile")
    cells = [record(name, method) for name in NAMES for method in ("BR", "NLDD")]
    cells += [record(NAMES[0], "CBM", error=ERROR), record(NAMES[1], "LP", settings=NAMES[2])]
    cells += [record(NAMES[2], "NLDD", share=share) for share in (0.5, 1.0)]
    cells += [record("yeast", "ECC", warnings={NAMES[0]: 1, NAMES[1]: 2})]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_module, "illustrations", lambda: ())
        report(write_records(folder, cells))
    return folder


def test_all_tables_figures_and_the_page_are_written_and_nothing_else(runs):
    first, second = runs
    assert set(first) == EXPECTED
    assert set(second) == EXPECTED | {"cells.jsonl"}


def test_two_runs_give_the_same_bytes(runs):
    first, second = runs
    assert [name for name in EXPECTED if first[name] != second[name]] == []


def test_figures_are_pictures(runs):
    for key in FIGURES:
        assert runs[0][f"figures/{key}.png"].startswith(b"\x89PNG\r\n")
        assert len(runs[0][f"figures/{key}.png"]) > 5000
        root = ElementTree.fromstring(runs[0][f"figures/{key}.svg"])
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 10


def test_page_has_every_table_and_figure(runs):
    page = runs[0]["report.html"].decode()
    assert re.findall(r'id="table-([\w]+)"', page) == TABLES
    assert re.findall(r'id="figure-([\w]+)"', page) == FIGURES
    assert "survey_2024" in page


def test_csv_files_are_the_long_form(runs):
    lines = runs[0]["tables/f_measure.csv"].decode().splitlines()
    assert len(lines) == 1 + 10 * 10
    rows = {(row["dataset"], row["method"]): row for row in csv.DictReader(lines)}
    assert float(rows["yeast", "NLDD"]["value"]) == published("f_measure").value("yeast", "NLDD")
    assert rows["yeast", "NLDD"]["difference"] == "0.0"
    assert rows["survey_2024", "RFPCT"]["value"] == ""


def test_markdown_and_latex_tables_are_whole(runs):
    text = runs[0]["tables/hamming_loss.md"].decode()
    assert text.startswith("## Hamming loss (lower is better), ranks in parentheses\n")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 10 + 3
    assert {line.count("|") for line in lines} == {12}
    text = runs[0]["tables/hamming_loss.tex"].decode()
    assert r"\begin{tabular}{lrrrrrrrrrr}" in text
    assert {line.count("&") for line in text.splitlines() if line.endswith(r"\\")} == {10}


def test_report_goes_to_another_folder_if_asked(quick, tmp_path):
    folder = write_records(tmp_path / "run", [record()])
    before = contents(folder)
    written = report(folder, tmp_path / "new" / "deep")
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
    report(folder)
    assert cells.read_bytes() == whole + whole[:100]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "2 methods on 1 data set" in page


def test_report_takes_the_protocol_that_is_asked_for(quick, tmp_path):
    cells = [record("yeast"), record("emotions", protocol="paper")]
    folder = write_records(tmp_path, cells)
    with pytest.raises(InputError, match="several protocols: default, paper"):
        report(folder)
    assert not (folder / "report.html").exists()
    report(folder, protocol="paper")
    assert "emotions" in (folder / "tables" / "hamming_loss.csv").read_text()
    assert "yeast" not in (folder / "tables" / "hamming_loss.csv").read_text()


def test_a_cell_that_was_run_again_counts_once(quick, tmp_path):
    cells = [record(error="no"), record(score=0.25)]
    report(write_records(tmp_path, cells))
    assert "yeast,BR,0.25," in (tmp_path / "tables" / "hamming_loss.csv").read_text()
    assert "failed:" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_run_that_breaks_leaves_the_old_page(quick, tmp_path, monkeypatch):
    folder = write_records(tmp_path, [record()])
    report(folder)
    before = contents(folder)

    def fail(page):
        raise MemoryError

    monkeypatch.setattr(files_module, "render_page", fail)
    with pytest.raises(MemoryError):
        report(folder)
    assert contents(folder) == before


def test_a_disk_that_fills_up_leaves_no_half_files(quick, tmp_path, monkeypatch):
    folder = write_records(tmp_path, [record()])
    report(folder)
    before = contents(folder)
    write_records(tmp_path, [record(score=0.3)])

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        report(folder)
    after = contents(folder)
    assert set(after) == set(before)
    assert {name for name in before if after[name] != before[name]} == {"cells.jsonl"}


@pytest.mark.parametrize("there", [False, True], ids=["no-folder", "empty-folder"])
def test_folders_without_records_are_refused(tmp_path, there):
    folder = tmp_path / "run"
    if there:
        folder.mkdir()
    with pytest.raises(InputError, match=r"run has no cells.jsonl. Give the folder of a benchmark"):
        report(folder)
    assert list(tmp_path.rglob("*")) == ([folder] if there else [])


def test_files_without_records_are_refused(tmp_path):
    with pytest.raises(InputError, match="There are no finished cells"):
        report(write_records(tmp_path, []))
    (tmp_path / "cells.jsonl").write_text('{"dataset": "yeast"}\n')
    with pytest.raises(InputError, match=r"cells\.jsonl, line 1 is not a record of a benchmark"):
        report(tmp_path)


class Words(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, text):
        self.text += text


def test_hostile_names_and_errors_are_text_on_the_page(hostile):
    words = Words((hostile / "report.html").read_text(encoding="utf-8"))
    assert not words.tags & {"script", "img", "iframe"}
    for name in NAMES:
        assert words.text.count(name) >= 8
    assert f"fold 1 failed: {ERROR}" in words.text
    assert f"NLDD on {NAMES[2]}: running time" in words.text


def test_hostile_names_are_whole_in_csv(hostile):
    for key in (*("hamming_loss", "running_time", "coefficients"), "subsets_f_measure"):
        with (hostile / "tables" / f"{key}.csv").open(newline="", encoding="utf-8") as stream:
            names = {row["dataset"] for row in csv.DictReader(stream)}
        assert names - {"yeast"} == set(NAMES)
    with (hostile / "tables" / "warnings.csv").open(newline="", encoding="utf-8") as stream:
        assert [row["warning"] for row in csv.DictReader(stream)] == sorted(NAMES[:2])


@pytest.mark.parametrize(
    "path", ["hamming_loss", "running_time", "settings", "warnings", "shares", "problems"]
)
def test_hostile_names_do_not_break_tables(hostile, path):
    text = (hostile / "tables" / f"{path}.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1
    assert not re.search(r"(?<!\\)<(?!br>|small>|/small>)", text)
    text = (hostile / "tables" / f"{path}.tex").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len({len(re.findall(r"(?<!\\)&", line)) for line in rows}) == 1
    assert r"\input" not in text
    assert text.count(r"\end{table}") == 1


def test_hostile_names_are_drawn_as_letters(hostile):
    text = (hostile / "figures" / "shares.svg").read_text(encoding="utf-8")
    assert "script" not in text
    ElementTree.fromstring(text)
