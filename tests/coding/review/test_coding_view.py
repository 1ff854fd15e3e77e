"""The coding view in a real browser: what a coder does there is what the store has afterwards."""

import shutil
import subprocess
from pathlib import Path

import pytest

from coding.review.browsing import NOTICE, on, play
from coding.review.made_review import CODES, end_round, log_of, said_in
from coding.review.serve_made import serving

pytestmark = pytest.mark.slow
TYPESCRIPT = "5.9.3"
TEXT = ".answer-text"


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


def test_the_whole_loop_by_mouse_alone(coding):
    tab, page = coding()
    said = tab.suggested
    other = next(code for code in CODES if code not in said[1])
    play(page, "@1")
    page.click(f".code:has-text('{said[1][0]}')")
    assert on(page) == said[1][1:]
    page.click(f".code:has-text('{other}')")
    page.click(".accept")
    play(page, "@2")
    page.click("text=Next best")
    (runner_up,) = on(page)
    page.click(".accept")
    play(page, "@3")
    page.click("[data-act=skip]")
    play(page, "@4")
    page.click("[data-act=flag]")
    page.fill("dialog textarea", "?")
    page.click("dialog .primary")
    page.wait_for_selector(".tag-flag")
    page.click(".add-code")
    page.fill("dialog input", "parkign")
    page.click("dialog .primary")
    page.wait_for_selector(".code:has-text('parkign')")
    for place, item in (
        (".accept", 5),
        ("[data-act=undo]", 4),
        ("[aria-label='Answer before']", 3),
        ("[aria-label='Next answer']", 4),
    ):
        page.click(place)
        play(page, f"@{item}")
    play(page, "saved")
    assert tab.decisions == [
        (1, "code", "done", sorted([*said[1][1:], other])),
        (2, "code", "done", [runner_up]),
        (3, "skip", "skipped", []),
        (4, "flag", "open", []),
        (4, "code", "done", sorted([*said[4], "parkign"])),
        (4, "undo", "open", []),
    ]
    assert tab.complaints == []


def test_at_phone_width_by_touch(coding):
    long = "A first answer that is long enough to need several lines. " * 3
    tab, page = coding(4, texts=[long], look={"width": 360, "height": 740})
    for item in range(1, 5):
        play(page, f"@{item}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        accept = page.locator(".accept").bounding_box()
        assert accept["y"] + accept["height"] <= 740
        page.tap(".code >> nth=0")
        page.tap(".accept")
        if page.locator(".question:not(:empty)").count():
            page.tap(".accept")
    page.wait_for_selector(".finished")
    play(page, "saved")
    assert [item for item, _ in tab.acts] == [1, 2, 3, 4]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_reload_in_the_middle_loses_nothing(coding):
    tab, page = coding()
    play(page, "@1 Enter @2 1 3")
    toggled = on(page)
    page.reload()
    play(page, "@2")
    assert on(page) == toggled
    play(page, "ArrowLeft @1")
    page.reload()
    play(page, "@1 ArrowRight @2")
    assert on(page) == toggled
    play(page, "Enter @3 saved")
    page.wait_for_timeout(1200)
    # A new visit goes on where the last one stopped.
    play(tab.tab(page.url), "@3 ArrowLeft @2 u @2 saved")
    assert tab.acts == [(1, "code"), (2, "code"), (2, "undo")]


def test_offline_for_a_while_nothing_is_lost(coding):
    tab, page = coding(100)
    said = tab.suggested
    page.wait_for_load_state("networkidle")
    tab.context.set_offline(True)
    for item in range(1, 21):
        play(page, f"@{item} Enter")
    play(page, "@21 u @20 ArrowLeft @19")  # 20 is open again
    off = next(place for place, code in enumerate(CODES, 1) if code not in said[19])
    play(page, str(off))
    changed = on(page)
    play(page, "Enter @20")
    page.wait_for_selector("#saved:has-text('not saved yet, trying again')")
    assert tab.decisions == []
    tab.context.set_offline(False)
    play(page, "saved")
    made = tab.decisions
    assert made[:20] == [(item, "code", "done", said[item]) for item in range(1, 21)]
    assert made[20:] == [(20, "undo", "open", []), (19, "code", "done", changed)]
    assert page.locator(NOTICE).count() == 0


def test_what_was_not_sent_when_the_tab_was_closed_is_sent_by_the_next(coding):
    tab, _ = coding()
    play(tab.page, "@1")
    tab.context.set_offline(True)
    play(tab.page, "Enter Enter @3")
    tab.page.close()
    tab.context.set_offline(False)
    play(tab.tab(), "@3 saved")
    assert tab.acts == [(1, "code"), (2, "code")]


def test_a_server_that_ends_and_starts_again_gets_what_was_decided_meanwhile(chromium, make):
    path = make(100)
    with chromium.new_context() as context:
        page = context.new_page()
        with serving(path) as first:
            page.goto(first.address)
            play(page, "@1")
            page.wait_for_load_state("networkidle")
        play(page, "Enter @2 Enter @3 Enter @4 Enter @5 Enter @6")
        page.wait_for_selector("#saved:has-text('5 not saved yet, trying again')")
        with serving(path, port=first.port) as second:
            page.wait_for_selector("#saved:has-text('open the new address in the terminal')")
            other = context.new_page()
            other.goto(second.address)
            play(other, "@6")
            play(page, "saved")
            play(other, "saved")
    assert [entry.item for entry in log_of(path)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("keep", ["Keep mine", "Take the other"])
def test_two_tabs_the_second_sees_what_changed_and_decides(coding, keep):
    tab, _ = coding()
    first, second = tab.page, tab.tab()
    play(second, "@1")
    play(first, "@1 1")
    mine = on(first)
    play(first, "Enter @2 saved")
    play(second, "2")
    other = on(second)
    play(second, "Enter @2")
    notice = second.wait_for_selector(NOTICE)
    assert "Answer 1 has been changed in another tab" in notice.inner_text()
    assert tab.decisions == [(1, "code", "done", mine)]
    second.reload()  # the question outlasts a reload
    second.click(f"#problems >> text={keep}")
    second.wait_for_selector(NOTICE, state="detached")
    play(second, "saved ArrowLeft @1")
    last = other if keep == "Keep mine" else mine
    assert on(second) == last
    assert tab.decisions[-1] == (1, "code", "done", last)
    assert len(tab.acts) == (2 if keep == "Keep mine" else 1)


def test_other_scripts_long_texts_and_many_codes(coding):
    texts = [
        "الخدمة ممتازة\nلكن الانتظار طويل",
        "👩‍⚕️ great 😀",
        "x" * 100_000,
        "",
        "<b onload=x>&amp;",
    ]
    codes = [f"code {i:03d} سلامة 😀" for i in range(300)]
    tab, page = coding(6, texts=texts, codes=codes)
    play(page, "@1")
    assert page.inner_text(TEXT) == texts[0]
    assert page.evaluate(f"getComputedStyle(document.querySelector('{TEXT}')).direction") == "rtl"
    page.wait_for_selector(f".code >> text={codes[299]}")
    expected = sorted({*on(page)} ^ {codes[277]})
    play(page, "/", ">CODE 277", "Enter")
    page.wait_for_selector(f".code[aria-pressed=true]:has-text('{codes[277]}')")
    assert on(page) == expected
    play(page, "Enter @2")
    assert page.inner_text(TEXT) == texts[1]
    play(page, "Enter @3")
    assert page.evaluate(f"document.querySelector('{TEXT}').textContent.length") == 100_000
    assert page.locator(TEXT).bounding_box()["height"] < 500
    play(page, "Enter @5")  # the empty one comes last
    assert page.inner_text(TEXT) == texts[4]
    play(page, "saved")
    assert tab.decisions[0] == (1, "code", "done", expected)
    assert tab.complaints == []


def test_a_held_key_accepts_one_answer(coding):
    tab, page = coding()
    play(page, "@1")
    for _ in range(5):
        page.keyboard.down("Enter")  # from the second on they repeat
    page.keyboard.up("Enter")
    play(page, "@2 saved")
    assert tab.acts == [(1, "code")]
    before = on(page)
    play(page, "Control+Enter Control+1 @2")
    assert on(page) == before


def test_no_code_is_asked_once_and_a_code_like_a_known_one_too(coding):
    tab, page = coding(2)
    play(page, "@1", *(str(CODES.index(code) + 1) for code in tab.suggested[1]), "Enter")
    assert "No code applies? Enter again" in page.inner_text(".question")
    play(page, "Enter @2 +", f">{CODES[0]}s", "Enter")
    page.wait_for_selector("dialog >> text=all the same")
    page.click(f"dialog >> text=Use “{CODES[0]}”")
    page.wait_for_selector(f".code[aria-pressed=true]:has-text('{CODES[0]}')")
    play(page, "Enter")
    page.wait_for_selector(".finished")
    play(page, "saved")
    assert tab.decisions[0] == (1, "code", "done", [])
    assert "nldd update model.nldd new.review.db" in page.inner_text(".finished")
    assert page.get_attribute(".finished a.button", "href") == "/api/export?kind=csv"


def test_a_refit_renews_what_comes_but_not_what_is_on_screen(coding):
    tab, page = coding(30)
    play(page, "@1")
    before = on(page)
    end_round(tab.path, 1, [s._replace(codes=(CODES[4],)) for s in said_in(tab.path).values()])
    play(page, "ArrowRight ArrowLeft @1 Enter saved @2")  # its receipt tells of the new round
    page.wait_for_timeout(300)
    play(page, "Enter @3")
    assert on(page) == [CODES[4]]
    play(page, "saved")
    assert tab.decisions[0] == (1, "code", "done", before)


def test_drawn_answers_stay_blind(coding):
    _, page = coding(8, n_drawn=3)
    page.wait_for_selector(".tag:text-is('drawn at random')")
    assert on(page) == []
    assert "drawn at random to check the machine" in page.inner_text(".suggestion")
    assert page.locator(".nearest").count() == 0
    play(page, "2 Enter saved ArrowLeft")
    page.wait_for_selector(".tag:text-is('decided')")
    assert on(page) == [CODES[1]]
    assert page.locator(".suggested, .nearest").count() == 0
