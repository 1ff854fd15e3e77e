"""Answers, codes and names that are programs: on no view of the page do they run."""

import csv
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from coding.review.browsing import play
from coding.review.made_review import drawn_in, end_round, entry, make_review, said_in
from coding.review.serve_made import Client, serving
from nldd.coding.review.store import Store

PAGE = Path(str(files("nldd.coding.review"))) / "page"
FORMULA = '=HYPERLINK("http://evil.example","x")'
# What would run if it were taken as markup, as an attribute, as an address, as a style, as JSON, or
# as a template; each sets a mark, opens a dialog or asks another host.
KINDS = json.loads(Path(__file__).with_name("payloads.json").read_text("utf-8"))
PAYLOADS = tuple(payload for payloads in KINDS.values() for payload in payloads)
# Elements of which the page has none of its own, and attributes that run something.
FOREIGN = """() => [...document.querySelectorAll('*')].filter((node) =>
  node.matches('iframe, object, embed, base, img, video, audio, math, style, template, marquee')
  || [...node.attributes].some(({name, value}) => /^on|^style$/.test(name)
    || (/^(href|src|action|data|srcdoc)$/.test(name) && !/^(#|\\/(?!\\/))/.test(value)))
).map((node) => node.outerHTML.slice(0, 200))"""
RAN = "() => [window.__xss, {}.polluted, document.scripts.length]"


def make_hostile(path, payloads, names):
    """A review in which the payloads are answers, codes, descriptions, notes and coders.

    `names` is text for the names of the table, the model and the columns.
    """
    codes = list(zip(payloads, (*payloads[1:], ""), ("", *payloads[:-1]), strict=True))
    named = {"table": f"{names}.csv", "model": names}
    named["header"] = ("id", "answer", f"{names} 1", f"{names} 2")
    make_review(path, len(payloads) + 20, codes=codes, texts=payloads, n_drawn=5, **named)
    # One suggestion for all that are open, so that they are alike.
    waiting = [said for said in said_in(path).values() if said.status == "review"]
    end_round(path, 0, [s._replace(codes=payloads[:1]) for s in waiting], codes=payloads)
    with Store.open(path) as store:
        store.add(
            entry(item, {payloads[(item + shift) % len(payloads)]}, coder, flag=True, note=text)
            for item, text in enumerate(payloads[:30], 1)
            for shift, coder in enumerate((names, payloads[item % 3]))
        )


class Lookout:
    """Goes through the page and keeps what ran, or stands in it and is not its own."""

    def __init__(self, tab):
        self.tab, self.page, self.found = tab, tab.page, []

    def look(self, where):
        ran, foreign = self.page.evaluate(RAN), self.page.evaluate(FOREIGN)
        if ran != [None, None, 1] or foreign:
            self.found.append((where, ran, foreign))

    def open(self, route, there):
        self.tab.go(route, there)
        self.look(route)

    def press(self, *script):
        for step in script:
            play(self.page, step)
            self.look(step)

    def click(self, place):
        self.page.click(place)
        self.look(place)

    def go_through_all(self):
        """All views, many answers, all dialogs and all moves."""
        page = self.page
        self.look("first answer")
        self.open("#/list", ".list-table tbody tr")
        assert page.text_content("tr[data-item='1'] th a") == PAYLOADS[0]
        self.open("#/settle", ".settle .card")
        for item in range(1, len(PAYLOADS) + 1, 7):
            self.open(f"#/item/{item}", f".answer >> text=Answer {item}")
        self.press("ArrowRight", "1", "Enter", "ArrowLeft", "u", "?", "Escape", "f", "Escape")
        self.press("/", "><img", "Escape")
        play(page, "saved")
        drawn, said = drawn_in(self.tab.path), said_in(self.tab.path).values()
        alike = max(s.item for s in said if s.status == "review" and s.item not in drawn)
        self.open(f"#/item/{alike}", f".answer >> text=Answer {alike}")
        play(page, "saved a")
        page.wait_for_selector(".alike-list li >> nth=5")
        self.press("Escape", "+")
        page.fill("dialog input", PAYLOADS[1].replace("T>", "TS>"))  # nearly as one that is there
        self.press("Enter")
        page.wait_for_selector("text=Add it all the same")
        self.click("text=Add it all the same")
        page.wait_for_selector("dialog", state="detached")
        self.open("#/list", ".list-table tbody tr")
        page.fill("#list-search", PAYLOADS[0])
        page.select_option("#list-code", PAYLOADS[-1])
        self.look("search")
        self.open("#/settle", ".settle .card")
        self.click("summary")
        self.click("text=Other codes >> nth=0")
        self.open("#/keys", ".help-table")
        self.click("#open-settings")
        self.click("#set-codes-fixed")
        self.press("Escape")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_payload_runs_on_any_view(visit, tmp_path, part):
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 100
    names = " ".join(PAYLOADS[part::4]).replace("\x01", "")
    make_hostile(tmp_path / "new.review.db", PAYLOADS, names)
    show = (f"{names} 1", f"{names} 2")
    tab = visit(tmp_path / "new.review.db", coder=names, show=show, width=1300)
    lookout = Lookout(tab)
    lookout.go_through_all()
    assert lookout.found == []
    assert [url for url in tab.asked if not url.startswith(tab.host)] == []
    assert tab.opened == []
    assert [text for text in tab.complaints if "Content Security Policy" in text] == []
    assert tab.page.text_content("#table") == f"{names}.csv"


def test_files_that_are_handed_out_are_never_shown_and_hold_no_formula(tmp_path):
    path = tmp_path / "new.review.db"
    make_hostile(path, (*PAYLOADS[:20], FORMULA), PAYLOADS[0] * 20)
    with serving(path, PAYLOADS[0]) as running:
        client = Client(running.address)
        for kind in ("jsonl", "label-studio", "csv"):
            status, headers, body = client.ask("GET", f"/api/export?kind={kind}")
            assert status == 200, body
            assert headers["content-disposition"].startswith("attachment;")
            assert "html" not in headers["content-type"]
        client.close()
    cells = [c for row in csv.reader(body.decode("utf-8-sig").splitlines()) for c in row]
    assert not [cell for cell in cells if cell.startswith("=")]
    assert [cell for cell in cells if FORMULA in cell]


def test_text_is_never_markup_and_the_page_is_small():
    scripts = {file.name: file.read_text(encoding="utf-8") for file in PAGE.glob("*.js")}
    markup = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b")
    assert [name for name, text in scripts.items() if markup.search(text)] == []
    served = (file for file in PAGE.iterdir() if file.suffix != ".ts")
    assert sum(file.stat().st_size for file in served) <= 150_000
