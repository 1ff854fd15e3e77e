"""Bounds never lie: less the error they admit to, they are not above the distances of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse

from nldd.exceptions import InputError
from nldd.search._bounds import COORDINATES, LowerBounds, Sketch
from nldd.search._scan import _sketch_square, gap


def normal(rng, n_rows, n_features):
    return rng.normal(size=(n_rows, n_features))


def low_rank(rng, n_rows, n_features, rank=5):
    return rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_features))


def mostly_zero(rng, n_rows, n_features):
    return rng.integers(1, 5, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.1)


def each_twice(rng, n_rows, n_features):
    return np.repeat(rng.normal(size=(n_rows, n_features)), 2, axis=0)[:n_rows]


def one_far_away(rng, n_rows, n_features):
    X = rng.normal(size=(n_rows, n_features))
    X[n_rows // 2] *= 1e9
    return X


ROWS = {
    "normal": lambda rng: normal(rng, 40, 30),
    "many features": lambda rng: normal(rng, 40, 400),
    "low rank": lambda rng: low_rank(rng, 40, 30),
    "mostly zero": lambda rng: mostly_zero(rng, 40, 60),
    "duplicates": lambda rng: each_twice(rng, 40, 30),
    "fewer features than coordinates": lambda rng: normal(rng, 40, 3),
    "as many features as directions": lambda rng: normal(rng, 40, COORDINATES - 1),
    "as many features as coordinates": lambda rng: normal(rng, 40, COORDINATES),
    "one feature": lambda rng: normal(rng, 40, 1),
    "fewer rows than coordinates": lambda rng: normal(rng, 5, 30),
    "one row": lambda rng: normal(rng, 1, 30),
    "one number": lambda rng: normal(rng, 1, 1),
    "constant": lambda rng: np.full((40, 30), 0.1),
    "zero": lambda rng: np.zeros((40, 30)),
    "offset 1e6": lambda rng: normal(rng, 40, 30) + 1e6,
    "offset 1e12": lambda rng: normal(rng, 40, 30) + 1e12,
    "one row far away": lambda rng: one_far_away(rng, 40, 30),
    "size 1e-30": lambda rng: 1e-30 * normal(rng, 40, 30),
    "size 1e17": lambda rng: 1e17 * normal(rng, 40, 30),
    "size 1e19": lambda rng: 1e19 * normal(rng, 40, 30),
    "size 1e100": lambda rng: 1e100 * normal(rng, 40, 30),
}
CONTAINERS = [pytest.param(np.asarray, id="dense"), pytest.param(csr_array, id="sparse")]


def true_distances(A, B):
    A, B = (Z.toarray() if issparse(Z) else Z for Z in (A, B))
    return np.sqrt(((A[:, np.newaxis] - B) ** 2).sum(axis=2))


def all_pairs(square, a, *b):
    """Distances from squares, as the compiled search takes them: in single precision."""
    rows = range(len(b[0]))
    return np.sqrt([[square(a, i, *b, at) for at in rows] for i in range(len(a))])


def from_each(a, i, sketches, at):
    return _sketch_square(sketches, at, a, i)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_sketches_are_never_farther_apart_than_rows(rows, container):
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


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_a_box_of_sketches_is_never_farther_away_than_its_rows(rows, container):
    rng = np.random.default_rng(1)
    X = rows(rng)
    Z, A = container(X), container(rng.normal(size=(9, X.shape[1])) + X[:1])
    sketch = Sketch(Z)
    (a, a_error), (b, b_error) = sketch(A), sketch(Z)
    starts = np.arange(0, len(X), 4)
    low, high = (extreme.reduceat(b, starts) for extreme in (np.minimum, np.maximum))
    truth = np.minimum.reduceat(true_distances(A, Z), starts, axis=1) * (1 + 1e-12)
    gaps = all_pairs(gap, a, low, high)
    assert (gaps - (a_error + b_error.max())[:, np.newaxis] <= truth).all()


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    "rows",
    [ROWS["low rank"], ROWS["fewer features than coordinates"], ROWS["one feature"]],
    ids=["low rank", "fewer features than coordinates", "one feature"],
)
def test_sketches_are_as_far_apart_as_rows_where_few_directions_say_all(rows, container):
    Z = container(rows(np.random.default_rng(2)))
    sketch, error = Sketch(Z)(Z)
    truth = true_distances(Z, Z)
    np.testing.assert_allclose(all_pairs(from_each, sketch, sketch), truth, rtol=1e-5, atol=1e-5)
    assert error.max() < 1e-4 * truth.max()


def test_what_the_directions_leave_over_is_in_the_last_coordinate():
    # 15 directions for 200 features of equal variance: most of a row's length is left over.
    Z = normal(np.random.default_rng(3), 300, 200)
    sketch = Sketch(Z)
    numbers, _ = sketch(Z)
    centred = Z - sketch.centre
    rest = centred - centred @ sketch.directions @ sketch.directions.T
    np.testing.assert_allclose(numbers[:, -1], np.linalg.norm(rest, axis=1), rtol=1e-6)
    np.testing.assert_allclose(
        np.linalg.norm(numbers, axis=1), np.linalg.norm(centred, axis=1), rtol=1e-6
    )


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12], ids=["0", "1e6", "1e12"])
def test_the_error_follows_the_spread_of_dense_rows_and_not_their_offset(offset):
    Z = normal(np.random.default_rng(4), 50, 20) + offset
    _, error = Sketch(Z)(Z)
    assert 0 < error.max() < 1e-4


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_directions_are_orthonormal(rows, container):
    V = Sketch(container(rows(np.random.default_rng(5)))).directions
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
def test_sketches_of_numbers_however_large_have_finite_squares(container):
    Z = container(1e150 * normal(np.random.default_rng(6), 30, 40))
    sketch, error = Sketch(Z)(Z)
    assert np.abs(sketch).max() <= np.float32(1e18)
    assert np.isfinite(all_pairs(from_each, sketch, sketch)).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_without_a_square_have_no_sketch(container):
    ordinary, huge = container(np.eye(3)), container(1e200 * np.eye(3))
    with pytest.raises(InputError, match="squares overflow"):
        Sketch(huge)
    with pytest.raises(InputError, match="squares overflow"):
        Sketch(ordinary)(huge)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("size", [1e-160, 1e-163, 1e-170, 1e-200, 1e-308])
def test_sketches_of_numbers_however_small_are_finite(size, container):
    Z = container(size * normal(np.random.default_rng(7), 30, 40))
    sketch, error = Sketch(Z)(Z)
    assert np.isfinite(sketch).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("container", [*CONTAINERS, pytest.param(csr_matrix, id="csr_matrix")])
def test_sketches_do_not_depend_on_blocks(container, monkeypatch):
    Z = container(normal(np.random.default_rng(8), 40, 30))
    sketch = Sketch(Z)
    whole, error = sketch(Z)
    monkeypatch.setattr("nldd.search._bounds.BLOCK", 7)
    in_parts, error_in_parts = sketch(Z)
    np.testing.assert_allclose(in_parts, whole, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(error_in_parts, error, rtol=1e-12)


def test_directions_are_learned_from_a_sample_of_all_rows(monkeypatch):
    # Every third of 30 rows; in the others another feature varies, which no direction then sees.
    monkeypatch.setattr("nldd.search._bounds.SAMPLE", 10)
    Z = np.zeros((30, 2))
    Z[::3, 0] = np.arange(10)
    Z[1::3, 1] = np.arange(10)
    sketch = Sketch(Z)
    assert sketch.centre.tolist() == [4.5, 0]
    np.testing.assert_allclose(np.abs(sketch.directions[:, 0]), [1, 0], atol=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
def test_sketches_are_the_same_every_time_and_leave_rows_alone(container):
    X = normal(np.random.default_rng(9), 40, 30)
    Z = container(X.copy())
    a, _ = Sketch(Z)(Z)
    b, _ = Sketch(Z)(Z)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(Z.toarray() if issparse(Z) else Z, X)


# Bounds of the distances to all rows at once

# What rounding in single precision takes off, relative to the sizes of two rows of d features.
EPSILON = np.finfo(np.float32).eps


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
def test_bounds_are_never_above_the_truth_and_hardly_below(n_features, size, offset):
    rng = np.random.default_rng(n_features)
    Z, A = rows_and_queries(rng, n_features, size, offset)
    centre = Z.mean(axis=0)
    bounds = LowerBounds(Z, centre)(A)
    squares = truth(A, Z)
    assert (bounds <= squares).all()
    sizes = ((A - centre) ** 2).sum(axis=1)[:, np.newaxis] + ((Z - centre) ** 2).sum(axis=1).max()
    assert (squares - bounds <= 3 * (n_features + 16) * EPSILON * sizes).all()


def test_bounds_of_equal_rows_are_not_above_zero():
    rng = np.random.default_rng(0)
    for n_features in (1, 5, 50):
        Z = rng.integers(-3, 4, size=(40, n_features)) / 3
        bounds = LowerBounds(Z, Z.mean(axis=0))(Z)
        assert (bounds[truth(Z, Z) == 0] <= 0).all()


def test_bounds_rule_out_what_is_clearly_farther():
    """The point of them: whatever is 1 % farther than the nearest is never looked at."""
    rng = np.random.default_rng(1)
    Z, A = rng.normal(size=(2, 200, 50)) + 1e5
    bounds, squares = LowerBounds(Z, Z.mean(axis=0))(A), truth(A, Z)
    nearest = squares.min(axis=1, keepdims=True)
    assert (bounds > nearest)[squares > 1.01 * nearest].all()


@pytest.mark.parametrize("centre", [0.0, 1.5, -100.0])
def test_bounds_do_not_need_the_middle_for_a_centre(centre):
    Z, A = rows_and_queries(np.random.default_rng(2), 8)
    assert (LowerBounds(Z, np.full(8, centre))(A) <= truth(A, Z)).all()


def test_no_bounds_where_squares_are_too_large_for_single_precision():
    small, large = np.array([[0.0], [1.0]]), np.array([[0.0], [1e16]])
    none = (0, 0)
    assert LowerBounds(small, np.zeros(1))(large).shape == none
    assert LowerBounds(large, np.zeros(1))(small).shape == none
    assert LowerBounds(large, np.zeros(1))(large).shape == none
    # One large query is enough, and the next block is none the worse for it.
    bounds = LowerBounds(small, np.zeros(1))
    assert bounds(np.array([[0.0], [1e16]])).shape == none
    np.testing.assert_allclose(bounds(np.array([[3.0]])), [[9, 4]], atol=1e-3)


def test_bounds_just_below_the_limit_are_finite_and_true():
    Z, A = np.array([[0.0], [7e14]]), np.array([[7e14], [-7e14]])
    bounds = LowerBounds(Z, np.zeros(1))(A)
    assert bounds.shape == (2, 2)
    assert (bounds <= truth(A, Z)).all()
    np.testing.assert_allclose(bounds, truth(A, Z), atol=1e-4 * 7e14**2)


def test_numbers_without_a_square_have_no_bounds():
    with pytest.raises(InputError, match="squares overflow"):
        LowerBounds(np.array([[1e200]]), np.zeros(1))
    with pytest.raises(InputError, match="squares overflow"):
        LowerBounds(np.ones((1, 1)), np.zeros(1))(np.array([[1e200]]))


def test_rows_whose_sums_of_squares_overflow_are_refused():
    rows = np.array([[1e154], [-1e154]])
    with pytest.raises(InputError, match="too large to measure distances"):
        LowerBounds(rows, np.zeros(1))


@pytest.mark.parametrize("size", [1e-21, 1e-22])
def test_bounds_of_tiny_numbers_are_not_above_the_truth(size):
    Z, A = rows_and_queries(np.random.default_rng(3), 40, size)
    assert (LowerBounds(Z, np.zeros(40))(A) <= truth(A, Z)).all()


def test_bounds_leave_rows_alone():
    Z, A = rows_and_queries(np.random.default_rng(4), 3)
    before = Z.copy(), A.copy()
    LowerBounds(Z, np.ones(3))(A)
    np.testing.assert_array_equal(Z, before[0])
    np.testing.assert_array_equal(A, before[1])
