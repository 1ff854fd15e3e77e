"""The embedded data set, against its published facts and its own file's damage."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.datasets import Dataset, _embedded, load_yeast
from nldd.exceptions import InputError


def test_yeast_has_the_published_counts(yeast):
    X, Y, label_names = yeast
    assert X.shape == (2417, 103)
    assert Y.shape == (2417, 14)
    assert label_names == [f"Class{j}" for j in range(1, 15)]
    assert round(Y.sum(axis=1).mean(), 2) == 4.24
    assert len(np.unique(Y, axis=0)) == 198
    assert set(np.unique(Y)) == {0, 1}


def test_yeast_first_and_last_gene(yeast):
    assert_array_equal(yeast.X[0, :3], [0.004168, -0.170975, -0.156748])
    assert_array_equal(np.flatnonzero(yeast.Y[0]) + 1, [7, 8, 12, 13])


def test_yeast_loads_anew_each_time():
    first = load_yeast()
    first.X[:] = 0
    assert load_yeast().X.any()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda X, Y, names: (X[1:], Y[1:], names), "2416 genes instead of 2417"),
        (lambda X, Y, names: (X[:, 1:], Y, names), "102 features instead of 103"),
        (lambda X, Y, names: (X, Y, names[1:]), "13 labels instead of 14"),
        (lambda X, Y, names: (X, 1 - Y, names), "labels carried instead of 10241"),
    ],
    ids=["row", "feature", "label", "values"],
)
def test_yeast_damage_is_noticed(yeast, damage, message):
    with pytest.raises(InputError, match=message):
        _embedded._check_yeast(Dataset(*damage(*yeast)))
