"""The coding view in a real browser: what a coder does there is what the store has afterwards."""

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from coding.review.browsing import SAVED, at, decisions, on, suggested
from coding.review.made_review import CODES
from coding.review.serve_made import serving
from nldd.coding.review.store import Store

PAGE = Path(str(files("nldd.coding.review"))) / "page"
TYPESCRIPT = "5.9.3"
TEXT = ".answer-text"


def test_the_whole_loop_by_keyboard_alone(visit, make):
    path = make()
    said = suggested(path)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    assert on(page) == said[1]
    press("Enter")
    at(page, 2)
    for place in range(5):
        press(str(place + 1))
    others = sorted(set(CODES) - set(said[2]))
    assert on(page) == others
    press("Enter")
    at(page, 3)
    press("s")
    at(page, 4)
    press("f")
    page.keyboard.type("ask Ben / 2nd")
    press("Enter")
    page.wait_for_selector(".tag-flag:text-is('⚑ flagged: ask Ben / 2nd')")
    press("n")
    (runner_up,) = on(page)
    assert [runner_up] != said[4]
    press("Enter")
    at(page, 5)
    press("u")
    at(page, 4)
    press("ArrowLeft")
    press("ArrowLeft")
    at(page, 2)
    assert on(page) == others
    press("1")
    press("Enter")
    at(page, 4)
    page.wait_for_selector(SAVED)
    changed = sorted(set(others) ^ {CODES[0]})
    with Store.open(path, write=False) as store:
        assert [e.after.note for e in store.entries()][3] == "ask Ben / 2nd"
    assert decisions(path) == [
        (1, "code", "done", said[1]),
        (2, "code", "done", others),
        (3, "skip", "skipped", []),
        (4, "flag", "open", []),
        (4, "code", "done", [runner_up]),
        (4, "undo", "open", []),
        (2, "code", "done", changed),
    ]
    assert tab.complaints == []


def test_text_is_never_markup_and_the_page_is_small():
    scripts = {file.name: file.read_text(encoding="utf-8") for file in PAGE.glob("*.js")}
    markup = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b")
    assert [name for name, text in scripts.items() if markup.search(text)] == []
    served = (file for file in PAGE.iterdir() if file.suffix != ".ts")
    assert sum(file.stat().st_size for file in served) <= 150_000


@pytest.mark.slow
def test_types_of_the_page_are_right():
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("needs npx, which comes with Node")
    tsc = [npx, "--offline", "--yes", "-p", f"typescript@{TYPESCRIPT}", "tsc"]
    if subprocess.run([*tsc, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("needs the compiler of TypeScript: make types-page fetches it once")
    config = Path(__file__).with_name("tsconfig.json")
    done = subprocess.run([*tsc, "-p", config], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_whole_loop_by_mouse_alone(visit, make):
    path = make()
    said = suggested(path)
    tab = visit(path)
    page = tab.page
    at(page, 1)
    page.click(f".code:has-text('{said[1][0]}')")
    assert on(page) == said[1][1:]
    other = next(code for code in CODES if code not in said[1])
    page.click(f".code:has-text('{other}')")
    page.click(".accept")
    at(page, 2)
    page.click("text=Next best")
    (runner_up,) = on(page)
    page.click(".accept")
    at(page, 3)
    page.click("[data-act=skip]")
    at(page, 4)
    page.click("[data-act=flag]")
    page.fill("dialog textarea", "?")
    page.click("dialog .primary")
    page.wait_for_selector(".tag-flag")
    page.click(".add-code")
    page.fill("dialog input", "parkign")
    page.click("dialog .primary")
    page.wait_for_selector(".code:has-text('parkign')")
    page.click(".accept")
    at(page, 5)
    page.click("[data-act=undo]")
    at(page, 4)
    page.click("[aria-label='Answer before']")
    at(page, 3)
    page.click("[aria-label='Next answer']")
    at(page, 4)
    page.wait_for_selector(SAVED)
    assert decisions(path) == [
        (1, "code", "done", sorted([*said[1][1:], other])),
        (2, "code", "done", [runner_up]),
        (3, "skip", "skipped", []),
        (4, "flag", "open", []),
        (4, "code", "done", sorted([*said[4], "parkign"])),
        (4, "undo", "open", []),
    ]
    assert tab.complaints == []


@pytest.mark.slow
def test_at_phone_width_by_touch(visit, make):
    path = make(4, texts=["A first answer that is long enough to need several lines. " * 3])
    tab = visit(path, width=360, height=740)
    page = tab.page
    for item in range(1, 5):
        at(page, item)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        accept = page.locator(".accept").bounding_box()
        assert accept["y"] + accept["height"] <= 740
        page.tap(".code >> nth=0")
        page.tap(".accept")
        if page.locator(".question:not(:empty)").count():
            page.tap(".accept")
    page.wait_for_selector(".finished")
    page.wait_for_selector(SAVED)
    assert [item for item, *_ in decisions(path)] == [1, 2, 3, 4]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.slow
def test_a_reload_in_the_middle_loses_nothing(visit, make):
    path = make()
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    press("Enter")
    at(page, 2)
    press("1")
    press("3")
    toggled = on(page)
    page.reload()
    at(page, 2)
    assert on(page) == toggled
    press("ArrowLeft")
    at(page, 1)
    page.reload()
    at(page, 1)
    press("ArrowRight")
    at(page, 2)
    assert on(page) == toggled
    press("Enter")
    at(page, 3)
    page.wait_for_selector(SAVED)
    other = tab.tab()  # a new visit goes on where the last one stopped
    page.wait_for_timeout(1200)
    other.goto(page.url)
    at(other, 3)
    other.keyboard.press("ArrowLeft")
    at(other, 2)
    other.keyboard.press("u")
    at(other, 2)
    other.wait_for_selector(SAVED)
    assert [(item, action) for item, action, *_ in decisions(path)] == [
        (1, "code"),
        (2, "code"),
        (2, "undo"),
    ]


@pytest.mark.slow
def test_offline_for_a_while_nothing_is_lost(visit, make):
    path = make(100)
    said = suggested(path)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    page.wait_for_load_state("networkidle")
    tab.context.set_offline(True)
    for item in range(1, 21):
        at(page, item)
        press("Enter")
    at(page, 21)
    press("u")  # 20 is open again
    at(page, 20)
    press("ArrowLeft")
    at(page, 19)
    off = next(place for place, code in enumerate(CODES) if code not in said[19])
    press(str(off + 1))
    changed = on(page)
    press("Enter")
    at(page, 20)
    page.wait_for_selector("#saved:has-text('not saved yet, trying again')")
    assert decisions(path) == []
    tab.context.set_offline(False)
    page.wait_for_selector(SAVED)
    made = decisions(path)
    assert made[:20] == [(item, "code", "done", said[item]) for item in range(1, 21)]
    assert made[20:] == [(20, "undo", "open", []), (19, "code", "done", changed)]
    assert page.locator("#problems .notice").count() == 0


@pytest.mark.slow
def test_what_was_not_sent_when_the_tab_was_closed_is_sent_by_the_next(visit, make):
    path = make()
    tab = visit(path)
    at(tab.page, 1)
    tab.context.set_offline(True)
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Enter")
    at(tab.page, 3)
    tab.page.close()
    tab.context.set_offline(False)
    page = tab.tab()
    page.goto(f"http://127.0.0.1:{tab.running.port}/")
    at(page, 3)
    page.wait_for_selector(SAVED)
    assert [item for item, *_ in decisions(path)] == [1, 2]


@pytest.mark.slow
def test_a_server_that_ends_and_starts_again_gets_what_was_decided_meanwhile(chromium, make):
    path = make(100)
    quiet = {"announce": lambda address: None}
    with chromium.new_context() as context:
        page = context.new_page()
        with serving(path, **quiet) as first:
            page.goto(first.address)
            at(page, 1)
            page.wait_for_load_state("networkidle")
        for item in range(1, 6):
            at(page, item)
            page.keyboard.press("Enter")
        at(page, 6)
        page.wait_for_selector("#saved:has-text('5 not saved yet, trying again')")
        with serving(path, port=first.port, **quiet) as second:
            page.wait_for_selector("#saved:has-text('open the new address in the terminal')")
            other = context.new_page()
            other.goto(second.address)
            at(other, 6)
            page.wait_for_selector(SAVED)
            other.wait_for_selector(SAVED)
    assert [item for item, *_ in decisions(path)] == [1, 2, 3, 4, 5]


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["Keep mine", "Take the other"])
def test_two_tabs_the_second_sees_what_changed_and_decides(visit, make, keep):
    path = make()
    tab = visit(path)
    first, second = tab.page, tab.tab()
    second.goto(first.url)
    at(first, 1)
    at(second, 1)
    first.keyboard.press("1")
    mine = on(first)
    first.keyboard.press("Enter")
    at(first, 2)
    first.wait_for_selector(SAVED)
    second.keyboard.press("2")
    other = on(second)
    second.keyboard.press("Enter")
    at(second, 2)
    notice = second.wait_for_selector("#problems .notice")
    assert "Answer 1 has been changed in another tab" in notice.inner_text()
    assert decisions(path) == [(1, "code", "done", mine)]
    second.reload()  # the question outlasts a reload
    second.click(f"#problems >> text={keep}")
    second.wait_for_selector("#problems .notice", state="detached")
    second.wait_for_selector(SAVED)
    last = other if keep == "Keep mine" else mine
    assert decisions(path)[-1] == (1, "code", "done", last)
    second.keyboard.press("ArrowLeft")
    at(second, 1)
    assert on(second) == last


@pytest.mark.slow
def test_other_scripts_long_texts_and_many_codes(visit, make):
    texts = [
        "الخدمة ممتازة\nلكن الانتظار طويل",
        "👩‍⚕️ great 😀",
        "x" * 100_000,
        "",
        "<b onload=x>&amp;",
    ]
    codes = [f"code {i:03d} سلامة 😀" for i in range(300)]
    path = make(6, texts=texts, codes=codes)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    assert page.inner_text(TEXT) == texts[0]
    assert page.evaluate(f"getComputedStyle(document.querySelector('{TEXT}')).direction") == "rtl"
    page.wait_for_selector(f".code >> text={codes[299]}")
    on_before = on(page)
    press("/")
    page.keyboard.type("CODE 277")
    press("Enter")
    page.wait_for_selector(f".code[aria-pressed=true]:has-text('{codes[277]}')")
    assert on(page) == sorted({*on_before} ^ {codes[277]})
    press("Enter")
    at(page, 2)
    assert page.inner_text(TEXT) == texts[1]
    press("Enter")
    at(page, 3)
    assert page.evaluate(f"document.querySelector('{TEXT}').textContent.length") == 100_000
    assert page.locator(TEXT).bounding_box()["height"] < 500
    press("Enter")
    at(page, 5)  # the empty one comes last
    assert page.inner_text(TEXT) == texts[4]
    page.wait_for_selector(SAVED)
    assert decisions(path)[0] == (1, "code", "done", sorted({*on_before} ^ {codes[277]}))
    assert tab.complaints == []


@pytest.mark.slow
def test_a_held_key_accepts_one_answer(visit, make):
    path = make()
    tab = visit(path)
    page = tab.page
    at(page, 1)
    for _ in range(5):
        page.keyboard.down("Enter")  # from the second on they repeat
    page.keyboard.up("Enter")
    at(page, 2)
    page.wait_for_selector(SAVED)
    assert [item for item, *_ in decisions(path)] == [1]
    before = on(page)
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+1")
    at(page, 2)
    assert on(page) == before


@pytest.mark.slow
def test_no_code_is_asked_once_and_a_code_like_a_known_one_too(visit, make):
    path = make(2)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    for code in on(page):
        press(str(CODES.index(code) + 1))
    press("Enter")
    assert "No code applies? Enter again" in page.inner_text(".question")
    press("Enter")
    at(page, 2)
    press("+")
    page.keyboard.type(f"{CODES[0]}s")
    press("Enter")
    page.wait_for_selector("dialog >> text=all the same")
    page.click(f"dialog >> text=Use “{CODES[0]}”")
    page.wait_for_selector(f".code[aria-pressed=true]:has-text('{CODES[0]}')")
    press("Enter")
    page.wait_for_selector(".finished")
    page.wait_for_selector(SAVED)
    assert decisions(path)[0] == (1, "code", "done", [])
    assert "nldd update model.nldd new.review.db" in page.inner_text(".finished")
    assert page.get_attribute(".finished a.button", "href") == "/api/export?kind=csv"


@pytest.mark.slow
def test_a_refit_renews_what_comes_but_not_what_is_on_screen(visit, make):
    path = make(30)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    at(page, 1)
    before = on(page)
    with Store.open(path) as store:
        new = [said._replace(codes=(CODES[4],)) for said in store.suggestions(0)]
        store.add_suggestions(1, new)
        store.finish_round(1, "2" * 64, dict(store.rounds()[0].facts))
    press("ArrowRight")
    press("ArrowLeft")
    at(page, 1)
    press("Enter")  # its receipt tells of the new round
    page.wait_for_selector(SAVED)
    at(page, 2)
    page.wait_for_timeout(300)
    press("Enter")
    at(page, 3)
    assert on(page) == [CODES[4]]
    page.wait_for_selector(SAVED)
    assert decisions(path)[0] == (1, "code", "done", before)


@pytest.mark.slow
def test_drawn_answers_stay_blind(visit, make):
    path = make(8, n_drawn=3)
    tab = visit(path)
    page, press = tab.page, tab.page.keyboard.press
    page.wait_for_selector(".tag:text-is('drawn at random')")
    assert on(page) == []
    assert "drawn at random to check the machine" in page.inner_text(".suggestion")
    assert page.locator(".nearest").count() == 0
    press("2")
    press("Enter")
    page.wait_for_selector(SAVED)
    press("ArrowLeft")
    page.wait_for_selector(".tag:text-is('decided')")
    assert on(page) == [CODES[1]]
    assert page.locator(".suggested, .nearest").count() == 0
