"""Undo, refusals and changes of mind on the page: it says what the store has, in two tabs too."""

import pytest

from coding.review.browsing import NOTICE, on, play
from coding.review.made_review import CODES
from nldd.coding.review.store import Store

pytestmark = pytest.mark.slow
REFUSED = '{"error": "There is no such code.", "hint": ""}'
ALL_DONE = ".finished h2:text-is('All answers for people are decided')"


@pytest.fixture
def two_tabs(coding):
    """A visit, and two tabs of one coder, both at the first answer."""
    tab, _ = coding()
    other = tab.tab()
    play(tab.page, "@1")
    play(other, "@1")
    return tab, tab.page, other


@pytest.fixture
def refused(two_tabs):
    """The same; the decision of the second tab is refused, as the first one was faster."""
    _, first, second = two_tabs
    play(first, "1 Enter @2 saved")
    play(second, "2 Enter")
    second.wait_for_selector(NOTICE)
    return two_tabs


def gone(page, selector):
    page.wait_for_selector(selector, state="detached")


def test_undo_takes_back_no_decision_of_another_tab(two_tabs):
    tab, first, second = two_tabs
    play(first, "Enter @2 saved")
    second.goto(f"{tab.host}#/item/7")
    play(second, "@7 1 Enter saved")
    play(first, "u")
    assert "Answer 1 was not undone" in first.wait_for_selector(NOTICE).inner_text()
    assert tab.acts == [(1, "code"), (7, "code")]
    play(first, "@1")
    first.wait_for_selector(".tag:text-is('decided')")
    first.click("text=Let it go")
    play(first, "u @7 saved")  # as in a fresh page: what was last, which is shown
    assert tab.acts == [(1, "code"), (7, "code"), (7, "undo")]
    assert [text for text in tab.complaints if "409" not in text] == []


def test_an_undo_made_offline_takes_back_only_what_was_seen(two_tabs):
    tab, first, second = two_tabs
    play(second, "ArrowRight @2")
    tab.context.set_offline(True)
    play(first, "Enter @2")
    play(second, "1 Enter @3")
    play(first, "u @1")
    first.wait_for_timeout(300)  # a browser takes a moment to keep what a tab remembers
    first.close()
    second.close()
    tab.context.set_offline(False)
    page = tab.tab()
    page.wait_for_selector(".answer")
    play(page, "saved")
    assert "Answer 1 was not undone" in page.wait_for_selector(NOTICE).inner_text()
    assert tab.acts == [(1, "code"), (2, "code")]


def test_undo_of_a_decision_that_was_refused_lets_it_go(refused):
    tab, first, second = refused
    play(first, "Enter @3 saved")
    before = tab.decisions
    play(second, "u @1")
    gone(second, NOTICE)
    play(second, "saved")
    assert on(second) == before[0][3]
    assert tab.decisions == before
    play(second, "3")
    chosen = on(second)
    play(second, "Enter saved")
    assert tab.decisions == [*before, (1, "code", "done", chosen)]


def test_undo_among_disagreements_leaves_coding_alone(coding):
    tab, page = coding()
    play(page, "@1 Enter Enter @3 saved")
    tab.go("#/settle", ".settle-state:has-text('nothing to settle')")
    play(page, "u")
    page.wait_for_selector(".settle-state:has-text('Nothing was settled here')")
    assert tab.acts == [(1, "code"), (2, "code")]
    page.click("[data-view=coding]")
    play(page, "@3 u @2 saved")
    assert tab.acts[2:] == [(2, "undo")]


def test_a_new_decision_takes_the_place_of_a_refused_one(refused):
    tab, _, second = refused
    play(second, "ArrowLeft @1")
    assert on(second) == tab.decisions[0][3]  # what the other tab saved
    play(second, "3 4")
    chosen = on(second)
    play(second, "Enter @2")
    gone(second, NOTICE)
    play(second, "saved")
    assert tab.decisions[1:] == [(1, "code", "done", chosen)]


def test_after_apply_to_all_alike_nothing_conflicts_and_it_is_undone_as_one(coding):
    tab, page = coding(40, order="alike")
    page.wait_for_load_state("networkidle")
    play(page, "2 ArrowRight")  # a draft for the first of them
    page.wait_for_load_state("networkidle")
    play(page, "a")
    page.wait_for_selector(".dialog-alike .alike-list li")
    play(page, "Enter")  # not on a button: nothing is applied by it
    boxes = page.query_selector_all(".alike-list input")
    assert all(box.is_checked() for box in boxes)
    boxes[-1].uncheck()
    left_out = int(boxes[-1].get_attribute("id").removeprefix("alike-"))
    codes = sorted(page.eval_on_selector_all(".alike-codes .chip", "c => c.map(x => x.innerText)"))
    page.click(".dialog-alike .primary")
    gone(page, ".dialog-alike")
    many = tab.entries
    assert len(many) == len(boxes) - 1 > 2
    assert left_out not in {entry.item for entry in many}
    assert len({entry.batch for entry in many}) == 1
    assert all(sorted(entry.after.codes) == codes for entry in many)
    play(page, "Enter Enter saved")
    assert page.locator(NOTICE).count() == 0
    made = tab.decisions
    saved = {item: codes for item, _, _, codes in made}
    assert len(saved) == len(made) == len(many) + 2
    play(page, "ArrowLeft ArrowLeft ArrowLeft")
    page.wait_for_selector(".tag:text-is('decided')")
    assert on(page) == saved[int(page.inner_text("#answer-title").split()[1])]
    play(page, "u u u")  # the batch is one act
    page.wait_for_selector("#progress:text-matches('^0 of')")  # and not 10 or 20
    play(page, "saved")
    assert {item: act[0] for item, *act in tab.decisions[len(made) :]} == dict.fromkeys(
        saved, "undo"
    )


def test_escape_while_codes_are_applied_changes_nothing(coding):
    tab, page = coding(40, order="alike")
    page.wait_for_load_state("networkidle")
    play(page, "a")
    page.wait_for_selector(".dialog-alike")
    page.route("**/api/decide_many", lambda route: page.wait_for_timeout(400) or route.continue_())
    play(page, "Tab Enter Escape Escape")
    gone(page, ".dialog-alike")
    page.wait_for_selector("#progress:not(:text-matches('^0 of'))")
    n = len(tab.acts)
    assert n > 2
    play(page, "Enter Enter saved")
    assert page.locator(NOTICE).count() == 0
    assert len(tab.acts) == n + 2


def test_codes_that_are_changed_and_not_saved_are_called_so(coding):
    tab, page = coding()
    said = tab.suggested
    play(page, "@1 Enter @2 ArrowLeft @1 5")
    page.wait_for_selector(".tag:text-is('changed, not saved')")
    play(page, "ArrowRight")
    assert "Not saved" in page.inner_text(".question")
    play(page, "@1 ArrowRight @2 ArrowLeft @1")
    page.wait_for_selector(".tag:text-is('changed, not saved')")
    changed = on(page)
    assert changed != said[1]
    assert tab.decisions == [(1, "code", "done", said[1])]
    play(page, "Enter saved")
    assert tab.decisions[1:] == [(1, "code", "done", changed)]


def test_undo_keeps_what_was_switched(coding):
    tab, page = coding()
    play(page, "@1 1 2")
    chosen = on(page)
    play(page, "Enter @2")
    tab.context.set_offline(True)
    play(page, "u @1")
    assert on(page) == chosen
    play(page, "2 Enter @2 ArrowLeft @1")
    assert on(page) == sorted({*chosen} ^ {CODES[1]})
    page.wait_for_selector(".tag:text-is('decided')")
    tab.context.set_offline(False)
    play(page, "saved")
    assert tab.decisions[-1] == (1, "code", "done", on(page))


def test_a_new_code_has_the_name_that_is_kept(coding):
    tab, page = coding(2)
    play(page, "@1 +", ">new  code", "Enter")
    page.wait_for_selector(".code[aria-pressed=true]:has-text('new code')")
    play(page, "Enter @2 saved")
    assert page.locator(NOTICE).count() == 0
    assert tab.decisions[0][3] == sorted({"new code", *tab.suggested[1]})


def test_a_decision_that_is_refused_leaves_its_answer_open(coding):
    tab, page = coding(2)
    play(page, "@1")
    page.route("**/api/decide", lambda r: r.fulfill(status=422, body=REFUSED), times=1)
    play(page, "Enter")
    assert "was not saved" in page.wait_for_selector(NOTICE).inner_text()
    play(page, "Enter")
    page.click("text=Let it go")
    play(page, "@1")  # it comes again, though it was on screen before
    assert page.inner_text("#progress") == "1 of 2"
    play(page, "Enter")
    page.wait_for_selector(ALL_DONE)
    assert tab.acts == [(2, "code"), (1, "code")]


def test_a_refused_answer_comes_again_though_the_end_came_before_the_server_said_how_it_is(coding):
    tab, page = coding(1)
    held = []
    play(page, "@1")
    page.route("**/api/decide", lambda r: r.fulfill(status=422, body=REFUSED), times=1)
    page.route("**/api/items?*", lambda route: held.append(route))
    with page.expect_response("**/api/next?*"):
        play(page, "Enter")
    page.wait_for_selector(NOTICE)
    page.wait_for_selector(".finished")
    held[0].continue_()
    play(page, "@1 Enter")
    page.wait_for_selector(ALL_DONE)
    assert tab.acts == [(1, "code")]


def test_settings_of_two_tabs_are_kept_key_by_key(two_tabs):
    tab, first, second = two_tabs
    for place in ("#open-settings", "#set-codes-likely", "#set-theme-dark"):
        first.click(place)
    first.wait_for_timeout(1500)
    play(second, "Enter @2")
    second.wait_for_timeout(1500)
    with Store.open(tab.path, write=False) as store:
        kept = store.setting("coder:Ann")
    assert kept == {"order": "file", "codes": "likely", "theme": "dark", "at": 2}


def test_a_code_of_another_tab_can_be_switched_off(two_tabs):
    tab, first, second = two_tabs
    play(first, "+", ">zebra", "Enter")
    first.wait_for_selector(".code:has-text('zebra')")
    play(first, "Enter @2 saved")
    second.goto(f"{tab.host}#/item/1")
    second.wait_for_selector(".tag:text-is('decided')")
    second.click(".code:has-text('zebra')")
    play(second, "Enter saved")
    assert tab.decisions[-1] == (1, "code", "done", tab.suggested[1])
    assert CODES[0] in second.inner_text(".codes")


FOCUS = "document.activeElement.className.split(' ')[0]"
TWELVE = (*CODES, *(f"another reason, the {n}th" for n in range(6, 13)))


def test_enter_accepts_after_buttons_and_dialogs_were_used(coding):
    tab, page = coding()
    # What is clicked or pressed, and the dialog that this opens.
    uses = [
        ("click", "text=Learn now", None),
        ("focus", "#panel button", None),
        ("click", "#open-settings", ".dialog-settings"),
        ("focus", "#open-settings", ".dialog-settings"),
        ("press", "?", ".dialog-help"),
        ("click", "[data-act=flag]", ".dialog-ask"),
        ("click", "summary", None),
        ("click", ".code >> nth=1", None),
    ]
    for item, (how, what, dialog) in enumerate(uses, 1):
        play(page, f"@{item}")
        play(page, what) if how == "press" else getattr(page, how)(what)
        if how == "focus":
            play(page, "Enter")
        if dialog is not None:
            page.wait_for_selector(dialog)
            play(page, "Escape")
            page.wait_for_selector(dialog, state="detached")
        assert page.evaluate(FOCUS) == "answer-text"
        play(page, "Enter")
    # Enter right after the key that shows all alike gives nobody codes.
    play(page, f"@{len(uses) + 1} a Enter")
    page.wait_for_selector(".dialog-alike")
    play(page, "Enter Escape saved")
    assert tab.acts == [(n, "code") for n in range(1, 9)]


def test_an_undo_says_what_it_takes_back(coding):
    tab, page = coding()
    codes = ", ".join(tab.suggested[1])
    play(page, "@1 Enter @2 s @3 f", ">ask Ben", "Enter")
    acts = ["answer 3: flag", "answer 2: skipped", f"answer 1: {codes}"]
    page.wait_for_selector(f".last:text-is('Undo takes back: {acts[0]}')")
    play(page, "u")
    assert page.inner_text(".question") == f"Taken back: {acts[0]}."
    assert page.inner_text("#announcer").startswith(f"Taken back: {acts[0]}.")
    assert page.inner_text(".last") == f"Undo takes back: {acts[1]}"
    play(page, "saved")
    # After a reload the server says what was done last.
    page.reload()
    for number, act in enumerate(acts[1:], 1):
        page.wait_for_selector(f".last:text-is('Undo takes back: {act}')")
        play(page, "u")
        page.wait_for_selector(f".question:text-is('Taken back: {act}.')")
        play(page, f"@{3 - number}")
    assert page.is_disabled("[data-act=undo]")
    assert page.inner_text(".last") == ""
    assert tab.complaints == []


def test_twelve_codes_are_all_in_sight_on_a_laptop(coding):
    _, page = coding(30, codes=TWELVE, look={"width": 1366, "height": 768})
    tops = page.eval_on_selector_all(".code", "all => all.map(b => b.getBoundingClientRect().top)")
    assert (len(tops), len(set(tops))) == (12, 6)
    hidden = "(c => c.scrollHeight - c.clientHeight)(document.querySelector('.codes'))"
    assert page.evaluate(hidden) == 0
    play(page, "+", ">something quite new", "Enter")
    new = page.wait_for_selector(".code[aria-pressed=true] >> text=something quite new")
    box, actions = new.bounding_box(), page.locator(".actions").bounding_box()
    assert box["y"] + box["height"] <= actions["y"]
