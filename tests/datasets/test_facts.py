"""Facts measured on data sets."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from nldd.datasets import Dataset, describe

# Labelsets: {a, c} twice, {b} once, {} once, {a} once.
Y = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 0, 0]])
X = np.array([[1.0, 0.0], [0.0, np.nan], [0.0, 0.0], [np.nan, 2.0], [0.0, 0.0]])


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_describe_counts_rows_labels_and_labelsets(container):
    facts = describe(Dataset(container(X), Y, ["a", "b", "c"], ["u", "v"], "toy"), n_frequent=2)
    assert (facts.name, facts.n_samples, facts.n_features, facts.n_labels) == ("toy", 5, 2, 3)
    assert facts.sparse is (container is csr_array)
    assert facts.n_missing == 2
    assert facts.cardinality == pytest.approx(6 / 5)
    assert facts.density == pytest.approx(6 / 15)
    assert facts.n_labelsets == 4
    assert facts.seen_once == pytest.approx(3 / 5)
    assert facts.unlabelled == pytest.approx(1 / 5)
    assert facts.frequent == (("a", pytest.approx(3 / 5)), ("c", pytest.approx(2 / 5)))


def test_describe_keeps_the_order_of_labels_that_are_equally_frequent():
    facts = describe(Dataset(X[:2], np.eye(2, dtype=int), ["z", "a"], [], "toy"))
    assert facts.frequent == (("z", 0.5), ("a", 0.5))
