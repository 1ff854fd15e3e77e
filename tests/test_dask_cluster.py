"""A Dask cluster: memory of no worker holds the data, and workers are killed meanwhile."""

import os
import signal
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from nldd import BinaryRelevance, EnsembleOfChains, NLDDClassifier, RAkEL
from nldd.linear._logistic import MultiLabelLogisticRegression

dask = pytest.importorskip("dask", reason="Dask is not installed: nldd[dask]")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: nldd[dask]")

pytestmark = [
    pytest.mark.slow,
    # Older Dask warns that the cluster is not used; here that is what is wanted.
    pytest.mark.filterwarnings(
        "ignore:Running on a single-machine scheduler when a distributed client:UserWarning"
    ),
]

N_LABELS, N_CLUSTERS = 4, 8
MEMORY_LIMIT = 600 * 10**6


@pytest.fixture(scope="module")
def cluster():
    """Four processes on this machine, none of which may use more than the limit."""
    with (
        distributed.LocalCluster(
            n_workers=4,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY_LIMIT,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: other tests may have a cluster too
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def make_features(number, n_rows, n_features, sparse=False, deadly=None):
    """Features of one block, made anew whenever they are needed."""
    if deadly is not None:
        die_at_last(*deadly)
    X = noise(n_rows, n_features) * (1 + number / 1000)
    X += np.eye(N_CLUSTERS, n_features)[clusters(number, n_rows)]
    if sparse:
        X[X < 0.7] = 0
        return csr_matrix(X)
    return X


@cache
def noise(n_rows, n_features):
    """Drawn only once by each process: to draw it is most of the time that a block takes."""
    return np.random.default_rng(0).random((n_rows, n_features))


def clusters(number, n_rows):
    """The cluster of each row of a block."""
    return np.random.default_rng(number).integers(N_CLUSTERS, size=n_rows)


def make_labels(number, n_rows):
    """Labels that follow the clusters, but for some."""
    codes = np.random.default_rng(0).integers(0, 2, size=(N_CLUSTERS, N_LABELS))
    flipped = np.random.default_rng([number, 1]).random((n_rows, N_LABELS)) < 0.1
    return (codes[clusters(number, n_rows)] ^ flipped).astype(np.int8)


def die_at_last(folder, calls):
    """Count a call by a file; at the one with this number, the process is killed, and no other."""
    marks = Path(folder)
    n = len(list(marks.iterdir()))
    (marks / str(n)).touch()
    if n + 1 == calls:
        os.kill(os.getpid(), signal.SIGKILL)


def lazy_arrays(n_blocks, n_rows, n_features, sparse=False, deadly=None, first=1):
    """X and Y as Dask arrays, of which nothing exists; block 1 may be deadly."""
    X, Y = [], []
    meta = csr_matrix((0, n_features)) if sparse else np.empty((0, n_features))
    for number in range(first, first + n_blocks):
        how = number, n_rows, n_features, sparse, deadly if number == first + 1 else None
        block = dask.delayed(make_features, pure=False)(*how)
        labels = dask.delayed(make_labels)(number, n_rows)
        X.append(da.from_delayed(block, (n_rows, n_features), meta=meta))
        Y.append(da.from_delayed(labels, (n_rows, N_LABELS), dtype=np.int8))
    return da.concatenate(X), da.concatenate(Y)


def here(array):
    """A Dask array in the memory of this process."""
    return array.compute(scheduler="synchronous")


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_cluster_learns_what_one_machine_learns(cluster, sparse):
    X, Y = lazy_arrays(7, 300, 8, sparse)
    X_new, _ = lazy_arrays(3, 100, 8, sparse, first=100)
    base = MultiLabelLogisticRegression(tol=1e-9)
    one = NLDDClassifier(base, random_state=0).fit(here(X), here(Y))
    model = NLDDClassifier(base, random_state=0).fit(X, Y)
    assert_allclose(model.estimators_[0].coef_, one.estimators_[0].coef_, atol=1e-6)
    assert_allclose(model.beta_, one.beta_, atol=1e-6)
    expected, theta = one.predict(here(X_new)), one.predict_theta(here(X_new))
    assert_array_equal(model.predict(here(X_new)), expected)
    assert_array_equal(model.predict(X_new).compute(), expected)
    assert_allclose(model.predict_theta(X_new).compute(), theta, atol=1e-6)


def test_data_larger_than_the_memory_of_any_worker(cluster):
    X, Y = lazy_arrays(64, 12_500, 100)
    assert X.nbytes > MEMORY_LIMIT
    base = MultiLabelLogisticRegression(tol=1e-2)
    model = NLDDClassifier(base, random_state=0, max_pairs=300).fit(X, Y)
    shards = cluster.run(find_shards).values()  # of which few may be on two workers
    assert len(set().union(*shards)) == 64
    assert max(map(len, shards)) < 32
    assert (model.predict(make_features(0, 300, 100)) == make_labels(0, 300)).mean() > 0.75
    assert model.index_.counts.sum() == 800_000


def find_shards(dask_worker):
    """Shards that a worker holds, in memory or on disk."""
    return {key for key in dask_worker.data if str(key).startswith("labelset_shard")}


@pytest.fixture(scope="module")
def undisturbed(cluster):
    """A model of rows that nobody was killed over."""
    X, Y = lazy_arrays(8, 500, 8)
    return NLDDClassifier(random_state=0).fit(X, Y)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_worker_killed_in_the_middle_of_a_fit_changes_nothing(cluster, undisturbed, tmp_path):
    before = set(cluster.run(os.getpid).values())
    X, Y = lazy_arrays(8, 500, 8, deadly=(str(tmp_path), 9))
    model = NLDDClassifier(random_state=0).fit(X, Y)
    assert len(list(tmp_path.iterdir())) > 9  # the fit went on,
    assert set(cluster.run(os.getpid).values()) != before  # with another process
    assert_array_equal(model.estimators_[0].coef_, undisturbed.estimators_[0].coef_)
    assert_array_equal(model.beta_, undisturbed.beta_)
    X_new = make_features(0, 200, 8)
    assert_array_equal(model.predict(X_new), undisturbed.predict(X_new))
    assert_array_equal(model.predict_theta(X_new), undisturbed.predict_theta(X_new))


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_worker_killed_in_the_middle_of_a_prediction_changes_nothing(
    cluster, undisturbed, tmp_path
):
    X_new, _ = lazy_arrays(4, 100, 8, first=100)
    expected, theta = undisturbed.predict(here(X_new)), undisturbed.predict_theta(here(X_new))
    before = set(cluster.run(os.getpid).values())
    deadly, _ = lazy_arrays(4, 100, 8, deadly=(str(tmp_path), 1), first=100)
    assert_array_equal(undisturbed.predict(deadly).compute(), expected)
    assert set(cluster.run(os.getpid).values()) != before
    # Rows from here, with shards that the killed one had.
    os.kill(min(cluster.run(os.getpid).values()), signal.SIGKILL)
    assert_array_equal(undisturbed.predict_theta(here(X_new)), theta)


# A cluster behind joblib


@pytest.mark.parametrize(
    "estimator",
    [
        # Logistic regressions of all labels at once stay at home: these are fitted one by one.
        NLDDClassifier(LogisticRegression(solver="liblinear"), random_state=0),
        BinaryRelevance(LogisticRegression(solver="liblinear"), random_state=0),
        RAkEL(random_state=0),
        EnsembleOfChains(n_members=4, random_state=0),
    ],
    ids=["NLDD", "BR", "RAkEL", "ECC"],
)
def test_fit_and_predict_on_the_cluster_equal_those_at_home(small, cluster, estimator, monkeypatch):
    X, Y = small
    expected, sent, submit = estimator.fit(X, Y), [], distributed.Client.submit
    monkeypatch.setattr(
        distributed.Client, "submit", lambda *args, **kw: sent.append(1) or submit(*args, **kw)
    )
    remote = type(estimator)(**{**estimator.get_params(deep=False), "n_jobs": 2})
    with joblib.parallel_config("dask"):
        remote.fit(X, Y)
        predictions, probabilities = remote.predict(X), remote.predict_proba(X)
    assert sent
    assert_array_equal(predictions, expected.predict(X))
    assert_array_equal(probabilities, expected.predict_proba(X))
    if isinstance(estimator, NLDDClassifier):
        assert_array_equal(remote.beta_, expected.beta_)
        assert_array_equal(remote.predict_theta(X), expected.predict_theta(X))
