"""Names and errors that look like HTML and LaTeX are text wherever a report has them."""

import csv
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from bench.report.records import record, write_records
from nldd.bench.report import report as report_module
from nldd.bench.report.report import write_report

HOSTILE = (
    "<script>document.title = 'owned'</script>",
    "a|b `c` *d* [e](f)",
    r"50 % & \input{x} $y_1$ {z} #1 ~ ^",
    'comma, "quote"',
)


ERROR = "ValueError: <img src=x onerror=alert(1)> | & $x$ \\end{table}\nsecond line"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Files of a run whose names and errors look like HTML and LaTeX."""
    folder = tmp_path_factory.mktemp("hostile")
    cells = [record(name, method) for name in HOSTILE for method in ("BR", "NLDD")]
    cells += [record(HOSTILE[0], "CBM", error=ERROR), record(HOSTILE[1], "LP", settings=HOSTILE[2])]
    cells += [record(HOSTILE[2], "NLDD", share=share) for share in (0.5, 1.0)]
    cells += [record("yeast", "ECC", warnings={HOSTILE[0]: 1, HOSTILE[1]: 2})]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_module, "illustrations", lambda: ())
        write_report(write_records(folder, cells))
    return folder


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
    for name in HOSTILE:
        assert words.text.count(name) >= 8
    assert f"fold 1 failed: {ERROR}" in words.text
    assert f"NLDD on {HOSTILE[2]}: running time" in words.text


def test_hostile_names_are_whole_in_csv(hostile):
    for key in (*("hamming_loss", "running_time", "coefficients"), "subsets_f_measure"):
        with (hostile / "tables" / f"{key}.csv").open(newline="", encoding="utf-8") as stream:
            names = {row["dataset"] for row in csv.DictReader(stream)}
        assert names - {"yeast"} == set(HOSTILE)
    with (hostile / "tables" / "warnings.csv").open(newline="", encoding="utf-8") as stream:
        assert [row["warning"] for row in csv.DictReader(stream)] == sorted(HOSTILE[:2])


@pytest.mark.parametrize(
    "path", ["hamming_loss", "running_time", "settings", "warnings", "shares", "problems"]
)
def test_hostile_names_do_not_break_tables(hostile, path):
    text = (hostile / "tables" / f"{path}.tex").read_text(encoding="utf-8")
    for panel in text.split(r"\begin{tabular}{@{}")[1:]:
        rows = re.findall(r"^.*(?:\\\\|\\tabularnewline)$", panel, flags=re.MULTILINE)
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    assert r"\input" not in text
    assert text.count(r"\begin{table") == text.count(r"\end{table") > 0


def test_hostile_names_are_drawn_as_letters(hostile):
    text = (hostile / "figures" / "shares.svg").read_text(encoding="utf-8")
    assert "script" not in text
    ElementTree.fromstring(text)
