"""Undo, refusals and changes of mind on the page: it says what the store has, in two tabs too."""

import pytest

from coding.review.browsing import SAVED, at, decisions, on, suggested
from coding.review.made_review import CODES
from nldd.coding.review.store import Store

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


def test_undo_among_disagreements_leaves_coding_alone(visit, make):
    path = make()
    tab = visit(path)
    page = tab.page
    at(page, 1)
    press(page, "Enter", "Enter")
    at(page, 3)
    page.wait_for_selector(SAVED)
    tab.go("#/settle", ".settle-state:has-text('nothing to settle')")
    press(page, "u")
    page.wait_for_selector(".settle-state:has-text('Nothing was settled here')")
    assert acts(path) == [(1, "code"), (2, "code")]
    page.click("[data-view=coding]")
    at(page, 3)
    press(page, "u")
    at(page, 2)
    page.wait_for_selector(SAVED)
    assert acts(path)[2:] == [(2, "undo")]


def test_a_new_decision_takes_the_place_of_a_refused_one(visit, make):
    path = make()
    _, _, second = refuse(visit, path)
    press(second, "ArrowLeft")
    at(second, 1)
    assert on(second) == decisions(path)[0][3]  # what the other tab saved
    press(second, "3", "4")
    chosen = on(second)
    press(second, "Enter")
    at(second, 2)
    second.wait_for_selector(NOTICE, state="detached")
    second.wait_for_selector(SAVED)
    assert decisions(path)[1:] == [(1, "code", "done", chosen)]


def test_what_the_other_tab_saved_is_on_screen_once_it_is_taken(visit, make):
    path = make()
    _, _, second = refuse(visit, path)
    press(second, "ArrowLeft")
    at(second, 1)
    second.click("#problems >> text=Take the other")
    second.wait_for_selector(NOTICE, state="detached")
    (saved,) = decisions(path)
    assert on(second) == saved[3]
    press(second, "Enter")
    at(second, 2)
    second.wait_for_selector(SAVED)
    assert decisions(path) == [saved, saved]


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


def test_escape_while_codes_are_applied_changes_nothing(visit, make):
    path = make(40, order="alike")
    page = visit(path).page
    page.wait_for_load_state("networkidle")
    press(page, "a")
    page.wait_for_selector(".dialog-alike")
    page.route("**/api/decide_many", lambda route: page.wait_for_timeout(400) or route.continue_())
    press(page, "Tab", "Enter", "Escape", "Escape")
    page.wait_for_selector(".dialog-alike", state="detached")
    page.wait_for_selector("#progress:not(:text-matches('^0 of'))")
    n = len(decisions(path))
    assert n > 2
    press(page, "Enter", "Enter")
    page.wait_for_selector(SAVED)
    assert page.locator(NOTICE).count() == 0
    assert len(decisions(path)) == n + 2


def test_codes_that_are_changed_and_not_saved_are_called_so(visit, make):
    path = make()
    said = suggested(path)
    page = visit(path).page
    at(page, 1)
    press(page, "Enter")
    at(page, 2)
    press(page, "ArrowLeft")
    at(page, 1)
    press(page, "5")
    page.wait_for_selector(".tag:text-is('changed, not saved')")
    press(page, "ArrowRight")
    assert "Not saved" in page.inner_text(".question")
    at(page, 1)
    press(page, "ArrowRight")
    at(page, 2)
    press(page, "ArrowLeft")
    at(page, 1)
    page.wait_for_selector(".tag:text-is('changed, not saved')")
    changed = on(page)
    assert changed != said[1]
    assert decisions(path) == [(1, "code", "done", said[1])]
    press(page, "Enter")
    page.wait_for_selector(SAVED)
    assert decisions(path)[1:] == [(1, "code", "done", changed)]


def test_undo_keeps_what_was_switched(visit, make):
    path = make()
    tab = visit(path)
    page = tab.page
    at(page, 1)
    press(page, "1", "2")
    chosen = on(page)
    press(page, "Enter")
    at(page, 2)
    tab.context.set_offline(True)
    press(page, "u")
    at(page, 1)
    assert on(page) == chosen
    press(page, "2", "Enter")
    at(page, 2)
    press(page, "ArrowLeft")
    at(page, 1)
    assert on(page) == sorted({*chosen} ^ {CODES[1]})
    page.wait_for_selector(".tag:text-is('decided')")
    tab.context.set_offline(False)
    page.wait_for_selector(SAVED)
    assert decisions(path)[-1] == (1, "code", "done", on(page))


def test_a_new_code_has_the_name_that_is_kept(visit, make):
    path = make(2)
    page = visit(path).page
    at(page, 1)
    press(page, "+")
    page.fill("dialog input", "new  code")
    press(page, "Enter")
    page.wait_for_selector(".code[aria-pressed=true]:has-text('new code')")
    press(page, "Enter")
    at(page, 2)
    page.wait_for_selector(SAVED)
    assert page.locator(NOTICE).count() == 0
    assert decisions(path)[0][3] == sorted({"new code", *suggested(path)[1]})


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


def test_a_refused_answer_comes_again_though_the_end_was_reached_before_the_server_said_how_it_is(
    visit, make
):
    path = make(1)
    page = visit(path).page
    at(page, 1)
    held = []
    page.route("**/api/decide", lambda r: r.fulfill(status=422, body=REFUSED), times=1)
    page.route("**/api/items?*", lambda route: held.append(route))
    with page.expect_response("**/api/next?*"):
        press(page, "Enter")
    page.wait_for_selector(NOTICE)
    page.wait_for_selector(".finished")
    held[0].continue_()
    at(page, 1)
    press(page, "Enter")
    page.wait_for_selector(".finished h2:text-is('All answers for people are decided')")
    assert acts(path) == [(1, "code")]


def test_settings_of_two_tabs_are_kept_key_by_key(visit, make):
    path = make()
    _, first, second = two_tabs(visit, path)
    first.click("#open-settings")
    first.click("#set-codes-likely")
    first.click("#set-theme-dark")
    first.wait_for_timeout(1500)
    press(second, "Enter")
    at(second, 2)
    second.wait_for_timeout(1500)
    with Store.open(path, write=False) as store:
        kept = store.setting("coder:Ann")
    assert kept == {"order": "file", "codes": "likely", "theme": "dark", "at": 2}


def test_a_code_of_another_tab_can_be_switched_off(visit, make):
    path = make()
    _, first, second = two_tabs(visit, path)
    press(first, "+")
    first.fill("dialog input", "zebra")
    press(first, "Enter")
    first.wait_for_selector(".code:has-text('zebra')")
    press(first, "Enter")
    at(first, 2)
    first.wait_for_selector(SAVED)
    second.goto(f"{second.url.split('#')[0]}#/item/1")
    second.wait_for_selector(".tag:text-is('decided')")
    second.click(".code:has-text('zebra')")
    press(second, "Enter")
    second.wait_for_selector(SAVED)
    assert decisions(path)[-1] == (1, "code", "done", suggested(path)[1])
    assert CODES[0] in second.inner_text(".codes")
