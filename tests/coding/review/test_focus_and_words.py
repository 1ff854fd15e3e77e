"""Enter accepts whatever was clicked before, and the page names what it does and takes back."""

import pytest

from coding.review.browsing import SAVED, at
from coding.review.made_review import CODES
from nldd.coding.review.desk import Desk
from nldd.coding.review.store import Store
from nldd.coding.review.views import act_words, item_views, list_view, status_view

FOCUS = "document.activeElement.className.split(' ')[0]"
TWELVE = (*CODES, *(f"another reason, the {n}th" for n in range(6, 13)))


@pytest.mark.slow
def test_enter_accepts_after_buttons_and_dialogs_were_used(visit, make):
    path = make()
    page = visit(path).page

    def close(dialog):
        page.wait_for_selector(dialog)
        page.keyboard.press("Escape")
        page.wait_for_selector(dialog, state="detached")

    def settings_by_key():
        page.focus("#open-settings")
        page.keyboard.press("Enter")
        close(".dialog-settings")

    def learn_by_key():
        page.focus("#panel button")
        page.keyboard.press("Enter")

    uses = [
        lambda: page.click("text=Learn now"),
        learn_by_key,
        lambda: (page.click("#open-settings"), close(".dialog-settings")),
        settings_by_key,
        lambda: (page.keyboard.press("?"), close(".dialog-help")),
        lambda: (page.click("[data-act=flag]"), close(".dialog-ask")),
        lambda: page.click("summary"),
        lambda: page.click(".code >> nth=1"),
    ]
    for item, use in enumerate(uses, 1):
        at(page, item)
        use()
        assert page.evaluate(FOCUS) == "answer-text"
        page.keyboard.press("Enter")
    at(page, len(uses) + 1)
    # Enter right after the key that shows all alike gives nobody codes.
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".dialog-alike")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector(SAVED)
    with Store.open(path, write=False) as store:
        assert [(e.item, e.action) for e in store.entries()] == [(n, "code") for n in range(1, 9)]


@pytest.mark.slow
def test_an_undo_says_what_it_takes_back(visit, make):
    path = make()
    tab = visit(path)
    page = tab.page
    with Store.open(path, write=False) as store:
        codes = ", ".join(next(iter(store.suggestions(0))).codes)
    page.keyboard.press("Enter")
    at(page, 2)
    page.keyboard.press("s")
    at(page, 3)
    page.keyboard.press("f")
    page.keyboard.type("ask Ben")
    page.keyboard.press("Enter")
    acts = ["answer 3: flag", "answer 2: skipped", f"answer 1: {codes}"]
    page.wait_for_selector(f".last:text-is('Undo takes back: {acts[0]}')")
    page.keyboard.press("u")
    assert page.inner_text(".question") == f"Taken back: {acts[0]}."
    assert page.inner_text("#announcer").startswith(f"Taken back: {acts[0]}.")
    assert page.inner_text(".last") == f"Undo takes back: {acts[1]}"
    page.wait_for_selector(SAVED)
    # After a reload the server says what was done last.
    page.reload()
    for number, act in enumerate(acts[1:], 1):
        page.wait_for_selector(f".last:text-is('Undo takes back: {act}')")
        page.keyboard.press("u")
        page.wait_for_selector(f".question:text-is('Taken back: {act}.')")
        at(page, 3 - number)
    assert page.is_disabled("[data-act=undo]")
    assert page.inner_text(".last") == ""
    assert tab.complaints == []


@pytest.mark.slow
def test_twelve_codes_are_all_in_sight_on_a_laptop(visit, make):
    path = make(30, codes=TWELVE)
    page = visit(path, width=1366, height=768).page
    tops = page.eval_on_selector_all(".code", "all => all.map(b => b.getBoundingClientRect().top)")
    assert (len(tops), len(set(tops))) == (12, 6)
    assert (
        page.evaluate("(c => c.scrollHeight - c.clientHeight)(document.querySelector('.codes'))")
        == 0
    )
    page.keyboard.press("+")
    page.keyboard.type("something quite new")
    page.keyboard.press("Enter")
    new = page.wait_for_selector(".code[aria-pressed=true] >> text=something quite new")
    box, actions = new.bounding_box(), page.locator(".actions").bounding_box()
    assert box["y"] + box["height"] <= actions["y"]


def test_what_the_page_counts_and_names(make):
    path = make(60, n_drawn=20, share=0.6, texts=[""])
    desk = Desk(Store.open(path), "Ann")
    machine = status_view(desk, {})["machine"]
    listed = list_view(desk, "auto", "", "", "file", 0, 100)
    assert machine["n_auto_shown"] == listed["n"] == len(listed["rows"])
    hidden = [n for n in range(1, 61) if desk.is_blind(n) and desk.outlook.auto[desk.place(n)]]
    assert machine["n_auto"] - machine["n_auto_shown"] == len(hidden) > 0
    empty, other = (item_views(desk, [n])[0]["suggestion"] for n in (1, 2))
    assert empty["doubt_words"] == ""
    assert other["doubt_words"].endswith("all codes together")
    assert act_words([]) == status_view(desk, {})["progress"]["last"] == ""
