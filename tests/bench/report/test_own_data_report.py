"""A report on data sets of one's own: nothing in it is about other data, and every measure."""

import json
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bench.report.records import bold, folds, grid, record, texts, write_records
from nldd import cli
from nldd.bench.report.report import _comparisons, difference_diagrams, make_report, write_report
from nldd.bench.report.results import ALL_MEASURES, results
from nldd.bench.report.run_tables import dataset_table, search_table, split_table
from nldd.bench.report.score_tables import choose_measures, overview_table, pair_table, score_table
from nldd.bench.runner.records import CellPredictions, RecordFile
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES
from nldd.metrics._probability_measures import PROBABILITY_MEASURES
from nldd.present.latex import RENDERERS
from nldd.present.page import render_page

OWN = ("alpha", "beta", "gamma")
METHODS = ("BR", "NLDD", "ECC", "CBM")
VALUES = [[0.3, 0.1, 0.2, 0.4], [0.25, 0.15, 0.2, 0.3], [0.3, 0.2, 0.1, 0.35]]
FOREIGN = re.compile(
    "paper|gweon|arxiv|peerj|yeast|emotions|scene|medical|slashdot|enron|ohsumed|tmc2007|bibtex",
    re.IGNORECASE,
)
MACRO_F, AUROC = MEASURES["macro_f"], PROBABILITY_MEASURES["macro_auroc"]


COUNTS = {"tp": [1] * 10, "fp": [0] * 10, "fn": [1] * 10}


def own_cells(**changes):
    return grid(VALUES, OWN, METHODS, title="three of my own", **changes)


def probable(**changes):
    """Own cells, of which those of CBM have no probabilities."""
    return [
        cell if cell.method == "CBM" else replace(cell, scores=cell.scores | {"macro_auroc": 0.8})
        for cell in own_cells(label_counts=COUNTS, **changes)
    ]


@pytest.fixture(scope="module")
def own_page():
    cells = [*own_cells(), record("alpha", "LP", error="no"), record("beta", "NLDD", share=1.0)]
    return make_report(results(cells), choose_measures(["f_measure", "macro_auroc"]))


def test_no_sentence_is_about_other_data(own_page):
    texts = {"page": render_page(own_page)}
    for table, (ending, render) in product(own_page.tables, RENDERERS.items()):
        texts[f"{table.key}.{ending}"] = render(table)
    assert {name: found for name, text in texts.items() if (found := FOREIGN.findall(text))} == {}


def test_methods_of_the_paper_alone_do_not_bring_it_in():
    page = make_report(results(own_cells()[:4]))
    assert page.foot == "Made by nldd from the records of finished cells."
    assert dict(page.facts)["title"] == "three of my own"
    assert not [s.title for s in page.sections if "paper" in s.title or "works" in s.title]


def test_measures_are_chosen_by_name_and_misspelt_ones_told():
    assert [m.key for m in choose_measures()] == [*MEASURES][:4]
    assert [m.key for m in choose_measures([" Log-Loss", "macro_f", "log_loss"])] == [
        *("log_loss", "macro_f"),
    ]
    assert choose_measures(["all"]) == (*MEASURES.values(), *PROBABILITY_MEASURES.values())
    with pytest.raises(InputError, match=r"no measure 'macro_auc'.*'macro_auroc'"):
        choose_measures(["macro_auc"])


def test_the_command_takes_measures(tmp_path, capsys):
    folder = write_records(tmp_path, probable()[:4])
    code = cli.run(["report", str(folder), "--measures", "f_measure,macro_auroc", "--nemenyi"])
    assert (code, capsys.readouterr().err) == (0, "")
    written = {path.stem for path in (folder / "tables").glob("*.tex")}
    assert {"f_measure", "macro_auroc", "subsets_f_measure", "splits"} <= written
    assert "hamming_loss" not in written
    assert cli.run(["report", str(folder), "--measures", "zero_one_loss"]) == 0
    left = {path.stem for path in (folder / "tables").glob("*.tex")}
    assert left == written - {"f_measure", "macro_auroc", "subsets_f_measure"} | {
        *("zero_one_loss", "subsets_zero_one_loss"),
    }
    assert cli.run(["report", str(folder), "--measures", "macro"]) == 1
    assert "There is no measure 'macro'" in capsys.readouterr().err


def test_methods_without_probabilities_are_left_out_and_do_not_empty_the_table():
    found = results(probable())
    table = score_table(found, AUROC)
    assert table.head == ("data set", "BR", "NLDD", "ECC")
    assert texts(table.foot[0]) == ["average rank", "2.00", "2.00", "2.00"]
    assert table.notes[-1] == "Left out, no probabilities: CBM."
    assert "labels that all or none of the test rows carry" in table.notes[-2]
    rows = {row[0]: texts(row)[1:] for row in overview_table(found).rows}
    assert rows["Macro AUROC"] == ["3", "2.00", "2.00", "2.00", "-"]
    # NLDD: (1 + 1 + 2) / 3, ECC: (2 + 2 + 1) / 3.
    assert rows["Hamming loss"] == ["3", "3.00", "1.33", "1.67", "4.00"]
    pooled = {measure.name for key, measure in MEASURES.items() if key[:6] in ("micro_", "macro_")}
    assert set(rows) == {"Macro AUROC", *(measure.name for measure in choose_measures()), *pooled}
    assert ("Hamming loss", "NLDD") in bold(overview_table(found))


def told_of_scores(cells, *measures):
    page = make_report(results(cells), measures)
    scores = next(section for section in page.sections if section.id == "scores")
    assert scores.tables == ()
    return scores.paragraphs[2:]


def test_why_no_method_has_a_value_is_told():
    log_loss = PROBABILITY_MEASURES["log_loss"]
    names = "(BR, NLDD, ECC, CBM)"
    assert told_of_scores(own_cells(label_counts=COUNTS)[:4], AUROC, log_loss) == (
        f"No method has a value of Macro AUROC, Log loss: no probabilities {names}.",
    )
    assert told_of_scores(own_cells()[:4], MACRO_F) == (
        f"No method has a value of Macro F: older records without predictions {names}.",
    )
    # Three methods have probabilities, but some fold has no defined value.
    assert told_of_scores(probable()[:4], log_loss) == (
        "No method has a value of Log loss: not defined in some fold of each data set "
        "(BR, NLDD, ECC); no probabilities (CBM).",
    )


def test_a_method_with_probabilities_is_not_said_to_have_none():
    cells = probable()
    for cell in cells:
        if cell.method == "ECC":
            cell.scores["log_loss"] = cell.scores.pop("macro_auroc")
    assert score_table(results(cells), AUROC).notes[-2:] == (
        "Left out, not defined in some fold of each data set: ECC.",
        "Left out, no probabilities: CBM.",
    )


def test_a_data_set_without_a_value_is_a_row_of_dashes():
    cells = probable()
    for cell in cells:
        if cell.dataset == "beta":
            cell.scores.pop("macro_auroc", None)
    table = score_table(results(cells), AUROC)
    assert texts(table.rows[1]) == ["beta", "-", "-", "-"]
    assert (
        "Left out of averages and tests, since not every method has a value in every fold: beta."
    ) in table.notes


def test_measures_that_records_lack_are_computed_from_predictions(tmp_path):
    rng = np.random.default_rng(0)
    cells = folds("alpha", "BR", [0.2, 0.3], n_labels=3)
    for k, cell in enumerate(cells):
        Y, P = rng.random((10, 3)) < 0.5, rng.random((10, 3)).astype(np.float32)
        kept = CellPredictions(np.arange(10), Y, P > 0.5, P if k else None)
        cells[k] = replace(cell, predictions=kept)
    with RecordFile(tmp_path) as file:
        file.append(cells)
    bare = [replace(cell, predictions=None) for cell in cells]
    assert np.isnan(results(bare).means(MACRO_F)).all()
    found = results(bare, folder=tmp_path)
    Y, Y_pred = (np.vstack([getattr(c.predictions, name) for c in cells]) for name in Y_NAMES)
    assert found.means(MACRO_F).item() == pytest.approx(MACRO_F(Y, Y_pred), rel=1e-14)
    recall = np.mean(
        [MEASURES["recall"](c.predictions.Y_true, c.predictions.Y_pred) for c in cells]
    )
    assert found.means(MEASURES["recall"]).item() == pytest.approx(recall, rel=1e-14)
    # What is written down counts, and the first fold has no probabilities.
    assert found.means(MEASURES["hamming_loss"]).item() == 0.25
    assert np.isnan(found.means(AUROC)).all()
    second = found.cells("alpha", "BR")[1]
    kept = cells[1].predictions
    assert second.scores.keys() == ALL_MEASURES.keys()
    assert second.scores["log_loss"] == PROBABILITY_MEASURES["log_loss"](kept.Y_true, kept.P)


Y_NAMES = ("Y_true", "Y_pred")


def test_macro_tables_state_their_convention():
    table = score_table(results(own_cells(label_counts=COUNTS)), MACRO_F)
    assert texts(table.rows[0])[1] == "0.6667 (2.5)"
    assert table.notes[-1] == (
        "Counts of each label are pooled over the folds; labels in neither truth nor prediction "
        "are left out of the mean."
    )


def test_pairs_have_differences_effects_and_three_tests():
    table = pair_table(results(own_cells()), choose_measures()[0], nemenyi=True)
    assert table.folded
    assert table.head[:7] == (
        *("first, second", "first better by", "won/tied/lost", "effect", "p", "p (Holm)"),
        "p (Nemenyi)",
    )
    # Losses: BR has 0.3, 0.25, 0.3 and NLDD 0.1, 0.15, 0.2; one pattern of signs of 2^3, twice.
    assert table.rows[0][:6] == ("BR, NLDD", "-0.1333", "0/0/3", "-1.00", "0.250", "1.000")
    assert len(table.rows) == len(table.data) == 6
    assert table.notes[0] == (
        "Wilcoxon tests: with 3 data sets no p-value, corrected for 6 tests, can fall below 1, so "
        "no difference can be significant at 0.05."
    )
    assert table.notes[1:] == ("Differences up to 0.001 count as equal.",)
    assert pair_table(results(own_cells()[:4]), choose_measures()[0]) is None


def test_nemenyis_test_is_not_told_what_wilcoxons_cannot_find():
    diagram = next(difference_diagrams(results(own_cells()), choose_measures(), nemenyi=True))
    assert (
        "so by these tests no pair can differ at 0.05 and a bar joins all. Bars without dots: "
        in (diagram.caption)
    )
    told = [s for s in _comparisons(results(own_cells()), (), nemenyi=True) if s.id == "pairs"]
    assert told[0].paragraphs[1].startswith("p (Nemenyi): a test of the average ranks")


def test_effects_with_ties_and_tiny_p_values_are_told_rightly():
    names = [f"set{k:02}" for k in range(13)]
    # Better on 12 of 13, and a tie: 2 / 2^12 = 0.0005.
    values = [[0.2, 0.2], *([0.1 + 0.01 * k, 0.5] for k in range(12))]
    table = pair_table(results(grid(values, names, ("BR", "NLDD"))), choose_measures()[0])
    assert table.rows[0][2:6] == ("12/1/0", "+1.00", "< 0.001", "< 0.001")


def test_the_notes_of_pairs_are_said_once(own_page):
    pairs = next(section for section in own_page.sections if section.id == "pairs")
    (told,) = pairs.paragraphs
    assert "1 if the first is better wherever the two differ" in told
    assert [len(table.notes) for table in pairs.tables] == [2]


FACTS = {"n_samples": 1240, "n_features": 12, "n_labels": 5, "cardinality": 1.5, "density": 0.3}
ABOUT = {
    "alpha": {
        "facts": FACTS | {"n_labelsets": 31, "mean_ir": 2.0, "scumble": 0.1, "tcs": None},
        "notes": ["Column id counts the rows and was left out."],
    },
    "unknown": {"facts": {}, "notes": []},
}


def test_data_sets_have_a_table_of_facts_with_their_notes():
    found = results(own_cells())
    table = dataset_table(found, ABOUT)
    assert texts(table.rows[0]) == [
        *("alpha", "1,240", "12", "5", "1.500", "0.3000", "31", "2.00", "0.100", "-"),
    ]
    assert texts(table.rows[1]) == ["beta", *["-"] * 9]
    assert table.notes[-1] == "alpha: Column id counts the rows and was left out."
    assert table.data[0][:4] == ("alpha", 1240, 12, 5)
    assert dataset_table(found, {}) is None


def test_facts_of_other_data_of_the_same_name_are_left_out():
    found = results(own_cells(data="0123456789abcdef"))
    assert dataset_table(found, ABOUT) is None
    about = ABOUT["alpha"] | {"data": "0123456789abcdef"}
    assert dataset_table(found, {"alpha": about}) is not None
    assert dataset_table(found, {"alpha": about | {"data": "fedcba9876543210"}}) is None


def test_missing_values_and_texts_are_noted():
    about = {"alpha": {"facts": FACTS | {"n_missing": 1200}}, "beta": {"facts": {"text": True}}}
    assert dataset_table(results(own_cells()), about).notes[1:] == (
        "Missing values of features: alpha 1,200.",
        "Texts, which have one feature and no TCS: beta.",
    )


def test_splits_are_told_in_words_with_their_sizes():
    cells = folds("alpha", "BR", [0.1, 0.2], split="2 random splits, 75/25", n_train=3000)
    cells[1].details["n_train"] = 3001
    table = split_table(results([*cells, *folds("beta", "BR", [0.1] * 5), record("gamma", "BR")]))
    assert [texts(row) for row in table.rows] == [
        ["alpha", "3,010", "10", "2 random splits, 75/25", "3,000 to 3,001", "10"],
        ["beta", "50", "10", "5-fold cross-validation", "40", "10"],
        ["gamma", "100", "10", "one split", "75", "25"],
    ]
    assert len(table.data) == 8


def test_searches_are_counted_by_what_they_chose():
    cells = folds("alpha", "BR", [0.1] * 3)
    for cell, k in zip(cells, (5, 9, 5), strict=True):
        best = {"estimator__C": 0.5, "select__k": k}
        cell.details["searched"] = {"best": best, "scoring": "f_measure", "score": 0.4}
    table = search_table(results([*cells, *folds("beta", "BR", [0.1] * 3)]))
    assert [texts(row) for row in table.rows] == [
        ["BR", "alpha", "estimator__C = 0.5, select__k = 5", "2"],
        ["BR", "alpha", "estimator__C = 0.5, select__k = 9", "1"],
    ]
    assert table.notes[0].endswith("by the mean over inner folds of f_measure.")
    assert search_table(results(own_cells())) is None


def test_facts_are_read_from_the_folder_and_damaged_ones_refused(tmp_path):
    folder = write_records(tmp_path, own_cells()[:4])
    (folder / "datasets.json").write_text(json.dumps(ABOUT))
    write_report(folder, measures=["f_measure"])
    assert "Column id counts the rows" in (folder / "report.html").read_text(encoding="utf-8")
    (folder / "datasets.json").write_text("{")
    with pytest.raises(InputError, match="does not hold the facts of data sets"):
        write_report(folder)


def test_tables_and_figures_of_another_protocol_do_not_stay_behind(tmp_path):
    folder = write_records(tmp_path, [record("alpha", "CC")])
    old = [f"tables/{key}.csv" for key in ("coefficients", "shares", "choices", "searches")]
    old += [f"figures/{key}.svg" for key in ("shares", "hypercube", "pair_choice", "pairs")]
    old += ["tables/datasets.tex", "tables/own.csv"]
    for name in old:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("old")
    write_report(str(folder), measures=["f_measure"])
    assert [name for name in old if (folder / name).exists()] == ["tables/own.csv"]


def test_cells_with_other_numbers_of_labels_are_refused():
    cells = folds("alpha", "BR", [0.1, 0.2], label_counts=COUNTS)
    cells[1].details.update(n_labels=1, label_counts={"tp": [1], "fp": [0], "fn": [0]})
    with pytest.raises(InputError, match="Cells of alpha have 10 and 1 labels"):
        results(cells)
