"""Pictures of the review page and of a report for the documents.

How: `python docs/pictures.py docs`, where Chromium is installed.
The answers are those of the demonstration survey, coded by the model that `nldd demo survey` fits;
people are simulated by the right codes. The report is that of `results/best.jsonl.xz`.
"""

import argparse
import lzma
import random
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import launched
from coding.review.browsing import visiting
from nldd.bench.runner.records import CELLS
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.review.records import LogEntry, Position
from nldd.coding.review.rounds import prepare_review
from nldd.coding.review.store import Store
from nldd.datasets import load_survey

NOW = "2026-01-02T03:04:05.678Z"
SIZE = {"width": 1100, "height": 760}
WIDE, PHONE = {"width": 1360, "height": 860}, {"width": 390, "height": 780}
REPORT = {"width": 1000, "height": 850}
RECORDS = Path(__file__).parents[1] / "results" / "best.jsonl.xz"
PROMISE = GuaranteeTarget(0.9, 0.9, "subset", "chance")
N_AUDIT, N_DECIDED, N_BOTH, N_COLOURS = 40, 12, 60, 256
COMMAND = "import sys; from nldd.cli import main; sys.exit(main())"


def make_store(folder):
    """The demonstration's new answers as a review, which two people have begun."""
    walk = [sys.executable, "-c", COMMAND, "demo", "survey", "--out", str(folder)]
    if not (folder / "before.nldd").exists():
        subprocess.run(walk, check=True, stdout=subprocess.DEVNULL)
    path = folder / "new.review.db"
    path.unlink(missing_ok=True)
    prepare_review(folder / "before.nldd", folder / "new.csv", path, PROMISE, N_AUDIT)
    with Store.open(path) as store:
        store.add(simulate(store, right_codes()))
    return path


def right_codes():
    """The codes of each answer of the survey, by its id."""
    survey = load_survey()
    place = survey.header.index("codes")
    return {row[0]: frozenset(filter(None, row[place].split(";"))) for row in survey.rows}


def simulate(store, right):
    """What Ann and Ben have done so far: all drawn answers, some others, not always the same."""
    rng = random.Random(4)
    items = list(store.items())
    drawn = [item for item in items if item.drawn]
    sure = {said.item for said in store.suggestions(0) if said.status == "auto"}
    others = [item for item in items if not item.drawn and item.item not in sure]
    codes = sorted(set().union(*right.values()))
    ann = {item.item: right[str(item.cells[0])] for item in (*drawn, *others[:N_DECIDED])}
    ben = {
        item: own ^ {rng.choice(codes)} if rng.random() < 0.1 else own for item, own in ann.items()
    }
    for coder, decisions in (("Ben", dict(list(ben.items())[:N_BOTH])), ("Ann", ann)):
        for item, own in decisions.items():
            after = Position("done", own or frozenset())
            seconds = rng.uniform(3, 9)
            yield LogEntry(0, f"{coder}-{item}", item, coder, "code", after, NOW, seconds=seconds)
    flagged = others[N_DECIDED + 3].item
    note = Position("open", None, True, "Two topics in one answer; ask Ben.")
    yield LogEntry(0, "flag", flagged, "Ann", "flag", note, NOW)


def take_pictures(browser, path, out):
    """All pictures, each from a page of its own."""

    def take(name, look, route="#/", there=".answer", press=None, untick=(), **more):
        with visiting(browser, path, every=100, **look, **more) as tab:
            page = tab.go(route, there)
            if press:
                page.keyboard.press(press)
                page.wait_for_selector("dialog[open]")
            for item in untick:
                page.uncheck(f"#alike-{item}")
            page.wait_for_timeout(500)
            save_small(page.screenshot(), out / f"review-{name}.png")
            assert tab.complaints == [], tab.complaints

    take("light", WIDE)
    take("dark", WIDE, dark=True)
    take("phone", PHONE)
    take("list", SIZE, "#/list", ".list-table tbody tr")
    take("settle", SIZE, "#/settle", ".settle .card")
    item, wrong = most_alike(path)
    take("alike", SIZE, f"#/item/{item}", press="a", untick=wrong)
    take("help", SIZE, press="?")


def most_alike(path):
    """An open answer of which most others with its suggestion get it rightly, and which do not."""
    right, groups = right_codes(), {}
    with Store.open(path, write=False) as store:
        decided = {entry.item for entry in store.entries()}
        own = {item.item: right[str(item.cells[0])] for item in store.items() if not item.drawn}
        for said in store.suggestions(0):
            if said.status == "review" and said.item in own and said.item not in decided:
                groups.setdefault(frozenset(said.codes), []).append(said.item)
    fits = {
        codes: [item for item in items if own[item] == codes] for codes, items in groups.items()
    }
    codes = max(fits, key=lambda codes: (len(fits[codes]), -len(groups[codes])))
    return fits[codes][0], [item for item in groups[codes] if item not in fits[codes]]


def take_report(browser, out):
    """Where a report of all methods on all data sets compares their accuracy and F-measure."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, CELLS).write_bytes(lzma.decompress(RECORDS.read_bytes()))
        words = [sys.executable, "-c", COMMAND, "report", folder]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        page = browser.new_page(viewport=REPORT)
        page.goto(Path(folder, "report.html").as_uri())
        page.locator("figure", has_text="Multi-label accuracy: average ranks").evaluate(
            "figure => scrollTo(0, figure.getBoundingClientRect().top - 24)"
        )
        save_small(page.screenshot(), out / "report.png")


def save_small(picture, path):
    """A picture of few colours, which is all that the page has but for the edges of letters."""
    from PIL import Image  # as it is here by matplotlib

    image = Image.open(BytesIO(picture)).convert("RGB")
    image.quantize(N_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main():
    """Take all pictures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the pictures")
    parser.add_argument("--survey", type=Path, help="folder of an earlier `nldd demo survey`")
    parser.add_argument("--report", action="store_true", help="the picture of the report alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, launched() as browser:
        take_report(browser, given.out)
        if given.report:
            return
        take_pictures(browser, make_store(given.survey or Path(name) / "survey"), given.out)


if __name__ == "__main__":
    main()
