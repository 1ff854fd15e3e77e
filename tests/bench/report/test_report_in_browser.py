"""What a browser makes of a full report: widths, schemes, paper and keys."""

import re

import numpy as np
import pytest

from bench.report.records import FIGURES, SECTIONS, TABLES, full_report
from browser import open_tab
from nldd.present.page import render_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with open_tab() as tab:
        yield tab


@pytest.fixture(scope="module")
def url(browser, tmp_path_factory):
    del browser  # asked for first: without one there is no need to draw anything
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_page(full_report()), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [320, 360, 768, 1280, 1920])
def test_report_fits_its_window_and_asks_for_nothing(browser, url, width):
    browser.open(url, width)
    assert browser.requests == [url]
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.clientWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    # What is wider than the window scrolls in its own frame, which takes the focus.
    outside = browser.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, .card') && "
        f"e.getBoundingClientRect().right > {width}).map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []
    scrolling = browser.evaluate(
        "[...document.querySelectorAll('.scroll, .card')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => [getComputedStyle(e).overflowX, e.getAttribute('role'), e.tabIndex])"
    )
    assert set(map(tuple, scrolling)) <= {("auto", "region", 0)}
    # A desktop shows whole tables of ten methods.
    assert bool(scrolling) == (width <= 768)


def test_contents_lead_to_every_table_and_figure_and_the_first_tab_to_the_content(browser, url):
    browser.open(url, 1280)
    count = "document.querySelectorAll('{}').length"
    assert browser.evaluate(count.format("nav ol > li")) == len(SECTIONS)
    assert browser.evaluate(count.format("nav ul > li")) == len(TABLES) + len(FIGURES)
    broken = browser.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')]"
        ".filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
    )
    assert broken == []
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().top") >= 0


def test_first_column_stays_while_a_wide_table_scrolls(browser, url):
    browser.open(url, 360)
    left = (
        "Math.round(document.querySelector('#table-hamming_loss {}').getBoundingClientRect().left)"
    )
    stays, moves = (browser.evaluate(left.format(what)) for what in ("tbody th", "tbody td"))
    browser.evaluate("document.querySelector('#table-hamming_loss .scroll').scrollLeft = 150")
    assert browser.evaluate(left.format("tbody th")) == stays
    assert browser.evaluate(left.format("caption span")) == stays
    assert browser.evaluate(left.format("tbody td")) == moves - 150


@pytest.mark.parametrize(("width", "print_"), [(360, False), (672, True)])
def test_names_of_rows_and_short_words_are_not_torn(browser, url, width, print_):
    browser.open(url, width, print_=print_)
    browser.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    lines = browser.evaluate(
        "[...document.querySelectorAll('tbody th, tfoot th, tbody td:not(.number)')]"
        ".filter(e => e.innerText).map(e => {"
        "const range = document.createRange(); range.selectNodeContents(e);"
        "const tops = [...range.getClientRects()].map(r => Math.round(r.top));"
        "return [e.innerText, new Set(tops).size]})"
    )
    told = dict(lines)
    assert told["among the paper's"] <= 2
    assert told["average rank"] == 1
    assert [text for text, n in lines if n > 1 and " " not in text and len(text) < 12] == []


def contrast(*colors):
    """Contrast ratio of two colours by the formula of WCAG 2."""
    light = []
    for color in colors:
        rgb = np.array([int(part) for part in re.findall(r"\d+", color)[:3]]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(light) / min(light)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_and_figures_lie_on_a_white_card(browser, url, dark):
    browser.open(url, 360, dark=dark)
    color = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    paper = browser.evaluate(color.format("body"))
    assert paper == ("rgb(21, 24, 27)" if dark else "rgb(253, 253, 251)")
    assert browser.evaluate(color.format(".card")) == "rgb(255, 255, 255)"
    colors = browser.evaluate(
        "['body', '.subtitle', 'dt', 'nav ul a', '.note', 'td small', 'footer', 'tfoot th']"
        ".map(s => getComputedStyle(document.querySelector(s)).color)"
    )
    assert min(contrast(color, paper) for color in colors) >= 4.5
    # Figures are 7.2 inches wide and their smallest letters 9 points: 0.9 of that is above 8.
    shown = browser.evaluate(
        "[...document.querySelectorAll('.picture svg')].map(e => e.getBoundingClientRect().width)"
    )
    assert min(shown) >= 0.9 * 7.2 * 96 - 1


def test_paper_shows_whole_tables_in_letters_that_can_be_read(browser, url):
    # The width between the margins of a sheet of A4; a browser shrinks all of a wider page.
    browser.open(url, 672, print_=True, dark=True)
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    widest = browser.evaluate(
        "Math.max(...[...document.querySelectorAll('main *')].map(e => e.scrollWidth))"
    )
    points = "Math.min(...[...document.querySelectorAll('#table-hamming_loss {}')]"
    points += ".map(e => 0.75 * parseFloat(getComputedStyle(e).fontSize)))"
    values, second_lines = (browser.evaluate(points.format(what)) for what in ("td", "td small"))
    # Fonts differ between machines: 7 points, and no less than 6.5 in the widest of them.
    assert values == pytest.approx(7, abs=0.01)
    assert values * min(1, 672 / widest) >= 6.5
    assert second_lines * min(1, 672 / widest) >= 5.8
    assert browser.pdf().startswith(b"%PDF")
