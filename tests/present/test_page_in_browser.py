"""That nothing on a page acts in a browser, whatever it says."""

import pytest

from browser import open_tab
from nldd.present.page import render_page
from present.test_page import PAYLOADS, hostile_page

# A browser takes its time; `tests/coding/review/test_coding_view.py` starts one in every run.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with open_tab() as tab:
        yield tab


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


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_hostile_runs_in_a_browser_or_breaks_the_page(payload, width, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(hostile_page(payload)), encoding="utf-8")
    browser.open(path.as_uri(), width)
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") == width
