"""Reports of fit and evaluate: numbers are those of the records, and texts do no harm."""

import re
import warnings
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
from nldd.coding.guarantee_text import check_paragraphs, guarantee_paragraphs
from nldd.coding.report_page import (
    LONGEST_ANSWER,
    LONGEST_NOTE,
    evaluation_page,
    example_rows,
    fit_page,
    n_never_seen,
    provenance_sections,
    write_evaluation_report,
    write_fit_report,
)
from nldd.coding.report_tables import MEANINGS, labels_table
from nldd.coding.report_text import (
    calibration_sentence,
    columns_sentence,
    methods_paragraph,
    render_evaluation,
    render_model,
    render_triage,
)

from browser import open_tab
from nldd import __version__
from nldd._versions import library_versions
from nldd.coding import cross_validation
from nldd.coding.answers import Answers
from nldd.coding.calibration import Calibration
from nldd.coding.coded_answers import CodedAnswers
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.evaluation import (
    LabelScore,
    check_guarantee,
    evaluate_evidence,
    evaluate_model,
    triage,
)
from nldd.coding.model import Event, Settings, fit_coding_model
from nldd.coding.suspects import find_suspects
from nldd.coding.wording import chance_in_words
from nldd.exceptions import NLDDWarning
from nldd.metrics._measures import MEASURES
from nldd.present.page import render_page
from nldd.present.table import as_entry
from nldd.present.text import percent, visible

PHRASES = {
    "bus": ["more buses", "the bus is late", "buses at night", "a bus to the station"],
    "park": ["greener parks", "trees in the park", "a park with benches", "clean park"],
    "rent": ["cheaper rent", "rents are too high", "lower the rent", "rent eats my money"],
}
COLUMNS = Columns(("answer",), CodeColumns(("codes",)), ("age",), ("region",))
MODEL_FILE = ("model.nldd", 64 * "a")
TABLE_FILE = ("new.csv", 64 * "b")
FILES = {"the model": MODEL_FILE, "the answers evaluated": TABLE_FILE}
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


def made_up(n, seed, strange=()):
    """Answers of one or two phrases; a tenth has all three, and one of their codes at random."""
    rng = np.random.default_rng(seed)
    texts, codes = [], []
    for i in range(n):
        vague = rng.random() < 0.1
        size = 3 if vague else rng.integers(1, 3)
        names = rng.choice(list(PHRASES), size=size, replace=False).tolist()
        texts.append(", ".join(str(rng.choice(PHRASES[name])) for name in names))
        codes.append({names[0]} if vague else set(names))
        if strange:
            texts[-1] = f"{strange[i % len(strange)]} {texts[-1]}"
    ages = np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n))
    regions = [(str(region),) for region in rng.choice(["North", "South", ""], size=n)]
    return Answers(
        texts, ages[:, np.newaxis], regions, ids=[f"{seed}-{i}" for i in range(n)]
    ), codes


def fitted(answers, codes, columns=COLUMNS):
    with warnings.catch_warnings():
        # Few answers may leave one of the distances without a weight.
        warnings.simplefilter("ignore", NLDDWarning)
        model = fit_coding_model(answers, codes, columns, Settings(n_folds=3))
    n, n_labels = model.Y.shape
    step = Event(
        *("fit", "2024-05-17T08:30:00Z", "answers.csv", 64 * "c"),
        *(n, 7, n, n_labels, len(np.unique(model.Y, axis=0))),
        float(model.evidence.right(model.Y).mean()),
        float(model.evidence.right(model.Y, "hamming").mean()),
    )
    return model.with_event(step)


@pytest.fixture(scope="module", autouse=True)
def rank_few_by_chance():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_validation, "FEWEST_RANKED", 20)
        yield


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(150, 0))


@pytest.fixture(scope="module")
def quality(model):
    return evaluate_evidence(model)


@pytest.fixture(scope="module")
def made(model):
    found = triage(model, target=0.94, confidence=0.8)
    assert 0 < found.selection.n_auto < 150
    return found


@pytest.fixture(scope="module")
def table():
    answers, codes = made_up(60, 1)
    # Two answers with a code that the model has never met, one of them beside a known one.
    codes[3], codes[4] = {"noise"}, {"noise", "bus"}
    return CodedAnswers(answers, codes, list(range(2, 62)), 65, ["The file has 2 <b>sheets</b>."])


@pytest.fixture(scope="module")
def evaluated(model, table):
    return evaluate_model(model, table)


@pytest.fixture(scope="module")
def kept(model, evaluated):
    found = check_guarantee(model, evaluated, target=0.94, confidence=0.8)
    assert found.accuracy is not None
    return found


@pytest.fixture(scope="module")
def fitted_page(model, quality, made):
    return fit_page(model, quality, made, MODEL_FILE)


@pytest.fixture(scope="module")
def fit_html(fitted_page):
    return render_page(fitted_page)


@pytest.fixture(scope="module")
def evaluated_page(model, evaluated, kept, table):
    return evaluation_page(model, evaluated, kept, table, FILES, "2024-06-01T00:00:00Z")


@pytest.fixture(scope="module")
def evaluation_html(evaluated_page):
    return render_page(evaluated_page)


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
    return " ".join(next(s for s in page.sections if s.id == id).paragraphs)


def test_fit_page_says_first_how_much_can_be_coded_automatically(fitted_page, made):
    selection = made.selection
    said = paragraphs(fitted_page, "answer")
    assert fitted_page.sections[0].id == "answer"
    share = numbers(said.split(" %")[0])[0]
    assert share == pytest.approx(100 * selection.share, abs=0.051)
    assert "at least 94 % of these answers get exactly the codes" in said
    assert f"{selection.n_auto} are that sure" in said
    assert f"The other {150 - selection.n_auto} go to people" in said
    assert dict(fitted_page.facts)["target accuracy"] == "94 %"
    assert "holds answers of respondents" in fitted_page.subtitle


def test_fit_page_says_what_it_would_take_where_nothing_can_be_coded(model, quality):
    made = triage(model, target=0.98, confidence=0.8)
    page = fit_page(model, quality, made, MODEL_FILE)
    assert made.selection.threshold is None
    said = paragraphs(page, "answer")
    assert said.startswith("Nothing can be coded automatically at a target of 98 %")
    assert dict(page.facts)["coded automatically"] == "none yet"
    closest = (60, 51, 57)
    made = replace(made, selection=replace(made.selection, closest=closest))
    said = paragraphs(fit_page(model, quality, made, MODEL_FILE), "answer")
    n_tested, right, needed = closest
    assert f"Of the {n_tested} most confident answers, {right} are right; {needed} would be" in said
    held = [line for line in made.targets if line.n_auto]
    assert held
    assert said.count("coded automatically)") == len(held)
    nothing = replace(made, targets=(), selection=replace(made.selection, closest=None))
    reason, advice = guarantee_paragraphs(nothing)
    assert reason.endswith("Too few for a test: 150 coded answers.")
    assert advice.startswith("No lower target holds either.")


def test_hamming_is_said_in_labels(model):
    made = triage(model, target=0.7, confidence=0.7, measure="hamming")
    said = guarantee_paragraphs(made)
    assert "at least 70 % of the labels of these answers are as people would decide" in said[0]
    share = f"{100 * made.selection.accuracy:.1f} % of the labels of these are right"
    assert share in said[1]


def test_sections_come_in_the_order_of_the_questions(fitted_page):
    assert [section.id for section in fitted_page.sections] == [
        *("answer", "data", "measures", "triage", "calibration", "labels", "confusions"),
        *("bias", "suspects", "examples", "methods", "history", "provenance"),
    ]
    figures = [figure.key for section in fitted_page.sections for figure in section.figures]
    assert figures == ["coverage", "calibration"]


def test_data_summary_counts_rows_codes_and_combinations(fit_html, model):
    counted = {row[0]: row[1] for row in body(fit_html, "counts")}
    _, times = np.unique(model.Y, axis=0, return_counts=True)
    assert counted["rows"] == "157"
    assert counted["coded answers"] == "150"
    assert counted["rows set aside, as nobody has coded them"] == "7"
    assert counted["distinct combinations of codes"] == str(len(times))
    assert counted["combinations seen once"] == str((times == 1).sum())
    assert float(counted["codes an answer, on average"]) == pytest.approx(
        model.Y.sum() / 150, abs=0.005
    )
    carried = dict(zip(model.labels, model.Y.sum(axis=0).tolist(), strict=True))
    assert {row[0]: int(row[1]) for row in body(fit_html, "code-counts")} == carried
    shares = [numbers(row[2])[0] for row in body(fit_html, "code-counts")]
    assert shares == pytest.approx(sorted((100 * model.Y.mean(axis=0)).tolist())[::-1], abs=0.051)


def test_measures_are_those_of_the_evaluation_with_intervals_and_a_meaning(fit_html, quality):
    few, more = body(fit_html, "measures"), body(fit_html, "more-measures")
    assert (len(few), len(few + more)) == (4, len(MEANINGS))
    by_name = {score.name: score for score in quality.scores}
    assert {row[0].split("|")[0] for row in few + more} == by_name.keys()
    assert fit_html.count("<details>") == 1  # the others are folded away
    for row in few + more:
        score = by_name[row[0].split("|")[0]]
        assert row[0] == f"{score.name}|{MEASURES[score.key].direction}"
        assert numbers(row[1]) == pytest.approx([score.value, score.low, score.high], abs=5.1e-4)
        assert row[2] == MEANINGS[score.key]


def test_triage_table_has_every_line_and_marks_the_chosen_one(fit_html, made):
    rows = body(fit_html, "triage")
    assert len(rows) == len(made.rows)
    for row, line in zip(rows, made.rows, strict=True):
        assert numbers(row[0])[0] == pytest.approx(1 - line.threshold, abs=5.1e-5)
        assert ("chosen" in row[0]) == line.chosen
        assert numbers(row[1]) == pytest.approx([100 * line.share, line.n_auto], abs=0.051)
        shares = [100 * share for share in (line.accuracy, line.low, line.high, line.combined)]
        assert numbers(row[2], row[3]) == pytest.approx(shares, abs=0.051)


def test_calibration_table_and_labels_are_those_of_the_evaluation(fit_html, quality):
    found = quality.calibration
    rows = body(fit_html, "calibration")
    for i, row in enumerate(rows):
        percents = [100 * v[i] for v in (found.observed, found.lower, found.upper)]
        assert numbers(row[0]) == pytest.approx(
            [100 * found.expected[i], found.counts[i]], abs=5.1e-3
        )
        assert numbers(row[1]) == pytest.approx(percents, abs=5.1e-3)
        assert row[2] == ("yes" if percents[1] <= 100 * found.expected[i] <= percents[2] else "no")
    assert len(rows) == len(found.counts)
    for row, score in zip(body(fit_html, "labels"), quality.by_label, strict=True):
        assert row[:4] == [score.name, *map(str, (score.n_true, score.n_pred, score.n_both))]
        assert numbers(*row[4:]) == pytest.approx(
            [score.precision, score.recall, score.f], abs=5.1e-4
        )
    pairs = [(pair.missed, pair.predicted, str(pair.count)) for pair in quality.confusions]
    assert list(map(tuple, body(fit_html, "confusions"))) == pairs


def bins(lower, upper):
    """Ten groups of 50 answers that theta expects 5 % of the labels of to be wrong."""
    lower, upper = np.array(lower), np.array(upper)
    tenth = np.full(10, 0.05)
    return Calibration(tenth, (lower + upper) / 2, np.full(10, 50), lower, upper)


def test_calibration_is_judged_by_how_many_intervals_hold_theta():
    said = calibration_sentence(bins(8 * [0.04] + 2 * [0.06], 8 * [0.06] + 2 * [0.08]))
    assert said.startswith(
        "Theta is calibrated as far as these answers can tell: in 8 of 10 groups"
    )
    # Two groups are 2 points away, so 0.4 on average; 5.4 % are wrong in all.
    assert "0.4 percentage points apart" in said
    assert "expects 5.00 % and 5.40 % are wrong" in said
    said = calibration_sentence(bins(7 * [0.04] + 3 * [0.06], 7 * [0.06] + 3 * [0.08]))
    assert said.startswith("Theta is not calibrated: in 7 of 10 groups")
    assert "In 0 fewer are wrong than it expects, in 3 more." in said


def test_examples_are_the_surest_the_least_sure_and_the_wrong_ones(model, quality, fit_html):
    found = example_rows(quality, model.answers, "chance")
    doubt, right = quality.predictions.doubt("chance"), quality.right() == 1
    assert doubt[found["surest"][0]] == doubt[right].min()
    assert doubt[found["wrong"][0]] == doubt[~right].min()
    assert doubt[found["unsure"][0]] == doubt.max()
    assert right[found["surest"]].all() and not right[found["wrong"]].any()
    for key, rows in found.items():
        distinct = {model.answers.texts[row] for row in rows}
        assert len(distinct) == len(rows) == 3
        assert (np.diff(doubt[rows]) >= 0).all() or key == "unsure"
        for row, cells in zip(rows, body(fit_html, f"examples-{key}"), strict=True):
            sure, theta = cells[0].split("|")
            assert sure == chance_in_words(1 - doubt[row])
            assert numbers(theta)[0] == pytest.approx(model.evidence.theta[row], abs=5.1e-4)
            assert cells[1].split("|")[0] == model.answers.texts[row]
            assert cells[2].split("|")[0] == "; ".join(model.codes(model.evidence.Y)[row])
            assert cells[3] == ("; ".join(model.codes(model.Y)[row]) or "no code")
            nearest = int(model.evidence.row[row])
            assert nearest != row
            assert cells[4].split("|")[0] == model.answers.texts[nearest]
            assert model.codes(model.Y)[nearest] == model.codes(model.evidence.Y)[row]


def test_shares_of_people_and_machine_and_what_is_suspected_are_told(fit_html, model):
    Y, predicted = model.Y.mean(axis=0), model.evidence.Y.mean(axis=0)
    found = {row[0]: numbers(*row[1:3]) for row in body(fit_html, "bias")}
    assert found.keys() == set(model.labels)
    for code, people, machine in zip(model.labels, Y, predicted, strict=True):
        assert found[code] == pytest.approx([100 * people, 100 * machine], abs=0.051)
    assert "No answer is coded unlike its likes." in fit_html


def test_the_most_suspicious_answers_are_shown():
    answers, codes = made_up(150, 0)
    others = [{"bus"} if names == {"park"} else names for names in codes[:60]]
    slipped = fitted(answers, [*others, *codes[60:]])
    suspects = find_suspects(slipped)
    html = render_page(fit_page(slipped, evaluate_evidence(slipped), triage(slipped), MODEL_FILE))
    rows = body(html, "suspects")
    assert len(rows) == min(15, len(suspects)) > 0
    assert [row[0] for row in rows] == [visible(s.text, 50) for s in suspects[:15]]


def test_methods_are_told_with_the_numbers_of_the_model(model, quality, made):
    said, found = methods_paragraph(model, quality, made), made.selection
    by_key = {score.key: score.value for score in quality.scores}
    facts = (
        "trained on 150 answers that people had coded with 3 codes",
        f"({model.Y.sum() / 150:.2f} codes an answer on average)",
        f"{model.n_folds}-fold cross-validation, ",
        f"{percent(by_key['subset_accuracy'], 1)} of the answers received exactly the codes",
        f"Hamming loss {by_key['hamming_loss']:.3f}",
        f"was at least {1 - found.limit:.4f} were coded automatically",
        f"at least {100 * found.target:g} % of the automatic codings are entirely correct",
        f"{percent(found.share, 1)} of the answers passed, of which {percent(found.accuracy, 1)}",
    )
    for fact in facts:
        assert fact in said
    none = replace(found, threshold=None, limit=None)
    without = methods_paragraph(model, quality, replace(made, selection=none))
    assert without.endswith("so that all new answers were coded by people.")


def test_chances_in_words():
    words = {0.04: "less than 1 in 10", 0.06: "1 in 10", 0.94: "9 in 10", 0.96: "96 in 100"}
    words[0.994], words[0.999] = "99 in 100", "more than 99 in 100"
    for chance, said in words.items():
        assert chance_in_words(chance) == f"right as a whole: {said}"


def test_examples_of_answers_without_text_show_their_features(model):
    answers, codes = made_up(60, 2)
    columns = Columns((), COLUMNS.codes, ("age",), ("region",))
    silent = fitted(Answers(60 * [""], answers.numbers, answers.categories), codes, columns)
    found = evaluate_evidence(silent)
    html = render_page(fit_page(silent, found, triage(silent), MODEL_FILE))
    rows = body(html, "examples-unsure")
    assert len(rows) == 3
    shape = r"\(no text\)(\|(age \d+)?(, )?(region (North|South))?)?"
    assert all(re.fullmatch(shape, row[1]) for row in rows)
    assert any("age" in row[1] for row in rows)


def test_history_versions_and_checksums_are_told(fit_html, model):
    event = model.history[0]
    (row,) = body(fit_html, "history")
    assert row[:3] == [f"2024-05-17 08:30:00 UTC|nldd {__version__}", "fit", "answers.csv"]
    assert numbers(*row[3:6]) == [150, 7, 150, 3, event.n_labelsets]
    assert numbers(*row[6:]) == pytest.approx(
        [100 * event.subset_accuracy, 100 * event.hamming_accuracy], abs=0.051
    )
    assert body(fit_html, "files") == [
        ["model.nldd", "the model", 64 * "a"],
        ["answers.csv", "read by nldd fit", 64 * "c"],
    ]
    assert dict(body(fit_html, "versions")) == library_versions()


def test_empty_parts_are_said_in_words(model, quality, made):
    page = fit_page(model, replace(quality, confusions=()), made, MODEL_FILE)
    assert "confusions" not in [table.key for table in page.tables]
    assert "In no answer" in paragraphs(page, "confusions")
    history, _ = provenance_sections(replace(model, history=()), {})
    assert history.paragraphs == ("No step is recorded in it.",)


def test_codes_that_nobody_gave_come_last_and_have_no_scores():
    zero = 3 * (0.0,)
    never, bad = LabelScore("never", 0, 0, 0, *zero), LabelScore("bad", 4, 0, 0, *zero)
    found = labels_table([never, bad, LabelScore("made up", 0, 2, 0, *zero)], ["bad"]).rows
    assert [(as_entry(row[0]).text, *row[4:]) for row in found] == [
        ("bad", "-", "0.000", "0.000"),
        ("made up", "0.000", "-", "0.000"),
        ("never", "-", "-", "-"),
    ]
    assert [as_entry(row[0]).under for row in found] == ["unknown to the model", "", ""]


def test_evaluation_page_compares_the_promise_with_what_came(evaluated_page, kept):
    facts = dict(evaluated_page.facts)
    said = paragraphs(evaluated_page, "answer")
    assert f"codes {kept.n_auto} of 60 answers by itself" in said
    assert facts["evaluated"] == "2024-06-01 00:00:00 UTC"
    accuracy = numbers(facts["of these right"])[0]
    assert accuracy == pytest.approx(100 * kept.accuracy, abs=0.051)


def test_evaluation_page_names_unknown_codes_and_new_combinations(
    model, evaluated, table, evaluation_html
):
    known = {frozenset(names) for names in model.codes(model.Y)}
    never = sum(frozenset(names) not in known for names in table.codes)
    assert never >= 2
    assert n_never_seen(model, evaluated) == never
    counted = {row[0]: row[1:] for row in body(evaluation_html, "counts")}
    assert counted["rows"] == ["65", "157"]
    assert counted["rows set aside, as nobody has coded them"] == ["5", "7"]
    assert counted["codes"] == ["4", "3"]
    assert counted["answers with a combination that the model has never seen"] == [str(never), "-"]
    carried = {row[0]: row[1:] for row in body(evaluation_html, "code-counts")}
    assert carried["noise"] == ["2", "3.3 %", "0", "0 %"]
    labels = {row[0]: row[1:] for row in body(evaluation_html, "labels")}
    assert labels["noise|unknown to the model"] == ["2", "0", "0", "-", "0.000", "0.000"]
    assert "cannot give them: &#34;noise&#34;. They count as missed." in evaluation_html
    assert "The file has 2 &lt;b&gt;sheets&lt;/b&gt;." in evaluation_html


def test_evaluation_triage_is_that_of_the_new_answers(evaluated, kept, evaluation_html):
    rows = body(evaluation_html, "triage")
    (chosen,) = (row for row in rows if "chosen" in row[0])
    assert numbers(chosen[1]) == pytest.approx([100 * kept.share, kept.n_auto], abs=0.051)
    shares = [100 * share for share in (kept.accuracy, kept.low, kept.high)]
    assert numbers(chosen[2]) == pytest.approx(shares, abs=0.051)
    assert numbers(rows[-1][2])[0] == pytest.approx(100 * evaluated.right().mean(), abs=0.051)


def test_evaluation_examples_carry_the_numbers_of_their_rows(evaluated, table, evaluation_html):
    found = example_rows(evaluated, table.answers, "chance")["wrong"]
    places = [cells[1].split("|")[1] for cells in body(evaluation_html, "examples-wrong")]
    assert [place.split(",")[0] for place in places] == [f"row {row + 2}" for row in found]


@pytest.mark.parametrize(
    ("low", "accuracy", "high", "words"),
    [
        (0.945, 0.96, 0.97, "The promise held: even the lower end of the interval"),
        (0.92, 0.94, 0.97, "held on these answers, but they are too few to prove"),
        (0.91, 0.93, 0.94, "by no more than chance can do."),
        (0.89, 0.91, 0.93, "The promise did not hold"),
    ],
)
def test_verdict_on_a_promise(kept, low, accuracy, high, words):
    found = replace(kept, low=low, accuracy=accuracy, high=high)
    assert words in check_paragraphs(found)[0]


def test_evaluation_without_automatic_codes_or_promise_says_so(model, evaluated, kept, table):
    none = replace(kept, n_auto=0, accuracy=None, low=None, high=None)
    promise_less = replace(kept.selection, threshold=None, accuracy=None, n_auto=0)
    for found, words in (
        (none, "sure of none of these answers"),
        (replace(none, selection=promise_less), "makes no promise"),
    ):
        page = evaluation_page(model, evaluated, found, table, FILES, "now")
        assert words in paragraphs(page, "answer")
        assert "chosen" not in str(body(render_page(page), "triage"))


def test_reports_are_written_with_the_checksums_of_their_files(
    model, quality, made, evaluated, kept, table, tmp_path
):
    model_path, table_path = tmp_path / "m.nldd", tmp_path / "new.csv"
    model_path.write_bytes(b"model")
    table_path.write_bytes(b"table")
    place = tmp_path / "report.html"
    assert write_fit_report(model, quality, made, model_path, place) == place
    first = place.read_bytes()
    assert ["m.nldd", "the model", sha256(b"model").hexdigest()] in body(first.decode(), "files")
    write_fit_report(model, quality, made, model_path, place)
    assert place.read_bytes() == first
    paths = model_path, table_path, place
    assert write_evaluation_report(model, evaluated, kept, table, *paths) == place
    files = body(place.read_text(encoding="utf-8"), "files")
    assert ["new.csv", "the answers evaluated", sha256(b"table").hexdigest()] in files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.nldd", "new.csv", "report.html"]


def test_visible_keeps_what_can_be_read_and_unmasks_the_rest():
    family = HOSTILE[-1]
    assert visible(family) == family
    assert visible("a\x00b\u202ec\ud800") == r"a\x00b\u202ec\ud800"
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    assert visible(hebrew) == f"\u2068{hebrew}\u2069"
    # A cut does not end in a joiner, which would reach for the dots.
    assert visible("a\u200dbc", 2) == "a\u2026"


def test_terminal_says_what_the_page_says(model, quality, made, evaluated, kept, table):
    """One table and one wording of the promise serve both."""
    text = render_triage(made)
    for row in made.rows:
        assert f"({row.n_auto:,})" in text
    for line in made.targets:
        assert f"{line.n_auto:,} of {made.selection.n_answers:,}" in text
    assert text.count("(chosen)") == 2
    assert text.split("\n\n")[2].replace("\n", " ") == " ".join(guarantee_paragraphs(made))
    text = render_evaluation(evaluated, kept, table)
    assert " ".join(check_paragraphs(kept)) in text.replace("\n", " ")
    assert calibration_sentence(evaluated.calibration) in text.replace("\n", " ")
    assert 'cannot give them: "noise". They count as missed.' in text.replace("\n", " ")
    for score in evaluated.scores:
        assert f"{score.value:.4f}  ({score.low:.4f} to {score.high:.4f})" in text
    for pair in evaluated.confusions[:10]:
        assert re.search(rf"  {pair.missed} +{pair.predicted} +{pair.count}\n", f"{text}\n")
    assert "  noise  (unknown to the model)" in text


def test_inspection_tells_columns_counts_versions_and_history(model, tmp_path):
    text = render_model(model, {"versions": {"nldd": "0.1", "numpy": "9"}}, tmp_path)
    assert text.startswith(f'Model {tmp_path}\nThe model reads the text of "answer", the numbers')
    assert "in the column \"codes\", separated by ';'." in text.replace("\n", " ")
    assert re.search(rf"  features +{model.classifier.n_features_in_:,}\n", text)
    assert re.search(r"  numpy +9\n", text)
    assert "2024-05-17 08:30:00 UTC" in text
    assert 64 * "c" in text


def test_columns_of_yes_and_no_are_counted():
    codes = CodeColumns(("q1_bus", "q1_park"), separator="")
    sentence = columns_sentence(Columns(("answer",), codes, (), ()))
    assert sentence.endswith("stand in 2 columns of yes and no, one for each code.")


def test_columns_of_codes_and_their_separators_are_named():
    codes = CodeColumns(("code1", "code2"), ";", "", (",",))
    sentence = columns_sentence(Columns(("answer",), codes, (), ()))
    where = """the columns "code1", "code2", one in each, or several separated by ';' or ','."""
    assert sentence.endswith(where)


@pytest.fixture(scope="module")
def hostile_html():
    answers, codes = made_up(64, 3, HOSTILE)
    named = dict(zip(PHRASES, HOSTILE, strict=False)) | {"rent": HOSTILE[5], "bus": HOSTILE[4]}
    named["park"] = HOSTILE[2]
    answers = replace(answers, categories=[(HOSTILE[i % 8],) for i in range(64)])
    columns = Columns((HOSTILE[0],), CodeColumns((HOSTILE[4],)), ("age",), (HOSTILE[2],))
    model = fitted(answers, [{named[name] for name in names} for names in codes], columns)
    model = model.with_event(replace(model.history[0], file=HOSTILE[1], action=HOSTILE[0]))
    name = (f"{HOSTILE[4]}{HOSTILE[1]}{HOSTILE[2]}", 64 * "a")
    table = CodedAnswers(
        answers, [{HOSTILE[0], HOSTILE[2] + "!"} for _ in codes], [*range(64)], 64, [*HOSTILE]
    )
    found = evaluate_model(model, table)
    pages = (
        fit_page(model, evaluate_evidence(model), triage(model), name),
        evaluation_page(
            model,
            found,
            check_guarantee(model, found),
            table,
            dict.fromkeys(FILES, name),
            HOSTILE[0],
        ),
    )
    return [render_page(page) for page in pages]


def test_hostile_texts_are_shown_and_nothing_else(hostile_html):
    for html, longest in zip(hostile_html, (LONGEST_ANSWER, LONGEST_NOTE), strict=True):
        html.encode("utf-8")
        assert "<script" not in html and "<img" not in html
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066\u2067\ud800-\udfff]", html)
        assert max(map(len, re.findall("x+", html))) == longest


@pytest.fixture(scope="module")
def browser():
    with open_tab() as tab:
        yield tab


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_no_report_is_wider_than_its_window(
    width, browser, fit_html, evaluation_html, hostile_html, tmp_path
):
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
