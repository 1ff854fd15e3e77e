"""Work on a Dask cluster, and Dask arrays: the same answers, to the last bit."""

import os

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context, get_config
from sklearn.linear_model import LogisticRegression

from nldd._parallel import delayed, do_all
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._chains import EnsembleOfChains
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._powersets import RAkEL

da = pytest.importorskip("dask.array", reason="Dask is not installed: nldd[dask]")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: nldd[dask]")

# Older Dask warns that the cluster is not used; here that is what is wanted.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Running on a single-machine scheduler when a distributed client:UserWarning"
)

METHODS = ["predict", "predict_proba", "predict_theta", "expected_loss", "label_probabilities"]
# Rows of all blocks, and columns of all blocks.
CHUNKS = {
    "rows in several blocks": ((50, 30, 40), (4,)),
    "columns too": ((50, 30, 40), (1, 3)),
    "one block": ((120,), (4,)),
}
chunked = pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS.keys())


@pytest.fixture(scope="module")
def cluster():
    """Two processes on this machine that are told what to do over the network."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: other tests may have a cluster too
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture
def model(small):
    X, Y = small
    return NLDDClassifier(random_state=0).fit(X, Y)


def equal_to_the_last_bit(answer, expected):
    assert type(answer) is type(expected)
    assert answer.dtype == expected.dtype
    assert answer.shape == expected.shape
    assert answer.tobytes() == expected.tobytes()


# A cluster behind joblib


@pytest.mark.slow
def test_tasks_are_done_by_the_cluster_in_order(cluster, capsys):
    def task(i):
        return i * i, os.getpid(), get_config()["working_memory"]

    with joblib.parallel_config("dask"), config_context(working_memory=7):
        answers = do_all((delayed(task)(i) for i in range(6)), 6, 2, "squares")
    squares, processes, memory = zip(*answers, strict=True)
    assert squares == (0, 1, 4, 9, 16, 25)
    assert set(processes) <= set(cluster.run(os.getpid).values())
    assert memory == (7,) * 6
    assert "[squares] 6 of 6 done" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        # Logistic regressions of all labels at once stay at home: these are fitted one by one.
        NLDDClassifier(LogisticRegression(solver="liblinear"), random_state=0),
        NLDDClassifier(LogisticRegression(warm_start=True), random_state=0),
        BinaryRelevance(LogisticRegression(solver="liblinear"), random_state=0),
        RAkEL(random_state=0),
        EnsembleOfChains(n_members=4, random_state=0),
    ],
    ids=["NLDD", "NLDD warm", "BR", "RAkEL", "ECC"],
)
def test_fit_and_predict_on_the_cluster_equal_those_at_home(small, cluster, estimator):
    X, Y = small
    expected = estimator.fit(X, Y)
    n_started = n_tasks(cluster)
    remote = type(estimator)(**{**estimator.get_params(deep=False), "n_jobs": 2})
    with joblib.parallel_config("dask"):
        remote.fit(X, Y)
        predictions, probabilities = remote.predict(X), remote.predict_proba(X)
    assert n_tasks(cluster) > n_started  # it was indeed sent there
    equal_to_the_last_bit(predictions, expected.predict(X))
    equal_to_the_last_bit(probabilities, expected.predict_proba(X))
    if isinstance(estimator, NLDDClassifier):
        equal_to_the_last_bit(remote.beta_, expected.beta_)
        equal_to_the_last_bit(remote.predict_theta(X), expected.predict_theta(X))


def n_tasks(cluster):
    """Tasks that the workers have done so far."""
    return sum(cluster.run(lambda dask_worker: len(dask_worker.state.log)).values())


# Dask arrays


@chunked
@pytest.mark.parametrize("method", METHODS)
def test_dask_array_is_answered_by_one_of_the_same_blocks(small, model, method, chunks):
    X, _ = small
    expected = getattr(model, method)(X)
    answer = getattr(model, method)(da.from_array(X, chunks=chunks))
    assert isinstance(answer, da.Array)
    assert answer.dtype == expected.dtype
    assert answer.shape == expected.shape
    assert answer.chunks == ((chunks[0], (4,)) if expected.ndim == 2 else (chunks[0],))
    equal_to_the_last_bit(answer.compute(scheduler="synchronous"), expected)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_computed_before_it_is_asked_for(small, model, method):
    X, _ = small
    computed = []

    def note(block):
        computed.append(len(block))
        return block

    lazy = da.from_array(X, chunks=(50, 4)).map_blocks(note, meta=np.empty((0, 0)))
    answer = getattr(model, method)(lazy)
    assert computed == []
    answer[:50].compute(scheduler="synchronous")
    assert computed == [50]  # one block, for the answer to one block
    answer.compute(scheduler="synchronous")
    assert sorted(computed) == [20, 50, 50, 50]


class Listening(LogisticRegression):
    """Notes how many rows it is asked about at a time."""

    heard = []

    def predict_proba(self, X):
        self.heard.append(len(X))
        return super().predict_proba(X)


def test_no_more_than_a_block_of_rows_is_answered_at_a_time(small):
    X, Y = small
    model = NLDDClassifier(Listening(solver="liblinear"), random_state=0).fit(X, Y[:, :2])
    answer = model.predict(da.from_array(X, chunks=((50, 30, 40), (2, 2))))
    Listening.heard.clear()
    answer.compute(scheduler="synchronous")
    assert sorted(Listening.heard) == [30, 30, 40, 40, 50, 50]  # once for each of two labels


@pytest.mark.parametrize("method", METHODS)
def test_dask_array_with_a_block_without_rows(small, model, method):
    X, _ = small
    lazy = da.from_array(X[np.argsort(X[:, 0])], chunks=(40, 4))
    chosen = lazy[lazy[:, 0] > np.median(X[:, 0])]  # none in the first block
    answer = getattr(model, method)(chosen).compute(scheduler="synchronous")
    equal_to_the_last_bit(answer, getattr(model, method)(chosen.compute(scheduler="synchronous")))


def test_bad_value_in_a_dask_array_is_found_when_it_is_computed(small, model):
    X = small[0].copy()
    X[70, 2] = np.nan
    answer = model.predict(da.from_array(X, chunks=(50, 4)))
    assert_array_equal(answer[:50].compute(scheduler="synchronous"), model.predict(X[:50]))
    with pytest.raises(ValueError, match="contains NaN"):
        answer.compute(scheduler="synchronous")
