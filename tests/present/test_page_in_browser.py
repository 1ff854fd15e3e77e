"""What a browser makes of a report: widths, schemes, paper, keys, and nothing that acts."""

import re

import numpy as np
import pytest

from browser import open_tab
from nldd.present.page import render_page
from present.sample_page import PAYLOADS, hostile_page, sample_page

# A browser takes its time; `tests/coding/review/test_coding_view.py` starts one in every run.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sample(browser, yeast):
    del browser  # asked for first: without one there is no need to fit anything
    return sample_page(*yeast)


@pytest.fixture(scope="module")
def browser():
    with open_tab() as tab:
        yield tab


def write(folder, page):
    path = folder / "report.html"
    path.write_text(render_page(page), encoding="utf-8")
    return path.as_uri()


def test_the_browser_would_tell_of_requests_scripts_and_errors(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<title>bad</title><img src='missing.png'><p style='width: 900px'>wide</p>"
        "<script>document.title = 'owned'; console.error('no'); throw new Error('thrown')</script>"
    )
    browser.open(path.as_uri(), 360)
    assert browser.requests == [path.as_uri(), (tmp_path / "missing.png").as_uri()]
    assert "thrown" in str(browser.complaints)
    assert "error: no" in browser.complaints
    assert browser.evaluate("document.title") == "owned"
    assert browser.evaluate("document.documentElement.scrollWidth") > 360


WIDTHS = (320, 360, 768, 1280, 1920)


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(w, marks=pytest.mark.slow) for w in WIDTHS[1:])]
)
def test_browser_shows_the_page_whole_at_every_width_without_a_request(
    sample, browser, tmp_path, width
):
    url = write(tmp_path, sample)
    browser.open(url, width)
    assert browser.requests == [url]
    assert browser.complaints == []
    root = "document.documentElement"
    assert browser.evaluate(f"{root}.clientWidth") == width
    assert browser.evaluate(f"{root}.scrollWidth") == width
    # What is wider than its frame is in a frame that scrolls and takes the focus.
    scrolling = browser.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 "
        "&& e.clientWidth && getComputedStyle(e).overflowX === 'auto')"
        ".map(e => [e.getAttribute('role'), e.tabIndex])"
    )
    assert set(map(tuple, scrolling)) <= {("region", 0)}
    assert bool(scrolling) == (width <= 768)


def test_first_column_stays_while_a_wide_table_scrolls(sample, browser, tmp_path):
    browser.open(write(tmp_path, sample), 360)
    left = (
        "Math.round(document.querySelector('#table-hamming_loss {}').getBoundingClientRect().left)"
    )
    stays, moves = (browser.evaluate(left.format(what)) for what in ("tbody th", "tbody td"))
    browser.evaluate("document.querySelector('#table-hamming_loss .scroll').scrollLeft = 150")
    assert browser.evaluate(left.format("tbody th")) == stays
    assert browser.evaluate(left.format("caption span")) == stays
    assert browser.evaluate(left.format("tbody td")) == moves - 150


def test_figures_stay_legible_on_a_phone_and_on_a_white_card_at_night(sample, browser, tmp_path):
    url = write(tmp_path, sample)
    browser.open(url, 360, dark=True)
    shown = browser.evaluate(
        "[...document.querySelectorAll('.picture svg')].map(e => e.getBoundingClientRect().width)"
    )
    # Figures are 7.2 inches wide and their smallest letters 9 points: 0.9 of that is above 8.
    assert min(shown) >= 0.9 * 7.2 * 96 - 1
    color = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    assert browser.evaluate(color.format(".card")) == "rgb(255, 255, 255)"
    assert browser.evaluate(color.format("body")) == "rgb(21, 24, 27)"
    browser.open(url, 360)
    assert browser.evaluate(color.format("body")) == "rgb(253, 253, 251)"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_background(sample, browser, tmp_path, dark):
    browser.open(write(tmp_path, sample), 1280, dark=dark)
    colors = browser.evaluate(
        "['body', '.subtitle', 'dt', 'nav ul a', '.note', 'td small', 'footer', 'tfoot th']"
        ".map(s => getComputedStyle(document.querySelector(s)).color)"
    )
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert min(contrast(color, paper) for color in colors) >= 4.5


def contrast(*colors):
    """Contrast ratio of two colours by the formula of WCAG 2."""
    light = []
    for color in colors:
        rgb = np.array([int(part) for part in re.findall(r"\d+", color)[:3]]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(light) / min(light)


def test_first_tab_is_the_skip_link(sample, browser, tmp_path):
    browser.open(write(tmp_path, sample), 1280)
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().top") >= 0


def test_paper_shows_whole_tables_and_no_scrolling(sample, browser, tmp_path):
    url = write(tmp_path, sample)
    # The width between the margins of a sheet of A4.
    browser.open(url, 672, print_=True, dark=True)
    assert browser.evaluate("document.documentElement.scrollWidth") == 672
    cut = browser.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.clientWidth && "
        "(e.scrollWidth > e.clientWidth + 1)).map(e => e.className)"
    )
    assert cut == []
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8


QUICK = [(payload, 360) for payload in PAYLOADS[::4]]
SLOW = [(payload, width) for payload in PAYLOADS for width in (360, 1280)]


@pytest.mark.parametrize(
    ("payload", "width"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW if case not in QUICK)],
    ids=range(len(SLOW)),
)
def test_nothing_hostile_runs_in_a_browser_or_breaks_the_page(payload, width, browser, tmp_path):
    url = write(tmp_path, hostile_page(payload))
    browser.open(url, width)
    assert browser.requests == [url]
    assert browser.complaints == []
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") == width
