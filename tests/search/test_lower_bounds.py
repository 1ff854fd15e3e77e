import numpy as np
import pytest

from nldd.exceptions import InputError
from nldd.search._bounds import LowerBounds

# What rounding in single precision takes off, relative to the sizes of two rows of d features.
EPSILON = np.finfo(np.float32).eps


def truth(A, Z):
    return ((A[:, np.newaxis] - Z) ** 2).sum(axis=2)


def random_rows(rng, n_features, size=1.0, offset=0.0):
    """Rows, and queries far from them, near to them and equal to them."""
    Z = rng.normal(size=(25, n_features))
    A = np.concatenate([rng.normal(size=(10, n_features)), Z[:10] + 1e-4, Z[:10], 30 * Z[:5]])
    return size * Z + offset, size * A + offset


@pytest.mark.parametrize("n_features", [1, 2, 10, 300, 3000])
@pytest.mark.parametrize(
    ("size", "offset"),
    [(1.0, 0.0), (1.0, 1e3), (1.0, 1e8), (1e-15, 0.0), (1e10, 0.0), (1e10, -1e13)],
)
def test_bounds_are_never_above_the_truth_and_hardly_below(n_features, size, offset):
    rng = np.random.default_rng(n_features)
    Z, A = random_rows(rng, n_features, size, offset)
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
    Z, A = random_rows(np.random.default_rng(2), 8)
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


def test_numbers_without_a_square_are_refused():
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
    Z, A = random_rows(np.random.default_rng(3), 40, size)
    assert (LowerBounds(Z, np.zeros(40))(A) <= truth(A, Z)).all()


def test_bounds_leave_rows_alone():
    Z, A = random_rows(np.random.default_rng(4), 3)
    before = Z.copy(), A.copy()
    LowerBounds(Z, np.ones(3))(A)
    np.testing.assert_array_equal(Z, before[0])
    np.testing.assert_array_equal(A, before[1])
