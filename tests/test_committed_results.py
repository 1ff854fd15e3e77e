"""The committed records: complete, and what the documentation says about them is true."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from bench.report.records import grid
from bench.runner.trials import rows_only
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.report.published import PUBLISHED_COEFFICIENTS, published
from nldd.bench.report.results import results
from nldd.bench.runner.cell import cells
from nldd.bench.runner.protocol_file import load_protocol
from nldd.bench.runner.records import CELLS, read_predictions, read_records
from nldd.bench.statistics.ranks import average_ranks
from nldd.bench.statistics.significance import least_p
from nldd.estimators._registry import METHODS
from nldd.metrics._counts import label_counts
from nldd.metrics._measures import MEASURES, PAPER_MEASURES
from programs import program

FOLDER = Path(__file__).parents[1] / "results"
SMALL = ("emotions", "scene", "yeast", "medical", "slashdot", "enron")
KEYS = [measure.key for measure in PAPER_MEASURES]


@pytest.fixture(scope="module")
def records():
    return {name: read_records(FOLDER / name / CELLS) for name in ("default", "best", "paper")}


@pytest.mark.parametrize("name", ["default", "best", "paper"])
def test_no_cell_failed_and_each_has_the_settings_of_its_protocol(records, name):
    protocol = load_protocol(name)
    planned = {
        cell.key: cell.settings
        for entry in CATALOGUE.values()
        for cell in cells(protocol, entry.name, rows_only(entry.n_samples), METHODS)
    }
    for record in records[name]:
        assert record.error is None
        assert record.settings == planned[record.key]


@pytest.mark.parametrize(("name", "n_cells"), [("default", 760), ("best", 750), ("paper", 640)])
def test_all_cells_are_there(records, name, n_cells):
    protocol = load_protocol(name)
    planned = {
        cell.key
        for entry in CATALOGUE.values()
        for cell in cells(protocol, entry.name, rows_only(entry.n_samples), METHODS)
    }
    assert len(planned) == n_cells
    assert {record.key for record in records[name]} == planned


def test_scores_follow_from_the_predicted_labelsets(records):
    """They are kept for measures that nobody thought of."""
    some = [r for name in ("default", "paper") for r in records[name] if r.fold == 0]
    for record in some[::7]:
        kept = read_predictions(FOLDER / record.protocol, record.key)
        counts = label_counts(kept.Y_true, kept.Y_pred)
        assert record.details["label_counts"] == counts.as_lists()
        for key in ("zero_one_loss", "f_measure", "micro_f", "macro_recall"):
            assert MEASURES[key](kept.Y_true, kept.Y_pred) == pytest.approx(record.scores[key])


def test_macro_f_of_br_on_medical_is_that_of_all_folds_together(records):
    """The mean over the folds counted labels that are in no row of a fold as 1: 0.70."""
    cells = results(records["default"]).cells("medical", "BR")
    kept = [read_predictions(FOLDER / "default", cell.key) for cell in cells]
    Y_true, Y_pred = (np.vstack([getattr(k, name) for k in kept]) for name in ("Y_true", "Y_pred"))
    found = results(records["default"])
    place = found.datasets.index("medical"), found.methods.index("BR")
    value = found.means(MEASURES["macro_f"])[place]
    assert value == pytest.approx(f1_score(Y_true, Y_pred, average="macro", zero_division=0))
    assert value == pytest.approx(0.278, abs=0.001)


# How many of the ten methods have a better average rank than NLDD: as README and results.md say.
BETTER = {"default": dict(zip(KEYS, (3, 2, 0, 0), strict=True))}
BETTER["best"] = dict(zip(KEYS, (1, 1, 0, 0), strict=True))


@pytest.mark.parametrize("name", BETTER)
@pytest.mark.parametrize("measure", PAPER_MEASURES, ids=KEYS)
def test_average_rank_of_nldd(records, name, measure):
    found = results(records[name])
    averages = average_ranks(found.means(measure), measure.greater_is_better)
    own = averages[found.methods.index("NLDD")]
    assert (averages < own).sum() == BETTER[name][measure.key]


@pytest.mark.parametrize("dataset", SMALL)
def test_nldd_under_paper_is_near_the_published_values(records, dataset):
    found = results(records["paper"])
    for measure in PAPER_MEASURES:
        target = published(measure.key).value(dataset, "NLDD")
        row, column = found.datasets.index(dataset), found.methods.index("NLDD")
        assert abs(found.means(measure)[row, column] - target) < 0.03


@pytest.mark.parametrize("dataset", ["medical", "slashdot", "enron", "bibtex"])
def test_weights_under_paper_are_near_the_published_ones(records, dataset):
    cells = results(records["paper"]).cells(dataset, "NLDD")
    _, b1, b2 = np.mean([cell.details["coefficients"] for cell in cells], axis=0)
    _, b1_printed, b2_printed = PUBLISHED_COEFFICIENTS[dataset]
    assert abs(b2 / b2_printed - 1) < 0.25
    assert abs(b1 / b1_printed - 1) < 0.6


def test_page_has_what_settings_of_nldd_reach():
    page = program("page")
    text = page.PAGES[0].read_text("utf-8")
    for key in ("beaten", "decisions", "place", "proof", "agreement"):
        assert f"<!-- nldd {key} -->\n{page.OF_NLDD[key]()}\n<!-- end -->" in text
    assert [page.n_beaten(runs) for runs in page.SETTINGS.values()] == [7, 25, 27, 24, 28]


def test_findings_are_told_with_the_numbers_of_the_records():
    page = program("page")
    text = " ".join(page.PAGES[0].read_text("utf-8").split())
    numbers = [page.differing(name, m) for name in page.PROTOCOLS for m in PAPER_MEASURES]
    better, worse, apart = zip(*numbers, strict=True)
    assert (min(better), max(better), max(worse), max(apart)) == (4, 9, 0, 3)
    assert "better than four to nine of the nine others" in text
    assert "differs from three others at most" in text
    assert f"below {least_p(9, sided=2, n_tests=45):.2f}, whoever" in text
    total = page.agreement().splitlines()[-1]
    assert total == "| all | 252 | 207 | 24 | 21 |"
    assert (
        "207 of its 252 values" in text and "Another 24 are" in text and "and 21 for none" in text
    )
    odd = [line.split(" | ") for line in page.agreement().splitlines()]
    odd = {row[0]: int(row[-1].strip(" |")) for row in odd[2:]}
    assert odd["| ohsumed"] + odd["| tmc2007"] == 14 and "14 of these are on ohsumed" in text
    counts = [page.n_beaten(page.SETTINGS[name]) for name in list(page.SETTINGS)[:2]]
    assert counts == [7, 25]
    assert "in 25 of 35 cells (data set and measure); with plain logistic regression in 7." in text


def test_claims_on_ranks_and_decisions_are_those_of_the_records():
    """Who leads where, as the first finding says, and what a decision that aims gains and costs."""
    page = program("page")
    leaders = {}
    for name in ("default", "best", "paper"):
        found = page.found(name)
        for measure in PAPER_MEASURES:
            averages = average_ranks(found.means(measure), measure.greater_is_better)
            leaders[name, measure.key] = found.methods[int(np.argmin(averages))]
    assert {leaders[name, "hamming_loss"] for name in ("default", "best")} == {"RAKEL"}
    assert {leaders[name, "zero_one_loss"] for name in ("default", "best")} == {"LP"}
    assert {leaders["paper", key] for key in KEYS[2:]} == {"ECC"}

    def gains(run, key):
        best, other = (page.values(name, MEASURES[key]) for name in ("best", run))
        return {name: other[name] - best[name] for name in best}

    rise = gains("auto-f", "f_measure").values()
    assert (round(min(rise), 3), round(max(rise), 3)) == (0.004, 0.036)
    assert sum(gain > 0 for gain in gains("auto-accuracy", "multilabel_accuracy").values()) == 6
    cost = gains("auto-f", "zero_one_loss")
    assert max(cost, key=cost.__getitem__) == "yeast" and round(cost["yeast"], 3) == 0.093
    assert {name for name, change in cost.items() if change < 0} == {"medical", "bibtex"}


def test_diagrams_are_of_the_records():
    page = program("page")
    for key, name in page.DIAGRAMS.items():
        found, measure = page.found("best"), MEASURES[key]
        averages = average_ranks(found.means(measure), measure.greater_is_better)
        drawn = (page.marks.DOCS / name).read_text("utf-8")
        for method, average in zip(found.methods, averages, strict=True):
            assert f">{method}</text>" in drawn and f">{average:.2f}</text>" in drawn


def test_ranks_of_the_page_are_over_one_set_of_complete_data(monkeypatch):
    page = program("page")
    names = published("hamming_loss").datasets[:3]
    # NLDD and BR have equal ranks, and BR has no value on the third data set.
    values = [[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [None, 0.1, 0.2]]
    found = results(grid(values, names, ("BR", "NLDD", "CC")))
    monkeypatch.setattr(page, "found", lambda protocol: found)
    row = page.ranks("any").splitlines()[2].split(" | ")
    paper = np.array(
        [[published("hamming_loss").value(d, m) for m in ("BR", "NLDD")] for d in names]
    )
    own = np.mean(1 + (paper[:2, 0] < paper[:2, 1]))
    assert row[1:3] == ["**1.50, first with BR**", "**1.50, first with BR**"]
    assert row[3].strip("*").startswith(f"{own:.2f}")
    told = page.ranks("any").splitlines()[-1]
    assert told.endswith(f"over the data sets that are complete: {names[0]}, {names[1]}.")


def test_beaten_cells_are_counted_of_those_that_are_there(monkeypatch):
    page = program("page")
    found = results(grid([[0.0], [0.9]], ("emotions", "scene"), ["NLDD"]))
    monkeypatch.setattr(page, "found", lambda protocol: found)
    lines = page.beaten().splitlines()
    # Two data sets and four measures, without the accuracy on scene.
    assert len(page.targets(("default",) * 4)) == 7
    assert lines[2].startswith(
        "| logistic regression (`None`) | 0.4500 | 0.4500 | 0.4500 | 0.4500 "
    )
    assert lines[2].endswith(" of 7 |")
    assert lines[-1].startswith("Means over emotions, scene, on which")


def test_page_has_what_the_chance_is_worth():
    chance = program("chance")
    records = chance.read()
    seeds = {(record["dataset"], record["seed"]) for record in records}
    assert seeds == {(name, seed) for name, some in chance.SEEDS.items() for seed in some}
    assert chance.table(records) in chance.PAGE.read_text("utf-8")


def test_page_has_what_auto_finds_and_costs():
    choice = program("choice")
    found = choice.compare(choice.read())
    assert len(found) == 9 * 3 * 4
    assert choice.table(found) in choice.PAGE.read_text("utf-8")
    assert max(row["cost"] for row in found) < 3


def test_what_auto_gains_is_told_as_recorded():
    choice = program("choice")
    told = " ".join(choice.PAGE.read_text("utf-8").split())
    rows = [line.split(" | ") for line in choice.table(choice.compare(choice.read())).splitlines()]
    scores = [[float(value) for value in row[3].split(", ")] for row in rows[2:11]]
    assert f"rises by up to {max(auto - plain for plain, _, auto in scores):.3f}"[-3:] == "037"
    assert "the F-measure rises by up to .037, at 0.7 to 2.8 times the cost" in told
    costs = [float(cost) for row in rows[2:11] for cost in row[4].strip(" |").split(" to ")]
    assert (min(costs), max(costs)) == (0.7, 2.8)


def test_time_of_nldd_is_told_as_recorded():
    page = program("page")
    rows = [line.split(" | ") for line in page.section("default running_time").splitlines()[2:11]]
    times = [float(row[4].split("<br>")[0]) for row in rows]
    told = " ".join((page.marks.DOCS / "methods.md").read_text("utf-8").split())
    assert f"in {min(times):.1f} to {max(times):.1f} times the time of binary relevance" in told
