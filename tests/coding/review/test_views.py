"""The views of the review page beside the answer itself: list, alike, disagreements, settings."""

import re
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from coding.review.made_review import CODES, make_review
from nldd.coding.review.records import LogEntry, Position
from nldd.coding.review.store import Store

NOW = "2026-01-02T03:04:05.678Z"
AXE = {"resultTypes": ["violations"]}
WIDTHS = {"phone": 360, "wide": 1600}


def entries(path):
    with Store.open(path, write=False) as store:
        return store.entries()


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


def decided(coder, codes):
    """Entries of a coder who gave these codes, to add to a store."""
    return [
        LogEntry(0, f"{coder}-{item}", item, coder, "code", Position("done", frozenset(own)), NOW)
        for item, own in codes.items()
    ]


@pytest.fixture
def disputed(tmp_path):
    """A review that two people have coded, the same but for answers 1 to 4."""
    path = tmp_path / "new.review.db"
    right = make_review(path, 60, n_drawn=12)
    common = {item: right[item] for item in range(1, 31)}
    other = {item: right[item] ^ {CODES[item % 5]} for item in range(1, 5)}
    with Store.open(path) as store:
        store.add([*decided("Ann", common), *decided("Ben", common | other)])
    return path


@pytest.mark.slow
def test_list_searches_filters_and_jumps(visit, tmp_path):
    path = tmp_path / "new.review.db"
    texts = ["Ein Fahrradkeller", "a BICYCLE cellar <b>here</b>", "مخزن للدراجات 🚲"]
    make_review(path, 250, texts=texts)
    tab = visit(path)
    page = tab.go("#/list", ".list-table tbody tr")
    assert rows(page) == list(range(1, 101))
    page.click("text=Next")
    page.wait_for_selector('tr[data-item="101"]')
    assert page.inner_text(".pager span") == "Page 2 of 3"
    page.fill("#list-search", "bicycle CELLAR")
    page.wait_for_selector('tr[data-item="2"]')
    assert rows(page) == [2]
    assert page.inner_text('tr[data-item="2"] th') == texts[1]
    page.fill("#list-search", "")
    page.click('[data-state="auto"]')
    n_auto = int(page.inner_text('[data-state="auto"] .count'))
    page.wait_for_selector(f".list-count >> text=/^{n_auto} answers/")
    assert violations(page) == []
    page.fill("#list-jump", "17")
    page.press("#list-jump", "Enter")
    page.wait_for_url("**/#/item/17")
    assert tab.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_axe_finds_nothing_on_any_view(visit, disputed, width, dark):
    check_views(visit(disputed, width=width, dark=dark, every=50))


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_axe_finds_nothing_at_the_end_and_without_a_second_coder(visit, tmp_path, width):
    path = tmp_path / "new.review.db"
    make_review(path, 20, share=1.1)
    tab = visit(path, width=width, dark=width > 1000)
    assert violations(tab.page) == []
    page = tab.go("#/settle", "text=There is nothing to settle.")
    assert "a name of their own (--coder NAME)" in page.inner_text(".settle-body")
    assert violations(page) == []
    assert tab.complaints == []


def check_views(tab):
    """No violation on any view or dialog, and nothing is wider than the window."""
    page = tab.page
    found = {}
    for route, there in (
        ("#/", ".answer"),
        ("#/item/1", ".answer"),
        ("#/list", ".list-table tbody tr"),
        ("#/settle", ".settle .card"),
        ("#/keys", ".help-table"),
    ):
        tab.go(route, there)
        found[route] = violations(page)
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        found[f"{route} is too wide"] = [wide] if wide else []
    tab.go("#/settle", ".settle .card")
    page.click("summary")
    page.click("text=Other codes >> nth=0")
    found["other codes"] = violations(page)
    tab.go("#/", ".answer")
    for name, press in (
        ("settings", None),
        ("help", "?"),
        ("alike", "a"),
        ("flag", "f"),
        ("new code", "+"),
    ):
        page.click("#open-settings") if press is None else page.keyboard.press(press)
        page.wait_for_selector("dialog[open]")
        found[name] = violations(page)
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")
    assert {name: what for name, what in found.items() if what} == {}
    assert tab.complaints == []


@pytest.mark.slow
def test_alike_is_applied_and_undone_as_one(visit, tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 80)
    page = visit(path).page
    page.wait_for_selector(".answer")
    page.keyboard.press("a")
    page.wait_for_selector(".dialog-alike .alike-list li")
    boxes = page.query_selector_all(".alike-list input")
    assert len(boxes) > 2
    assert all(box.is_checked() for box in boxes)
    boxes[-1].uncheck()
    left_out = int(boxes[-1].get_attribute("id").removeprefix("alike-"))
    codes = sorted(page.eval_on_selector_all(".alike-codes .chip", "c => c.map(x => x.innerText)"))
    page.click(".dialog-alike .primary")
    page.wait_for_selector(".dialog-alike", state="detached")
    made = entries(path)
    assert len(made) == len(boxes) - 1
    assert left_out not in {entry.item for entry in made}
    assert len({entry.batch for entry in made}) == 1
    assert all(sorted(entry.after.codes) == codes for entry in made)
    page.keyboard.press("u")
    page.wait_for_selector("#progress >> text=/^0 of/")
    undone = entries(path)[len(made) :]
    assert {entry.item for entry in undone} == {entry.item for entry in made}
    assert all(entry.action == "undo" and entry.after.state == "open" for entry in undone)


@pytest.mark.slow
def test_a_disagreement_is_settled_by_a_key_and_by_other_codes(visit, disputed):
    n_before = len(entries(disputed))
    tab = visit(disputed)
    page = tab.go("#/settle", ".settle .card")
    cards = page.query_selector_all(".settle .card")
    items = [int(card.get_attribute("data-item")) for card in cards]
    assert items == [1, 2, 3, 4]
    sides = cards[0].query_selector_all(".side")
    assert [side.query_selector(".side-coder").inner_text() for side in sides] == ["Ann", "Ben"]
    second = [chip.evaluate("c => c.firstChild.data") for chip in sides[1].query_selector_all("li")]
    page.keyboard.press("2")
    page.wait_for_selector(".settled")
    assert entries(disputed)[-1].action == "settle"
    assert entries(disputed)[-1].item == items[0]
    assert sorted(entries(disputed)[-1].after.codes) == sorted(second)
    cards[1].query_selector("text=Other codes").click()
    for box in cards[1].query_selector_all(".choice-list input:checked"):
        box.uncheck()
    page.check(f'.card[data-item="{items[1]}"] input[value="{CODES[0]}"]')
    page.click(f'.card[data-item="{items[1]}"] .primary')
    page.wait_for_selector(f'.card[data-item="{items[1]}"].settled')
    assert entries(disputed)[-1].after.codes == frozenset({CODES[0]})
    page.click("h2")
    page.keyboard.press("u")
    page.wait_for_selector(".settled", state="detached")
    assert page.locator(".settle .card").count() == len(items) - 1
    assert len(entries(disputed)) == n_before + 3
    assert tab.complaints == []


@pytest.mark.slow
def test_keys_are_remapped_refused_remembered_and_switched_off(visit, tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 30)
    tab = visit(path)
    page = tab.page
    page.wait_for_selector(".answer")
    page.click("#open-settings")
    page.click('[data-action="skip"]')
    page.keyboard.press("u")
    assert "taken by" in page.inner_text(".key-message")
    page.click('[data-action="skip"]')
    page.keyboard.press("k")
    assert page.inner_text('[data-action="skip"]') == "k"
    page.keyboard.press("Escape")
    page.keyboard.press("s")  # now the key of nothing, or of a code
    page.keyboard.press("k")
    page.wait_for_timeout(100)
    page.reload()
    page.wait_for_selector(".answer")
    page.keyboard.press("k")
    wait_for_entries(page, path, 2)
    assert {entry.action for entry in entries(path)} == {"skip"}
    page.click("#open-settings")
    page.uncheck("#set-keys-on")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    page.reload()
    page.wait_for_selector(".answer")
    for key in ("k", "Enter", "u", "1", "?", "l"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert len(entries(path)) == 2
    assert page.query_selector("dialog[open]") is None
    assert tab.complaints == []


def wait_for_entries(page, path, n):
    for _ in range(100):
        if len(entries(path)) >= n:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{len(entries(path))} entries instead of {n}")


@pytest.mark.slow
@pytest.mark.parametrize("n_codes", [5, 300])
def test_keys_print_on_one_page(visit, tmp_path, n_codes):
    path = tmp_path / "new.review.db"
    codes = tuple(f"code number {i:03d} of the codebook" for i in range(n_codes))
    make_review(path, 20, codes=codes)
    tab = visit(path)
    page = tab.go("#/keys", ".help-table")
    assert n_pages(page) == 1
    page.click("#open-settings")
    page.check("#set-codes-fixed")
    page.keyboard.press("Escape")
    page.wait_for_selector(".code-keys li")
    assert page.inner_text(".code-keys li >> nth=0") == f"1 {codes[0]}"
    assert n_pages(page) == 1


def n_pages(page):
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.slow
def test_ten_thousand_answers_and_three_hundred_codes(visit, tmp_path):
    path = tmp_path / "new.review.db"
    codes = tuple(f"code {i:03d}" for i in range(300))
    make_review(path, 10_000, codes=codes, texts=["the needle"])
    tab = visit(path, width=1600)
    page = tab.go("#/list", ".list-table tbody tr")
    assert page.inner_text(".list-count") == "10,000 answers, 1 to 100 shown"
    page.click("text=Last")
    page.wait_for_selector('tr[data-item="10000"]')
    page.fill("#list-search", "needle")
    page.wait_for_selector('tr[data-item="1"]')
    assert rows(page) == [1]
    page.fill("#list-search", "")
    page.select_option("#list-code", "code 299")
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT count(*) FROM suggestions WHERE codes LIKE '%code 299%'"
        (n,) = database.execute(query).fetchone()
    page.wait_for_selector(f".list-count >> text=/^{n} answers/")
    page.click(".list-table tbody a >> nth=0")
    page.wait_for_selector(".answer")
    assert tab.complaints == []


@pytest.mark.slow
def test_everything_fits_at_twice_the_size(visit, disputed):
    # A window of 1280 pixels at 200 % has 640 of CSS.
    tab = visit(disputed, width=640, height=400)
    there = {"#/": ".answer", "#/list": ".list-table", "#/settle": ".card", "#/keys": ".help-table"}
    for route, selector in there.items():
        page = tab.go(route, selector)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), route
    page.click("#open-settings")
    box = page.locator("dialog").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 640
    page.click("[data-close]")
    page.wait_for_selector("dialog", state="detached")


class QuickLearner:
    """Learns as a model would that is sure of everything: when told to finish, not before."""

    def __init__(self, path):
        self.path, self.state, self.round = path, "idle", 0

    def start(self):
        self.state = "running"
        return True

    def poll(self):
        return SimpleNamespace(state=self.state, message="", round=self.round)

    def finish(self):
        with Store.open(self.path) as store:
            (first,) = store.rounds()
            sure = [said._replace(status="auto") for said in store.suggestions(0)]
            store.add_suggestions(1, sure)
            facts = {**first.facts, "n_auto": len(sure), "n_review": 0, "n_decided": 1}
            store.finish_round(1, "0" * 64, facts)
        self.state, self.round = "idle", 1

    def stop(self):
        pass


@pytest.mark.slow
def test_panel_tells_what_the_machine_learns_without_moving_the_answer(visit, tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 40)
    learner = QuickLearner(path)
    tab = visit(path, learner=learner, every=3)
    page = tab.page
    n_queue = int(page.inner_text("#panel .figure >> nth=0").split(" of ")[1])
    assert page.inner_text(".learning") == "It learns again after 3 more decisions."
    page.keyboard.press("Enter")
    page.wait_for_selector("text=It learns again after 2 more decisions.")
    shown = page.inner_text(".answer-text")
    page.click("text=Learn now")
    page.wait_for_selector("text=It is learning from the decisions so far.")
    learner.finish()
    page.wait_for_selector(f"text={n_queue - 1} of them it could not at the start.")
    assert page.inner_text(".answer-text") == shown
    assert page.inner_text("#panel .figure >> nth=1") == "100 % by itself"
    assert tab.complaints == []


@pytest.mark.slow
def test_colours_are_chosen_and_remembered(visit, tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 10)
    page = visit(path, dark=False).page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#open-settings")
    page.check("#set-theme-dark")
    dark = page.evaluate(paper)
    assert dark != light
    page.keyboard.press("Escape")
    page.wait_for_timeout(600)
    page.reload()
    page.wait_for_selector(".answer")
    assert page.evaluate(paper) == dark
    page.click("#open-settings")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    assert "answer-text" in page.evaluate("document.activeElement.className")
