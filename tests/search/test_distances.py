"""Scales of features, and bounds that never lie: not above the distances of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse
from ways import callable_kernel

from nldd.exceptions import InputError
from nldd.search import _kernels
from nldd.search._distances import LowerBounds, Sketch, feature_scale
from nldd.search._kernels import COORDINATES

CONTAINERS = [
    *(pytest.param(np.array, id="dense"), pytest.param(csr_matrix, id="csr_matrix")),
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


_sketch_square, _box_square = (
    callable_kernel(_kernels._sketch_square),
    callable_kernel(_kernels._box_square),
)


def normal(rng, n_rows, n_features):
    return rng.normal(size=(n_rows, n_features))


def mostly_zero(rng):
    return rng.integers(1, 5, (40, 60)) * (rng.random((40, 60)) < 0.1)


ROWS = {
    "many features": lambda rng: normal(rng, 40, 400),
    "low rank": lambda rng: normal(rng, 40, 5) @ normal(rng, 5, 30),
    "mostly zero": mostly_zero,
    "duplicates": lambda rng: np.repeat(normal(rng, 20, 30), 2, axis=0),
    "as many features as directions": lambda rng: normal(rng, 40, COORDINATES - 1),
    "as many features as coordinates": lambda rng: normal(rng, 40, COORDINATES),
    "one feature": lambda rng: normal(rng, 40, 1),
    "fewer rows than coordinates": lambda rng: normal(rng, 5, 30),
    "one number": lambda rng: normal(rng, 1, 1),
    "constant": lambda rng: np.full((40, 30), 0.1),
    "zero": lambda rng: np.zeros((40, 30)),
    "offset 1e6": lambda rng: normal(rng, 40, 30) + 1e6,
    "offset 1e12": lambda rng: normal(rng, 40, 30) + 1e12,
    "one row far away": lambda rng: normal(rng, 40, 30) * 1e9 ** np.eye(40)[:, :1],
    "size 1e-30": lambda rng: 1e-30 * normal(rng, 40, 30),
    "size 1e17": lambda rng: 1e17 * normal(rng, 40, 30),
    "size 1e19": lambda rng: 1e19 * normal(rng, 40, 30),
    "size 1e100": lambda rng: 1e100 * normal(rng, 40, 30),
}


def true_distances(A, B):
    A, B = (Z.toarray() if issparse(Z) else Z for Z in (A, B))
    return np.sqrt(((A[:, np.newaxis] - B) ** 2).sum(axis=2))


def all_pairs(square, a, *b):
    """Distances from squares, as the compiled search takes them: in single precision."""
    rows = range(len(b[0]))
    return np.sqrt([[square(a, i, *b, at) for at in rows] for i in range(len(a))])


def from_each(a, i, sketches, at):
    return _sketch_square(sketches, at, a, i)


def from_box(a, i, boxes, at):
    return _box_square(boxes, at, a, i)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_sketches_and_their_boxes_are_never_farther_apart_than_rows(rows, container):
    rng = np.random.default_rng(0)
    X = rows(rng)
    # Rows themselves, rows a little way off, and rows like nothing the directions were learned on.
    X_new = np.concatenate([X[:8], X[:8] * (1 + 1e-9), 10 * X[:8, ::-1], rng.normal(size=X.shape)])
    Z, A = container(X), container(X_new)
    sketch = Sketch(Z)
    (a, a_error), (b, b_error) = sketch(A), sketch(Z)
    truth = true_distances(A, Z) * (1 + 1e-12)
    slack = (a_error + b_error.max())[:, np.newaxis]
    assert np.isfinite(slack).all()
    assert (all_pairs(from_each, a, b) - slack <= truth).all()
    starts = np.arange(0, len(X), 4)
    boxes = np.stack([extreme.reduceat(b, starts) for extreme in (np.minimum, np.maximum)], axis=1)
    nearest = np.minimum.reduceat(truth, starts, axis=1)
    assert (all_pairs(from_box, a, boxes) - slack <= nearest).all()


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("size", [1e150, 1e-160, 1e-163, 1e-170, 1e-200, 1e-308])
def test_sketches_of_numbers_of_any_size_are_finite_and_have_finite_squares(size, container):
    Z = container(size * normal(np.random.default_rng(7), 30, 40))
    sketch, error = Sketch(Z)(Z)
    assert np.abs(sketch).max() <= np.float32(1e18)
    assert np.isfinite(all_pairs(from_each, sketch, sketch)).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("container", CONTAINERS)
def test_sketches_do_not_depend_on_blocks(container, monkeypatch):
    Z = container(normal(np.random.default_rng(8), 40, 30))
    sketch = Sketch(Z)
    whole, error = sketch(Z)
    monkeypatch.setattr("nldd.search._distances.BLOCK", 7)
    in_parts, error_in_parts = sketch(Z)
    np.testing.assert_allclose(in_parts, whole, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(error_in_parts, error, rtol=1e-12)


# Bounds of the distances to all rows at once


def truth(A, Z):
    return ((A[:, np.newaxis] - Z) ** 2).sum(axis=2)


def rows_and_queries(rng, n_features, size=1.0, offset=0.0):
    """Rows, and queries far from them, near to them and equal to them."""
    Z = rng.normal(size=(25, n_features))
    A = np.concatenate([rng.normal(size=(10, n_features)), Z[:10] + 1e-4, Z[:10], 30 * Z[:5]])
    return size * Z + offset, size * A + offset


@pytest.mark.parametrize("n_features", [1, 10, 300])
@pytest.mark.parametrize(
    ("size", "offset"),
    [(1.0, 0.0), (1.0, 1e3), (1.0, 1e8), (1e-15, 0.0), (1e10, 0.0), (1e10, -1e13)],
)
def test_bounds_are_never_above_the_truth_and_hardly_below_that_of_sketches(
    n_features, size, offset
):
    rng = np.random.default_rng(n_features)
    Z, A = rows_and_queries(rng, n_features, size, offset)
    bounds = LowerBounds(Z)
    found = bounds(A)
    assert (found <= truth(A, Z)).all()
    of_sketches = truth(*(bounds.sketch(part)[0].astype(float) for part in (A, Z)))
    centre = bounds.sketch.centre
    sizes = ((A - centre) ** 2).sum(axis=1)[:, np.newaxis] + ((Z - centre) ** 2).sum(axis=1).max()
    assert (of_sketches - found <= 5e-5 * sizes).all()


def test_bounds_are_0_where_squares_are_too_large_for_single_precision():
    small, large = np.array([[0.0], [1.0]]), np.array([[0.0], [1e16]])
    none = [[0, 0]]
    assert LowerBounds(small)(large).tolist() == none
    assert LowerBounds(large)(small).tolist() == none
    assert LowerBounds(large)(large).tolist() == none
    # One large query is enough, and the next block is none the worse for it.
    bounds = LowerBounds(small)
    assert bounds(np.array([[0.0], [1e16]])).tolist() == none
    np.testing.assert_allclose(bounds(np.array([[3.0]])), [[9, 4]], atol=1e-3)


def test_bounds_just_below_the_limit_are_finite_and_true():
    Z, A = np.array([[0.0], [6e14]]), np.array([[6e14], [-6e14]])
    bounds = LowerBounds(Z)(A)
    assert bounds.shape == (2, 2)
    assert (bounds <= truth(A, Z)).all()
    np.testing.assert_allclose(bounds, truth(A, Z), atol=1e-4 * 6e14**2)


@pytest.mark.parametrize("size", [1e-21, 1e-22])
def test_bounds_of_tiny_numbers_are_not_above_the_truth(size):
    Z, A = rows_and_queries(np.random.default_rng(3), 40, size)
    assert (LowerBounds(Z)(A) <= truth(A, Z)).all()
