"""Dask arrays, fitted and predicted by blocks: the same as on one machine, wherever they are."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.linear_model import LogisticRegression

from nldd import BinaryRelevance, InputError, NLDDClassifier, SubsetMapping, save_model
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.search._distances import feature_scale
from nldd.search._index import IN_FEATURES, IN_LABELS, LabelsetIndex, Score
from problems import random_problem, seeds

da = pytest.importorskip("dask.array", reason="Dask is not installed: nldd[dask]")
from nldd.distributed._search import ShardedIndex  # noqa: E402 (nothing of this runs without it)
from nldd.distributed._training import DaskTraining, InBlocks  # noqa: E402

METHODS = ["predict", "predict_proba", "predict_theta", "expected_loss", "label_probabilities"]
EXACTLY = MultiLabelLogisticRegression(tol=1e-9)
old_form = pytest.param(csr_matrix, marks=pytest.mark.slow)
forms = pytest.mark.parametrize("form", [np.asarray, old_form, csr_array])


@pytest.fixture(autouse=True)
def threads():
    """Work is done here, whether or not other tests have a cluster."""
    import dask

    with dask.config.set(scheduler="threads"):
        yield


def in_blocks(X, rows=50):
    """A Dask array of blocks that are what X is."""
    if not issparse(X):
        return da.from_array(X, chunks=(rows, -1))
    dense = da.from_array(X.toarray(), chunks=(rows, -1))
    return dense.map_blocks(type(X), dtype=X.dtype, meta=type(X)((0, X.shape[1])))


def random_chunks(n, rng):
    """Sizes of blocks, of which some have one row, or none."""
    cuts = np.sort(rng.integers(0, n + 1, size=rng.integers(0, 5)))
    return tuple(np.diff(cuts, prepend=0, append=n).tolist())


def assert_same_neighbors(found, expected):
    assert_array_equal(found.row, expected.row)
    assert_array_equal(found.labelset, expected.labelset)
    assert_allclose(found.Dx, expected.Dx, rtol=1e-12)
    assert_allclose(found.Dy, expected.Dy, rtol=1e-12)


# The index in shards


@pytest.mark.parametrize("seed", seeds(10, 40))
def test_shards_answer_as_one_index_ties_and_duplicates_included(seed):
    X, Y, queries = random_problem(seed)
    rng = np.random.default_rng(seed)
    P = rng.choice([0.0, 0.25, 0.5, 1.0], size=(len(queries), Y.shape[1]))  # far from distinct
    scale = feature_scale(X)
    one = LabelsetIndex(X, Y, scale)
    chunks = random_chunks(len(X), rng)
    shards = ShardedIndex(DaskTraining(in_blocks(X, chunks), in_blocks(Y, chunks)), scale)
    assert len(shards) == len(one)
    assert_array_equal(shards.labelsets, one.labelsets)
    assert_array_equal(shards.counts, one.counts)
    for score in (IN_FEATURES, IN_LABELS, Score(0.3, 1.2), Score(0.5, 0.7, product=True)):
        for k in range(1, len(one.counts) + 1):
            expected = one.query(queries, P, score, k)
            assert_same_neighbors(shards.query(queries, P, score, k), expected)


def test_equal_rows_of_several_shards_give_the_first_one():
    X, Y = np.ones((6, 2)), np.array([[0, 1], [1, 0], [1, 0], [1, 0], [0, 1], [1, 0]])
    shards = ShardedIndex(DaskTraining(in_blocks(X, 2), in_blocks(Y, 2)), np.ones(2))
    near = shards.query(np.ones((1, 2)), np.array([[0.9, 0.1]]), Score(1, 1), k=2)
    assert near.row.tolist() == [[1, 0]]
    with pytest.raises(InputError, match="k must be from 1 to 2"):
        shards.query(np.ones((1, 2)), np.array([[0.9, 0.1]]), Score(1, 1), k=3)
    with pytest.raises(InputError, match=r"from 0 to 1; got 1\.5 for label 1"):
        shards.query(np.ones((1, 2)), np.array([[0.9, 1.5]]), Score(1, 1))


@forms
@pytest.mark.parametrize("standardize", ["numeric", "all", "none"])
@pytest.mark.parametrize("seed", range(5))
def test_scale_of_blocks_is_that_of_all_rows(form, standardize, seed):
    rng = np.random.default_rng(seed)
    n = 60
    X = np.column_stack(
        [
            rng.normal(1e6, 1, size=n),
            rng.integers(0, 2, size=n),
            rng.choice([-1.0, 1.0], size=n),
            np.repeat([1.0, 2.0, 3.0], n // 3),  # constant in each of the blocks
            np.full(n, 0.1),
            rng.choice([-1.0, 0.0, 1.0], size=n),
            np.append(np.zeros(n - 1), 5.0),
        ]
    )
    T = DaskTraining(in_blocks(form(X), 20), in_blocks(np.ones((n, 1)), 20))
    expected = feature_scale(form(X), standardize)
    assert_allclose(T.scale(standardize), expected, rtol=1e-9)


# Logistic regression


@forms
@pytest.mark.parametrize("seed", seeds(3, 8))  # three settings of class_weight
def test_logistic_regressions_of_blocks_are_those_of_all_rows(form, seed):
    rng = np.random.default_rng(seed)
    n, d, n_labels = rng.integers(100, 400), rng.integers(1, 30), rng.integers(1, 25)
    X = np.where(rng.random((n, d)) < 0.6, rng.random((n, d)), 0.0) * rng.choice(
        [0.1, 1, 9], size=d
    )
    Y = (X @ rng.normal(size=(d, n_labels)) + rng.logistic(size=(n, n_labels)) > 1).astype(np.int8)
    Y[:, -1] = seed % 2  # constant
    settings = {
        "C": rng.choice([0.1, 1.0, 10.0], size=n_labels),
        "intercept": str(rng.choice(["free", "penalised", "none"])),
        "class_weight": [None, "balanced", {1: 5.0}][seed % 3],
        "tol": 1e-9,
    }
    one = MultiLabelLogisticRegression(**settings).fit(form(X), Y)
    chunks = random_chunks(n, rng)
    blocks = MultiLabelLogisticRegression(**settings)
    blocks.fit(in_blocks(form(X), chunks), in_blocks(Y, chunks))
    assert_allclose(blocks.coef_, one.coef_, atol=1e-6)
    assert_allclose(blocks.intercept_, one.intercept_, atol=1e-6)
    assert_array_equal(blocks.predict(form(X)), one.predict(form(X)))
    again = blocks.predict_proba(in_blocks(form(X), chunks)).compute()
    # A block of one row is another product to BLAS, which may round otherwise.
    assert_allclose(again, blocks.predict_proba(form(X)), rtol=1e-12)


def test_one_round_trip_serves_all_labels(small, monkeypatch):
    X, Y = small
    rounds = []
    ask = InBlocks.ask
    monkeypatch.setattr(InBlocks, "ask", lambda *args: rounds.append(1) or ask(*args))

    def n_rounds(Y):
        rounds.clear()
        MultiLabelLogisticRegression().fit(in_blocks(X), in_blocks(Y))
        return len(rounds)

    assert n_rounds(Y) == max(n_rounds(Y[:, [label]]) for label in range(4))


# The methods


def yeast_in(form, yeast):
    X, Y, _ = yeast
    if form is not np.asarray:
        X = np.where(np.abs(X) > 0.1, X, 0)
    X = X.copy()
    X[700:720] = X[:20]  # duplicates, with other labels, in other blocks
    return form(X[:900]), Y[:900], form(X[700:1100])


@forms
@pytest.mark.filterwarnings("ignore::nldd.exceptions.ZeroWeightWarning")  # by the other model
@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"model": "multiplicative"}, marks=pytest.mark.slow),
        pytest.param({"train_fraction": 0.6, "max_pairs": 100}, marks=pytest.mark.slow),
    ],
    ids=["default", "multiplicative", "drawn"],
)
def test_nldd_of_blocks_is_that_of_all_rows(form, settings, yeast):
    X, Y, X_new = yeast_in(form, yeast)
    one = NLDDClassifier(EXACTLY, random_state=0, **settings).fit(X, Y)
    blocks = NLDDClassifier(EXACTLY, random_state=0, **settings)
    blocks.fit(in_blocks(X, 400), in_blocks(Y, 400))
    for name in ("instance", "row", "errors"):  # the same halves, the same pairs
        assert_array_equal(getattr(blocks.pairs_, name), getattr(one.pairs_, name))
    assert_allclose(blocks.estimators_[0].coef_, one.estimators_[0].coef_, atol=1e-6)
    assert_allclose(blocks.beta_, one.beta_, atol=1e-6)
    assert_array_equal(blocks.rows_, one.rows_)
    assert_array_equal(blocks.labelsets_, one.labelsets_)
    assert_array_equal(blocks.predict(X_new), one.predict(X_new))
    assert_allclose(blocks.predict_theta(X_new), one.predict_theta(X_new), atol=1e-6)
    for theirs, ours in zip(blocks.explain(X_new[:20]), one.explain(X_new[:20]), strict=True):
        assert str(theirs) == str(ours)
    several = blocks.nearest_labelsets(X_new, 5)
    assert_array_equal(several.row, one.nearest_labelsets(X_new, 5).row)
    assert blocks.search_stats(X_new).n_pairs == one.search_stats(X_new).n_pairs


@pytest.mark.parametrize("kind", [BinaryRelevance, SubsetMapping])
def test_binary_relevance_of_blocks_is_that_of_all_rows(kind, yeast):
    X, Y, X_new = yeast_in(np.asarray, yeast)
    one = kind(EXACTLY).fit(X, Y)
    blocks = kind(EXACTLY).fit(in_blocks(X, 400), in_blocks(Y, 400))
    assert_array_equal(blocks.predict(X_new), one.predict(X_new))
    assert_array_equal(blocks.predict(in_blocks(X_new, 150)).compute(), one.predict(X_new))
    assert_allclose(blocks.predict_proba(X_new), one.predict_proba(X_new), atol=1e-8)
    if kind is SubsetMapping:
        assert_array_equal(blocks.labelsets_, one.labelsets_)
        assert_array_equal(blocks.counts_, one.counts_)


@pytest.fixture(params=["in memory", "in shards"])
def model(request, small):
    X, Y = small if request.param == "in memory" else map(in_blocks, small)
    return NLDDClassifier(None, random_state=0).fit(X, Y)


@pytest.mark.parametrize("chunks", [((50, 30, 40), (1, 3)), ((120,), (4,))], ids=["several", "one"])
@pytest.mark.parametrize("method", METHODS)
def test_dask_array_is_answered_by_one_of_the_same_blocks(small, model, method, chunks):
    expected = getattr(model, method)(small[0])
    answer = getattr(model, method)(da.from_array(small[0], chunks=chunks))
    assert isinstance(answer, da.Array)
    assert (answer.dtype, answer.shape) == (expected.dtype, expected.shape)
    assert answer.chunks == ((chunks[0], (4,)) if expected.ndim == 2 else (chunks[0],))
    answer = answer.compute()
    if hasattr(model.index_, "groups"):  # to the last bit
        assert answer.tobytes() == expected.tobytes()
    assert_allclose(answer, expected, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_to_predict_in_blocks_of_unknown_size_and_of_none(small, model, method):
    lazy = in_blocks(small[0][np.argsort(small[0][:, 0])], 40)
    chosen = lazy[lazy[:, 0] > np.median(small[0][:, 0])]  # none in the first block
    answer = getattr(model, method)(chosen).compute()
    assert_allclose(answer, getattr(model, method)(chosen.compute()), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_computed_before_it_is_asked_for(small, model, method):
    computed = []

    def note(block):
        computed.append(len(block))
        return block

    answer = getattr(model, method)(in_blocks(small[0]).map_blocks(note, meta=np.empty((0, 0))))
    assert computed == []
    answer[:50].compute()
    assert computed == [50]  # one block, for the answer to one block


def test_bad_value_in_a_dask_array_is_found_when_it_is_computed(small, model):
    X = small[0].copy()
    X[70, 2] = np.nan
    answer = model.predict(in_blocks(X))
    assert_array_equal(answer[:50].compute(), model.predict(X[:50]))
    with pytest.raises(ValueError, match="contains NaN"):
        answer.compute()


# What cannot be done


def bad_blocks(small):
    """Arguments of fit that are refused, and what is said about it."""
    X, Y = map(in_blocks, small)
    with_nan, counts = small[0].copy(), small[1].copy()
    with_nan[60, 1], counts[60, 1] = np.nan, 2
    return {
        "unknown sizes": ((X[X[:, 0] > 0], Y), r"call .*compute_chunk_sizes\(\)"),
        "only X": ((X, small[1]), "X and y must both be Dask arrays, or neither; got Array and"),
        "only Y": ((small[0], Y), "X and y must both be Dask arrays"),
        "1-D": ((X, Y[:, 0]), "must be 2-D, y with one 0/1 column per label"),
        "rows": ((X, Y[:100]), r"equally many rows.*\(120, 4\) and \(100, 4\)"),
        "no rows": ((X[:0], Y[:0]), "at least one row and column"),
        "no labels": ((X, Y[:, :0]), "at least one row and column"),
        "NaN": ((in_blocks(with_nan), Y), "X contains NaN or infinity in rows 50 to 99"),
        "counts": ((X, in_blocks(counts)), "Y must hold only 0 and 1; in rows 50 to 99"),
        "weights": ((X, Y, np.ones(120)), "sample_weight cannot be used with Dask arrays"),
        "false sizes": ((lying(X), Y), "the Dask array says 120|not match|promise"),
    }


def lying(X):
    """An array whose blocks have fewer rows than it says."""
    return X.map_blocks(lambda block: block[:-1], chunks=X.chunks, meta=np.empty((0, 0)))


@pytest.mark.parametrize("kind", [NLDDClassifier, BinaryRelevance, MultiLabelLogisticRegression])
def test_arrays_that_cannot_be_fitted_are_refused(kind, small):
    for arguments, message in bad_blocks(small).values():
        with pytest.raises(InputError, match=f"(?i){message}"):
            kind().fit(*arguments)


def test_settings_that_need_all_rows_are_refused(small):
    X, Y = map(in_blocks, small)
    with pytest.raises(InputError, match=r"MultiLabelLogisticRegression can be.*got LogisticRegr"):
        NLDDClassifier(LogisticRegression()).fit(X, Y)
    with pytest.raises(InputError, match="need a number as max_pairs"):
        NLDDClassifier(max_pairs=None).fit(X, Y)
    with pytest.raises(InputError, match="at least two distinct labelsets"):
        NLDDClassifier().fit(X, da.ones_like(Y))


def test_model_in_shards_takes_no_rows_and_is_not_saved(small, tmp_path):
    model = NLDDClassifier(random_state=0).fit(*map(in_blocks, small))
    with pytest.raises(InputError, match=r"take no more: fit again with dask\.array\.concatenate"):
        model.add(*small)
    with pytest.raises(InputError, match="neither saved nor sent"):
        save_model(model, tmp_path / "model.nldd")
    with pytest.raises(InputError, match="neither saved nor sent"):
        pickle.dumps(model)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="X has 3 features, but NLDDClassifier is expecting 4"):
        model.predict(in_blocks(small[0][:, :3]))
