"""Every decision against the enumeration of all labelsets, of up to ten labels."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nldd.estimators._decisions import Unseen, best_f1, best_hamming, best_jaccard, marginals

NEAREST = 1e-6


def all_labelsets(n_labels):
    return np.array(list(product([0, 1], repeat=n_labels)), dtype=np.int8)


def random_posterior(rng, most_labels=8):
    """Q, distinct labelsets that were seen, P and e; with ties, certain labels, e of 0 and 1."""
    n_labels = rng.integers(1, most_labels + 1)
    sets = all_labelsets(n_labels)
    if rng.random() < 0.5:
        sets = sets[sets.any(axis=1)]
    labelsets = sets[np.sort(rng.permutation(len(sets))[: rng.integers(1, 60)])]
    n = 3
    Q = rng.dirichlet(np.full(len(labelsets), rng.choice([0.1, 1.0])), size=n)
    if rng.random() < 0.3:  # ties
        Q = np.ones_like(Q) / len(labelsets)
    P = rng.random((n, n_labels)) ** rng.choice([0.3, 1, 4])
    if rng.random() < 0.3:
        P = P.round(1)
    return Q, labelsets, P, rng.choice([0.0, 1.0, rng.random()])


def naive_mixture(Q, labelsets, P, e):
    """The probability of every labelset of one row: seen ones, and independent labels."""
    sets = all_labelsets(len(P))
    P = P.clip(NEAREST, 1 - NEAREST)
    unseen = np.array(
        [np.prod([p if y else 1 - p for p, y in zip(P, S, strict=True)]) for S in sets]
    )
    if all(S.any() for S in labelsets):
        unseen[~sets.any(axis=1)] = 0
        unseen /= unseen.sum()
    number = {S.tobytes(): i for i, S in enumerate(sets)}
    mixture = e * unseen
    for S, q in zip(labelsets, Q, strict=True):
        mixture[number[S.tobytes()]] += (1 - e) * q
    return sets, unseen, mixture


def jaccard(h, S):
    return (h & S).sum() / (h | S).sum() if (h | S).any() else 1.0


def f1(h, S):
    return 2 * (h & S).sum() / (h.sum() + S.sum()) if (h | S).any() else 1.0


def expected(similarity, h, sets, probability):
    return sum(p * similarity(h, S) for S, p in zip(sets, probability, strict=True))


def naive_jaccard_value(h, Q, labelsets, P, e):
    """Expected accuracy, in which the 50 most probable labelsets stand for all that were seen."""
    sets, unseen, _ = naive_mixture(Q, labelsets, P, e)
    top = np.argsort(-Q, kind="stable")[:50]
    seen = expected(jaccard, h, labelsets[top], Q[top]) / Q[top].sum()
    return (1 - e) * seen + e * expected(jaccard, h, sets, unseen)


def cases(n, most_labels=8):
    rng = np.random.default_rng(11)
    for _ in range(n):
        Q, labelsets, P, e = random_posterior(rng, most_labels)
        for i in range(len(Q)):
            yield Q, labelsets, P, e, i


def test_marginals_and_hamming_equal_enumeration():
    for Q, labelsets, P, e, i in cases(300):
        sets, _, mixture = naive_mixture(Q[i], labelsets, P[i], e)
        found = marginals(Q, labelsets, P, e)[i]
        assert_allclose(found, mixture @ sets, rtol=0, atol=1e-12)
        clear = np.abs(found - 0.5) > 1e-9
        assert_array_equal(best_hamming(Q, labelsets, P, e)[i, clear], (found > 0.5)[clear])


def test_f1_reaches_the_best_of_all_labelsets():
    for Q, labelsets, P, e, i in cases(150, most_labels=6):
        sets, _, mixture = naive_mixture(Q[i], labelsets, P[i], e)
        values = [expected(f1, h, sets, mixture) for h in sets]
        found = best_f1(Q, labelsets, P, e)[i]
        assert_allclose(expected(f1, found, sets, mixture), max(values), rtol=0, atol=1e-11)


def test_f1_of_ten_labels_reaches_the_best():
    for Q, labelsets, P, e, i in list(cases(20, most_labels=10))[::7]:
        sets, _, mixture = naive_mixture(Q[i], labelsets, P[i], e)
        both, sizes = sets.astype(float) @ sets.T, sets.sum(axis=1)
        total = sizes[:, np.newaxis] + sizes
        F = np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0)
        values = F @ mixture
        number = int("".join(map(str, best_f1(Q, labelsets, P, e)[i])), 2)
        assert_allclose(values[number], values.max(), rtol=0, atol=1e-11)


def test_jaccard_is_the_best_of_its_candidates():
    for Q, labelsets, P, e, i in cases(120, most_labels=6):
        order = np.argsort(-marginals(Q, labelsets, P, e)[i], kind="stable")
        top = np.argsort(-Q[i], kind="stable")[:50]
        likeliest = np.zeros((len(order), len(order)), dtype=np.int8)
        for k in range(len(order)):
            likeliest[k, order[: k + 1]] = 1
        candidates = [*labelsets[top], (P[i] > 0.5).astype(np.int8), *likeliest]
        values = [naive_jaccard_value(h, Q[i], labelsets, P[i], e) for h in candidates]
        found = best_jaccard(Q, labelsets, P, e)[i]
        assert any((found == h).all() for h in candidates)
        assert_allclose(
            naive_jaccard_value(found, Q[i], labelsets, P[i], e), max(values), rtol=0, atol=1e-11
        )


def test_probability_of_an_unseen_labelset_is_that_of_independent_labels():
    for Q, labelsets, P, e, i in cases(100):
        sets, unseen, _ = naive_mixture(Q[i], labelsets, P[i], e)
        found = [Unseen.of(P[[i]], labelsets).probability(S[np.newaxis])[0] for S in sets]
        assert_allclose(found, unseen, rtol=1e-9, atol=1e-12)


def test_many_labels_that_are_nearly_certain_overflow_nowhere():
    rng = np.random.default_rng(3)
    P = np.vstack([np.zeros(200), np.ones(200), rng.random(200)])
    labelsets = (rng.random((30, 200)) < 0.02).astype(np.int8)
    labelsets[0] = 1
    Q = np.full((3, 30), 1 / 30)
    with np.errstate(all="raise", under="ignore"):
        for decide in (best_hamming, best_f1, best_jaccard):
            Y = decide(Q, labelsets, P, 0.5)
            assert Y.shape == P.shape
        assert best_f1(Q, labelsets, P, 1.0)[1].all()
        assert best_jaccard(Q, labelsets, P, 1.0)[1].all()


@pytest.mark.parametrize("decide", [best_f1, best_jaccard])
def test_sure_of_one_labelset_all_decisions_take_it(decide):
    labelsets = all_labelsets(5)
    Q = np.eye(32)
    assert_array_equal(decide(Q, labelsets, np.full((32, 5), 0.5), 0.0), labelsets)
