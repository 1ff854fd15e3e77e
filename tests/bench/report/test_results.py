"""Records of cells as arrays, and how a benchmark ended."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.report.records import folds, grid, record
from nldd.bench.report.results import ALL_MEASURES, render_outcome, results
from nldd.bench.runner.records import CellPredictions, RecordFile
from nldd.exceptions import InputError
from nldd.metrics import MEASURES, PAPER_MEASURES, PROBABILITY_MEASURES

HAMMING, MACRO_F = PAPER_MEASURES[0], MEASURES["macro_f"]


def test_means_are_over_folds_and_methods_in_the_order_of_the_paper():
    cells = [
        *folds("yeast", "NLDD", [0.1, 0.2, 0.6]),
        *folds("yeast", "BR", [0.4, 0.5, 0.6]),
        *folds("emotions", "BR", [0.25, 0.5]),
        *folds("emotions", "NLDD", [0.0, 1.0]),
    ]
    found = results(cells)
    assert (found.datasets, found.methods) == (("emotions", "yeast"), ("BR", "NLDD"))
    np.testing.assert_allclose(found.means(HAMMING), [[0.375, 0.5], [0.5, 0.3]], rtol=1e-15)
    assert found.incomplete == found.failed == found.shares == []
    assert found.finished == cells


def test_own_data_sets_come_last_by_alphabet():
    datasets, methods = ("zoo", "bibtex", "Ants", "emotions"), ("RFPCT", "LP", "Mine", "CBM", "BR")
    found = results(grid(np.full((4, 5), 0.5), datasets, methods))
    assert found.datasets == ("emotions", "bibtex", "Ants", "zoo")
    assert found.methods == ("BR", "LP", "CBM", "RFPCT", "Mine")


def test_standard_errors_are_pooled_over_folds():
    cells = folds("yeast", "BR", [0.5, 0.5])
    for cell, error in zip(cells, (0.03, 0.04), strict=True):
        cell.details["standard_errors"] = {"hamming_loss": error}
    # sqrt(0.03^2 + 0.04^2) / 2 = 0.05 / 2
    assert results(cells).standard_errors(HAMMING).item() == pytest.approx(0.025, rel=1e-14)
    # Random splits have rows in common: 0.01 of one split, times sqrt(1/5 + 25/75).
    five = folds("yeast", "BR", [0.5] * 5, disjoint=False, n_train=75, n_test=25)
    error = results(five).standard_errors(HAMMING).item()
    assert error == pytest.approx(0.01 * np.sqrt(1 / 5 + 1 / 3), rel=1e-14)


def test_macro_measures_count_a_label_once_over_all_folds():
    """Label 2 is in no row of the first fold, where it once counted as a perfect 1."""
    cells = folds("yeast", "BR", [0.5, 0.5], n_labels=3)
    cells[0].details["label_counts"] = {"tp": [8, 0, 0], "fp": [2, 0, 0], "fn": [0, 1, 0]}
    cells[1].details["label_counts"] = {"tp": [4, 1, 0], "fp": [0, 3, 0], "fn": [2, 0, 0]}
    # 24 / 28 and 2 / 6 by label; the third is nowhere. All labels: 13 right of 18 and 16.
    expected = {"macro_f": (24 / 28 + 2 / 6) / 2, "micro_f": 2 * 13 / (2 * 13 + 5 + 3)}
    expected |= {"macro_precision": (12 / 14 + 1 / 4) / 2, "macro_recall": (12 / 14 + 1 / 2) / 2}
    for key, value in expected.items():
        assert results(cells).means(MEASURES[key]).item() == pytest.approx(value, rel=1e-14)
    older = [replace(cells[0], details=record(n_folds=2, n_labels=3).details), cells[1]]
    assert np.isnan(results(older).means(MACRO_F).item())


def test_measures_that_records_lack_are_computed_from_predictions(tmp_path):
    rng = np.random.default_rng(0)
    cells = folds("alpha", "BR", [0.2, 0.3], n_labels=3)
    for k, cell in enumerate(cells):
        Y, P = rng.random((10, 3)) < 0.5, rng.random((10, 3)).astype(np.float32)
        kept = CellPredictions(np.arange(10), Y, P > 0.5, P if k else None)
        cells[k] = replace(cell, predictions=kept)
    with RecordFile(tmp_path) as file:
        for cell in cells:
            file.append(cell)
    bare = [replace(cell, predictions=None) for cell in cells]
    assert np.isnan(results(bare).means(MACRO_F)).all()
    found = results(bare, folder=tmp_path)
    Y, Y_pred = (
        np.vstack([getattr(c.predictions, name) for c in cells]) for name in ("Y_true", "Y_pred")
    )
    assert found.means(MACRO_F).item() == pytest.approx(MACRO_F(Y, Y_pred), rel=1e-14)
    # What is written down counts, and the first fold has no probabilities.
    assert found.means(HAMMING).item() == 0.25
    assert np.isnan(found.means(PROBABILITY_MEASURES["macro_auroc"])).all()
    second, kept = found.cells("alpha", "BR")[1], cells[1].predictions
    assert second.scores.keys() == ALL_MEASURES.keys()
    assert second.scores["recall"] == MEASURES["recall"](kept.Y_true, kept.Y_pred)
    assert second.scores["log_loss"] == PROBABILITY_MEASURES["log_loss"](kept.Y_true, kept.P)


def test_measures_that_records_lack_are_of_their_decision(tmp_path):
    rng = np.random.default_rng(0)
    Y, Y_subset, Y_f1 = rng.random((3, 10, 3)) < 0.5
    kept = CellPredictions(np.arange(10), Y, Y_subset, None, {"subset": Y_subset, "f1": Y_f1})
    decisions = {"subset_accuracy": "subset", "recall": "f1", "micro_f": "f1", "macro_f": "f1"}
    cell = record("alpha", "NLDD-P", n_labels=3, decisions=decisions)
    with RecordFile(tmp_path) as file:
        file.append(replace(cell, predictions=kept))
    found = results([cell], folder=tmp_path)
    (filled,) = found.cells("alpha", "NLDD-P")
    for key, Y_pred in (("subset_accuracy", Y_subset), ("recall", Y_f1), ("macro_f", Y_f1)):
        assert filled.scores[key] == MEASURES[key](Y, Y_pred)
    assert found.means(MACRO_F).item() == pytest.approx(MACRO_F(Y, Y_f1), rel=1e-14)
    assert found.decisions(MACRO_F) == {"f1": ["NLDD-P"]}
    assert results([record()]).decisions(MACRO_F) == {}


@pytest.mark.parametrize(
    "values", [np.linspace(-2, 3, 30), np.full(30, np.nan)], ids=["odd", "nan"]
)
def test_values_that_are_no_probabilities_leave_the_other_measures(tmp_path, values):
    Y = np.random.default_rng(0).random((10, 3)) < 0.5
    cell = record("alpha", n_labels=3)
    kept = CellPredictions(np.arange(10), Y, Y, values.reshape(10, 3))
    with RecordFile(tmp_path) as file:
        file.append(replace(cell, predictions=kept))
    found = results([cell], folder=tmp_path)
    assert found.means(MACRO_F).item() == 1
    assert np.isnan(found.means(PROBABILITY_MEASURES["log_loss"]).item())


def test_failures_of_an_older_protocol_do_not_say_how_many_folds_there_are():
    stale = record("alpha", fold=2, n_folds=3, error="no")
    found = results([stale, *folds("alpha", "BR", [0.1, 0.3])])
    assert (found.means(HAMMING).item(), found.incomplete) == (0.2, [])


def test_incomplete_and_failed_folds_are_left_out_and_said():
    failed = record("scene", "CC", fold=1, n_folds=2, error="no")
    cells = [
        *folds("yeast", "BR", [0.1, 0.2, 0.3]),
        *folds("yeast", "NLDD", [0.1, 0.2, 0.3])[:2],
        *folds("emotions", "BR", [0.1, 0.2])[:1],
        *folds("emotions", "NLDD", [0.1, 0.2]),
        failed,
    ]
    found = results(cells)
    assert found.incomplete == [
        *(("yeast", "NLDD", 2, 3), ("emotions", "BR", 1, 2), ("scene", "CC", 0, 2))
    ]
    assert found.cells("yeast", "NLDD") == found.cells("emotions", "BR") == []
    np.testing.assert_allclose(found.means(HAMMING), [[np.nan, 0.15], [0.2, np.nan]])
    assert (found.finished, found.failed) == (cells[:-1], [failed])


def test_shares_are_no_part_of_the_comparison():
    shares = [record("yeast", "NLDD", share=share, score=0.9) for share in (1.0, 0.1, 0.5)]
    failed = record("yeast", "NLDD", share=0.7, error="no")
    found = results([*shares, failed, record("yeast", "NLDD", score=0.2)])
    assert [cell.train_share for cell in found.shares] == [0.1, 0.5, 1.0]
    assert found.means(HAMMING).item() == 0.2
    assert (found.failed, found.incomplete) == ([failed], [])


def test_one_protocol_of_several_must_be_chosen():
    cells = [record(score=0.1), record(score=0.3, protocol="paper", seed=7), record(protocol="own")]
    with pytest.raises(InputError, match=r"default, own, paper\. Choose one with --protocol"):
        results(cells)
    found = results(iter(cells), "paper")
    assert (found.protocol, found.means(HAMMING).item()) == ("paper", 0.3)
    with pytest.raises(InputError, match="'papr'; there are default, own, pa"):
        results(cells, "papr")


COUNTS = {"tp": [1], "fp": [0], "fn": [0]}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], "`nldd benchmark`"),
        ([record(error="no"), record("emotions", "NLDD", error="no")], "2 cells are there"),
        (folds("yeast", "BR", [0.1] * 10)[:2], "2 cells are there"),
        ([record("yeast", "NLDD", share=0.5)], "1 cells are there"),
        # Two records of one fold would else make up for another fold.
        ([record(n_folds=2), record(seed=1, n_folds=2)], r"several seeds: 0, 1\. Keep each"),
        ([record("own"), record("own", "CC", n_labels=1)], "Cells of own have 10 and 1 labels"),
    ],
    ids=["none", "failures", "some-folds", "shares", "seeds", "labels"],
)
def test_cells_that_make_no_table_are_refused(cells, message):
    with pytest.raises(InputError, match=message):
        results(cells)


def test_the_end_of_a_run_says_what_failed_and_what_to_do_next():
    folder = Path("my results")
    done = render_outcome(iter([record(), record(method="NLDD")]), folder, as_json=False)
    assert done.startswith("2 of 2 cells are in ")
    assert done.endswith("Next: nldd report 'my results'")
    failed = record("yeast", "CBM", fold=3, error='MemoryError: "big"\nline 2')
    lines = render_outcome([record(), failed], folder, as_json=False).splitlines()
    assert lines[0].startswith("1 of 2 cells")
    assert lines[1] == 'Failed: CBM on yeast, fold 4: MemoryError: "big"'
    assert lines[2].startswith("Try: the same command")
    text = render_outcome([record(), failed], folder, as_json=True)
    assert "\n" not in text
    told = json.loads(text)
    assert (told["file"], told["cells"]) == (str(folder / "cells.jsonl"), 2)
    assert told["failed"] == [{**failed.key._asdict(), "error": failed.error}]
