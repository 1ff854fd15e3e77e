"""What a browser makes of a full report, on a phone and on a desktop."""

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


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.slow)])
def test_full_report_fits_its_window_and_asks_for_nothing(browser, url, width):
    browser.open(url, width)
    # Colour bars are pictures within the page, which the browser tells as requests of data.
    assert [asked for asked in browser.requests if not asked.startswith("data:")] == [url]
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.clientWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    # What is wider than the window scrolls in its own frame.
    outside = browser.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, .card') && "
        f"e.getBoundingClientRect().right > {width}).map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []
    frames = browser.evaluate(
        "[...document.querySelectorAll('.scroll, .card')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => [getComputedStyle(e).overflowX, e.tabIndex])"
    )
    assert set(map(tuple, frames)) <= {("auto", 0)}


@pytest.mark.slow
def test_contents_lead_to_every_table_and_figure(browser, url):
    browser.open(url, 1280)
    assert browser.evaluate("document.querySelectorAll('nav ol > li').length") == len(SECTIONS)
    assert browser.evaluate("document.querySelectorAll('nav ul > li').length") == len(TABLES) + len(
        FIGURES
    )
    broken = browser.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')]"
        ".filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
    )
    assert broken == []


@pytest.mark.slow
def test_a_desktop_shows_whole_tables_of_ten_methods(browser, url):
    browser.open(url, 1280)
    assert browser.evaluate("document.querySelectorAll('.scroll').length") == len(TABLES)
    scrolling = browser.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => e.parentElement.id)"
    )
    assert scrolling == []


@pytest.mark.parametrize(
    ("width", "print_"), [(360, False), pytest.param(672, True, marks=pytest.mark.slow)]
)
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


@pytest.mark.slow
def test_settings_have_room_on_a_phone(browser, url):
    browser.open(url, 360)
    assert browser.evaluate(
        "document.querySelector('#table-settings td:nth-child(3)').clientWidth"
    ) in range(200, 361)


@pytest.mark.slow
def test_paper_shows_whole_tables_in_letters_that_can_be_read(browser, url):
    # The width between the margins of a sheet of A4; a browser shrinks all of a wider page.
    browser.open(url, 672, print_=True)
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
