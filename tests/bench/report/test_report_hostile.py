"""Names and errors that look like HTML and LaTeX are text wherever a report has them."""

import csv
import re
from html.parser import HTMLParser

import pytest

from bench.report.records import grid, record, write_records
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
    cells = grid([[0.2, 0.3]] * 4, HOSTILE, (HOSTILE[1], "NLDD"))
    cells += [record(HOSTILE[0], "CBM", error=ERROR), record(HOSTILE[1], "LP", settings=HOSTILE[2])]
    cells += [record(HOSTILE[2], "NLDD", share=share) for share in (0.5, 1.0)]
    cells += [record("yeast", "ECC", warnings={HOSTILE[0]: 1, HOSTILE[1]: 2})]
    folder = write_records(tmp_path_factory.mktemp("hostile"), cells)
    write_report(folder, measures=["hamming_loss"])
    return folder


def test_hostile_names_and_errors_are_text_on_the_page(hostile):
    tags, texts = set(), []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.add(tag)
    parser.handle_data = texts.append
    parser.feed((hostile / "report.html").read_text(encoding="utf-8"))
    assert not tags & {"script", "img", "iframe"}
    text = "".join(texts)
    assert all(text.count(name) >= 6 for name in HOSTILE)
    assert f"fold 1 failed: {ERROR}" in text


def test_hostile_names_are_whole_in_csv(hostile):
    for key in ("hamming_loss", "running_time", "coefficients", "theta", "subsets_hamming_loss"):
        with (hostile / "tables" / f"{key}.csv").open(newline="", encoding="utf-8") as stream:
            assert {row["dataset"] for row in csv.DictReader(stream)} - {"yeast"} == set(HOSTILE)


def test_hostile_names_do_not_break_latex(hostile):
    paths = list((hostile / "tables").glob("*.tex"))
    assert len(paths) >= 10
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for panel in text.split(r"\begin{tabular}{@{}")[1:]:
            rows = re.findall(r"^.*(?:\\\\|\\tabularnewline)$", panel, flags=re.MULTILINE)
            assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
        assert r"\input" not in text
        assert text.count(r"\begin{table") == text.count(r"\end{table") > 0
