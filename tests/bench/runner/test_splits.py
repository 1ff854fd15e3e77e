"""Kinds of splits: which rows are trained on and tested on, and how evenly labels are dealt."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

from bench.runner.trials import rows_only, songs
from nldd.bench.runner.splits import Split, stratified_parts
from nldd.exceptions import InputError


def random_labels(seed, n_samples=60, n_labels=7):
    """Labels from frequent to rare, some of which never or always occur, and rows without any."""
    rng = np.random.default_rng(seed)
    shares = np.concatenate([[0.0, 1.0], rng.uniform(0.01, 0.5, n_labels - 2)])
    Y = (rng.random((n_samples, n_labels)) < rng.permutation(shares)).astype(int)
    Y[rng.random(n_samples) < 0.1] = 0
    return Y


def naive_parts(Y, n_parts, rng, order):
    """Iterative stratification as the papers have it: what each part still wants, as fractions."""
    n_samples, n_labels = Y.shape
    dealt_order = rng.permutation(n_samples)
    labels_of = {
        row: {(j,) for j in np.flatnonzero(Y[row])}
        | (set(combinations(np.flatnonzero(Y[row]), 2)) if order == 2 else set())
        for row in dealt_order
    }
    pairs = sorted({c for found in labels_of.values() for c in found if len(c) == 2})
    every = [(j,) for j in range(n_labels)] + pairs
    every = [every[i] for i in rng.permutation(len(every))]
    count = Counter(label for found in labels_of.values() for label in found)
    wanted = {label: [Fraction(count[label], n_parts)] * n_parts for label in every}
    size_wanted = [Fraction(n_samples, n_parts)] * n_parts
    left, parts = list(dealt_order), {}

    def deal(row, desire):
        draws = rng.random_sample(n_parts)
        best = min(range(n_parts), key=lambda p: (-desire[p], -size_wanted[p], draws[p]))
        parts[row] = best
        size_wanted[best] -= 1
        for label in labels_of[row]:
            wanted[label][best] -= 1
        left.remove(row)

    while any(labels_of[row] for row in left):
        n_left = {label: sum(label in labels_of[row] for row in left) for label in every}
        rarest = min((label for label in every if n_left[label]), key=lambda c: n_left[c])
        for row in [row for row in left if rarest in labels_of[row]]:
            deal(row, list(wanted[rarest]))
    for row in list(left):
        deal(row, list(size_wanted))
    return [parts[row] for row in range(n_samples)]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_stratification_equals_the_papers(seed, order):
    Y, n_parts = random_labels(seed), 2 + seed % 4
    found, naive = (
        deal(Y, n_parts, np.random.RandomState(seed), order)
        for deal in (stratified_parts, naive_parts)
    )
    assert found.tolist() == naive


def unevenness(Y, parts):
    """Mean difference between the share of a label in a part and in all rows."""
    means = [Y[parts == part].mean(axis=0) for part in np.unique(parts)]
    return np.abs(np.array(means) - Y.mean(axis=0)).mean()


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_dealt_more_evenly_than_by_chance(seed):
    Y = random_labels(seed, n_samples=300, n_labels=20)
    by_chance = np.random.default_rng(seed).permutation(300) % 10
    pairs = np.column_stack([Y[:, i] * Y[:, j] for i, j in combinations(range(20), 2)])
    first, second = (stratified_parts(Y, 10, np.random.RandomState(0), order) for order in (1, 2))
    assert unevenness(Y, first) < 0.7 * unevenness(Y, by_chance)
    assert unevenness(pairs, second) < unevenness(pairs, first) < unevenness(pairs, by_chance)
    for parts in (first, second):
        assert np.ptp(np.bincount(parts)) <= 12
    counts = Y.sum(axis=0)
    rarest = np.flatnonzero(counts == counts[counts > 0].min())[:1]
    assert np.ptp([Y[first == part][:, rarest].sum() for part in range(10)]) <= 1


@pytest.mark.parametrize("Y", [np.zeros((7, 3)), np.ones((7, 3)), np.eye(7)], ids=["0", "1", "eye"])
@pytest.mark.parametrize("order", [1, 2])
def test_parts_of_odd_labels_are_of_one_size(Y, order):
    parts = stratified_parts(Y, 3, np.random.RandomState(0), order)
    assert sorted(np.bincount(parts)) == [2, 2, 3]


# Every kind

TOGETHER = np.array(["Ann", "Bob", "Eve"], dtype=object)[np.arange(60) % 3]
TWICE = "2 repetitions of 3-fold cross-validation"
PAIRS = f"{TWICE}, stratified by pairs of labels"
SPLITS = [
    (Split("k-fold", folds=4), 4, "4-fold cross-validation", True),
    (Split("repeated", folds=3, repeats=2), 6, TWICE, False),
    (Split("random", splits=5, test_share=0.2), 5, "5 random splits, 80/20", False),
    (Split("random"), 1, "1 random split, 75/25", True),
    (Split("stratified", folds=5), 5, "5-fold cross-validation, stratified by labels", True),
    (Split("stratified", folds=3, order=2, repeats=2), 6, PAIRS, False),
    (Split("given"), 1, "given split, 45 and 15 rows", True),
    (Split("leave-one-group-out"), 3, "leave one group out, 3 groups", True),
]


@pytest.mark.parametrize(("split", "n_folds", "text", "disjoint"), SPLITS)
def test_every_kind_does_what_it_says(split, n_folds, text, disjoint):
    dataset = replace(songs(), n_train=45, groups=TOGETHER)
    assert split.cut(dataset) == {"n_folds": n_folds, "split": text, "disjoint": disjoint}
    folds = split.rows(dataset, 0)
    assert len(folds) == n_folds
    for train, test in folds:
        assert_array_equal(np.sort(np.concatenate([train, test])), range(60))
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=60)
    if disjoint:
        assert tested.max() == 1
    if split.kind in ("repeated", "stratified"):
        assert set(tested) == {split.repeats}  # every row as often as every other
    again, other = split.rows(dataset, 0), split.rows(dataset, 1)
    tests = [[test.tolist() for _, test in some] for some in (folds, again, other)]
    assert tests[0] == tests[1]
    assert (tests[0] == tests[2]) == (split.kind in ("given", "leave-one-group-out"))


def test_folds_are_those_of_scikit_learn():
    found = Split("k-fold", folds=4).rows(songs(), 3)
    expected = KFold(4, shuffle=True, random_state=3).split(songs().X)
    for rows, other in zip(found, expected, strict=True):
        assert_array_equal(rows[0], other[0])
        assert_array_equal(rows[1], other[1])


def test_given_rows_and_groups_are_those_of_the_data_set():
    dataset = replace(songs(), n_train=45, groups=TOGETHER)
    ((train, test),) = Split("given").rows(dataset, 0)
    assert (train.tolist(), test.tolist()) == (list(range(45)), list(range(45, 60)))
    folds = Split("leave-one-group-out").rows(dataset, 0)
    assert [set(TOGETHER[test]) for _, test in folds] == [{"Ann"}, {"Bob"}, {"Eve"}]


ONE_GROUP = replace(songs(), groups=np.zeros(60))
NO_GROUP = replace(songs(), groups=np.r_[np.nan, np.arange(59)])


@pytest.mark.parametrize(
    ("split", "dataset", "message"),
    [
        (Split("given"), songs(), "songs-train.csv"),
        (Split("leave-one-group-out"), songs(), "songs has no groups"),
        (Split("leave-one-group-out"), ONE_GROUP, "one group"),
        (Split("leave-one-group-out"), NO_GROUP, "no group"),
        (Split("stratified"), rows_only(9), "9 rows, .*10 folds"),
        (Split("repeated"), rows_only(9), "9 rows, .*10 folds"),
        (Split(folds=2), rows_only(1), r"1 row, too few for 2 folds\.$"),
        (Split("random"), rows_only(1), "1 row, "),
        (Split("random", test_share=0.9), rows_only(2), "2 rows, .*0.9"),
    ],
)
def test_split_that_cannot_be_made_is_refused(split, dataset, message):
    with pytest.raises(InputError, match=message):
        split.rows(dataset, 0)
