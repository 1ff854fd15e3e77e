"""Base classifiers: which is chosen and why, weights that reach them, answers that they owe."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import BernoulliNB

from nldd import METHODS, InputError, NLDDClassifier, load_yeast
from nldd._base import random_halves
from nldd.estimators._base_classifiers import CANDIDATES, ConstantLabel
from nldd.linear._logistic import MultiLabelLogisticRegression
from problems import random_problem

WITH_BASE = ("BR", "SMBR", "NLDD", "CC", "ECC", "LP", "RAKEL")
# On made-up data one of the distances may have no weight.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


@pytest.fixture(scope="module")
def rings():
    """Two labels that are inside and outside of a ring: no line tells them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    r = np.hypot(*X.T)
    return X, np.column_stack([r < 1, r > 0.8, X[:, 0] > 0]).astype(int)


@pytest.fixture(scope="module")
def texts():
    """Short and long rows of words; what counts is the share of a word, not its number."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(200, 0.05), size=3)
    which, length = rng.integers(0, 3, size=400), rng.choice([5, 80], size=400)
    rows = [rng.multinomial(n, topics[w]) for n, w in zip(length, which, strict=True)]
    return csr_array(np.array(rows, dtype=float)), np.eye(3, dtype=int)[which]


def test_brier_scores_are_those_of_the_candidates_on_the_other_half(rings):
    X, Y = rings
    model = NLDDClassifier(random_state=3).fit(X, Y)
    first, second = random_halves(300, np.random.RandomState(3))
    assert model.chosen_.n_rows == 150
    assert list(model.chosen_.brier) == list(CANDIDATES["numbers"])
    for name, candidate in CANDIDATES["numbers"].items():
        fitted = MultiLabelLogisticRegression(**candidate.get_params()).fit(X[first], Y[first])
        expected = np.mean((fitted.predict_proba(X[second]) - Y[second]) ** 2)
        assert model.chosen_.brier[name] == pytest.approx(expected, abs=1e-5)


def test_candidates_depend_on_the_numbers_not_on_their_form(texts):
    X, Y = texts
    sparse, dense = (NLDDClassifier(random_state=0).fit(rows, Y) for rows in (X, X.toarray()))
    assert set(sparse.chosen_.brier) == {"logistic", "normalised", "tfidf"}
    assert sparse.chosen_.name == dense.chosen_.name != "logistic"
    assert_allclose(
        list(sparse.chosen_.brier.values()), list(dense.chosen_.brier.values()), rtol=1e-3
    )


@pytest.mark.parametrize("key", WITH_BASE)
def test_auto_is_the_method_with_the_chosen_base(rings, key):
    X, Y = rings
    auto = METHODS[key].default(estimator="auto", random_state=0).fit(X, Y)
    base = auto.chosen_.estimator
    assert auto.chosen_.name == "rbf"
    assert base.get_params() == CANDIDATES["numbers"]["rbf"].get_params()
    if key in ("CC", "ECC"):  # as their default has it
        base = MultiLabelLogisticRegression(**{**base.get_params(), "intercept": "penalised"})
    alone = METHODS[key].default(estimator=base, random_state=0)
    if key in ("BR", "SMBR", "CC", "LP"):  # where no seed comes after the choice
        assert_array_equal(auto.predict(X), alone.fit(X, Y).predict(X))
    if key == "NLDD":
        assert_allclose(auto.predict_theta(X), alone.fit(X, Y).predict_theta(X), rtol=1e-3)


@pytest.mark.parametrize("key", WITH_BASE)
def test_candidates_of_ones_own(rings, key):
    X, Y = rings
    mine = {"bayes": BernoulliNB(), "kernel": MultiLabelLogisticRegression(features="rbf", C=5)}
    model = METHODS[key].default(estimator=mine, random_state=0).fit(X, Y)
    assert model.chosen_.name == "kernel"
    assert model.chosen_.brier["kernel"] < model.chosen_.brier["bayes"]


def test_the_first_of_equals_is_chosen(rings):
    X, Y = rings
    twins = {name: MultiLabelLogisticRegression() for name in ("b", "a")}
    assert NLDDClassifier(twins, random_state=0).fit(X, Y).chosen_.name == "b"


class NoNumbers(MultiLabelLogisticRegression):
    def predict_proba(self, X):
        return np.full((X.shape[0], 3), np.nan)


def test_probabilities_that_are_no_numbers_are_the_worst(rings):
    X, Y = rings
    mine = {"none": NoNumbers(), "plain": MultiLabelLogisticRegression()}
    model = NLDDClassifier(mine, random_state=0).fit(X, Y)
    assert (model.chosen_.name, model.chosen_.brier["none"]) == ("plain", 1.0)
    with pytest.raises(InputError, match="from 0 to 1; got nan for label"):
        NLDDClassifier({"none": NoNumbers()}, random_state=0).fit(X, Y)


def test_choice_is_forgotten_with_the_parameter(rings):
    X, Y = rings
    model = NLDDClassifier("auto", random_state=0).fit(X, Y)
    model.set_params(estimator=None).fit(X, Y)
    assert not hasattr(model, "chosen_")
    assert model.estimators_[0].features_ is None


def test_refit_keeps_the_choice(rings):
    X, Y = rings
    model = NLDDClassifier("auto+trees", decision="f1", random_state=0).fit(X, Y)
    other = model.fit_copy(X[:100], Y[:100])
    assert other.chosen_ is model.chosen_
    assert other.weights_ == model.weights_
    assert [type(each) for each in other.estimators_] == [type(each) for each in model.estimators_]


@pytest.mark.parametrize("key", WITH_BASE)
def test_auto_takes_the_smallest_problems(key):
    """Few rows, constant labels, equal rows: no error, and labels that are there."""
    for seed in range(8):
        X, Y, new = random_problem(seed)
        model = METHODS[key].default(estimator="auto", random_state=0).fit(X, Y)
        assert set(np.unique(model.predict(new))) <= {0, 1}
    if key != "NLDD":
        one = METHODS[key].default(estimator="auto").fit([[1.0, 2.0]], [[1, 0]])
        assert one.predict([[1.0, 2.0]]).tolist() == [[1, 0]]
        assert one.chosen_.brier == {}


def test_trees_are_averaged_where_they_help_on_the_other_half():
    X, Y, _ = load_yeast()
    X, Y = X[:400], Y[:400]
    model = NLDDClassifier("auto+trees", random_state=0).fit(X, Y)
    brier, name = dict(model.chosen_.brier), model.chosen_.name
    with_trees = brier.pop(f"{name} with trees")
    assert model.chosen_.with_trees == (with_trees < brier[name])
    plain = NLDDClassifier("auto", random_state=0).fit(X, Y)
    assert brier == plain.chosen_.brier
    assert ("with extra trees" in str(model.chosen_).splitlines()[0]) == model.chosen_.with_trees


def test_trees_and_the_chosen_base_count_alike(rings):
    X, Y = rings
    model = NLDDClassifier("auto+trees", random_state=0).fit(X, Y)
    # Whether they help here or not, a refit takes them if that was found.
    model.chosen_ = replace(model.chosen_, with_trees=True)
    model = model.fit_copy(X, Y)
    base, trees = model.estimators_
    assert isinstance(trees, ExtraTreesClassifier)
    of_trees = np.transpose([p[:, 1] for p in trees.predict_proba(X)])
    expected = (base.predict_proba(X) + of_trees) / 2
    assert_allclose(model.label_probabilities(X), expected)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ({}, "must be a dict of at least one, by name"),
        ({"a": 3}, "must be a dict of at least one, by name"),
        ({1: LogisticRegression()}, "must be a dict of at least one, by name"),
        ({"p": Perceptron(), "q": LogisticRegression()}, "'p' has no predict_proba"),
    ],
)
def test_candidates_that_cannot_be_compared(rings, estimator, message):
    with pytest.raises(InputError, match=message):
        NLDDClassifier(estimator).fit(*rings)


def test_only_nldd_takes_trees(rings):
    with pytest.raises(ValueError, match="'estimator' parameter of BinaryRelevance must be"):
        METHODS["BR"].default(estimator="auto+trees").fit(*rings)


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"random_state": 0, **parameters}).fit(X, Y)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        LogisticRegression(random_state=0),
    ],
    ids=["forest", "boosting", "logistic"],
)
def test_no_model_starts_warm(small, estimator):
    """A forest would keep the trees of the half."""
    X, _ = small
    cold = fitted(small, estimator=estimator)
    warm = fitted(small, estimator=clone(estimator).set_params(warm_start=True))
    assert_array_equal(warm.label_probabilities(X), cold.label_probabilities(X))
    assert_array_equal(warm.beta_, cold.beta_)
    if not isinstance(estimator, LogisticRegression):
        assert len(warm.estimators_[0].estimators_) == estimator.n_estimators


def test_label_that_is_constant_in_half_of_the_rows_is_learned_from_all(small):
    X, Y = small
    _, second = random_halves(len(X), np.random.RandomState(0))
    rare = np.zeros(120, dtype=int)
    rare[second[::3]] = 1
    Y = np.column_stack([Y[:, 0], rare, 1 - rare, np.ones(120, dtype=int)])
    model = NLDDClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    for j in (0, 1, 2):
        alone = LogisticRegression().fit(X, Y[:, j])
        assert_array_equal(model.estimators_[j].coef_, alone.coef_)
    assert isinstance(model.estimators_[3], ConstantLabel)


WEIGHTED = {
    # What the method's first classifier of label 2 was fitted to: its rows, and labels before it.
    "BR": (lambda model: model.estimators_[0].coef_[2], []),
    "SMBR": (lambda model: model.estimators_[0].coef_[2], []),
    "NLDD": (lambda model: model.estimators_[0].coef_[2], []),
    "CC": (lambda model: model.estimators_[0].coef_[2, :6], [0, 1]),
    "ECC": (lambda model: model.estimators_[0].links[0].coef_[2, :6], [0, 1]),
}


@pytest.mark.parametrize("key", WEIGHTED)
def test_weights_go_with_their_rows_to_the_base_classifiers(small, key):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    given = {"estimator": None, "random_state": 0} | ({"order": None} if key == "ECC" else {})
    model = METHODS[key].default(**given).fit(X, Y, sample_weight=weight)
    if key == "ECC":
        rows = rows[model.estimators_[0].rows]
    if key == "NLDD":
        assert_allclose(model.pairs_.weight, weight[model.pairs_.instance])
    found, before = WEIGHTED[key]
    alone = LogisticRegression(solver="newton-cholesky", tol=1e-12)
    if key in ("CC", "ECC"):  # whose default has a penalty on the intercept
        alone.set_params(solver="liblinear", max_iter=10_000)
    alone.fit(np.hstack([X, Y[:, before]])[rows], Y[rows, 2], sample_weight=weight[rows])
    assert_allclose(found(model), alone.coef_[0], rtol=1e-6)


def test_weights_reach_the_forest(small):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    model = METHODS["RFPCT"].default(n_estimators=8, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    forest = RandomForestClassifier(8, random_state=model.estimators_[0].random_state)
    forest.fit(X[rows], Y[rows], sample_weight=weight[rows])
    expected = np.column_stack([label[:, 1] for label in forest.predict_proba(X)])
    assert_allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("key", ["BR", "SMBR", "CC", "LP"])
def test_no_probabilities_where_the_base_has_none(small, key):
    model = METHODS[key].default(estimator=Perceptron(), random_state=0).fit(*small)
    assert not hasattr(model, "predict_proba")
    assert model.score(*small) > 0.25  # the share of the most frequent labelset


class Wrong(LogisticRegression):
    """A classifier with answers of another shape."""

    def __init__(self, method="predict_proba", cut=(slice(None),), max_iter=100):
        super().__init__(max_iter=max_iter)
        self.method, self.cut = method, cut

    def predict_proba(self, X):
        P = super().predict_proba(X)
        return P[self.cut] if self.method == "predict_proba" else P

    def predict(self, X):
        y = super().predict(X)
        return y[self.cut] if self.method == "predict" else y


class WrongForest(RandomForestClassifier):
    def __init__(self, change=None, n_estimators=3, random_state=0):
        super().__init__(n_estimators=n_estimators, random_state=random_state)
        self.change = change

    def predict_proba(self, X):
        return self.change(super().predict_proba(X))


ROWS, COLUMN = (slice(1, None),), (slice(None), slice(1, None))
WRONG = {
    "NLDD, rows": ("NLDD", Wrong(cut=ROWS)),
    "NLDD, columns": ("NLDD", Wrong(cut=COLUMN)),
    "NLDD, one number a row": ("NLDD", Wrong(cut=(slice(None), 1))),
    "NLDD, a label too few": ("NLDD", WrongForest(lambda P: P[1:])),
    "NLDD, no label": ("NLDD", WrongForest(lambda P: [])),
    "NLDD, rows of one label": ("NLDD", WrongForest(lambda P: [P[0][1:], *P[1:]])),
    "NLDD, columns of one label": ("NLDD", WrongForest(lambda P: [P[0][:, 1:], *P[1:]])),
    "NLDD, columns of all": ("NLDD", WrongForest(lambda P: np.column_stack(P)[:, :3])),
    "BR, columns": ("BR", Wrong(cut=COLUMN)),
    "CC, columns": ("CC", Wrong(cut=COLUMN)),
    "CC, rows": ("CC", Wrong("predict", cut=(slice(1),))),
    "LP, columns": ("LP", Wrong(cut=COLUMN)),
    "LP, rows": ("LP", Wrong("predict", cut=ROWS)),
    "RAkEL, rows": ("RAKEL", Wrong("predict", cut=(slice(1),))),
}


@pytest.mark.parametrize(("key", "base"), WRONG.values(), ids=WRONG)
def test_answers_of_another_shape_name_the_classifier(small, key, base):
    message = rf"of the base classifier {type(base).__name__}\(.*must give an array of shape"
    method = METHODS[key].default(estimator=base, random_state=0)
    with pytest.raises(InputError, match=f"(?s){message}"):
        method.fit(*small).predict_proba(small[0])
