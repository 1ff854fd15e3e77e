"""Threads that predict while another one changes the model: each answer is of one state of it."""

import subprocess
import sys
import threading
import time
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

THREADS, STATES = 8, 5


def make(sparse):
    """A fitted model, batches to add that bring new labelsets, and rows to predict."""
    from nldd.estimators._nldd import NLDDClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12)) * (rng.random((700, 12)) < 0.5)
    Y = (X @ rng.normal(size=(12, 8)) > np.linspace(2.5, -1, 700)[:, np.newaxis]).astype(int)
    X = csr_array(X) if sparse else X
    batches = [(X[start : start + 100], Y[start : start + 100]) for start in (100, 250, 400, 550)]
    return NLDDClassifier(random_state=0), (X[:100], Y[:100]), batches, X[::14]


def answers(model, X):
    near = model.nearest_labelsets(X, 3)
    evidence = [(one.labels, one.row, one.runner_up.row) for one in model.explain(X)]
    arrays = (model.predict(X), model.predict_proba(X), model.predict_theta(X), near.row)
    return [*(array.tobytes() for array in arrays), near.labelsets.tobytes(), repr(evidence)]


def main(seconds, sparse):
    model, first, batches, X = make(sparse)
    twin = deepcopy(model).fit(*first)
    states = [answers(twin, X), *(answers(twin.add(*batch), X) for batch in batches)]
    assert len({tuple(state) for state in states}) == STATES
    allowed = [set(of_all) for of_all in zip(*states, strict=True)]
    other = answers(twin.fit_copy(*first), X)

    model.fit(*first)
    end, failures, counts = time.monotonic() + seconds, [], []

    def predict():
        n = 0
        try:
            while not n or time.monotonic() < end:
                for found, possible in zip(answers(model, X), allowed, strict=True):
                    assert found in possible
                n += 1
        except BaseException as error:
            failures.append(repr(error))
        counts.append(n)

    threads = [threading.Thread(target=predict) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for batch in batches:
            model.add(*batch)
        assert answers(model.fit_copy(*first), X) == other
        assert answers(model, X) == states[-1]
        model.fit(*first)
    assert failures == []
    assert min(counts) >= 1
    # Two that add at the same time do not lose the rows of one another.
    adding = [threading.Thread(target=model.add, args=batch) for batch in batches]
    for thread in adding:
        thread.start()
    for thread in adding:
        thread.join()
    assert sorted(model.rows_) == list(range(500))
    assert model.predict(X).tobytes() == states[-1][0]


SLOW = [pytest.param(30, sparse, marks=pytest.mark.slow) for sparse in ("", "sparse")]


@pytest.mark.parametrize(("seconds", "sparse"), [(0.3, ""), *SLOW])
def test_predictions_beside_changes_are_those_of_one_state(seconds, sparse):
    """In a process of its own: one that reads beyond its arrays ends."""
    words = [sys.executable, "-X", "faulthandler", __file__, str(seconds), sparse]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


if __name__ == "__main__":
    main(float(sys.argv[1]), bool(sys.argv[2]))
