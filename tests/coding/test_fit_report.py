"""Reports of fit and evaluate: numbers are those of the results, and texts do no harm."""

import re
import warnings
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

from browser import open_tab
from coding.made_up import PHRASES, made_up
from nldd import __version__
from nldd._package import library_versions
from nldd.coding import cross_validation
from nldd.coding.answers import Answers, Decisions
from nldd.coding.automation import triage
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.evaluation import evaluate
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Event, Settings, fit_coding_model
from nldd.coding.report import (
    LONGEST_ANSWER,
    LONGEST_NOTE,
    FitReport,
    evaluation_page,
    example_rows,
    write_evaluation_report,
)
from nldd.coding.suspects import find_suspects
from nldd.exceptions import NLDDWarning
from nldd.present.page import render_page
from nldd.present.text import percent, visible

COLUMNS = Columns(("answer",), CodeColumns(("codes",)), ("age",), ("region",))
MODEL_FILE = ("model.nldd", 64 * "a")
FILES = {"the model": MODEL_FILE, "the answers evaluated": ("new.csv", 64 * "b")}
GOAL = GuaranteeTarget(0.94, 0.8)
HOSTILE = (
    "<script>document.title = 'owned'</script>",
    '"><img src=x onerror="document.title = \'owned\'">',
    10_000 * "x",
    10_000 * "\N{GRINNING FACE}",
    "\x00 bell\x07 \x1b[31m \u202eevil \u2066 \ud800 end",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd 123 (abc)",
    "{{ 7 * 7 }}{% include 'x' %} &lt;b&gt; </td></table></style>",
    "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY} family",
)


def made_answers(n, seed, strange=()):
    """Answers with an age and a region, some of which are missing."""
    rng = np.random.default_rng(seed)
    texts, codes = made_up(n, seed)
    if strange:
        texts = [f"{strange[i % len(strange)]} {text}" for i, text in enumerate(texts)]
    ages = np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n))
    regions = [(str(region),) for region in rng.choice(["North", "South", ""], size=n)]
    ids = [f"{seed}-{i}" for i in range(n)]
    return Answers(texts, ages[:, np.newaxis], regions, ids=ids, rows=[*range(2, n + 2)]), codes


def fitted(answers, codes, columns=COLUMNS):
    with warnings.catch_warnings():
        # Few answers may leave one of the distances without a weight.
        warnings.simplefilter("ignore", NLDDWarning)
        model = fit_coding_model(answers, codes, columns, Settings(n_folds=3))
    sizes = (len(codes), 7, len(codes), len(model.labels), len(np.unique(model.Y, axis=0)))
    step = Event("fit", "2024-05-17T08:30:00Z", "answers.csv", 64 * "c", *sizes, 0.8, 0.9)
    return replace(model, history=(*model.history, step))


def evaluated(model, answers, codes, notes=()):
    """Five rows more have no codes."""
    n = len(codes)
    known = Decisions([*codes, *[None] * 5], [True] * (n + 5), notes=list(notes))
    blank = Answers(
        ["?"] * 5, np.full((5, 1), np.nan), [("",)] * 5, ids=[*"vwxyz"], rows=[*range(5)]
    )
    return evaluate(model, Answers.join([answers, blank]), known, GOAL)


@pytest.fixture(scope="module", autouse=True)
def rank_few_by_chance():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validation, "FEWEST_RANKED", 20)
        yield


@pytest.fixture(scope="module")
def model():
    return fitted(*made_answers(150, 0))


@pytest.fixture(scope="module")
def report(model):
    found = triage(model, GOAL)
    assert 0 < found.selection.n_auto < 150
    return FitReport(model, found)


@pytest.fixture(scope="module")
def quality(model):
    answers, codes = made_answers(60, 1)
    # Two answers with a code that the model has never met, one of them beside a known one.
    codes[3], codes[4] = {"noise"}, {"noise", "bus"}
    found = evaluated(model, answers, codes, ["The file has 2 <b>sheets</b>."])
    assert found.check.accuracy is not None
    return found


@pytest.fixture(scope="module")
def fit_html(report):
    return render_page(report.page(MODEL_FILE))


@pytest.fixture(scope="module")
def evaluation_html(model, quality):
    return render_page(evaluation_page(model, quality, FILES))


class Tables(HTMLParser):
    """Cells of each table of a page, by its key; a second line stands behind a bar."""

    def __init__(self, html):
        super().__init__()
        self.cells, self.cell = {}, None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes).get("id") or ""
        if found.startswith("table-"):
            self.rows = self.cells[found.removeprefix("table-")] = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = ""
        if tag == "small":
            self.cell += "|"

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(re.sub(r"\s*\|\s*", "|", self.cell.strip()))
            self.cell = None

    def handle_data(self, text):
        if self.cell is not None:
            self.cell += text


def body(html, key):
    return Tables(html).cells[key][1:]


def numbers(*cells):
    return [float(found) for cell in cells for found in re.findall(r"[\d.]+", cell)]


def paragraphs(page, id):
    return " ".join(p for s in page.sections if s.id == id for p in s.paragraphs)


def test_the_answer_comes_first_then_the_questions_in_their_order(report):
    page = report.page(MODEL_FILE)
    found, facts = report.triage.selection, dict(page.facts)
    assert numbers(paragraphs(page, "answer").split()[0])[0] == pytest.approx(
        100 * found.share, abs=0.051
    )
    assert (facts["target accuracy"], facts["coded answers"]) == ("94 %", "150")
    assert [section.id for section in page.sections] == [
        *("answer", "data", "measures", "triage", "calibration", "labels", "confusions"),
        *("bias", "suspects", "examples", "methods", "history", "provenance"),
    ]
    figures = [figure.key for section in page.sections for figure in section.figures]
    assert figures == ["coverage", "calibration"]
    methods = paragraphs(page, "methods")
    for share in (found.share, found.accuracy, report.quality.value("subset_accuracy")):
        assert percent(share, 1) in methods
    assert f"{1 - found.limit:.4f}" in methods


def test_page_terminal_and_json_say_the_same(fit_html, report):
    text, record, quality = str(report), report.to_dict(), report.quality
    for row, line in zip(body(fit_html, "triage"), report.triage.rows, strict=True):
        assert numbers(row[0])[0] == pytest.approx(1 - line.threshold, abs=5.1e-5)
        assert ("chosen" in row[0]) == line.chosen
        assert numbers(row[1]) == pytest.approx([100 * line.share, line.n_auto], abs=0.051)
        shares = [100 * share for share in (line.accuracy, line.low, line.high, line.combined)]
        assert numbers(row[2], row[3]) == pytest.approx(shares, abs=0.051)
        assert f"({line.n_auto:,})" in text
    assert record["labels"] == {row[0]: int(row[1]) for row in body(fit_html, "code-counts")}
    scores = {score.name: score for score in quality.scores}
    measures = body(fit_html, "measures") + body(fit_html, "more-measures")
    assert {row[0].split("|")[0] for row in measures} == scores.keys()
    for row in measures:
        score = scores[row[0].split("|")[0]]
        assert numbers(row[1]) == pytest.approx([score.value, score.low, score.high], abs=5.1e-4)
    found = quality.calibration
    for i, row in enumerate(body(fit_html, "calibration")):
        percents = [100 * v[i] for v in (found.observed, found.lower, found.upper)]
        expected = 100 * found.expected[i]
        assert numbers(row[0]) == pytest.approx([expected, found.counts[i]], abs=5.1e-3)
        assert numbers(row[1]) == pytest.approx(percents, abs=5.1e-3)
    for row, score in zip(body(fit_html, "labels"), quality.by_label, strict=True):
        assert row[:4] == [score.name, *map(str, (score.n_true, score.n_pred, score.n_both))]
        assert numbers(*row[4:]) == pytest.approx(
            [score.precision, score.recall, score.f], abs=5.1e-4
        )
    pairs = [[pair.missed, pair.predicted, str(pair.count)] for pair in quality.confusions]
    assert body(fit_html, "confusions") == pairs


def test_examples_are_the_surest_the_least_sure_and_the_wrong_ones(model, report, fit_html):
    quality = report.quality
    found = example_rows(quality, "chance")
    doubt, right = quality.predictions.doubt("chance"), quality.right() == 1
    assert doubt[found["surest"][0]] == doubt[right].min()
    assert doubt[found["wrong"][0]] == doubt[~right].min()
    assert doubt[found["unsure"][0]] == doubt.max()
    assert right[found["surest"]].all() and not right[found["wrong"]].any()
    given = [list(map("; ".join, model.codes(Y))) for Y in (model.evidence.Y, model.Y)]
    for key, rows in found.items():
        assert len({model.answers.texts[row] for row in rows}) == len(rows) == 3
        for row, cells in zip(rows, body(fit_html, f"examples-{key}"), strict=True):
            nearest = int(model.evidence.row[row])
            texts = [model.answers.texts[row], model.answers.texts[nearest]]
            assert [cells[1].split("|")[0], cells[4].split("|")[0]] == texts
            codes = [given[0][row], given[1][row] or "no code"]
            assert [cells[2].split("|")[0], cells[3]] == codes


def test_bias_suspects_history_and_files_are_told(model, fit_html):
    shares = {row[0]: numbers(*row[1:3]) for row in body(fit_html, "bias")}
    for code, *both in zip(model.labels, model.Y.mean(0), model.evidence.Y.mean(0), strict=True):
        assert shares[code] == pytest.approx([100 * share for share in both], abs=0.051)
    suspects = [visible(s.text, 50) for s in find_suspects(model).items[:15]]
    assert [row[0] for row in body(fit_html, "suspects")] == suspects
    (row,) = body(fit_html, "history")
    assert row[:3] == [f"2024-05-17 08:30:00 UTC|nldd {__version__}", "fit", "answers.csv"]
    assert numbers(*row[3:8]) == [150, 7, 150, 3, model.history[0].n_labelsets, 80, 90]
    files = [["model.nldd", "the model", 64 * "a"], ["answers.csv", "read by nldd fit", 64 * "c"]]
    assert body(fit_html, "files") == files
    assert dict(body(fit_html, "versions")) == library_versions()


def test_evaluation_compares_machine_and_people(model, quality, evaluation_html):
    known = {frozenset(names) for names in model.codes(model.Y)}
    codes = [frozenset(np.array(quality.labels)[row]) for row in quality.Y.astype(bool)]
    never = str(sum(names not in known for names in codes))
    counted = {row[0]: row[1:] for row in body(evaluation_html, "counts")}
    assert (counted["rows"], counted["codes"]) == (["65", "157"], ["4", "3"])
    assert counted["answers with a combination that the model has never seen"] == [never, "-"]
    labels = {row[0]: row[1:] for row in body(evaluation_html, "labels")}
    assert labels["noise|unknown to the model"] == ["2", "0", "0", "-", "0.000", "0.000"]
    assert "2 &lt;b&gt;sheets&lt;/b&gt;" in evaluation_html
    check, rows = quality.check, body(evaluation_html, "triage")
    (chosen,) = (row for row in rows if "chosen" in row[0])
    shares = [100 * share for share in (check.accuracy, check.low, check.high)]
    assert numbers(chosen[1]) == pytest.approx([100 * check.share, check.n_auto], abs=0.051)
    assert numbers(chosen[2]) == pytest.approx(shares, abs=0.051)
    wrong = example_rows(quality, "chance")["wrong"]
    places = [cells[1].split("|")[1] for cells in body(evaluation_html, "examples-wrong")]
    assert [place.split(",")[0] for place in places] == [f"row {row + 2}" for row in wrong]
    none = replace(quality.check, n_auto=0, accuracy=None, low=None, high=None)
    html = render_page(evaluation_page(model, replace(quality, check=none), FILES))
    assert "chosen" not in str(body(html, "triage"))


def test_reports_are_written_with_the_checksums_of_their_files(model, report, quality, tmp_path):
    model_path, table_path, place = (tmp_path / name for name in ("m.nldd", "new.csv", "r.html"))
    model_path.write_bytes(b"model")
    table_path.write_bytes(b"table")
    assert report.write(model_path, place) == place
    first = place.read_bytes()
    assert ["m.nldd", "the model", sha256(b"model").hexdigest()] in body(first.decode(), "files")
    report.write(model_path, place)
    assert place.read_bytes() == first
    assert write_evaluation_report(model, quality, model_path, table_path, place) == place
    files = body(place.read_text(encoding="utf-8"), "files")
    assert ["new.csv", "the answers evaluated", sha256(b"table").hexdigest()] in files


@pytest.fixture(scope="module")
def hostile_html():
    answers, codes = made_answers(64, 3, HOSTILE)
    named = dict(zip(PHRASES, (HOSTILE[4], HOSTILE[2], HOSTILE[5]), strict=True))
    answers = replace(answers, categories=[(HOSTILE[i % 8],) for i in range(64)])
    columns = Columns((HOSTILE[0],), CodeColumns((HOSTILE[4],)), ("age",), (HOSTILE[2],))
    model = fitted(answers, [{named[name] for name in names} for names in codes], columns)
    step = replace(model.history[0], file=HOSTILE[1], action=HOSTILE[0])
    model = replace(model, history=(*model.history, step))
    name = (f"{HOSTILE[4]}{HOSTILE[1]}{HOSTILE[2]}", 64 * "a")
    others = replace(answers, ids=[f"new {i}" for i in range(64)])
    found = evaluated(model, others, [{HOSTILE[0], HOSTILE[2] + "!"}] * 64, HOSTILE)
    pages = (
        FitReport(model, triage(model)).page(name),
        evaluation_page(model, found, dict.fromkeys(FILES, name)),
    )
    return [render_page(page) for page in pages]


def test_hostile_texts_are_shown_and_nothing_else(hostile_html):
    for html, longest in zip(hostile_html, (LONGEST_ANSWER, LONGEST_NOTE), strict=True):
        html.encode("utf-8")
        assert "<script" not in html and "<img" not in html
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066\u2067\ud800-\udfff]", html)
        assert max(map(len, re.findall("x+", html))) == longest


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_no_report_is_wider_than_its_window(
    width, fit_html, evaluation_html, hostile_html, tmp_path
):
    with open_tab() as browser:
        for number, html in enumerate([fit_html, evaluation_html, *hostile_html]):
            path = tmp_path / f"{number}.html"
            path.write_text(html, encoding="utf-8")
            browser.open(path.as_uri(), width)
            assert browser.evaluate("document.documentElement.scrollWidth") == width, number
            assert browser.requests == [path.as_uri()]
            assert browser.complaints == []
            assert browser.evaluate("document.title") != "owned"
            # Long words break: no table scrolls further than its sentences on a phone make it.
            widest = browser.evaluate(
                "Math.max(...[...document.querySelectorAll('table')].map(t => t.offsetWidth))"
            )
            assert widest <= max(width, 900), number
