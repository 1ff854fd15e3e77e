"""The site as a browser shows it, from the disk and without a network; `make docs` builds it."""

from pathlib import Path

import pytest

from browser import Tab, launched

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
PAGES = [
    *("index", "engineers", "coders", "researchers", "reference", "project", "gallery/index"),
    *("results", "performance", "promise", "review", "commands", "changes", "contributing"),
    *("api/nldd", "api/nldd.NLDDClassifier", "api/nldd.coding", "gallery/plot_theta"),
]
PHONE, DESK = 390, 1300

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SITE.is_dir(), reason="needs the site: make docs"),
]


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


def address(page):
    return (SITE / f"{page}.html").as_uri()


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("page", PAGES)
def test_pages_load_nothing_from_elsewhere_complain_of_nothing_and_fit(browser, page, width):
    tab = Tab(browser)
    tab.open(address(page), width, dark=width == PHONE)
    tab.page.wait_for_load_state()
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert [said for said in tab.complaints if not said.startswith("log:")] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.title") != ""


def background(tab):
    """How bright the page is, from 0 to 765."""
    return tab.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
        ".reduce((sum, part) => sum + Number(part), 0)"
    )


def test_colours_follow_the_system_and_can_be_switched(browser):
    tab = Tab(browser)
    tab.open(address("index"), DESK)
    assert background(tab) > 600
    tab.open(address("index"), DESK, dark=True)
    assert background(tab) < 200


@pytest.mark.parametrize(
    ("words", "expected"),
    [("predict_theta", "NLDDClassifier"), ("target accuracy", "Code your own answers")],
)
def test_search_finds_pages_without_a_network(browser, words, expected):
    tab = Tab(browser)
    tab.open(f"{address('search')}?q={words}", DESK)
    tab.page.wait_for_selector("#search-results ul.search li")
    tab.page.wait_for_function("!document.querySelector('#search-progress')?.textContent.trim()")
    found = tab.page.locator("#search-results ul.search li a").all_inner_texts()
    assert any(expected in text for text in found), found
