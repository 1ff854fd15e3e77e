"""Records of cells as arrays, and how a benchmark ended."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.report.records import folds, grid, record
from nldd.bench.report.results import render_outcome, results
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES, PAPER_MEASURES

HAMMING = PAPER_MEASURES[0]


def test_means_are_over_folds_and_methods_in_the_order_of_the_paper():
    found = results(
        [
            *folds("yeast", "NLDD", [0.1, 0.2, 0.6]),
            *folds("yeast", "BR", [0.4, 0.5, 0.6]),
            *folds("emotions", "BR", [0.25, 0.5]),
            *folds("emotions", "NLDD", [0.0, 1.0]),
        ]
    )
    assert found.datasets == ("emotions", "yeast")
    assert found.methods == ("BR", "NLDD")
    np.testing.assert_allclose(found.means(HAMMING), [[0.375, 0.5], [0.5, 0.3]], rtol=1e-15)
    assert found.incomplete == found.failed == found.shares == []
    assert len(found.finished) == 10


def test_standard_errors_are_pooled_over_folds():
    errors = ({"hamming_loss": 0.03}, {"hamming_loss": 0.04})
    cells = [
        record(fold=fold, n_folds=2, standard_errors=error) for fold, error in enumerate(errors)
    ]
    # sqrt(0.03^2 + 0.04^2) / 2 = 0.05 / 2
    assert results(cells).standard_errors(HAMMING).item() == pytest.approx(0.025, rel=1e-14)
    # Ten folds with 0.02 each: 0.02 / sqrt(10).
    ten = results(folds("yeast", "BR", [0.5] * 10, standard_errors={"hamming_loss": 0.02}))
    assert ten.standard_errors(HAMMING).item() == pytest.approx(0.02 / np.sqrt(10), rel=1e-14)
    assert results([record()]).standard_errors(HAMMING).item() == 0.01


def test_errors_of_random_splits_are_larger_since_they_share_rows():
    five = folds("yeast", "BR", [0.5] * 5, disjoint=False, n_train=75, n_test=25)
    # 0.01 of one split, times sqrt(1/5 + 25/75).
    error = results(five).standard_errors(HAMMING).item()
    assert error == pytest.approx(0.01 * np.sqrt(1 / 5 + 1 / 3), rel=1e-14)


def test_macro_measures_count_a_label_once_over_all_folds():
    """Label 2 is in no row of the first fold, where it once counted as a perfect 1."""
    counts = (
        {"tp": [8, 0, 0], "fp": [2, 0, 0], "fn": [0, 1, 0]},
        {"tp": [4, 1, 0], "fp": [0, 3, 0], "fn": [2, 0, 0]},
    )
    cells = [
        record(fold=fold, n_folds=2, n_labels=3, label_counts=found)
        for fold, found in enumerate(counts)
    ]
    # 24 / 28 and 2 / 6 by label; the third is nowhere. All labels: 13 right of 18 and 16.
    expected = {"macro_f": (24 / 28 + 2 / 6) / 2, "micro_f": 2 * 13 / (2 * 13 + 5 + 3)}
    expected |= {"macro_precision": (12 / 14 + 1 / 4) / 2, "macro_recall": (12 / 14 + 1 / 2) / 2}
    for key, value in expected.items():
        assert results(cells).means(MEASURES[key]).item() == pytest.approx(value, rel=1e-14)
    older = [replace(cells[0], details=record(n_folds=2, n_labels=3).details), cells[1]]
    assert np.isnan(results(older).means(MEASURES["macro_f"]).item())


def test_incomplete_folds_are_left_out_and_said():
    cells = [
        *folds("yeast", "BR", [0.1, 0.2, 0.3]),
        *folds("yeast", "NLDD", [0.1, 0.2, 0.3])[:2],
        *folds("emotions", "BR", [0.1, 0.2])[:1],
        *folds("emotions", "NLDD", [0.1, 0.2]),
        record("scene", "CC", error="no"),
    ]
    found = results(cells)
    assert found.incomplete == [
        ("yeast", "NLDD", 2, 3),
        ("emotions", "BR", 1, 2),
        ("scene", "CC", 0, 1),
    ]
    assert found.cells("yeast", "NLDD") == found.cells("emotions", "BR") == []
    np.testing.assert_allclose(found.means(HAMMING), [[np.nan, 0.15], [0.2, np.nan]])
    assert found.finished == cells[:-1]


def test_failed_cells_are_kept_apart_and_count_as_folds():
    failed = record("yeast", "NLDD", fold=1, n_folds=2, error="ValueError: no")
    good = folds("yeast", "NLDD", [0.1, 0.2])[0]
    found = results([*folds("yeast", "BR", [0.1, 0.2]), good, failed])
    assert found.failed == [failed]
    assert found.incomplete == [("yeast", "NLDD", 1, 2)]
    assert found.methods == ("BR",)
    # The number of folds is known from a failure alone.
    found = results([record("yeast", "BR"), failed])
    assert found.incomplete == [("yeast", "NLDD", 0, 2)]


def test_cells_of_several_seeds_are_refused():
    # Two records of one fold would else make up for another fold.
    cells = [
        record(score=0.1, n_folds=2),
        record(score=0.3, seed=1, n_folds=2),
        record(fold=1, error="no", n_folds=2),
    ]
    with pytest.raises(InputError, match=r"several seeds: 0, 1\. Keep each in its folder\."):
        results(cells)
    other = [record(seed=7, protocol="paper"), record(score=0.25)]
    assert results(other, "default").means(HAMMING).item() == 0.25


def test_shares_are_no_part_of_the_comparison():
    shares = [record("yeast", "NLDD", share=share, score=0.9) for share in (1.0, 0.1, 0.5)]
    failed = record("yeast", "NLDD", share=0.7, error="no")
    found = results([*shares, failed, record("yeast", "NLDD", score=0.2)])
    assert [cell.train_share for cell in found.shares] == [0.1, 0.5, 1.0]
    assert found.means(HAMMING).item() == 0.2
    assert found.failed == [failed]
    assert found.incomplete == []


def test_own_data_sets_come_last_by_alphabet_and_all_methods_in_the_order_of_the_registry():
    datasets, methods = ("zoo", "bibtex", "Ants", "emotions"), ("RFPCT", "LP", "CC", "CBM", "BR")
    found = results(grid(np.full((4, 5), 0.5), datasets, methods))
    assert found.datasets == ("emotions", "bibtex", "Ants", "zoo")
    assert found.methods == ("BR", "CC", "LP", "CBM", "RFPCT")


def test_one_protocol_of_several_must_be_chosen():
    cells = [record(score=0.1), record(score=0.3, protocol="paper"), record(protocol="own")]
    message = "several protocols: default, own, paper. Choose one with --protocol"
    with pytest.raises(InputError, match=message):
        results(cells)
    found = results(iter(cells), "paper")
    assert found.protocol == "paper"
    assert found.means(HAMMING).item() == 0.3
    with pytest.raises(InputError, match="no cells of protocol 'papr'; there are default, own, pa"):
        results(cells, "papr")
    assert results(cells[:1]).protocol == "default"


@pytest.mark.parametrize("protocol", [None, "paper"])
def test_no_records_are_refused_with_the_command_to_run(protocol):
    with pytest.raises(InputError, match=r"no finished cells\. Run `nldd benchmark`"):
        results([], protocol)


@pytest.mark.parametrize(
    "cells",
    [
        [record(error="no"), record("emotions", "NLDD", error="no")],
        folds("yeast", "BR", [0.1] * 10)[:2],
        [record("yeast", "NLDD", share=share) for share in (0.5, 1.0)],
    ],
    ids=["failures", "some-folds", "shares"],
)
def test_cells_without_a_whole_method_are_refused_with_what_to_do(cells):
    message = r"No method has all its folds on any data set yet; 2 cells are there\. Let the bench"
    with pytest.raises(InputError, match=message):
        results(cells)


FOLDER = Path("results") / "default"
FILE = FOLDER / "cells.jsonl"


def test_success_says_what_to_do_next():
    cells = iter([record(), record(method="NLDD")])
    assert render_outcome(cells, FOLDER, as_json=False) == (
        f"2 of 2 cells are in {FILE}.\nNext: nldd report {FOLDER}"
    )


def test_the_next_command_can_be_pasted_into_a_shell():
    text = render_outcome([record()], Path("my results"), as_json=False)
    assert text.endswith("Next: nldd report 'my results'")


def test_failures_are_listed_with_folds_from_one_on():
    failed = record("yeast", "CBM", fold=3, error="ValueError: no convergence")
    text = render_outcome([record(), failed], FOLDER, as_json=False)
    assert text.splitlines() == [
        f"1 of 2 cells are in {FILE}.",
        "Failed: CBM on yeast, fold 4: ValueError: no convergence",
        "Try: the same command again, which runs the failed cells once more.",
    ]


def test_json_has_the_keys_of_failed_cells():
    failed = record("yeast", "NLDD", fold=3, share=0.5, error='MemoryError: "big"\nline 2')
    text = render_outcome([record(), failed], FOLDER, as_json=True)
    assert "\n" not in text
    assert json.loads(text) == {
        "file": str(FILE),
        "cells": 2,
        "failed": [
            {
                "protocol": "default",
                "dataset": "yeast",
                "method": "NLDD",
                "fold": 3,
                "seed": 0,
                "train_share": 0.5,
                "error": 'MemoryError: "big"\nline 2',
            }
        ],
    }
    done = json.loads(render_outcome([record()], FOLDER, as_json=True))
    assert done == {"file": str(FILE), "cells": 1, "failed": []}
