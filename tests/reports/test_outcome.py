"""How a benchmark ended, as text and as JSON."""

import json
from pathlib import Path

from nldd.reports import outcome, render_outcome
from reports.records import record

FOLDER = Path("results") / "default"
FILE = FOLDER / "cells.jsonl"


def test_success_says_what_to_do_next():
    ended = outcome(iter([record(), record(method="NLDD")]), FOLDER)
    assert (ended.n_cells, ended.failed) == (2, [])
    assert render_outcome(ended, as_json=False) == (
        f"2 of 2 cells are in {FILE}.\nNext: nldd report {FOLDER}"
    )


def test_the_next_command_can_be_pasted_into_a_shell():
    ended = outcome([record()], Path("my results"))
    assert render_outcome(ended, as_json=False).endswith("Next: nldd report 'my results'")


def test_failures_are_listed_with_folds_from_one_on():
    failed = record("yeast", "CBM", fold=3, error="ValueError: no convergence")
    text = render_outcome(outcome([record(), failed], FOLDER), as_json=False)
    assert text.splitlines() == [
        f"1 of 2 cells are in {FILE}.",
        "Failed: CBM on yeast, fold 4: ValueError: no convergence",
        "Try: the same command again, which runs the failed cells once more.",
    ]


def test_json_has_the_keys_of_failed_cells():
    failed = record("yeast", "NLDD", fold=3, share=0.5, error='MemoryError: "big"\nline 2')
    text = render_outcome(outcome([record(), failed], FOLDER), as_json=True)
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
    done = json.loads(render_outcome(outcome([record()], FOLDER), as_json=True))
    assert done == {"file": str(FILE), "cells": 1, "failed": []}


def test_nothing_at_all_is_zero_of_zero():
    text = render_outcome(outcome([], FOLDER), as_json=False)
    assert text.startswith(f"0 of 0 cells are in {FILE}.")
