"""Facts measured on data sets."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from nldd.bench.datasets.catalogue import CATALOGUE, is_here
from nldd.bench.datasets.facts import describe
from nldd.bench.datasets.load import load_dataset
from nldd.datasets import Dataset
from paper_data import FOLDER

# Labelsets: {a, c} twice, {b} once, {} once, {a} once.
Y = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 0, 0]])
X = np.array([[1.0, 0.0], [0.0, np.nan], [0.0, 0.0], [np.nan, 2.0], [0.0, 0.0]])


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_describe_counts_rows_labels_and_labelsets(container):
    facts = describe(Dataset(container(X), Y, ["a", "b", "c"], ["u", "v"], "toy"), n_frequent=2)
    assert (facts.name, facts.n_samples, facts.n_features, facts.n_labels) == ("toy", 5, 2, 3)
    assert facts.sparse is (container is csr_array)
    assert (facts.n_missing, facts.n_binary, facts.n_labelsets, facts.n_single) == (2, 1, 4, 3)
    shares = facts.cardinality, facts.density, facts.seen_once, facts.unlabelled
    assert shares == pytest.approx((6 / 5, 6 / 15, 3 / 5, 1 / 5))
    assert facts.frequent == (("a", pytest.approx(3 / 5)), ("c", pytest.approx(2 / 5)))
    equal = describe(Dataset(X[:2], np.eye(2, dtype=int), ["z", "a"], [], "toy"))
    assert equal.frequent == (("z", 0.5), ("a", 0.5))


def test_facts_of_texts():
    texts = np.array(["More pay", " ", "Time"], dtype=object)
    facts = describe(Dataset(texts, np.array([[1, 0], [1, 1], [0, 0]]), ["a", "b"], ["answer"]))
    assert (facts.text, facts.sparse, facts.n_features, facts.n_binary) == (True, False, 1, 0)
    assert facts.n_missing == 1
    assert np.isnan(facts.tcs)  # there are no features to count
    assert facts.mean_ir == pytest.approx(1.5)


def naive_imbalance(Y):
    """MeanIR, MaxIR, CVIR and SCUMBLE, label by label and row by row from their formulas."""
    counts = [sum(row[j] for row in Y) for j in range(len(Y[0]))]
    ratios = {j: max(counts) / count for j, count in enumerate(counts) if count}
    mean = sum(ratios.values()) / len(ratios)
    squares = sum((ratio - mean) ** 2 for ratio in ratios.values())
    deviation = math.sqrt(squares / (len(ratios) - 1)) if len(ratios) > 1 else 0
    rows = []
    for row in Y:
        mine = [ratios[j] for j, carried in enumerate(row) if carried]
        rows.append(1 - math.prod(mine) ** (1 / len(mine)) / (sum(mine) / len(mine)) if mine else 0)
    return mean, max(ratios.values()), deviation / mean, sum(rows) / len(rows)


def test_imbalance_equals_the_formulas():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n_rows, n_labels = rng.integers(1, 30), rng.integers(1, 8)
        # Some labels are absent, some rows without any.
        Y = (rng.random((n_rows, n_labels)) < rng.random(n_labels) ** 3).astype(int)
        if Y.any():
            facts = describe(Dataset(np.ones((n_rows, 2)), Y, list("abcdefg")[:n_labels]))
            found = facts.mean_ir, facts.max_ir, facts.cv_ir, facts.scumble
            assert found == pytest.approx(naive_imbalance(Y.tolist()), abs=1e-12)
            assert facts.n_absent == (Y.sum(axis=0) == 0).sum()
            assert facts.tcs == pytest.approx(math.log(2 * n_labels * facts.n_labelsets))


def test_without_any_label_there_is_no_imbalance():
    facts = describe(Dataset(np.ones((2, 1)), np.zeros((2, 3), dtype=int), ["a", "b", "c"]))
    assert np.isnan([facts.mean_ir, facts.max_ir, facts.cv_ir]).all()
    assert (facts.scumble, facts.n_absent, facts.n_single) == (0, 3, 0)
    assert "no row has a label" in str(facts)
    assert list(facts.remarks()) == ["3 labels without rows left out of the IR."]


def test_many_labels_in_a_row_do_not_overflow():
    # The product of 400 ratios of 1000 would be 1e1200. Their geometric mean beside one ratio of 1
    # is 1000 ** (400 / 401), the arithmetic mean 400001 / 401.
    Y = np.zeros((1000, 401), dtype=int)
    Y[0], Y[:, 0] = 1, 1
    expected = (1 - 1000 ** (400 / 401) / (400001 / 401)) / 1000
    found = describe(Dataset(np.ones((1000, 1)), Y, [""] * 401)).scumble
    assert found == pytest.approx(expected, rel=1e-9)


# MeanIR, SCUMBLE and TCS as Charte, Rivera, del Jesus and Herrera print them; for enron and bibtex
# no table of SCUMBLE was at hand.
PUBLISHED = {
    "emotions": (1.478, 0.0110, 9.364),
    "scene": (1.254, 0.0003, 10.183),
    "yeast": (7.197, 0.1044, 12.562),
    "medical": (89.501, 0.0471, 15.629),
    "enron": (73.953, None, 17.503),
    "bibtex": (12.498, None, 20.541),
}
LARGE = ("scene", "enron", "bibtex")


def load_paper(name):
    if name != "yeast" and not is_here(CATALOGUE[name], FOLDER):
        pytest.skip("needs the paper's files: set NLDD_DATA")
    return load_dataset(name, data_dir=FOLDER)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in PUBLISHED]
)
def test_published_values(name):
    facts = describe(load_paper(name))
    mean_ir, scumble, tcs = PUBLISHED[name]
    assert (round(facts.mean_ir, 3), round(facts.tcs, 3)) == (mean_ir, tcs)
    assert scumble is None or round(facts.scumble, 4) == scumble


def test_emotions_as_the_package_mldr_measures_it():
    facts = describe(load_paper("emotions"))
    assert (facts.n_single, facts.n_labelsets, facts.n_features) == (4, 27, 72)
    found = facts.cardinality, facts.density, facts.mean_ir, facts.scumble, facts.tcs
    assert found == pytest.approx((1.868465, 0.3114109, 1.478068, 0.01095238, 9.364262), rel=5e-7)
    # The rarest label is quiet-still, with 148 rows; relaxing-calm has 264.
    assert facts.max_ir == pytest.approx(1.783784, rel=5e-7)
