"""The views of the review page beside the answer itself: list, alike, disagreements, settings."""

import re

import pytest

from coding.review.browsing import play
from coding.review.made_review import CODES, decide, end_round, make_review, said_in

pytestmark = pytest.mark.slow
AXE = {"resultTypes": ["violations"]}
WIDTHS = {"phone": 360, "wide": 1600}
# Each view, and what is there once it is shown.
VIEWS = {
    "#/": ".answer",
    "#/item/1": ".answer",
    "#/list": ".list-table tbody tr",
    "#/settle": ".settle .card",
    "#/keys": ".help-table",
}
IS_TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"


def violations(page):
    """What axe-core finds: its rules, with the first element of each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options=AXE).response["violations"]
    return [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found]


def rows(page):
    """Numbers of the answers that the list shows."""
    return page.eval_on_selector_all(
        ".list-table tbody tr", "rows => rows.map(row => Number(row.dataset.item))"
    )


@pytest.fixture
def opened(visit, tmp_path):
    """Open the page of a new review; it complains of nothing."""
    tabs = []

    def open_page(*made, look=None, **how):
        make_review(tmp_path / "new.review.db", *made, **how)
        tabs.append(visit(tmp_path / "new.review.db", **(look or {})))
        return tabs[-1]

    yield open_page
    assert [tab.complaints for tab in tabs if tab.complaints] == []


@pytest.fixture
def disputed(tmp_path):
    """A review that two people have coded, the same but for answers 1 to 4."""
    path = tmp_path / "new.review.db"
    right = make_review(path, 60, n_drawn=12)
    common = {item: right[item] for item in range(1, 31)}
    other = {item: right[item] ^ {CODES[item % 5]} for item in range(1, 5)}
    decide(path, common)
    decide(path, common | other, "Ben")
    return path


def test_list_of_ten_thousand_answers_searches_filters_and_jumps(opened):
    texts = ["Ein Fahrradkeller", "a BICYCLE cellar <b>here</b>", "مخزن للدراجات 🚲"]
    codes = tuple(f"code {i:03d}" for i in range(300))
    tab = opened(10_000, codes=codes, texts=texts, look={"width": 1600})
    page = tab.go("#/list", ".list-table tbody tr")
    assert page.inner_text(".list-count") == "10,000 answers, 1 to 100 shown"
    assert rows(page) == list(range(1, 101))
    page.click("text=Next")
    page.wait_for_selector('tr[data-item="101"]')
    assert page.inner_text(".pager span") == "Page 2 of 100"
    page.click("text=Last")
    page.wait_for_selector('tr[data-item="10000"]')
    page.fill("#list-search", "bicycle CELLAR")
    page.wait_for_selector('tr[data-item="2"]')
    assert rows(page) == [2]
    assert page.inner_text('tr[data-item="2"] th') == texts[1]
    page.fill("#list-search", "")
    page.click('[data-state="auto"]')
    n_auto = int(page.inner_text('[data-state="auto"] .count').replace(",", ""))
    page.wait_for_selector(f".list-count >> text=/^{n_auto:,} answers/")
    assert violations(page) == []
    page.click('[data-state="all"]')
    page.select_option("#list-code", "code 299")
    n = sum("code 299" in said.codes for said in said_in(tab.path).values())
    page.wait_for_selector(f".list-count >> text=/^{n} answers/")
    page.click(".list-table tbody a >> nth=0")
    page.wait_for_selector(".answer")
    tab.go("#/list", ".list-table tbody tr")
    page.fill("#list-jump", "17")
    page.press("#list-jump", "Enter")
    page.wait_for_url("**/#/item/17")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_axe_finds_nothing_on_any_view_or_dialog(visit, disputed, width, dark):
    tab = visit(disputed, width=width, dark=dark, every=50)
    page, found = tab.page, {}
    for route, there in VIEWS.items():
        tab.go(route, there)
        found[route] = violations(page)
        assert not page.evaluate(IS_TOO_WIDE), route
    tab.go("#/settle", VIEWS["#/settle"])
    page.click("summary")
    page.click("text=Other codes >> nth=0")
    found["other codes"] = violations(page)
    tab.go("#/", ".answer")
    for key in (None, "?", "a", "f", "+"):
        page.click("#open-settings") if key is None else page.keyboard.press(key)
        box = page.wait_for_selector("dialog[open]").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        found[key] = violations(page)
        play(page, "Escape")
        page.wait_for_selector("dialog[open]", state="detached")
    assert {name: what for name, what in found.items() if what} == {}
    assert tab.complaints == []


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_axe_finds_nothing_at_the_end_and_without_a_second_coder(opened, width):
    tab = opened(20, share=1.1, look={"width": width, "dark": width > 1000})
    assert violations(tab.page) == []
    page = tab.go("#/settle", "text=There is nothing to settle.")
    assert "a name of their own (--coder NAME)" in page.inner_text(".settle-body")
    assert violations(page) == []


def test_a_disagreement_is_settled_by_a_key_and_by_other_codes(visit, disputed):
    tab = visit(disputed)
    n_before = len(tab.acts)
    page = tab.go("#/settle", ".settle .card")
    cards = page.query_selector_all(".settle .card")
    assert [int(card.get_attribute("data-item")) for card in cards] == [1, 2, 3, 4]
    sides = cards[0].query_selector_all(".side")
    assert [side.query_selector(".side-coder").inner_text() for side in sides] == ["Ann", "Ben"]
    second = [chip.evaluate("c => c.firstChild.data") for chip in sides[1].query_selector_all("li")]
    play(page, "2")
    page.wait_for_selector(".settled")
    assert tab.decisions[-1] == (1, "settle", "done", sorted(second))
    cards[1].query_selector("text=Other codes").click()
    for box in cards[1].query_selector_all(".choice-list input:checked"):
        box.uncheck()
    page.check(f'.card[data-item="2"] input[value="{CODES[0]}"]')
    page.click('.card[data-item="2"] .primary')
    page.wait_for_selector('.card[data-item="2"].settled')
    assert tab.decisions[-1] == (2, "settle", "done", [CODES[0]])
    page.click("h2")
    play(page, "u")
    page.wait_for_selector(".settled", state="detached")
    assert page.locator(".settle .card").count() == 3
    assert len(tab.acts) == n_before + 3
    assert tab.complaints == []


def test_keys_are_remapped_refused_remembered_and_switched_off(opened):
    tab = opened(30)
    page = tab.page
    page.click("#open-settings")
    page.click('[data-action="skip"]')
    play(page, "u")
    assert "taken by" in page.inner_text(".key-message")
    page.click('[data-action="skip"]')
    play(page, "k")
    assert page.inner_text('[data-action="skip"]') == "k"
    play(page, "Escape s k saved")  # s is now the key of nothing, or of a code
    page.wait_for_timeout(100)
    page.reload()
    page.wait_for_selector(".answer")
    play(page, "k saved")
    assert [action for _, action in tab.acts] == ["skip", "skip"]
    page.click("#open-settings")
    page.uncheck("#set-keys-on")
    play(page, "Escape")
    page.wait_for_timeout(500)
    page.reload()
    page.wait_for_selector(".answer")
    play(page, "k Enter u 1 ? l")
    page.wait_for_timeout(300)
    assert len(tab.acts) == 2
    assert page.query_selector("dialog[open]") is None


@pytest.mark.parametrize("n_codes", [5, 300])
def test_keys_print_on_one_page(opened, n_codes):
    codes = tuple(f"code number {i:03d} of the codebook" for i in range(n_codes))
    page = opened(20, codes=codes).go("#/keys", ".help-table")
    assert n_pages(page) == 1
    page.click("#open-settings")
    page.check("#set-codes-fixed")
    play(page, "Escape")
    page.wait_for_selector(".code-keys li")
    assert page.inner_text(".code-keys li >> nth=0") == f"1 {codes[0]}"
    assert n_pages(page) == 1


def n_pages(page):
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


class QuickLearner:
    """Learns as a model would that is sure of everything: when told to finish, not before."""

    message = ""

    def __init__(self, path):
        self.path, self.state = path, "idle"

    def start(self):
        self.state = "running"
        return True

    def poll(self):
        return self

    def finish(self):
        sure = [said._replace(status="auto") for said in said_in(self.path).values()]
        end_round(self.path, 1, sure, n_auto=len(sure), n_review=0, n_decided=1)
        self.state = "idle"

    def stop(self):
        pass


def test_panel_tells_what_the_machine_learns_without_moving_the_answer(opened, tmp_path):
    learner = QuickLearner(tmp_path / "new.review.db")
    page = opened(40, look={"learner": learner, "every": 3}).page
    n_queue = int(page.inner_text("#panel .figure >> nth=0").split(" of ")[1])
    assert page.inner_text(".learning") == "It learns again after 3 more decisions."
    play(page, "Enter")
    page.wait_for_selector("text=It learns again after 2 more decisions.")
    shown = page.inner_text(".answer-text")
    page.click("text=Learn now")
    page.wait_for_selector("text=It is learning from the decisions so far.")
    learner.finish()
    page.wait_for_selector(f"text={n_queue - 1} of them it could not at the start.")
    assert page.inner_text(".answer-text") == shown
    assert page.inner_text("#panel .figure >> nth=1") == "100 % by itself"


def test_colours_are_chosen_and_remembered(opened):
    page, paper = opened(10).page, "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#open-settings")
    page.check("#set-theme-dark")
    dark = page.evaluate(paper)
    assert dark != light
    play(page, "Escape")
    page.wait_for_timeout(600)
    page.reload()
    page.wait_for_selector(".answer")
    assert page.evaluate(paper) == dark
    page.click("#open-settings")
    page.wait_for_selector("dialog[open]")
    play(page, "Escape")
    assert "answer-text" in page.evaluate("document.activeElement.className")
