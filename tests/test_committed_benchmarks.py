"""The committed measurements: the pages on speed tell them as they are recorded."""

import re

import pytest

from programs import program


@pytest.fixture(scope="module")
def page():
    return program("page", "benchmarks")


def told(page, name):
    """The words of a page, whatever its lines."""
    return " ".join((page.marks.DOCS / name).read_text("utf-8").split())


def figures(page, name, what):
    return [
        page.number(found[what]["figure"])
        for found in page.by_place(name).values()
        if what in found
    ]


def test_pages_have_the_tables_as_they_are_recorded(page):
    for path in page.PAGES:
        text = path.read_text("utf-8")
        for mark in page.marks.names(path):
            assert f"<!-- {mark} -->\n{page.section(mark)}\n<!-- end -->" in text, mark


def test_every_answer_is_on_the_page_of_records(page):
    text = (page.marks.DOCS / "performance-records.md").read_text("utf-8")
    names = {path.stem for path in page.RESULTS.glob("*.json") if "trial" not in path.stem}
    assert names == set(page.programs())
    for name in names:
        for answer in page.answers(name):
            assert f"| {answer['question']} | {answer['figure']} |" in text


@pytest.mark.parametrize(
    ("figure", "bar", "missed"),
    [
        ("2.1x", ">= 3x", True),
        ("3.0x", ">= 3x", False),
        ("0.30x", "<= 0.3x", False),
        ("N^0.93", "<= 0.6", True),
        ("1.0 s", "< 1 s", True),
        ("8,347", ">= 9,000", True),
        ("0.9 s", "", False),
    ],
)
def test_missed_bars_are_found(page, figure, bar, missed):
    assert page.is_missed({"figure": figure, "bar": bar}) is missed


def test_findings_are_told_with_the_figures_of_the_records(page):
    text = told(page, "performance.md")
    search = figures(page, "search", "search")
    shares = figures(page, "search", "rows evaluated")
    assert f"{min(search):.0f} to {max(search):.0f} times as fast as brute force" in text
    text_sets = [fast for fast, share in zip(search, shares, strict=True) if share < 100]
    assert len(text_sets) == 6
    assert f"{min(text_sets):.0f} to {max(text_sets):.0f} times as fast on text" in text
    few = [share for share in shares if share < 100]
    assert f"evaluates {min(few):.0f} to {max(few):.0f} % of the rows" in text
    ours = sorted(figures(page, "fit", page.FITS[0])[:9])
    assert ours[-2] < 1 <= ours[-1]
    assert f"take {ours[0]:.2f} to {ours[-2]:.2f} of the time" in text
    assert f"On slashdot they take {ours[-1]:.2f} times as long" in text
    br = figures(page, "fit", page.FITS[1])
    assert f"takes {min(br):.2f} to {max(br):.2f} of that time" in text
    minutes, _, memory = (answer["figure"] for answer in page.answers("million"))
    assert f"in {minutes.split()[0]} minutes with {memory} of memory" in text
    speed, _, memory = (answer["figure"] for answer in page.answers("coding"))
    assert f"with {memory}, {speed} in a second of processor time" in text


def test_twenty_million_rows_took_so_long(page):
    taken = [
        a for a in page.answers("dask_fit") if a["question"].startswith("NLDD fit, 20,000,000")
    ]
    minutes = page.number(taken[0]["figure"]) / 60
    assert f"20 million rows took {minutes:.1f} minutes" in told(page, "scaling.md")


def test_figures_are_those_of_the_records(page):
    speed, growth = (path.read_text("utf-8") for path in (page.SPEED, page.GROWTH))
    for fast in figures(page, "search", "search"):
        assert f">{fast:g}x</text>" in speed
    assert re.findall(r"measured: (N\^[\d.]+)", growth) == [
        answer["figure"] for answer in page.answers("growth")[-2:]
    ]
