"""Work shared out: what comes back, what reaches the workers, what is put back afterwards."""

import os
import threading
import time

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context, get_config
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from nldd import BinaryRelevance
from nldd._parallel import MANY_NUMBERS, blas_threads_for, delayed, do_all, one_blas_thread
from problems import some_quick

# "own threads" is what happens unless joblib is told otherwise.
BACKENDS = {"own threads": {}, "threading": {"backend": "threading"}, "loky": {"backend": "loky"}}
# To start processes takes seconds; one test below does in every run.
backends = pytest.mark.parametrize(
    "backend",
    some_quick(list(BACKENDS.values()), [BACKENDS["own threads"], BACKENDS["threading"]]),
    ids=BACKENDS.keys(),
)
in_threads = pytest.mark.parametrize(
    "backend", [BACKENDS["own threads"], BACKENDS["threading"]], ids=["own threads", "threading"]
)


def square_first_last(i, n):
    """The square of i, later the smaller i is: results come back in the wrong order."""
    time.sleep((n - i) * 0.01)
    return i * i


def blas_threads():
    """Of NumPy's and SciPy's BLAS."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


@pytest.fixture
def three_blas_threads():
    if not blas_threads():
        pytest.skip("threadpoolctl finds no BLAS that it can limit")
    with threadpool_limits(3, user_api="blas"):
        yield


# Results


@backends
@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_keep_the_order_of_the_tasks(backend, n_jobs):
    tasks = (delayed(square_first_last)(i, n=7) for i in range(7))
    with joblib.parallel_config(**backend):
        assert do_all(tasks, 7, n_jobs) == [0, 1, 4, 9, 16, 25, 36]


def test_threads_take_no_more_tasks_than_they_work_on_and_one():
    taken, done = [], []

    def tasks():
        for i in range(20):
            taken.append(i)
            assert len(taken) - len(done) <= 3
            yield delayed(work)(i)

    def work(i):
        time.sleep(0.002)
        done.append(i)
        return i

    assert do_all(tasks(), 20, 2) == list(range(20))


def test_a_slow_task_does_not_keep_the_others_waiting():
    """Results come in order, but tasks behind a slow one are taken all the same."""
    last_done = threading.Event()
    tasks = [delayed(last_done.wait)(20), *(delayed(abs)(-i) for i in range(8)),
             delayed(last_done.set)()]  # fmt: skip
    assert do_all(iter(tasks), 10, 2)[0] is True


def test_processes_are_used_where_joblib_is_told_so():
    with joblib.parallel_config("loky", n_jobs=2):
        by_config = do_all((delayed(os.getpid)() for _ in range(4)), 4, None)
        by_argument = do_all((delayed(os.getpid)() for _ in range(4)), 4, 2)
    assert os.getpid() not in {*by_config, *by_argument}


# scikit-learn's settings, which belong to a thread


@backends
def test_settings_of_scikit_learn_reach_the_workers(backend):
    tasks = (delayed(get_config)() for _ in range(4))
    with joblib.parallel_config(**backend), config_context(working_memory=7, assume_finite=True):
        configs = do_all(tasks, 4, 2)
    assert [config["working_memory"] for config in configs] == [7] * 4
    assert [config["assume_finite"] for config in configs] == [True] * 4
    assert get_config()["working_memory"] != 7


# Failure


def fail_at_once(i):
    raise ValueError(f"task {i} failed")


@backends
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exception_of_a_task_comes_out(backend, n_jobs):
    tasks = [delayed(abs)(-1), delayed(fail_at_once)(1), delayed(abs)(-2)]
    with joblib.parallel_config(**backend), pytest.raises(ValueError, match=r"^task 1 failed$"):
        do_all(iter(tasks), 3, n_jobs)


@in_threads
def test_tasks_after_a_failure_are_cancelled_in_threads(backend):
    started = []

    def note(i):
        started.append(i)
        time.sleep(0.05)

    tasks = [delayed(fail_at_once)(0), *(delayed(note)(i) for i in range(200))]
    with joblib.parallel_config(**backend), pytest.raises(ValueError, match="task 0 failed"):
        do_all(iter(tasks), len(tasks), 2)
    n_started = len(started)
    assert n_started < 20  # all of them would take 5 s
    time.sleep(0.12)
    assert len(started) == n_started  # nobody works on behind our back


# BLAS threads


@in_threads
@pytest.mark.parametrize(("n_jobs", "n_tasks"), [(2, 5), (8, 5), (4, 2)])
def test_workers_have_one_blas_thread_each(three_blas_threads, backend, n_jobs, n_tasks):
    with joblib.parallel_config(**backend):
        inside = do_all((delayed(blas_threads)() for _ in range(n_tasks)), n_tasks, n_jobs)
    assert {n for counts in inside for n in counts} == {1}
    assert set(blas_threads()) == {3}


def test_one_blas_thread_holds_until_the_last_of_several_threads_has_left(three_blas_threads):
    inside, leave = threading.Event(), threading.Event()

    def strict():
        with one_blas_thread():
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=strict)
    with one_blas_thread():
        thread.start()
        inside.wait(20)
    assert set(blas_threads()) == {1}
    leave.set()
    thread.join()
    assert set(blas_threads()) == {3}


def test_thin_products_of_fits_and_predictions_take_one_blas_thread(three_blas_threads):
    seen = []

    class Base(LogisticRegression):
        def fit(self, X, y):
            seen.append(set(blas_threads()))
            return super().fit(X, y)

        def predict_proba(self, X):
            seen.append(set(blas_threads()))
            return super().predict_proba(X)

    X = np.random.default_rng(0).normal(size=(400, 3))
    BinaryRelevance(Base()).fit(X, X > 0).predict_proba(X)
    assert seen == [{1}] * 6
    assert set(blas_threads()) == {3}


def test_large_dense_products_take_all_blas_threads(three_blas_threads):
    large = np.ones((1, MANY_NUMBERS))
    for X, n_threads in ((large, 3), (csr_array(large[:, :5000]), 1), (large[:, :5000], 1)):
        with blas_threads_for(X):
            assert set(blas_threads()) == {n_threads}


# Progress


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("title", [None, "numbers"])
def test_backend_that_cannot_hand_results_over_one_by_one(title, capsys):
    """joblib's "multiprocessing", of which Ray's backend is a kind."""
    with joblib.parallel_config("multiprocessing"):
        assert do_all((delayed(abs)(-i) for i in range(4)), 4, 2, title) == [0, 1, 2, 3]
    assert ("[numbers] 4 of 4 done" in capsys.readouterr().out) == (title is not None)
