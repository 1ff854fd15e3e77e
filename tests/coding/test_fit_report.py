"""Reports of fit and evaluate: numbers are those of the results, and texts do no harm."""

import re
import warnings
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from coding.made_up import PHRASES, made_up
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
from nldd.present.table import as_entry
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
    known = Decisions([*codes, *[None] * 5], [True] * (len(codes) + 5), notes=list(notes))
    ages, regions = np.full((5, 1), np.nan), [("",)] * 5
    blank = Answers(["?"] * 5, ages, regions, ids=[*"vwxyz"], rows=[*range(5)])
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


def numbers(*cells):
    return [float(found) for cell in cells for found in re.findall(r"[\d.]+", cell)]


def paragraphs(page, id):
    return " ".join(p for s in page.sections if s.id == id for p in s.paragraphs)


def test_the_answer_comes_first_then_the_questions_in_their_order(report, fit_page):
    found, facts = report.triage.selection, dict(fit_page.facts)
    assert paragraphs(fit_page, "answer").startswith(f"{percent(found.share, 1)} of answers")
    assert (facts["target accuracy"], facts["coded answers"]) == ("94 %", "150")
    assert [section.id for section in fit_page.sections] == [
        *("answer", "data", "measures", "triage", "calibration", "labels", "confusions"),
        *("bias", "suspects", "examples", "methods", "history", "provenance"),
    ]
    assert [figure.key for figure in fit_page.figures] == ["coverage", "calibration"]
    methods = paragraphs(fit_page, "methods")
    for share in (found.share, found.accuracy, report.quality.value("subset_accuracy")):
        assert percent(share, 1) in methods
    assert f"{1 - found.limit:.4f}" in methods


def test_page_terminal_and_json_say_the_same(fit_page, report, model):
    text, record, quality = str(report), report.to_dict(), report.quality
    for row, line in zip(body(fit_page, "triage"), report.triage.rows, strict=True):
        assert numbers(row[0])[0] == pytest.approx(1 - line.threshold, abs=5.1e-5)
        assert ("chosen" in row[0]) == line.chosen
        assert numbers(row[1]) == pytest.approx([100 * line.share, line.n_auto], abs=0.051)
        shares = [100 * share for share in (line.accuracy, line.low, line.high, line.combined)]
        assert numbers(row[2], row[3]) == pytest.approx(shares, abs=0.051)
        assert f"({line.n_auto:,})" in text
    assert record["labels"] == {row[0]: int(row[1]) for row in body(fit_page, "code-counts")}
    scores = {score.name: score for score in quality.scores}
    measures = body(fit_page, "measures") + body(fit_page, "more-measures")
    assert {row[0].split("|")[0] for row in measures} == scores.keys()
    for row in measures:
        score = scores[row[0].split("|")[0]]
        assert numbers(row[1]) == pytest.approx([score.value, score.low, score.high], abs=5.1e-4)
    found = quality.calibration
    for i, row in enumerate(body(fit_page, "calibration")):
        values = (found.expected, found.counts / 100, found.observed, found.lower, found.upper)
        assert numbers(*row[:2]) == pytest.approx([100 * v[i] for v in values], abs=5.1e-3)
    for row, score in zip(body(fit_page, "labels"), quality.by_label, strict=True):
        assert row[:4] == [score.name, *map(str, (score.n_true, score.n_pred, score.n_both))]
        shares = [score.precision, score.recall, score.f]
        assert numbers(*row[4:]) == pytest.approx(shares, abs=5.1e-4)
    pairs = [[pair.missed, pair.predicted, str(pair.count)] for pair in quality.confusions]
    assert body(fit_page, "confusions") == pairs
    bias = {row[0]: numbers(*row[1:3]) for row in body(fit_page, "bias")}
    for code, *both in zip(model.labels, model.Y.mean(0), model.evidence.Y.mean(0), strict=True):
        assert bias[code] == pytest.approx([100 * share for share in both], abs=0.051)
    suspects = [visible(s.text, 50) for s in find_suspects(model).items[:15]]
    assert [row[0] for row in body(fit_page, "suspects")] == suspects
    (row,) = body(fit_page, "history")
    assert numbers(*row[3:8]) == [150, 7, 150, 3, model.history[0].n_labelsets, 80, 90]
    assert ["answers.csv", "read by nldd fit", 64 * "c"] in body(fit_page, "files")


def test_examples_are_the_surest_the_least_sure_and_the_wrong_ones(model, report, fit_page):
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
        for row, cells in zip(rows, body(fit_page, f"examples-{key}"), strict=True):
            texts = [model.answers.texts[row], model.answers.texts[int(model.evidence.row[row])]]
            assert [cells[1].split("|")[0], cells[4].split("|")[0]] == texts
            assert [cells[2].split("|")[0], cells[3]] == [given[0][row], given[1][row] or "no code"]


def test_evaluation_compares_machine_and_people(model, quality, evaluated_page):
    known = {frozenset(names) for names in model.codes(model.Y)}
    codes = [frozenset(np.array(quality.labels)[row]) for row in quality.Y.astype(bool)]
    never = str(sum(names not in known for names in codes))
    counted = {row[0]: row[1:] for row in body(evaluated_page, "counts")}
    assert (counted["rows"], counted["codes"]) == (["65", "157"], ["4", "3"])
    assert counted["answers with a combination that the model has never seen"] == [never, "-"]
    labels = {row[0]: row[1:] for row in body(evaluated_page, "labels")}
    assert labels["noise|unknown to the model"] == ["2", "0", "0", "-", "0.000", "0.000"]
    assert "2 <b>sheets</b>" in paragraphs(evaluated_page, "data")
    check, rows = quality.check, body(evaluated_page, "triage")
    (chosen,) = (row for row in rows if "chosen" in row[0])
    shares = [100 * share for share in (check.accuracy, check.low, check.high)]
    assert numbers(chosen[1]) == pytest.approx([100 * check.share, check.n_auto], abs=0.051)
    assert numbers(chosen[2]) == pytest.approx(shares, abs=0.051)
    wrong = example_rows(quality, "chance")["wrong"]
    places = [cells[1].split("|")[1] for cells in body(evaluated_page, "examples-wrong")]
    assert [place.split(",")[0] for place in places] == [f"row {row + 2}" for row in wrong]
    none = replace(quality.check, n_auto=0, accuracy=None, low=None, high=None)
    page = evaluation_page(model, replace(quality, check=none), FILES)
    assert "chosen" not in str(body(page, "triage"))


def test_reports_are_written_with_the_checksums_of_their_files(model, report, quality, tmp_path):
    model_path, table_path, place = (tmp_path / name for name in ("m.nldd", "new.csv", "r.html"))
    model_path.write_bytes(b"model")
    table_path.write_bytes(b"table")
    assert report.write(model_path, place) == place
    first = place.read_bytes()
    assert sha256(b"model").hexdigest() in first.decode()
    report.write(model_path, place)
    assert place.read_bytes() == first
    assert write_evaluation_report(model, quality, model_path, table_path, place) == place
    assert sha256(b"table").hexdigest() in place.read_text(encoding="utf-8")


def test_hostile_texts_are_shown_and_nothing_else(hostile_html):
    for html, longest in zip(hostile_html, (LONGEST_ANSWER, LONGEST_NOTE), strict=True):
        html.encode("utf-8")
        assert "<script" not in html and "<img" not in html
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066\u2067\ud800-\udfff]", html)
        assert max(map(len, re.findall("x+", html))) == longest


@pytest.fixture(scope="module")
def fit_page(report):
    return report.page(MODEL_FILE)


@pytest.fixture(scope="module")
def evaluated_page(model, quality):
    return evaluation_page(model, quality, FILES)


def body(page, key):
    """Cells of a table of a page; a second line stands behind a bar."""
    (table,) = (table for table in page.tables if table.key == key)
    rows = [[as_entry(cell) for cell in row] for row in table.rows]
    return [[f"{c.text}|{c.under}" if c.under else c.text for c in row] for row in rows]


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
    page = evaluation_page(model, found, dict.fromkeys(FILES, name))
    return [render_page(FitReport(model, triage(model)).page(name)), render_page(page)]
