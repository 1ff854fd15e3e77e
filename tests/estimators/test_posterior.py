"""The posterior over labelsets equals plain loops, for every sort of rows and every decision."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone

import reference
from nldd import InputError, NLDDClassifier, load_yeast
from nldd.estimators._posterior import PosteriorWeights, fit_posterior_weights
from problems import CentroidClassifier, random_problem, seeds

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
DECISIONS = ["subset", "hamming", "jaccard", "f1"]


def naive_loss(w, Dx, ll, counts, sizes, truth, weight):
    """Minus the log-probability of the true labelsets, softmax by hand, with its penalty."""
    total = 0.0
    for i in range(len(Dx)):
        z = [
            -w[0] * Dx[i, S] + w[1] * ll[i, S] + w[2] * math.log(counts[S]) + w[3] * sizes[S]
            for S in range(Dx.shape[1])
        ]
        top = max(z)
        total -= weight[i] * (z[truth[i]] - top - math.log(sum(math.exp(v - top) for v in z)))
    units = [Dx.std(axis=1).mean(), ll.std(axis=1).mean(), np.log(counts).std(), np.std(sizes)]
    scaled = [v * (u if u > 0 else 1) for v, u in zip(w, units, strict=True)]
    return total + 0.5 * (0.01 * sum(v * v for v in scaled[:3]) + scaled[3] ** 2)


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_weights_are_the_optimum_of_the_penalised_likelihood(seed):
    rng = np.random.default_rng(seed)
    n, K = rng.integers(6, 25), rng.integers(2, 7)
    Dx, ll = rng.uniform(0.5, 3, size=(n, K)), -rng.exponential(2, size=(n, K))
    counts, sizes = rng.integers(1, 9, size=K), rng.integers(0, 4, size=K)
    if seed % 5 == 0:
        counts[:], sizes[:] = 2, 1  # neither frequency nor size tell anything
    truth = (-Dx + ll + rng.gumbel(size=(n, K))).argmax(axis=1)
    weight = rng.uniform(0.2, 3, size=n) if seed % 2 else np.ones(n)
    found = fit_posterior_weights(Dx, ll, counts, sizes, truth, 7 * weight)
    case = Dx, ll, counts, sizes, truth, weight / weight.mean()
    best = minimize(
        naive_loss,
        np.array(PosteriorWeights()),
        case,
        bounds=[(0, None)] * 3 + [(None, None)],
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-8},
    )
    assert min(found[:3]) >= 0
    assert naive_loss(found, *case) <= best.fun + 1e-6 * (1 + abs(best.fun))


@pytest.mark.parametrize("n_rows", [4, 10, 11])
def test_nothing_is_learned_from_five_rows_or_one_labelset(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    Y = np.arange(2 * n_rows).reshape(-1, 2) % 3 == 0
    for container in (np.asarray, csr_array):
        model = NLDDClassifier(CentroidClassifier(), decision="subset", random_state=0)
        model.fit(container(X * (X > 1.5)), Y)  # words
        assert model.weights_ == PosteriorWeights(0.1, 0.6, 0.4, 0.0)


def test_a_copy_compares_rows_as_the_model_did_that_its_weights_come_from():
    rng = np.random.default_rng(0)
    X, Y = rng.random((100, 20)), rng.integers(0, 2, size=(100, 2))
    words = np.where(X > 0.8, X, 0)
    model = NLDDClassifier(None, decision="subset", random_state=0).fit(words, Y)
    copied = model.fit_copy(X, Y)  # rows that would be numbers, if they were fitted
    assert copied.index_.unit_length


class NaivePosterior:
    """Scores, Q, e and marginals of new rows in plain loops, by the weights of a model."""

    def __init__(self, model, X, Y, scale, words=False, groups=None):
        self.w, self.X, self.Y, self.scale, self.words = model.weights_, X, Y, scale, words
        self.labelsets = sorted({tuple(y) for y in Y.tolist()})
        rows = [tuple(y) for y in Y.tolist()]
        of_groups = range(len(Y)) if groups is None else groups
        pairs = set(zip(of_groups, rows, strict=True))
        times = [sum(one == S for _, S in pairs) for one in self.labelsets]
        self.counts = [rows.count(S) for S in self.labelsets]
        self.e = sum(t == 1 for t in times) / sum(times)

    def place(self, x):
        x = np.asarray(x) / self.scale
        return x / (np.linalg.norm(x) or 1) if self.words else x

    def of(self, x, p):
        z, p = [], [min(max(v, 0.001), 0.999) for v in p]
        for S, n in zip(self.labelsets, self.counts, strict=True):
            members = [row for row, y in zip(self.X, self.Y.tolist(), strict=True) if tuple(y) == S]
            Dx = min(np.linalg.norm(self.place(x) - self.place(row)) for row in members)
            ll = sum(math.log(v if on else 1 - v) for v, on in zip(p, S, strict=True))
            w = self.w
            z.append(-w[0] * Dx + w[1] * ll + w[2] * math.log(n) + w[3] * sum(S))
        Q = np.exp(np.array(z) - max(z))
        return Q / Q.sum()

    def marginals(self, Q, p):
        p = np.clip(p, 1e-6, 1 - 1e-6)
        has_empty = not any(self.labelsets[0])
        c = 1.0 if has_empty else 1 / (1 - np.prod(1 - p))
        seen = sum(q * np.array(S) for q, S in zip(Q, self.labelsets, strict=True))
        return (1 - self.e) * seen + self.e * c * p


@pytest.mark.parametrize("seed", seeds(40, 2000))
def test_posterior_equals_plain_loops(seed):
    X, Y, new = random_problem(seed)
    container = csr_array if seed % 2 else np.asarray
    model = NLDDClassifier(CentroidClassifier(), decision="subset", random_state=seed)
    model.fit(container(X), Y)
    filled = np.count_nonzero(X) / X.size
    words = filled < 0.25
    scale = [1 / (math.log((1 + len(X)) / (1 + n)) + 1) for n in (X != 0).sum(axis=0)]
    naive = NaivePosterior(model, X, Y, scale if words else reference.scales(X), words)
    P = reference.centroid_probabilities(X, Y, new)
    size = 1e-6 * (1 + model.weights_.distance * np.abs(np.vstack([X, new])).max())
    assert_allclose(model.unseen_share_, naive.e)
    assert_array_equal(model.labelsets_, naive.labelsets)

    k = len(naive.labelsets)
    Q = np.array([naive.of(x, p) for x, p in zip(new, P, strict=True)])
    M = np.array([naive.marginals(q, p) for q, p in zip(Q, P, strict=True)])
    best = model.labelset_posterior(container(new), k)
    at = [[naive.labelsets.index(tuple(S)) for S in row] for row in best.labelsets.tolist()]
    assert_allclose(
        best.probability, (1 - naive.e) * np.take_along_axis(Q, np.array(at), 1), atol=size
    )
    assert (np.diff(best.probability, axis=1) <= 0).all()
    assert_allclose(best.P, P, atol=1e-12)
    assert_allclose(np.abs(best.labelsets - M[:, np.newaxis]).mean(axis=2), best.theta, atol=size)
    assert (Y[best.row] == best.labelsets).all()
    assert_allclose(model.predict_proba(container(new)), M.clip(0, 1), atol=size)

    Y_pred = model.predict(container(new))
    assert_allclose(
        [Q[i, naive.labelsets.index(tuple(y))] for i, y in enumerate(Y_pred.tolist())],
        Q.max(axis=1),
        atol=size,
    )
    assert_allclose(model.predict_theta(container(new)), np.abs(Y_pred - M).mean(axis=1), atol=size)
    found = model.exact_match_probability(container(new))
    assert_allclose(found, (1 - naive.e) * Q.max(axis=1), atol=size)
    for decision in DECISIONS:
        model.set_params(decision=decision)
        Y_pred = model.predict(container(new))
        explained = model.explain(container(new))
        for i, one in enumerate(explained):
            labels = tuple(int(v) for v in Y_pred[i])
            assert one.labels == tuple(np.flatnonzero(labels))
            assert one.times_seen == Y.tolist().count(list(labels))
            assert_allclose(one.theta, np.abs(Y_pred[i] - M[i]).mean(), atol=size)
            assert (one.parts is None) == (one.row is None) == (one.times_seen == 0)
            assert one.runner_up.labels != one.labels
            if one.times_seen:
                ahead = sum(one.parts) - sum(one.runner_up.parts)
                q, other = one.probability, one.runner_up.probability
                assert naive.e == 1 or math.isclose(ahead, math.log(q / other), abs_tol=1e-4 + size)


@pytest.fixture(scope="module")
def halves():
    X, Y, _ = load_yeast()
    return X[:500], Y[:500], X[500:700], Y[500:700]


def as_words(X):
    return csr_array(np.where(X > 0.1, X, 0))


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_form_of_the_rows_and_threads_change_nothing(halves, decision, words):
    X, Y, new, _ = halves
    if words:
        X, new = as_words(X).toarray(), as_words(new).toarray()
    model = NLDDClassifier(None, decision=decision, random_state=0).fit(X, Y)
    expected = model.predict(new)
    many = clone(model).set_params(n_jobs=2).fit(csr_array(X), Y)
    assert_array_equal(many.predict(csr_array(new)), expected)
    assert_allclose(many.predict_proba(new), model.predict_proba(new), atol=1e-6)
    single = clone(model).fit(X.astype(np.float32), Y)
    assert (single.predict(new.astype(np.float32)) != expected).mean() < 0.01
    one_by_one = np.vstack([model.predict(new[[i]]) for i in range(40)])
    assert_array_equal(one_by_one, expected[:40])


def test_each_decision_is_the_best_at_what_it_aims_at(halves):
    from nldd.metrics import PAPER_MEASURES, evaluate

    X, Y, new, Y_new = halves
    model = NLDDClassifier(random_state=0, decision="f1").fit(X, Y)
    aims = dict(zip(["hamming", "subset", "jaccard", "f1"], PAPER_MEASURES, strict=True))
    found = {
        decision: evaluate(Y_new, model.set_params(decision=decision).predict(new), PAPER_MEASURES)
        for decision in aims
    }
    nearest = NLDDClassifier(random_state=0).fit(X, Y).predict(new)
    for decision, measure in aims.items():
        sign = 1 if measure.greater_is_better else -1
        value = sign * found[decision][measure.key]
        assert value > sign * measure(Y_new, nearest)
        assert value >= max(sign * scores[measure.key] for scores in found.values()) - 0.01


@pytest.mark.parametrize("decision", ["hamming", "f1"])
def test_labelsets_that_training_has_not_seen_can_be_predicted(decision):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    Y = (X + 0.1 * rng.normal(size=X.shape) > 0).astype(int)  # 4,096 labelsets
    model = NLDDClassifier(None, decision=decision, random_state=0).fit(X[:300], Y[:300])
    assert model.unseen_share_ > 0.8
    Y_pred = model.predict(X[300:])
    seen = {row.tobytes() for row in model.labelsets_.astype(np.int64)}
    new = np.array([row.tobytes() not in seen for row in Y_pred])
    assert new.mean() > 0.5
    assert (Y_pred == Y[300:]).all(axis=1)[new].any()
    text = str(model.explain(X[300:])[int(np.argmax(new))])
    assert "never seen" in text
    probability = model.exact_match_probability(X[300:])
    assert ((probability >= 0) & (probability <= 1)).all()


def test_copies_of_a_row_count_once_if_they_are_a_group():
    X, Y, _ = random_problem(3)
    X, Y = np.vstack([X, X]), np.vstack([Y, Y])
    groups = np.tile(np.arange(len(X) // 2), 2)
    model = NLDDClassifier(CentroidClassifier(), decision="subset", random_state=0)
    model.fit(X, Y, groups=groups)
    assert model.unseen_share_ == NaivePosterior(model, X, Y, 1, groups=groups).e
    assert model.unseen_share_ == model.fit_copy(X, Y, groups=groups).unseen_share_
    assert clone(model).fit(X, Y).unseen_share_ == 0


def test_rows_of_weight_0_are_not_there_and_other_weights_count(halves):
    X, Y, new, _ = halves
    weight = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    model = NLDDClassifier(None, decision="subset", random_state=0)
    model.fit(X, Y, sample_weight=weight)
    some = weight > 0
    same = clone(model).fit(X[some], Y[some], sample_weight=weight[some])
    assert_array_equal(same.labelsets_, model.labelsets_)
    assert_allclose(same.weights_, model.weights_, rtol=1e-6)
    assert_array_equal(same.predict(new), model.predict(new))
    assert clone(model).fit(X[some], Y[some]).weights_ != model.weights_
    n_S = [weight[(Y == S).all(axis=1)].sum() for S in model.labelsets_]
    found = model.labelset_posterior(new[:1], k=len(n_S))
    by_frequency = found.parts.frequency[0] / model.weights_.frequency
    at = [model.labelsets_.tolist().index(S) for S in found.labelsets[0].tolist()]
    assert_allclose(by_frequency, np.log(np.array(n_S)[at] / weight[some].mean()), atol=1e-9)


def test_added_rows_are_as_good_as_those_of_a_copy(halves):
    X, Y, new, _ = halves
    model = NLDDClassifier(None, decision="subset", standardize="none", random_state=0)
    model.fit(X[:400], Y[:400])
    odd = np.ones((1, Y.shape[1]), dtype=int)
    model.add(X[400:], Y[400:]).add(new[:1], odd)
    assert model.labelset_posterior(new[:1], k=len(model.labelsets_)).Dx.min() < 1e-6
    rows, labels = np.vstack([X, new[:1]]), np.vstack([Y, odd])
    copied = model.fit_copy(rows, labels)
    assert_array_equal(model.labelsets_, copied.labelsets_)
    assert model.unseen_share_ == copied.unseen_share_
    assert model.weights_ == copied.weights_
    assert model.n_added_ == 101


def test_classes_are_the_most_probable_by_every_decision(halves):
    X, Y, new, _ = halves
    y = np.array(["low", "mid", "high"])[Y[:, 1] + Y[:, 2]]
    model = NLDDClassifier(decision="subset", random_state=0).fit(X, y)
    assert model.unseen_share_ == 0
    P = model.predict_proba(new)
    assert_allclose(P.sum(axis=1), 1)
    for decision in DECISIONS:
        assert_array_equal(
            model.set_params(decision=decision).predict(new), model.classes_[P.argmax(axis=1)]
        )


def test_what_the_other_rule_has_is_refused(halves):
    X, Y, new, _ = halves
    nearest = NLDDClassifier(None, random_state=0).fit(X, Y)
    for method in (nearest.exact_match_probability, nearest.labelset_posterior):
        with pytest.raises(InputError, match="decision"):
            method(new)
    with pytest.raises(InputError, match="fit again"):
        nearest.set_params(decision="f1").predict(new)
    subset = NLDDClassifier(None, decision="subset", random_state=0).fit(X, Y)
    with pytest.raises(InputError, match="labelset_posterior"):
        subset.nearest_labelsets(new)
    with pytest.raises(InputError, match="k must be"):
        subset.labelset_posterior(new, 0)
    with pytest.raises(InputError, match="fit again"):
        subset.set_params(decision="nearest").predict(new)
    assert not hasattr(subset, "beta_")
    assert not hasattr(subset.set_params(decision="nearest").fit(X, Y), "weights_")
