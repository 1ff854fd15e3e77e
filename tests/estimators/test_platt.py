import numpy as np
import pytest
from hypothesis import given, strategies as st
from nldd.estimators._platt_svc import fit_sigmoid, platt_targets, sigmoid, sigmoid_loss
from scipy.optimize import minimize
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.svm import SVC

from nldd import PlattSVC
from nldd.estimators._platt_svc import fold_slices
from nldd.exceptions import InputError


def decisions(seed, n_samples=150):
    """Decision values of about the size of a margin, and classes that follow them loosely."""
    rng = np.random.default_rng(seed)
    f = rng.normal(rng.uniform(-1, 1), rng.uniform(0.5, 3), n_samples)
    y = (rng.random(n_samples) < expit(rng.uniform(0.5, 3) * f + rng.uniform(-1, 1))).astype(int)
    assert 0 < y.sum() < n_samples
    return f, y


def loss(parameters, f, y, weight):
    return sigmoid_loss(*parameters, f, platt_targets(y, weight), weight)


def minimise(f, y, weight):
    """A and B by a general optimiser with the gradient by hand."""
    target = platt_targets(y, weight)

    def gradient(parameters):
        residual = weight * (target - expit(-(parameters[0] * f + parameters[1])))
        return np.array([residual @ f, residual.sum()])

    found = minimize(
        lambda parameters: loss(parameters, f, y, weight),
        [0, 0],
        jac=gradient,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert np.abs(gradient(found.x)).max() < 3e-6
    return found.x


def classes_in_a_plane(n_samples=60, seed=0):
    """Two overlapping clouds of points."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 4)) + y[:, np.newaxis] * [1.5, 0, -1, 0]
    X[rng.random(X.shape) < 0.3] = 0
    return X, y


def test_platt_targets_by_hand():
    y = np.array([1, 1, 0, 1])
    # Three positives: 4/5. One negative: 1/3.
    np.testing.assert_allclose(platt_targets(y, np.ones(4)), [0.8, 0.8, 1 / 3, 0.8], rtol=1e-15)
    # Weights 1 + 2 + 5 of positives: 9/10. Weight 4 of negatives: 1/6.
    weight = np.array([1.0, 2.0, 4.0, 5.0])
    np.testing.assert_allclose(platt_targets(y, weight), [0.9, 0.9, 1 / 6, 0.9], rtol=1e-15)


def test_sigmoid_loss_is_the_cross_entropy():
    rng = np.random.default_rng(0)
    f, target, weight = rng.normal(size=20), rng.random(20), rng.random(20)
    A, B = -1.3, 0.4
    p = 1 / (1 + np.exp(A * f + B))
    expected = -np.sum(weight * (target * np.log(p) + (1 - target) * np.log(1 - p)))
    assert sigmoid_loss(A, B, f, target, weight) == pytest.approx(expected, rel=1e-13)


def test_sigmoid_loss_does_not_overflow():
    # t z + log(1 + exp(-z)) is 1e5 t for z = 1e5; for z = -1e5 it is -1e5 t + 1e5.
    f, target = np.array([1e5, -1e5]), np.array([0.25, 0.25])
    assert sigmoid_loss(1.0, 0.0, f, target, np.ones(2)) == 1e5 * 0.25 + 1e5 * 0.75


def test_fit_sigmoid_by_hand():
    # f = 1 for 3 positives and 1 negative, f = -1 for 1 and 3. Targets are 5/6 and 1/6, and two
    # parameters fit the two means of targets: p(1) = (3 * 5/6 + 1/6) / 4 = 2/3 and p(-1) = 1/3.
    # A + B = log((1 - p(1)) / p(1)) = -log 2 and B - A = log 2.
    f = np.array([1.0] * 4 + [-1.0] * 4)
    y = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    A, B = fit_sigmoid(f, y)
    np.testing.assert_allclose([A, B], [-np.log(2), 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(sigmoid(np.array([1.0, -1.0]), A, B), [2 / 3, 1 / 3], atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_fit_sigmoid_equals_general_minimisation(seed):
    f, y = decisions(seed)
    expected = minimise(f, y, np.ones(len(y)))
    np.testing.assert_allclose(fit_sigmoid(f, y), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_fit_sigmoid_with_weights_equals_general_minimisation(seed):
    f, y = decisions(seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3, len(y))
    expected = minimise(f, y, weight)
    np.testing.assert_allclose(fit_sigmoid(f, y, weight), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_fit_sigmoid_equals_scikit_learn(seed):
    f, y = decisions(seed)
    theirs = _SigmoidCalibration().fit(f, y)
    A, B = fit_sigmoid(f, y)
    np.testing.assert_allclose([A, B], [theirs.a_, theirs.b_], rtol=0, atol=2e-6)
    np.testing.assert_allclose(sigmoid(f, A, B), theirs.predict(f), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_samples", [4, 10, 300])
def test_fit_sigmoid_solution_has_no_slope(seed, n_samples):
    """Central differences; the fit stops once both are below 1e-5 or the loss stands still."""
    f, y = decisions(seed, n_samples=300)
    rows = np.r_[np.argmax(y), np.argmin(y), np.arange(n_samples - 2)]  # both classes among them
    f, y, weight = f[rows], y[rows], np.ones(n_samples)
    A, B = fit_sigmoid(f, y)
    h = 1e-4
    slopes = [
        (loss((A + h * a, B + h * b), f, y, weight) - loss((A - h * a, B - h * b), f, y, weight))
        / (2 * h)
        for a, b in [(1, 0), (0, 1)]
    ]
    np.testing.assert_allclose(slopes, 0, atol=2e-5)


def test_fit_sigmoid_weights_equal_repetition():
    f, y = decisions(0)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = fit_sigmoid(np.repeat(f, weight), np.repeat(y, weight))
    np.testing.assert_allclose(fit_sigmoid(f, y, weight.astype(float)), repeated, rtol=1e-10)


@pytest.mark.parametrize("n_positive", [1, 3, 8])
def test_fit_sigmoid_of_zeros_has_no_slope(n_positive):
    y = np.array([1] * n_positive + [0] * (9 - n_positive))
    A, B = fit_sigmoid(np.zeros(9), y)
    assert A == 0
    # The mean of the targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2).
    expected = platt_targets(y, np.ones(9)).mean()
    np.testing.assert_allclose(sigmoid(np.array([-5.0, 0.0, 5.0]), A, B), expected, atol=1e-7)


@pytest.mark.parametrize("constant", [-1.0, 1e-3, 1.0, 1e3, 1e6])
def test_fit_sigmoid_of_constant_decisions_with_balanced_classes_stays_at_its_start(constant):
    y = np.array([1, 0, 1, 0, 0, 1])
    assert fit_sigmoid(np.full(6, constant), y) == (0.0, 0.0)


@pytest.mark.parametrize("constant", [-1.0, 1e-3, 1.0, 1e3, 1e6])
def test_fit_sigmoid_of_constant_decisions_gives_the_mean_target(constant):
    # 6 positives with 7/8 and 3 negatives with 1/5: (5.25 + 0.6) / 9 = 0.65.
    y = np.array([1] * 6 + [0] * 3)
    A, B = fit_sigmoid(np.full(9, constant), y)
    np.testing.assert_allclose(sigmoid(np.array([constant]), A, B), 0.65, atol=1e-6)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8, 1e50, 1e100])
def test_fit_sigmoid_of_extreme_decisions_does_not_overflow(scale):
    # Only A f + B counts, so A shrinks as f grows.
    f, y = decisions(0)
    A, B = fit_sigmoid(f, y)
    scaled_A, scaled_B = fit_sigmoid(f * scale, y)
    np.testing.assert_allclose([scaled_A * scale, scaled_B], [A, B], rtol=0, atol=1e-5)


def test_fit_sigmoid_of_separated_decisions_is_finite():
    f, y = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), np.array([0, 0, 0, 1, 1, 1])
    A, B = fit_sigmoid(f, y)
    # Targets of 4/5 and 1/5 hold the slope: without them A would run to minus infinity.
    np.testing.assert_allclose([A, B], minimise(f, y, np.ones(6)), rtol=0, atol=1e-5)
    # By symmetry B = 0; there the slope in A, the sum over f = 1, 2, 3 of f (4/5 - p(f)), is 0.
    slope = sum(f * (0.8 - 1 / (1 + np.exp(A * f))) for f in (1, 2, 3))
    np.testing.assert_allclose([slope, B], 0, atol=1e-5)


def test_sigmoid_stays_inside_the_unit_interval():
    f = np.array([-1e300, -1.0, 0.0, 1.0, 1e300])
    expected = [1e-7, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1 - 1e-7]
    np.testing.assert_allclose(sigmoid(f, -1.0, 0.0), expected, rtol=1e-13)


@given(st.integers(0, 500), st.integers(2, 20))
def test_fold_slices_cut_the_rows_into_even_parts(n_samples, n_folds):
    folds = [range(n_samples)[fold] for fold in fold_slices(n_samples, n_folds)]
    assert len(folds) == n_folds
    assert [row for fold in folds for row in fold] == list(range(n_samples))
    assert {len(fold) for fold in folds} <= {n_samples // n_folds, -(-n_samples // n_folds)}


def test_fold_slices_by_hand():
    # Floors of 0, 1.4, 2.8, 4.2, 5.6, 7.
    assert fold_slices(7, 5) == [slice(0, 1), slice(1, 2), slice(2, 4), slice(4, 5), slice(5, 7)]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_platt_svc_decisions_equal_svc(C, weighted):
    X, y = classes_in_a_plane()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = PlattSVC(C, random_state=0).fit(X, y, sample_weight=weight)
    svc = SVC(kernel="linear", C=C).fit(X, y, sample_weight=weight)
    X_new = np.random.default_rng(1).normal(size=(30, 4))
    expected = svc.decision_function(X_new)
    np.testing.assert_allclose(model.decision_function(X_new), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.coef_, svc.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, svc.intercept_, rtol=0, atol=1e-6)


def out_of_fold(X, y, n_folds, seed, weight=None):
    """Decision values by a plain loop over the folds of LIBSVM."""
    order = np.random.RandomState(seed).permutation(len(y))
    values = np.full(len(y), np.nan)
    for i in range(n_folds):
        held_out = order[i * len(y) // n_folds : (i + 1) * len(y) // n_folds]
        kept = np.setdiff1d(order, held_out)
        if len(set(y[kept])) == 1:
            values[held_out] = 1 if y[kept[0]] == 1 else -1
        elif len(held_out):
            # A tight tolerance: the order of the rows matters to the solver, but not to this.
            part = None if weight is None else weight[kept]
            machine = SVC(kernel="linear", tol=1e-10).fit(X[kept], y[kept], sample_weight=part)
            values[held_out] = machine.decision_function(X[held_out])
    return values


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_platt_svc_sigmoid_comes_from_out_of_fold_decisions(n_folds, weighted):
    X, y = classes_in_a_plane(n_samples=43)
    weight = np.random.default_rng(0).uniform(0.1, 3, 43) if weighted else None
    model = PlattSVC(n_folds=n_folds, tol=1e-10, random_state=7).fit(X, y, sample_weight=weight)
    A, B = fit_sigmoid(out_of_fold(X, y, n_folds, 7, weight), y, weight)
    np.testing.assert_allclose(model.sigmoid_, (A, B), rtol=0, atol=1e-5)
    f = model.decision_function(X)
    expected = 1 / (1 + np.exp(A * f + B))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lonely", [0, 1])
def test_platt_svc_fold_without_a_class_gets_plus_or_minus_one(lonely):
    """The one row of a class is held out: the rest says +1 or -1 without a machine."""
    X, _ = classes_in_a_plane(n_samples=20)
    y = np.full(20, 1 - lonely)
    y[13] = lonely
    model = PlattSVC(tol=1e-10, random_state=0).fit(X, y)
    values = model._out_of_fold(X, y, None)
    folds = np.random.RandomState(0).permutation(20).reshape(5, 4)
    with_lonely = next(fold for fold in folds if 13 in fold)
    assert values[with_lonely].tolist() == [1.0 - 2 * lonely] * 4
    np.testing.assert_allclose(values, out_of_fold(X, y, 5, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.sigmoid_, fit_sigmoid(values, y), rtol=0, atol=1e-12)


def test_platt_svc_takes_fewer_rows_than_folds():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    model = PlattSVC(tol=1e-10, random_state=0).fit(X, y)
    assert np.isfinite(model.sigmoid_).all()
    np.testing.assert_allclose(model.sigmoid_, fit_sigmoid(out_of_fold(X, y, 5, 0), y), atol=1e-6)
    assert model.predict([[-3.0], [4.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
def test_platt_svc_of_sparse_equals_dense(container):
    X, y = classes_in_a_plane()
    dense = PlattSVC(random_state=0).fit(X, y)
    sparse = PlattSVC(random_state=0).fit(container(X), y)
    assert isinstance(sparse.coef_, np.ndarray)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sparse.sigmoid_, dense.sigmoid_, rtol=0, atol=1e-8)
    for new in (X, container(X)):
        found = sparse.predict_proba(new)
        np.testing.assert_allclose(found, dense.predict_proba(X), rtol=0, atol=1e-8)


def test_platt_svc_predicts_the_sign():
    X, y = classes_in_a_plane()
    model = PlattSVC(random_state=0).fit(X, y)
    X_new = np.random.default_rng(1).normal(size=(100, 4))
    f = model.decision_function(X_new)
    assert model.predict(X_new).tolist() == (f > 0).astype(int).tolist()
    assert 0 < (f > 0).sum() < 100


def test_platt_svc_predicts_the_first_class_on_the_hyperplane():
    model = PlattSVC(random_state=0).fit([[0.0], [1.0], [0.0], [1.0]], ["no", "yes"] * 2)
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([-0.5])
    assert model.decision_function([[0.5]]).tolist() == [0.0]
    assert model.predict([[0.5]]).tolist() == ["no"]


def test_platt_svc_probabilities_rise_with_the_decision_value():
    X, y = classes_in_a_plane()
    model = PlattSVC(random_state=0).fit(X, y)
    assert model.sigmoid_[0] < 0
    X_new = np.random.default_rng(1).normal(size=(200, 4))
    order = np.argsort(model.decision_function(X_new))
    P = model.predict_proba(X_new)[order]
    assert (np.diff(P[:, 1]) > 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-15)


def test_platt_svc_zero_weights_equal_removed_rows():
    X, y = classes_in_a_plane()
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, len(y)) * (rng.random(len(y)) < 0.7)
    kept = weight > 0
    with_zeros = PlattSVC(random_state=0).fit(X, y, sample_weight=weight)
    without = PlattSVC(random_state=0).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert with_zeros.sigmoid_ == without.sigmoid_
    np.testing.assert_array_equal(with_zeros.predict_proba(X), without.predict_proba(X))


def test_platt_svc_unit_weights_equal_no_weights():
    X, y = classes_in_a_plane()
    plain = PlattSVC(random_state=0).fit(X, y)
    unit = PlattSVC(random_state=0).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(unit.predict_proba(X), plain.predict_proba(X), rtol=1e-12)


def test_platt_svc_integer_weights_equal_repeated_rows_for_the_machine():
    # Not for the sigmoid: copies of a row may fall into different folds.
    X, y = classes_in_a_plane()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = PlattSVC(tol=1e-10, random_state=0).fit(X, y, sample_weight=weight)
    repeated = PlattSVC(tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    expected = repeated.decision_function(X)
    np.testing.assert_allclose(weighted.decision_function(X), expected, rtol=0, atol=1e-6)


def test_platt_svc_is_reproducible_with_a_seed():
    X, y = classes_in_a_plane()
    model = PlattSVC(random_state=3)
    first = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), first)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), first)
    other = PlattSVC(random_state=4).fit(X, y)
    assert other.sigmoid_ != model.sigmoid_
    # Folds make the sigmoid only.
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_platt_svc_takes_string_classes():
    X, y = classes_in_a_plane()
    names = np.array(["no", "yes"])
    numbers = PlattSVC(random_state=0).fit(X, y)
    strings = PlattSVC(random_state=0).fit(X, names[y])
    assert strings.classes_.tolist() == ["no", "yes"]
    assert strings.predict(X).tolist() == names[numbers.predict(X)].tolist()
    np.testing.assert_array_equal(strings.predict_proba(X), numbers.predict_proba(X))


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        pytest.param([1, 1, 1, 1], None, r"needs two classes.*one class only.*1\b", id="one class"),
        pytest.param(["a"] * 4, None, "needs two classes.*one class only: a", id="one string"),
        pytest.param(
            [0, 1, 0, 1],
            [1, 0, 1, 0],
            "needs two classes.*one class only.*0",
            id="one has weight 0",
        ),
        pytest.param(
            [0, 1, 2, 1], None, "Only binary.*3 classes.*BinaryRelevance", id="three classes"
        ),
    ],
)
def test_platt_svc_refuses_other_than_two_classes(y, weight, message):
    with pytest.raises(InputError, match=message):
        PlattSVC().fit(np.arange(8.0).reshape(4, 2), y, sample_weight=weight)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"C": 0}, "C"), ({"n_folds": 1}, "n_folds"), ({"tol": 0}, "tol"), ({"C": "1"}, "C")],
    ids=["C=0", "n_folds=1", "tol=0", "C=text"],
)
def test_platt_svc_refuses_parameters_out_of_range(parameters, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of PlattSVC"):
        PlattSVC(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [([-1.0, 1, 1], "Negative values"), ([0.0, 0, 0], "non-zero|positive|two classes")],
    ids=["negative", "all zero"],
)
def test_platt_svc_refuses_weights_that_weigh_nothing(weight, message):
    with pytest.raises(ValueError, match=message):
        PlattSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=weight)
