"""What people read of results, made by hand: no number hangs on a fit. A snapshot a command."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nldd.coding.agreement import SharedAnswer, compare_coders
from nldd.coding.audit import Sample, judge_checks
from nldd.coding.automation import TargetShare, Triage, triage_rows
from nldd.coding.calibration import Calibration
from nldd.coding.coded_answers import CodingOptions, CodingSummary
from nldd.coding.evaluation import GuaranteeCheck, calibration_words
from nldd.coding.frequencies import Basis, Frequencies, Frequency
from nldd.coding.guarantee import CodeLimits, CodeSelection, Selection
from nldd.coding.model import Event
from nldd.coding.model_file import UndoResult
from nldd.coding.suggestions import CodeSuggestions, Group

NONE, SOME = TargetShare(0.9, 0, 0.0, True, 108), TargetShare(0.8, 44, 0.41)
TARGETS = (NONE, SOME, TargetShare(0.7, 68, 0.63))
NOTHING = Selection(0.9, 0.95, None, 108, closest=(60, 51, 57))
PASSED = Selection(0.9525, 0.9, 0.33, 100, 33, 0.98, limit=0.32, rank_by="chance")
LIMITS = CodeLimits(0.81, 0.04)
CODES = CodeSelection(0.9, 0.9, 0.8, 0.05, LIMITS, 400, 120, 250, 300, 0.2, 0.934, 0.031)
STEP = Event("update", "2024-05-17T08:30:00Z", "more.csv", 64 * "a", 1, 0, 81, 3, 6, 0.9, 0.95)
ROWS = triage_rows(np.arange(1, 101) / 100, np.repeat([1.0, 0.0], 50), 0.9, 0.33)
AGAIN = Selection(0.9, 0.9, 0.2, 80, 60, 0.95, limit=0.2)


def triages():
    yield Triage(ROWS, replace(PASSED, repeated=AGAIN), 0.9)
    yield Triage(ROWS, replace(PASSED, rank_by="theta", limit=0.33, measure="hamming", n_auto=100))
    yield Triage((), NOTHING, targets=TARGETS)
    yield Triage((), replace(NOTHING, measure="hamming"), targets=TARGETS[:1])
    yield Triage((), replace(NOTHING, closest=None, repeated=replace(AGAIN, threshold=None)))
    yield Triage((), NOTHING, earlier=PASSED)
    yield Triage((), replace(NOTHING, closest=None), earlier=PASSED)
    for changes in ({}, {"yes": None, "right": None}, {"no": None, "missed": None}):
        yield Triage((), NOTHING, codes=replace(CODES, **changes))
    yield Triage((), NOTHING, codes=replace(CODES, yes=None, no=None))


def summaries():
    why = Counter({"far from all coded answers": 2, "the answer is empty": 10})
    whole = CodingSummary(1500, 1480, 12, why, options=CodingOptions(None).apply(PASSED))
    yield whole
    yield replace(whole, options=CodingOptions(0.0374))
    yield replace(whole, options=CodingOptions(None).apply(CODES), n_part=8)
    yield CodingSummary(5000, 10, 10, n_part=4980)
    yield CodingSummary()


def audits():
    yield Sample(Path("c.audit.csv"), 1000, 700, 200)
    yield Sample("second.csv", 1000, 500, 1, n_besides=200, earlier=(Path("c.audit.csv"),))
    yield judge_checks([True] * 97 + [False] * 3)
    yield replace(judge_checks([True] * 9 + [False], n_open=1), n_crosses=2)
    yield judge_checks([True] * 80 + [False] * 20)
    yield judge_checks([True] * 90 + [False] * 10)
    yield replace(judge_checks([True] * 9), verdict=None, needed=None, measure="per-code")


def evaluations():
    promise = Selection(0.94, 0.8, 0.1, 100, 60, 0.98, limit=0.1)
    for found in (
        (0.96, 0.945, 0.97),
        (0.945, 0.92, 0.97),
        (0.93, 0.91, 0.945),
        (0.91, 0.89, 0.93),
    ):
        yield "\n".join(GuaranteeCheck(promise, 200, 150, *found).paragraphs())
    yield "\n".join(GuaranteeCheck(promise, 200, 0).paragraphs())
    yield "\n".join(GuaranteeCheck(NOTHING, 200, 0, targets=TARGETS).paragraphs())
    # Ten groups of 50 answers of which theta expects 5 % of the labels to be wrong.
    for n_high in (2, 3):
        lower = np.array((10 - n_high) * [0.04] + n_high * [0.06])
        tenth, sizes = np.full(10, 0.05), np.full(10, 50)
        yield calibration_words(Calibration(tenth, lower + 0.01, sizes, lower, lower + 0.02))


def frequencies():
    codes = (Frequency("bus", "Buses", 90, 110, 0.6667, 0.6, 0.55, 0.7),)
    codes += (Frequency("rent", "", 3, 0, 0.01, 0.0101, 0.01, 0.05),)
    basis = (Basis("auto", 140, 60, "checked", 3, 1), Basis("review", 60, 48, "model"))
    yield Frequencies(codes, 300, 100, 1, (*basis, Basis("part", 1, 0, "model")))
    yield Frequencies((), 1, 1, 0, ())


def agreements():
    sets = [("a", "a", "b"), ("ab", "b", None), ("a", "", "a"), ("b", None, None)] * 3
    units = [tuple(None if c is None else frozenset(c) for c in unit) for unit in sets]
    found = compare_coders([SharedAnswer("1", "x", unit) for unit in units], ["Ann", "Bob", "Cyd"])
    yield replace(found, matched_by="column 'id'")
    yield compare_coders([SharedAnswer("1", "x", unit[:2]) for unit in units[:1]], "AB")
    yield compare_coders([], "AB")


def drafts():
    groups = (Group("g1", "bus", ("bus", "late"), 2, ("the bus is late", "bus")),)
    yield CodeSuggestions(groups, ((0,), (), (0,)), 3)


def steps_back():
    yield UndoResult((STEP,), (), 80, Path("model.nldd.bak"))
    yield UndoResult((), (STEP,), 81, Path("model.nldd.bak"))
    yield UndoResult((), (), 81, Path("model.nldd.bak"))


COMMANDS = {"triage": triages, "predict": summaries, "audit": audits, "evaluate": evaluations}
COMMANDS |= {"frequencies": frequencies, "agreement": agreements}
COMMANDS |= {"suggest": drafts, "undo": steps_back}


@pytest.mark.parametrize("command", COMMANDS)
def test_results_in_words(command, snapshot):
    snapshot("\n\n---\n\n".join(map(str, COMMANDS[command]())) + "\n", f"words-{command}")
