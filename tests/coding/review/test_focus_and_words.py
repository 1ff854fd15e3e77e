"""Enter accepts whatever was clicked before, and the page names what it does and takes back."""

import pytest

from coding.review.browsing import play
from coding.review.made_review import CODES

pytestmark = pytest.mark.slow
FOCUS = "document.activeElement.className.split(' ')[0]"
TWELVE = (*CODES, *(f"another reason, the {n}th" for n in range(6, 13)))


def test_enter_accepts_after_buttons_and_dialogs_were_used(coding):
    tab = coding()
    page = tab.page
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
    tab = coding()
    page, codes = tab.page, ", ".join(tab.suggested[1])
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
    page = coding(30, codes=TWELVE, look={"width": 1366, "height": 768}).page
    tops = page.eval_on_selector_all(".code", "all => all.map(b => b.getBoundingClientRect().top)")
    assert (len(tops), len(set(tops))) == (12, 6)
    hidden = "(c => c.scrollHeight - c.clientHeight)(document.querySelector('.codes'))"
    assert page.evaluate(hidden) == 0
    play(page, "+", ">something quite new", "Enter")
    new = page.wait_for_selector(".code[aria-pressed=true] >> text=something quite new")
    box, actions = new.bounding_box(), page.locator(".actions").bounding_box()
    assert box["y"] + box["height"] <= actions["y"]
