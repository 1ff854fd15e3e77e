"""Enter accepts whatever was clicked before, and the page names what it does and takes back."""

import pytest

from coding.review.browsing import SAVED, at
from coding.review.made_review import CODES
from nldd.coding.review.store import Store

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
