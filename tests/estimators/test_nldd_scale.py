"""NLDDClassifier on many rows: added rows, drawn pairs, counted distances, warm starts."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from nldd.estimators import random_halves
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier

from nldd import BinaryRelevance, NLDDClassifier, as_label_sets
from nldd.estimators._label_models import ConstantLabel
from nldd.exceptions import InputError
from nldd.search import LabelsetIndex, Score, SearchStats

# Few pairs may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

NAMES = ["joy", "fear", "anger", "calm"]
# Where no row of `small` is, with the one labelset that none of them carries.
FAR = np.array([[40.0, -40.0, 40.0, 40.0], [41.0, -40.0, 40.0, 40.0]])
NEW = np.zeros((2, 4), dtype=int)


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"random_state": 0, **parameters}).fit(X, Y)


def as_frame(Y):
    return pd.DataFrame(Y, columns=NAMES)


# add: what the model can do afterwards


def test_added_labelset_is_predicted_at_once(small):
    model = fitted(small)
    assert not (model.labelsets_ == NEW[0]).all(axis=1).any()
    assert (model.predict(FAR) != NEW).any(axis=1).all()
    assert model.add(FAR, NEW) is model
    assert_array_equal(model.predict(FAR), NEW)
    assert_array_equal(model.labelsets_, np.unique(np.vstack([small[1], NEW]), axis=0))
    assert_array_equal(model.nearest_labelsets(FAR, 1).row, [[120], [121]])
    assert_array_equal(model.nearest_labelsets(FAR, 1).Dx, 0)


def test_add_leaves_all_that_was_learned_as_it_was(small):
    X, _ = small
    model, before = fitted(small), fitted(small)
    model.add(FAR, NEW)
    assert_array_equal(model.beta_, before.beta_)
    assert_array_equal(model.index_.scale, before.index_.scale)
    assert_array_equal(model.label_probabilities(X), before.label_probabilities(X))
    # Far away, so nothing changes for the rows that were there.
    assert_array_equal(model.predict(X), before.predict(X))
    assert_array_equal(model.predict_theta(X), before.predict_theta(X))


FORMS_OF_X = {"dense": np.asarray, "csr_matrix": csr_matrix, "csr_array": csr_array}


@pytest.mark.parametrize("added", FORMS_OF_X.values(), ids=FORMS_OF_X.keys())
@pytest.mark.parametrize("old", FORMS_OF_X.values(), ids=FORMS_OF_X.keys())
def test_add_equals_an_index_of_all_rows(small, old, added):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(old(X[:70]), Y[:70])
    model.add(added(X[70:95]), Y[70:95]).add(added(X[95:]), Y[95:])
    scratch = LabelsetIndex(old(X), Y, model.index_.scale)
    assert_array_equal(model.index_.labelsets, scratch.labelsets)
    assert_array_equal(model.index_.counts, scratch.counts)
    assert len(model.index_) == 120
    P = model.label_probabilities(X)
    for score in (Score(1, 0), Score(0, 1), Score(0.3, 1.1), Score(0.4, 1.3, product=True)):
        found, expected = (index.query(X, P, score, k=3) for index in (model.index_, scratch))
        for name in ("row", "labelset", "Dx", "Dy"):
            assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("value", [1.0, 0.5], ids=["still bits", "no longer bits"])
def test_add_to_rows_of_zeros_and_ones(value):
    """Such rows are searched as packed bits, for as long as there are only zeros and ones."""
    rng = np.random.default_rng(0)
    X = (rng.random((90, 12)) < 0.4).astype(float)
    Y = (X[:, :3] + (rng.random((90, 3)) < 0.2) > 0).astype(int)
    more = (rng.random((30, 12)) < 0.4) * value
    Y_more = rng.integers(0, 2, size=(30, 3))
    model = NLDDClassifier(random_state=0).fit(csr_array(X), Y)
    assert len(model.index_.features.bits) == 90
    model.add(csr_array(more), Y_more)
    assert len(model.index_.features.bits) == (120 if value == 1 else 0)
    plain = NLDDClassifier(random_state=0).fit(X, Y).add(more, Y_more)
    new = np.vstack([X, more])
    assert_array_equal(model.predict(csr_array(new)), plain.predict(new))
    assert_array_equal(
        model.nearest_labelsets(csr_array(new), 2).row, plain.nearest_labelsets(new, 2).row
    )


def test_add_with_candidates_from_faiss_gives_the_same(small):
    pytest.importorskip("faiss")
    X, Y = small
    exact, faiss = (
        NLDDClassifier(search=search, random_state=0).fit(X[:80], Y[:80]).add(X[80:], Y[80:])
        for search in ("exact", "faiss")
    )
    assert_array_equal(faiss.predict(X), exact.predict(X))
    assert_array_equal(faiss.predict_theta(X), exact.predict_theta(X))
    assert_array_equal(faiss.nearest_labelsets(X, 1).row, exact.nearest_labelsets(X, 1).row)


def test_adding_in_two_goes_is_adding_at_once(small):
    X, Y = small
    start = NLDDClassifier(random_state=0).fit(X[:60], Y[:60])
    at_once = copy.deepcopy(start).add(X[60:], Y[60:])
    in_two = start.add(X[60:61], Y[60:61]).add(X[61:], Y[61:])
    assert_array_equal(in_two.rows_, at_once.rows_)
    assert_array_equal(in_two.predict_theta(X), at_once.predict_theta(X))
    assert_array_equal(in_two.nearest_labelsets(X, 3).row, at_once.nearest_labelsets(X, 3).row)


def test_first_of_equal_rows_stands_for_them(small):
    X, Y = small
    model = fitted(small).add(X[:50], Y[:50])
    found = model.nearest_labelsets(X, 1)
    assert_array_equal(found.row, fitted(small).nearest_labelsets(X, 1).row)
    assert found.row.max() < 120


def test_add_after_pickling(small):
    X, _ = small
    model = pickle.loads(pickle.dumps(fitted(small))).add(FAR, NEW)
    assert_array_equal(model.rows_[-2:], [120, 121])
    assert_array_equal(model.predict_theta(X), fitted(small).add(FAR, NEW).predict_theta(X))


def test_fit_forgets_what_was_added(small):
    X, Y = small
    model = fitted(small).add(FAR, NEW).fit(X, Y)
    assert_array_equal(model.rows_, np.arange(120))
    assert_array_equal(model.labelsets_, np.unique(Y, axis=0))
    assert_array_equal(model.add(FAR, NEW).rows_[-2:], [120, 121])


# add: numbers of rows


def test_added_rows_are_numbered_on(small):
    model = fitted(small).add(FAR, NEW).add(FAR[:1] + 100, NEW[:1])
    assert_array_equal(model.rows_, np.arange(123))
    assert model.nearest_labelsets(FAR[:1] + 100, 1).row.tolist() == [[122]]


def test_added_rows_are_numbered_on_from_all_rows_of_fit_not_from_the_share_used(small):
    model = fitted(small, train_fraction=0.5)
    used = model.rows_
    model.add(FAR, NEW)
    assert_array_equal(model.rows_, [*used, 120, 121])
    assert model.nearest_labelsets(FAR, 1).row.tolist() == [[120], [121]]


def test_added_rows_are_numbered_on_from_rows_of_weight_zero(small):
    X, Y = small
    weight = np.ones(120)
    weight[[0, 50]] = weight[110:] = 0  # also the last ones, which would be easy to forget
    model = NLDDClassifier(random_state=0).fit(X, Y, sample_weight=weight).add(FAR, NEW)
    assert_array_equal(model.rows_, [*np.flatnonzero(weight), 120, 121])
    assert model.nearest_labelsets(FAR, 1).row.tolist() == [[120], [121]]


def test_explain_names_the_added_row(small):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(X, as_frame(Y))
    model.add(FAR, as_frame([[0, 0, 0, 0], [1, 1, 1, 1]]))
    nothing, all_labels = model.explain(FAR)
    assert (nothing.row, nothing.labels, nothing.Dx) == (120, (), 0)
    assert (all_labels.row, all_labels.labels, all_labels.Dx) == (121, tuple(NAMES), 0)
    assert all_labels.runner_up.row == 120
    assert "taken from training row 121" in str(all_labels)


# add: forms of labels


def test_add_takes_every_form_of_labels(small):
    X, Y = small
    forms = {
        "array": Y[80:],
        "list": Y[80:].tolist(),
        "sparse": csr_matrix(Y[80:]),
        "frame": as_frame(Y[80:]),
        "frame in another order": as_frame(Y[80:])[["calm", "joy", "anger", "fear"]],
        "sets": [set(labels) for labels in as_label_sets(Y[80:], NAMES)],
    }
    index = LabelsetIndex(X, Y, fitted((X[:80], Y[:80])).index_.scale)
    for form, labels in forms.items():
        model = NLDDClassifier(random_state=0).fit(X[:80], as_frame(Y[:80])).add(X[80:], labels)
        assert_array_equal(model.index_.labelsets, index.labelsets, err_msg=form)
        assert_array_equal(model.index_.counts, index.counts, err_msg=form)


def test_add_single_label_set_to_a_model_of_label_sets(small):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(X, [set(s) for s in as_label_sets(Y, NAMES)])
    assert model.label_names_.tolist() == sorted(NAMES)
    model.add(FAR, [set(), {"fear", "joy", "calm", "anger"}])
    assert_array_equal(model.predict(FAR), [[0, 0, 0, 0], [1, 1, 1, 1]])


@pytest.mark.parametrize("form", [np.array, list, pd.Series], ids=["array", "list", "series"])
def test_add_classes(small, form):
    X, Y = small
    y = np.array(["low", "mid", "high"])[Y[:, 1] + Y[:, 2]]
    model = NLDDClassifier(random_state=0).fit(X, y)
    assert set(model.predict(FAR)) != {"mid"}
    model.add(FAR, form(["mid", "mid"]))
    assert model.predict(FAR).tolist() == ["mid", "mid"]
    assert model.nearest_labelsets(FAR, 1).row.tolist() == [[120], [121]]
    assert_array_equal(model.labelsets_, np.eye(3)[::-1])  # three classes, no new one


# add: what is refused, and leaves the model as it was


def state(model):
    index = model.index_
    return [model.labelsets_, model.rows_, index.labelsets, index.counts, len(index), index.error]


def assert_refused(model, X, bad_X, bad_y, error, message):
    before, theta = state(model), model.predict_theta(X)
    with pytest.raises(error, match=message):
        model.add(bad_X, bad_y)
    # In this order: the compiled search would read beyond the arrays of an index in disorder.
    for value, expected in zip(state(model), before, strict=True):
        assert_array_equal(value, expected)
    assert_array_equal(model.predict_theta(X), theta)
    y = [model.classes_[0]] * 2 if model.single_label_ else NEW
    assert_array_equal(model.add(FAR, y).rows_[-2:], [120, 121])  # no number was used up


REFUSED = {
    "unknown label": (FAR, [{"joy"}, {"envy", "joy"}], InputError, r"not fitted with: \['envy'\]"),
    "unknown column": (
        FAR,
        as_frame(NEW).assign(envy=1, awe=0),
        InputError,
        r"not fitted with: \['envy', 'awe'\]. No classifier knows them: fit again",
    ),
    "column too many": (FAR, np.zeros((2, 5)), InputError, r"not fitted with: \[4\]"),
    "column too few": (FAR, NEW[:, :3], InputError, "has 3 labels, but the model .* with 4"),
    "column missing": (
        FAR,
        as_frame(NEW)[["joy", "calm", "anger"]],
        InputError,
        r"lacks 1 of the 4 label columns that the model knows: \['fear'\]",
    ),
    "classes": (FAR, ["joy", "fear"], InputError, "Y must be 2-D"),
    "counts": (FAR, NEW + 2, InputError, "must hold only 0 and 1; label column 0 holds 2"),
    "one feature too many": (
        np.zeros((2, 5)),
        NEW,
        ValueError,
        "X has 5 features, but NLDDClassifier is expecting 4 features",
    ),
    "fewer labels than rows": (FAR, NEW[:1], ValueError, "inconsistent numbers of samples"),
    "more labels than rows": (FAR[:1], NEW, ValueError, "inconsistent numbers of samples"),
    "no rows": (FAR[:0], NEW[:0], ValueError, r"0 sample\(s\)"),
    "NaN": (FAR * np.nan, NEW, ValueError, "contains NaN"),
}


@pytest.mark.parametrize(("bad_X", "bad_y", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_add_refuses_and_changes_nothing(small, bad_X, bad_y, error, message):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(X, as_frame(Y))
    assert_refused(model, X, bad_X, bad_y, error, message)


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_add_of_features_too_large_changes_nothing(small, form):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(form(X), Y)
    assert_refused(model, form(X), form(FAR * 1e200), NEW, InputError, "too large to measure")


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (["low", "huge"], InputError, r"not fitted with: \['huge'\]"),
        ([1, 0], InputError, r"not fitted with: \[0, 1\]"),
        (["low"], ValueError, "inconsistent numbers of samples"),
        (np.eye(2, 3), ValueError, "1d array"),
    ],
    ids=["unknown", "other type", "too few", "indicator"],
)
def test_add_of_classes_refuses_and_changes_nothing(small, y, error, message):
    X, Y = small
    classes = np.array(["low", "mid", "high"])[Y[:, 1] + Y[:, 2]]
    model = NLDDClassifier(random_state=0).fit(X, classes)
    assert_refused(model, X, FAR, y, error, message)


def test_add_needs_the_columns_of_a_frame_in_their_order(small):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    more = pd.DataFrame(FAR, columns=list("abcd"))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.add(more[list("badc")], NEW)
    assert_array_equal(model.add(more, NEW).rows_[-2:], [120, 121])
    assert_array_equal(model.predict(more), NEW)


def test_add_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NLDDClassifier().add(FAR, NEW)


# max_pairs


@pytest.mark.parametrize("max_pairs", [60, 61, 2000])
def test_max_pairs_that_is_not_reached_takes_every_instance(small, max_pairs):
    model, every = fitted(small, max_pairs=max_pairs), fitted(small, max_pairs=None)
    assert_array_equal(model.beta_, every.beta_)  # T2 has 60 rows
    assert_array_equal(model.pairs_.instance, every.pairs_.instance)
    assert_array_equal(model.predict_theta(small[0]), every.predict_theta(small[0]))


@pytest.mark.parametrize("max_pairs", [20, 59])
def test_max_pairs_draws_so_many_instances_of_the_same_half(small, max_pairs):
    model, every = fitted(small, max_pairs=max_pairs), fitted(small, max_pairs=None)
    instances = np.unique(model.pairs_.instance)
    assert len(instances) == max_pairs
    assert set(instances) < set(every.pairs_.instance)
    partners = {(i, row) for i, row in zip(every.pairs_.instance, every.pairs_.row, strict=True)}
    drawn = set(zip(model.pairs_.instance, model.pairs_.row, strict=True))
    assert drawn == {(i, row) for i, row in partners if i in instances}
    # Only the regression sees fewer rows; classifiers and search have all of them.
    assert not np.array_equal(model.beta_, every.beta_)
    assert_array_equal(model.label_probabilities(small[0]), every.label_probabilities(small[0]))
    assert_array_equal(model.rows_, np.arange(120))


def test_max_pairs_is_drawn_by_the_random_state(small):
    def instances(random_state):
        model = fitted(small, max_pairs=20, random_state=random_state)
        return model.pairs_.instance.tolist()

    assert instances(0) == instances(0)
    assert instances(0) != instances(1)
    halves = random_halves(120, np.random.RandomState(0))
    # Drawn at random, not the first ones.
    assert not set(instances(0)) <= set(halves[1][:40])


def test_max_pairs_keeps_the_weights_of_the_drawn(small):
    X, Y = small
    weight = 1 + np.arange(120) / 60
    model = NLDDClassifier(max_pairs=20, random_state=0).fit(X, Y, sample_weight=weight)
    assert_array_equal(model.pairs_.weight, weight[model.pairs_.instance])


@pytest.mark.parametrize("max_pairs", [0, -1, 2.5, "all"])
def test_max_pairs_that_make_no_sense_are_refused(small, max_pairs):
    with pytest.raises(ValueError, match="The 'max_pairs' parameter of NLDDClassifier must be"):
        fitted(small, max_pairs=max_pairs)


# search_stats_


def test_search_stats_start_at_zero_and_count_every_search(small):
    X, _ = small
    model = fitted(small)
    assert model.search_stats_ == SearchStats(0, 0, 0)
    assert model.search_stats_.share_evaluated == 0
    n = 0
    for search in (
        model.predict,
        model.predict_proba,
        model.predict_theta,
        model.expected_loss,
        model.nearest_labelsets,
        model.explain,
    ):
        search(X[:30])
        n += 30
        stats = model.search_stats_
        assert (stats.n_queries, stats.n_pairs) == (n, n * 120)
        assert 0 < stats.n_evaluated <= stats.n_pairs
        assert 0 < stats.share_evaluated <= 1
        assert stats.share_evaluated == stats.n_evaluated / stats.n_pairs


def test_search_stats_do_not_count_what_is_no_search(small):
    model = fitted(small)
    model.label_probabilities(small[0])
    model.add(FAR, NEW)
    assert model.search_stats_ == SearchStats()


def test_search_stats_tell_how_much_was_skipped(yeast):
    X, Y, _ = yeast
    model = NLDDClassifier(random_state=0).fit(csr_matrix(X[:600]), Y[:600])
    model.predict(csr_matrix(X[600:700]))
    stats = model.search_stats_
    assert stats.n_pairs == 100 * 600
    assert 100 <= stats.n_evaluated < stats.n_pairs / 2


def test_search_stats_count_added_rows_and_fall_to_zero_with_a_new_fit(small):
    X, Y = small
    model = fitted(small)
    model.predict(X[:10])
    model.add(FAR, NEW).predict(X[:10])
    assert model.search_stats_.n_pairs == 10 * 120 + 10 * 122
    assert model.fit(X, Y).search_stats_ == SearchStats()


def test_search_stats_do_not_depend_on_n_jobs(small):
    X, _ = small
    counts = []
    for n_jobs in (None, 2):
        model = fitted(small, n_jobs=n_jobs)
        model.predict(np.tile(X, (10, 1)))  # more than one block
        counts.append(model.search_stats_)
    assert counts[0] == counts[1]
    assert counts[0].n_queries == 1200


def test_prediction_changes_no_attribute(small):
    """As scikit-learn checks it: the counts are in one object, which stays the same one."""
    X, _ = small
    model = fitted(small)
    before = model.__dict__.copy()
    model.predict(X)
    model.predict_proba(X)
    assert model.__dict__ == before
    assert all(model.__dict__[name] is value for name, value in before.items())


# Warm starts


# So exact that warm and cold starts meet.
PRECISE = {"tol": 1e-9, "max_iter": 1000, "C": 0.5}


def halves_of(X):
    return random_halves(len(X), np.random.RandomState(0))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(warm_start=True, **PRECISE),
        LogisticRegression(warm_start=True, solver="newton-cg", **PRECISE),
        SGDClassifier("log_loss", warm_start=True, random_state=3),
    ],
    ids=["lbfgs", "newton-cg", "sgd"],
)
def test_linear_model_on_all_rows_starts_from_that_on_half_of_them(small, estimator):
    X, Y = small
    model = NLDDClassifier(estimator, random_state=0).fit(X, Y)
    first, _ = halves_of(X)
    for j in range(4):
        by_hand = clone(estimator).fit(X[first], Y[first, j])
        half = by_hand.coef_.copy()
        by_hand.fit(X, Y[:, j])
        assert_array_equal(model.estimators_[j].coef_, by_hand.coef_)
        assert_array_equal(model.estimators_[j].n_iter_, by_hand.n_iter_)
        assert (half != by_hand.coef_).all()


def test_warm_start_takes_fewer_steps_to_the_same_coefficients(yeast):
    X, Y, _ = yeast
    X, Y = X[:600], Y[:600, :6]
    warm, cold = (
        NLDDClassifier(LogisticRegression(warm_start=warm_start, **PRECISE), random_state=0)
        for warm_start in (True, False)
    )
    warm.fit(X, Y)
    cold.fit(X, Y)
    steps = [sum(int(m.n_iter_[0]) for m in model.estimators_) for model in (warm, cold)]
    assert steps[0] < steps[1]
    for a, b in zip(warm.estimators_, cold.estimators_, strict=True):
        assert_allclose(a.coef_, b.coef_, rtol=1e-3, atol=1e-4)
        assert not np.array_equal(a.coef_, b.coef_)
    assert_allclose(warm.beta_, cold.beta_)
    assert_array_equal(warm.predict(X), cold.predict(X))


def test_model_of_half_of_the_rows_is_not_changed_by_the_warm_start(small):
    """The pairs were measured with it; it must be the same as without."""
    warm, cold = (
        fitted(small, estimator=LogisticRegression(warm_start=warm_start, **PRECISE))
        for warm_start in (True, False)
    )
    assert_array_equal(warm.pairs_.Dy, cold.pairs_.Dy)
    assert_array_equal(warm.beta_, cold.beta_)


def test_warm_start_leaves_the_given_estimator_alone(small):
    estimator = LogisticRegression(warm_start=True)
    fitted(small, estimator=estimator)
    assert not hasattr(estimator, "coef_")
    fit_before = LogisticRegression(warm_start=True).fit(*[small[0], small[1][:, 0]])
    coefficients = fit_before.coef_.copy()
    model = fitted(small, estimator=fit_before)
    assert_array_equal(fit_before.coef_, coefficients)
    assert_array_equal(
        model.label_probabilities(small[0]),
        fitted(small, estimator=estimator).label_probabilities(small[0]),
    )


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        LogisticRegression(solver="liblinear", random_state=0),
    ],
    ids=["forest", "boosting", "liblinear"],
)
def test_no_other_model_starts_warm(small, estimator):
    """A forest would keep the trees of the half; liblinear has no warm start at all."""
    X, _ = small
    cold = fitted(small, estimator=estimator)
    warm = fitted(small, estimator=clone(estimator).set_params(warm_start=True))
    assert_array_equal(warm.label_probabilities(X), cold.label_probabilities(X))
    assert_array_equal(warm.beta_, cold.beta_)
    if not isinstance(estimator, LogisticRegression):
        assert len(warm.estimators_[0].estimators_) == estimator.n_estimators


def test_label_that_is_constant_in_half_of_the_rows_starts_cold(small):
    X, Y = small
    _, second = halves_of(X)
    rare = np.zeros(120, dtype=int)
    rare[second[::3]] = 1
    common = 1 - rare
    Y = np.column_stack([Y[:, 0], rare, common, np.ones(120, dtype=int)])
    estimator = LogisticRegression(warm_start=True, **PRECISE)
    model = NLDDClassifier(estimator, random_state=0).fit(X, Y)
    for j in (1, 2):
        cold = clone(estimator).fit(X, Y[:, j])
        assert_array_equal(model.estimators_[j].coef_, cold.coef_)
        assert_array_equal(model.estimators_[j].n_iter_, cold.n_iter_)
    cold = clone(estimator).fit(X, Y[:, 0])
    assert not np.array_equal(model.estimators_[0].coef_, cold.coef_)
    assert isinstance(model.estimators_[3], ConstantLabel)


def test_weights_reach_a_warm_start(small):
    X, Y = small
    weight = np.where(np.arange(120) % 2, 3.0, 1.0)
    estimator = LogisticRegression(warm_start=True, **PRECISE)
    model = NLDDClassifier(estimator, random_state=0).fit(X, Y, sample_weight=weight)
    first, _ = halves_of(X)
    by_hand = clone(estimator).fit(X[first], Y[first, 0], sample_weight=weight[first])
    by_hand.fit(X, Y[:, 0], sample_weight=weight)
    assert_array_equal(model.estimators_[0].coef_, by_hand.coef_)


def test_warm_start_means_nothing_to_a_method_of_one_fit(small):
    X, Y = small
    warm = BinaryRelevance(LogisticRegression(warm_start=True), random_state=0).fit(X, Y)
    cold = BinaryRelevance(LogisticRegression(), random_state=0).fit(X, Y)
    assert_array_equal(warm.predict_proba(X), cold.predict_proba(X))


@pytest.mark.parametrize("warm_start", [True, False])
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_fits_do_not_depend_on_workers(small, backend, warm_start):
    X, _ = small
    estimator = LogisticRegression(warm_start=warm_start)
    alone = fitted(small, estimator=estimator, max_pairs=40)
    with joblib.parallel_config(backend):
        model = fitted(small, estimator=estimator, max_pairs=40, n_jobs=2)
    assert_array_equal(model.beta_, alone.beta_)
    for a, b in zip(model.estimators_, alone.estimators_, strict=True):
        assert_array_equal(a.coef_, b.coef_)
        assert_array_equal(a.n_iter_, b.n_iter_)
        assert a.random_state == b.random_state
    assert_array_equal(model.predict_theta(X), alone.predict_theta(X))
