"""Undo, refusals and changes of mind on the page: it says what the store has, in two tabs too."""

import pytest

from coding.review.browsing import SAVED, at, decisions, on

pytestmark = pytest.mark.slow
NOTICE = "#problems .notice"
REFUSED = '{"error": "There is no such code.", "hint": ""}'


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def acts(path):
    return [(item, action) for item, action, *_ in decisions(path)]


def two_tabs(visit, path):
    """Two tabs of one coder, both at the first answer."""
    tab = visit(path)
    other = tab.tab()
    other.goto(tab.page.url)
    at(tab.page, 1)
    at(other, 1)
    return tab, tab.page, other


def refuse(visit, path):
    """A second tab whose decision on answer 1 is refused, as the first tab was faster."""
    tab, first, second = two_tabs(visit, path)
    press(first, "1", "Enter")
    at(first, 2)
    first.wait_for_selector(SAVED)
    press(second, "2", "Enter")
    second.wait_for_selector(NOTICE)
    return tab, first, second


def test_undo_takes_back_no_decision_of_another_tab(visit, make):
    path = make()
    tab, first, second = two_tabs(visit, path)
    press(first, "Enter")
    at(first, 2)
    first.wait_for_selector(SAVED)
    second.goto(f"{second.url.split('#')[0]}#/item/7")
    at(second, 7)
    press(second, "1", "Enter")
    second.wait_for_selector(SAVED)
    press(first, "u")
    assert "Answer 1 was not undone" in first.wait_for_selector(NOTICE).inner_text()
    assert acts(path) == [(1, "code"), (7, "code")]
    at(first, 1)
    first.wait_for_selector(".tag:text-is('decided')")
    first.click("text=Let it go")
    press(first, "u")  # as in a fresh page: what was last, which is shown
    at(first, 7)
    first.wait_for_selector(SAVED)
    assert acts(path) == [(1, "code"), (7, "code"), (7, "undo")]
    assert [text for text in tab.complaints if "409" not in text] == []


def test_an_undo_made_offline_takes_back_only_what_was_seen(visit, make):
    path = make()
    tab, first, second = two_tabs(visit, path)
    press(second, "ArrowRight")
    at(second, 2)
    tab.context.set_offline(True)
    press(first, "Enter")
    at(first, 2)
    press(second, "1", "Enter")
    at(second, 3)
    press(first, "u")
    at(first, 1)
    first.wait_for_timeout(300)  # a browser takes a moment to keep what a tab remembers
    first.close()
    second.close()
    tab.context.set_offline(False)
    page = tab.tab()
    page.goto(f"http://127.0.0.1:{tab.running.port}/")
    page.wait_for_selector(".answer")
    page.wait_for_selector(SAVED)
    assert "Answer 1 was not undone" in page.wait_for_selector(NOTICE).inner_text()
    assert acts(path) == [(1, "code"), (2, "code")]


def test_undo_of_a_decision_that_was_refused_lets_it_go(visit, make):
    path = make()
    _, first, second = refuse(visit, path)
    press(first, "Enter")
    at(first, 3)
    first.wait_for_selector(SAVED)
    before = decisions(path)
    press(second, "u")
    at(second, 1)
    second.wait_for_selector(NOTICE, state="detached")
    second.wait_for_selector(SAVED)
    assert on(second) == before[0][3]
    assert decisions(path) == before
    press(second, "3")
    chosen = on(second)
    press(second, "Enter")
    second.wait_for_selector(SAVED)
    assert decisions(path) == [*before, (1, "code", "done", chosen)]


def test_after_apply_to_all_alike_nothing_conflicts(visit, make):
    path = make(40, order="alike")
    tab = visit(path)
    page = tab.page
    page.wait_for_load_state("networkidle")
    press(page, "2", "ArrowRight")  # a draft for the first of them
    page.wait_for_load_state("networkidle")
    press(page, "a")
    page.wait_for_selector(".dialog-alike")
    press(page, "Enter")  # not on a button: nothing is applied by it
    press(page, "Tab", "Enter")
    page.wait_for_selector(".dialog-alike", state="detached")
    many = decisions(path)
    assert len(many) > 2
    press(page, "Enter", "Enter")
    page.wait_for_selector(SAVED)
    assert page.locator(NOTICE).count() == 0
    made = decisions(path)
    assert len({item for item, *_ in made}) == len(made) == len(many) + 2
    for _ in range(3):
        press(page, "ArrowLeft")
    page.wait_for_selector(".tag:text-is('decided')")
    number = int(page.inner_text("#answer-title").split()[1])
    saved = {item: codes for item, _, _, codes in made}
    assert on(page) == saved[number]
    press(page, "u", "u", "u")  # the batch is one act
    page.wait_for_selector("#progress:text-matches('^0 of')")  # and not 10 or 20
    page.wait_for_selector(SAVED)
    assert {item for item, *_ in decisions(path)[len(made) :]} == set(saved)


def test_a_decision_that_is_refused_leaves_its_answer_open(visit, make):
    path = make(2)
    page = visit(path).page
    at(page, 1)
    page.route("**/api/decide", lambda r: r.fulfill(status=422, body=REFUSED), times=1)
    press(page, "Enter")
    assert "was not saved" in page.wait_for_selector(NOTICE).inner_text()
    press(page, "Enter")
    page.wait_for_selector("text=Let it go")
    page.click("text=Let it go")
    at(page, 1)  # it comes again, though it was on screen before
    assert page.inner_text("#progress") == "1 of 2"
    press(page, "Enter")
    page.wait_for_selector(".finished h2:text-is('All answers for people are decided')")
    assert acts(path) == [(2, "code"), (1, "code")]
