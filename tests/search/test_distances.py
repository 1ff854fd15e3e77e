import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from nldd.exceptions import InputError
from nldd.search._distances import feature_scale

CONTAINERS = [
    pytest.param(np.array, id="dense"),
    pytest.param(csr_matrix, id="csr_matrix"),
    pytest.param(csr_array, id="csr_array"),
]

# Columns: numbers, two values with 0, two values without 0, a constant, zeros, {-1, 0, 1}.
X = np.array(
    [
        [1.0, 0.0, 2.0, 7.0, 0.0, -1.0],
        [3.0, 1.0, 4.0, 7.0, 0.0, 0.0],
        [5.0, 1.0, 2.0, 7.0, 0.0, 1.0],
    ]
)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("standardize", "expected"),
    [
        # 1, 3, 5: squares around 3 are 4 + 0 + 4, over 2 is 4, root 2. -1, 0, 1: (1 + 0 + 1) / 2.
        ("numeric", [2, 1, 1, 1, 1, 1]),
        # 0, 1, 1: (4 + 1 + 1) / 9 / 2 = 1/3; 2, 4, 2 is twice that far apart.
        ("all", [2, np.sqrt(1 / 3), 2 * np.sqrt(1 / 3), 1, 1, 1]),
        ("none", [1, 1, 1, 1, 1, 1]),
    ],
)
def test_feature_scale_by_hand(container, standardize, expected):
    np.testing.assert_allclose(feature_scale(container(X), standardize), expected, rtol=1e-15)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("standardize", ["numeric", "all"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3.7, 1e8 / 3])
def test_feature_scale_leaves_constants_alone(container, standardize, constant):
    # 0.1 summed 7 times is not 0.7: a variance by rounding error must not count.
    assert feature_scale(container(np.full((7, 1), constant)), standardize).tolist() == [1.0]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("values", "is_two_valued"),
    [
        pytest.param([0, 2, 2, 0], True, id="0-2"),
        pytest.param([0, -2, -2, 0], True, id="-2-0"),
        pytest.param([-2, 2, 2, -2], True, id="-2-2, no zero"),
        pytest.param([-2, 2, 2, 0], False, id="-2-0-2, hidden zero"),
        pytest.param([1, 2, 2, 1], True, id="1-2, no zero"),
        pytest.param([1, 2, 2, 0], False, id="0-1-2, zero is the smallest"),
        pytest.param([-1, -2, -2, 0], False, id="-2--1-0, zero is the largest"),
        pytest.param([0, 0, 0, 1e-30], True, id="0-1e-30"),
    ],
)
def test_feature_scale_numeric_leaves_two_values_alone(container, values, is_two_valued):
    column = np.array(values, dtype=float)[:, np.newaxis]
    expected = 1.0 if is_two_valued else column.std(ddof=1)
    np.testing.assert_allclose(feature_scale(container(column)), [expected], rtol=1e-14)
    every = feature_scale(container(column), "all")
    np.testing.assert_allclose(every, [column.std(ddof=1)], rtol=1e-14)


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
@pytest.mark.parametrize("standardize", ["numeric", "all", "none"])
def test_feature_scale_of_sparse_equals_dense(container, standardize):
    rng = np.random.default_rng(0)
    draws = [rng.standard_normal, lambda size: rng.integers(-2, 3, size).astype(float)]
    for density in (0.0, 0.05, 0.3, 0.9, 1.0):
        for draw in draws:
            cells = np.nonzero(rng.random((25, 12)) < density)
            S = container((draw(len(cells[0])), cells), shape=(25, 12))  # may store zeros
            expected = feature_scale(S.toarray(), standardize)
            np.testing.assert_allclose(feature_scale(S, standardize), expected, rtol=1e-12)


def test_feature_scale_survives_a_large_offset():
    # 1e7 + normal: the one-pass formula (mean of squares - square of mean) would lose all digits.
    values = np.random.default_rng(0).normal(size=(100, 1)) + 1e7
    expected = (values - 1e7).std(axis=0, ddof=1)
    np.testing.assert_allclose(feature_scale(values), expected, rtol=1e-7)
    np.testing.assert_allclose(feature_scale(csr_matrix(values)), expected, rtol=1e-7)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("standardize", ["numeric", "all", "none"])
@pytest.mark.parametrize("size", [1e200, -1e200, 1e308])
def test_features_too_large_to_be_squared_are_refused(container, standardize, size):
    with pytest.raises(InputError, match=r"too large to measure distances.*Divide them"):
        feature_scale(container([[1.0, 2.0], [3.0, size], [4.0, 5.0]]), standardize)
    assert np.isfinite(feature_scale(container([[1.0, 2.0], [3.0, 1e150]]), standardize)).all()
