"""Codes settled one by one: thresholds of both promises, and what becomes of answers."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from coding.made_up import answers_of, fitted, made_up, read_csv, take_codes, write_csv
from nldd.coding import guarantee
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.columns import CodeColumns, Columns

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

MARKS = ("rent", "bus", "park")


def drawn_answers(n, rng, n_codes=6, overconfidence=1.5):
    """Probabilities of codes and which apply, where the codes of an answer err together."""
    ease = rng.normal(scale=1.5, size=(n, 1))
    score = rng.normal(-2.0, 3.0, size=(n, n_codes))
    Y = (rng.random((n, n_codes)) < expit(score * np.exp(ease / 2))).astype(np.int8)
    return expit(overconfidence * score).astype(np.float32), Y


def naive_share_right(P, Y, yes):
    """Answer by answer and code by code."""
    shares = []
    for p, y in zip(P, Y, strict=True):
        given = [j for j, value in enumerate(p) if value >= yes]
        if given:
            shares.append(sum(y[j] == 1 for j in given) / len(given))
    return shares


def naive_share_kept(P, Y, no):
    shares = []
    for p, y in zip(P, Y, strict=True):
        own = [j for j, value in enumerate(y) if value == 1]
        if own:
            shares.append(sum(p[j] > no for j in own) / len(own))
    return shares


def test_shares_are_those_of_a_loop():
    P, Y = drawn_answers(200, np.random.default_rng(0))
    for threshold in (0.05, 0.3, 0.5, 0.9):
        at = np.float32(threshold)
        assert guarantee.shares_right(P, Y, threshold).tolist() == naive_share_right(P, Y, at)
        assert guarantee.shares_not_excluded(P, Y, threshold).tolist() == naive_share_kept(P, Y, at)


@pytest.mark.parametrize(("total", "n"), [(95, 100), (94.5, 100), (93, 100), (40, 40), (0, 0)])
def test_proof_is_bentkus_inequality(total, n):
    """A sum of shares is as large with at most e times the chance that a binomial count is."""
    shares = np.full(n, total / n) if n else np.empty(0)
    tail = np.e * binom.sf(np.floor(total) - 1, n, 0.9)
    for level in (0.01, 0.05, 0.2, 0.5):
        assert guarantee.reaches_target(shares, 0.9, level) == (n > 0 and tail <= level)


@pytest.mark.parametrize("target", [0.7, 0.8, 0.9])
def test_thresholds_are_the_last_that_pass_in_their_order(target):
    P, Y = drawn_answers(600, np.random.default_rng(3), overconfidence=1.0)
    yes = guarantee.threshold_to_set(P, Y, target, 0.05)
    tried = np.sort(P.max(axis=1))[::-1][np.linspace(60, 600, 50).round().astype(int) - 1]
    if yes is not None:
        assert naive_tail(naive_share_right(P, Y, np.float32(yes)), target) <= 0.05
        # All stricter ones that the walk can have tried are proven as well.
        for value in (t for t in tried if t >= yes):
            assert naive_tail(naive_share_right(P, Y, value), target) <= 0.06
    no = guarantee.threshold_to_rule_out(P, Y, target, 0.05)
    grid = np.geomspace(1e-4, 0.5, 100)
    passes = [naive_tail(naive_share_kept(P, Y, np.float32(t)), target) <= 0.05 for t in grid]
    n_first = passes.index(False) if False in passes else len(passes)
    assert no == pytest.approx(grid[n_first - 1])
    assert all(a >= b for a, b in pairwise(passes))  # more is missed, the more is ruled out


def naive_tail(shares, target):
    return np.e * binom.sf(np.floor(sum(shares) + 1e-9) - 1, len(shares), target)


def test_nothing_is_set_that_is_less_likely_than_not():
    P, Y = drawn_answers(500, np.random.default_rng(1))
    assert guarantee.threshold_to_set(P, np.ones_like(Y), 0.5, 0.05) >= 0.5


def test_few_answers_prove_nothing():
    P, Y = drawn_answers(12, np.random.default_rng(1))
    assert guarantee.threshold_to_set(P, Y, 0.9, 0.05) is None
    assert guarantee.threshold_to_rule_out(P, Y, 0.9, 0.05) is None


@pytest.mark.slow
@pytest.mark.parametrize("target", [0.8, 0.9])
def test_both_promises_hold_in_nine_of_ten_studies(target):
    """By thresholds of 400 answers, on what 20,000 others say; codes of an answer err together."""
    rng = np.random.default_rng(8)
    P_all, Y_all = drawn_answers(20_000, rng)
    n_broken = n_set = 0
    for _ in range(200):
        P, Y = drawn_answers(400, rng)
        yes = guarantee.threshold_to_set(P, Y, target, 0.05)
        no = guarantee.threshold_to_rule_out(P, Y, target, 0.05)
        n_set += yes is not None
        wrong = yes is not None and guarantee.shares_right(P_all, Y_all, yes).mean() < target
        missed = no is not None and guarantee.shares_not_excluded(P_all, Y_all, no).mean() < target
        n_broken += wrong or missed
    assert n_set > 20  # else there is nothing to break
    assert n_broken <= 20


def test_settled_codes_and_those_to_ask():
    P = np.array([[0.95, 0.01, 0.4], [0.97, 0.02, 0.01], [0.5, 0.4, 0.3], [0.01, 0.02, 0.01]])
    Y = np.eye(3, dtype=np.int8)
    limits, full = guarantee.CodeLimits(0.9, 0.05), np.zeros(4, dtype=bool)
    given, asked = limits.settle(P, Y, full)
    assert given.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
    # Each answer has a code, as far as the model has seen: the last one is for people.
    assert asked.tolist() == [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1]]
    _, asked = limits.settle(P, np.zeros((1, 3), dtype=np.int8), full)
    assert asked[3].tolist() == [0, 0, 0]
    given, asked = limits.settle(P, Y, ~full)
    assert (given.any(), asked.all()) == (False, True)
    given, asked = guarantee.CodeLimits(None, None).settle(P, Y, full)
    assert (given.any(), asked.all()) == (False, True)


@pytest.fixture(scope="module")
def model():
    return fitted(*made_up(150, 0), Columns(("answer",), CodeColumns(("codes",))))


def test_selection_counts_what_is_settled(model):
    found = guarantee.select_codes(model, guarantee.GuaranteeTarget(0.8))
    P, Y = model.evidence.P, model.Y
    assert found.yes is not None
    assert found.right == np.mean(naive_share_right(P, Y, np.float32(found.yes)))
    assert found.missed == pytest.approx(1 - np.mean(naive_share_kept(P, Y, np.float32(found.no))))
    # Both tests have half of the level.
    assert found.yes == guarantee.threshold_to_set(P, Y, 0.8, 0.05)
    assert found.no == guarantee.threshold_to_rule_out(P, Y, 0.8, 0.05)
    settled = (found.yes <= P) | (found.no >= P)
    none_left = settled.all(axis=1) & (found.yes <= P).any(axis=1)
    assert found.n_whole == none_left.sum()
    assert found.limits.yes >= found.yes
    assert found.limits.no <= found.no


def test_only_answers_drawn_at_random_are_tested(model):
    drawn = np.arange(150) < 100
    found = guarantee.select_codes(replace(model, drawn=drawn), guarantee.GuaranteeTarget(0.8))
    assert found.n_answers == 100
    assert found.no == guarantee.threshold_to_rule_out(
        model.evidence.P[:100], model.Y[:100], 0.8, 0.05
    )


@pytest.mark.parametrize("listed", [True, False], ids=["list", "marks"])
def test_parts_are_settled_and_the_rest_is_asked_about(listed, model, tmp_path):
    columns = Columns(("answer",), CodeColumns(MARKS, ""))
    model = model if listed else fitted(*made_up(150, 0), columns)
    texts = [*made_up(40, 7)[0], " "]
    table = write_csv(tmp_path / "new.csv", ["answer"], [[text] for text in texts])
    P = model.code(answers_of(texts)).P
    limits = guarantee.CodeLimits(float(np.quantile(P[:-1].max(axis=1), 0.3)), 0.12)
    found = guarantee.select_codes(model, guarantee.GuaranteeTarget(0.8))
    found = replace(found, limits=limits, repeated=None)
    policy = CodingOptions(None).apply(found)
    review = tmp_path / "review.csv"
    counts = code_table(model, table, tmp_path / "coded.csv", policy, review)
    given, asked = limits.settle(P, model.Y, np.arange(41) == 40)
    header, rows = read_csv(tmp_path / "coded.csv")
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    n_asked = asked.sum(axis=1)
    expected = ["auto" if n == 0 else "part" if n < 3 else "review" for n in n_asked]
    assert [row["nldd_status"] for row in cells] == expected
    assert min(expected.count("auto"), expected.count("part")) > 2
    assert (counts.n_auto, counts.n_part) == (expected.count("auto"), expected.count("part"))
    for i, row in enumerate(cells):
        names = [";".join(codes) for codes in model.codes(np.array([given[i], asked[i]]))]
        if row["nldd_status"] != "review":
            assert (row["nldd_codes"], row["nldd_chance"], row["nldd_theta"]) == (names[0], "", "")
        assert row["nldd_ask"] == (names[1] if row["nldd_status"] == "part" else "")
    shown, for_people = read_csv(review)
    assert len(for_people) == 41 - counts.n_auto
    by_text = {row["answer"]: row for row in cells}
    for row in for_people:
        own = dict(zip(shown, row, strict=True))
        coded = by_text[own["answer"]]
        if own["nldd_status"] == "part" and listed:
            assert own["codes"] == coded["nldd_codes"]
        elif own["nldd_status"] == "part":
            ask = own["nldd_ask"].split(";")
            on = coded["nldd_codes"].split(";")
            marks = ["" if n in ask else str(int(n in on)) for n in MARKS]
            assert [own[name] for name in MARKS] == marks
    # Settled codes alone are no decision.
    taken, _ = take_codes(model, review)
    assert taken == [None] * len(for_people)
