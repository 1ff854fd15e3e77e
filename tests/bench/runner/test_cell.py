"""Cells: which there are, what they take, and what one writes down."""

import threading
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from bench.runner.trials import Stub, replace_method, songs, trial
from nldd import NLDDClassifier
from nldd.bench.runner import cell as cell_module
from nldd.bench.runner.cell import cells, decisions_by_measure, labelsets_seen, run_cell
from nldd.bench.runner.protocol import Shares
from nldd.bench.runner.records import Key
from nldd.datasets import Dataset
from nldd.metrics import MEASURES, PROBABILITY_MEASURES, evaluate
from nldd.metrics._measures import label_counts, row_values


def planned(methods=("BR", "SMBR", "NLDD"), dataset=None, **settings):
    return list(cells(trial(**settings), "songs", dataset or songs(), methods))


# Which there are


def test_cells_are_folds_times_methods():
    found = planned(("BR", "CC"))
    assert [cell.key for cell in found] == [
        Key("trial", "songs", method, fold, 0, None) for fold in range(3) for method in ("BR", "CC")
    ]
    assert [cell.estimator.random_state for cell in found] == [0, 0, 1, 1, 2, 2]
    split = trial().split_of("songs", 60).rows(songs(), 0)
    for cell in found:  # the same rows whatever the method
        train, test = split[cell.key.fold]
        assert_array_equal(cell.train, train)
        assert_array_equal(cell.test, test)


def test_shares_hold_the_smaller_ones_and_the_same_test_rows():
    shares = Shares("songs", "BR", (0.1, 0.5, 1.0), {"decision": "probability"})
    *plain, tenth, half, whole = planned(("BR",), shares=shares)
    assert len(plain) == 3
    # 40 of the 60 rows are for training in the first fold.
    assert [len(cell.train) for cell in (tenth, half, whole)] == [4, 20, 40]
    assert set(tenth.train) < set(half.train) < set(whole.train) == set(plain[0].train)
    for cell in (tenth, half, whole):
        assert_array_equal(cell.test, plain[0].test)
        assert cell.estimator.decision == "probability"
    assert plain[0].estimator.decision == "auto"
    assert [cell.key.train_share for cell in (plain[0], tenth, half, whole)] == [None, 0.1, 0.5, 1]
    assert [cell.about["n_folds"] for cell in (plain[0], tenth, half, whole)] == [3, 1, 1, 1]
    for other in (Shares("films", "BR", (0.5,)), Shares("songs", "NLDD", (0.5,))):
        assert len(planned(("BR",), shares=other)) == 3


def test_settings_are_one_line_with_all_of_what_is_not_default():
    (cell, _) = planned(("NLDD",), folds=2, parameters={"NLDD": {"train_fraction": 0.5}})
    assert cell.settings == (
        "NLDDClassifier(estimator=MultiLabelLogisticRegression(), random_state=0, "
        "train_fraction=0.5)"
    )
    orders = [list(range(60)), [*range(58), 59, 58]]  # scikit-learn cuts long lists
    cells = [planned(("CC",), parameters={"CC": {"order": order}})[0] for order in orders]
    assert cells[0].settings != cells[1].settings


# What it takes


class Clock:
    """Processor time that only fits and predictions of `Ticking` move."""

    now = 0.0


class Ticking(LogisticRegression):
    def fit(self, X, y):
        Clock.now += 10.0
        return super().fit(X, y)

    def decision_function(self, X):
        Clock.now += 1.0
        return super().decision_function(X)

    def predict_proba(self, X):
        Clock.now += 0.5
        return super().predict_proba(X)


def test_each_method_is_charged_for_all_its_fits(monkeypatch):
    monkeypatch.setattr(cell_module, "process_time", lambda: Clock.now)
    base = {"estimator": Ticking(solver="liblinear")}
    found = planned(parameters=dict.fromkeys(("BR", "SMBR", "NLDD"), base))
    br, smbr, nldd = (run_cell(songs(), cell) for cell in found[:3])
    # Four labels of 10 to fit and 1 to decide; NLDD fits them twice, on T1 and on all rows, and
    # takes probabilities of 0.5 (+ 1, since they are made of decisions) of T2 and of the test rows.
    assert (br.fit_seconds, br.predict_seconds) == (40.0, 4.0)
    assert (smbr.fit_seconds, smbr.predict_seconds) == (40.0, 4.0)
    assert (nldd.fit_seconds, nldd.predict_seconds) == (86.0, 6.0)


def test_seconds_are_without_those_of_the_first_fit_in_a_process(monkeypatch):
    """The first fit of a method loads and compiles its code."""

    class Compiles(Stub):
        def fit(self, X, Y):
            Clock.now += 1.0 if self.__class__.compiled else 100.0
            self.__class__.compiled = True
            return super().fit(X, Y)

    Compiles.compiled = False
    monkeypatch.setattr(cell_module, "process_time", lambda: Clock.now)
    replace_method(monkeypatch, "MLKNN", Compiles)
    for cell in planned(("MLKNN",))[:2]:
        assert run_cell(songs(), cell).fit_seconds == 1.0


@pytest.mark.parametrize("n_new", [0, 1])
def test_cell_in_which_code_was_compiled_is_run_once_more(monkeypatch, n_new):
    class Compiles(Stub):
        compiled = []

        def fit(self, X, Y):
            self.compiled += [1] * n_new
            warnings.warn("told", stacklevel=1)
            return super().fit(X, Y)

    replace_method(monkeypatch, "MLKNN", Compiles)
    monkeypatch.setattr(cell_module, "KERNELS", [SimpleNamespace(signatures=Compiles.compiled)])
    record = run_cell(songs(), planned(("MLKNN",))[0])
    assert len(Compiles.compiled) == 3 * n_new  # to warm up, and twice
    assert record.details["warnings"] == {"UserWarning: told": 1}


def test_kernels_tell_what_is_compiled():
    for dataset in (songs(), songs(sparse=True)):
        for decision in ("nearest", "subset", "f1"):
            model = NLDDClassifier(None, decision=decision, random_state=0)
            model.fit(dataset.X, dataset.Y).predict(dataset.X)
    assert all(kernel.signatures for kernel in cell_module.KERNELS)


class Burns(Stub):
    """Works in a thread that is not the one which calls it."""

    def fit(self, X, Y):
        def burn():
            start = time.thread_time()
            while time.thread_time() - start < 0.05:
                pass

        thread = threading.Thread(target=burn)
        thread.start()
        thread.join()
        Burns.n_threads = {pool["num_threads"] for pool in threadpool_info()}
        return super().fit(X, Y)


def test_threads_of_a_method_are_counted_and_pools_have_one(monkeypatch):
    replace_method(monkeypatch, "MLKNN", Burns)
    with threadpool_limits(2):
        record = run_cell(songs(), planned(("MLKNN",))[0])
    assert record.fit_seconds >= 0.05
    assert Burns.n_threads == {1}


# What is written down

OF_PROBABILITIES = {"brier_score", "log_loss", "calibration_error"}


@pytest.mark.parametrize(
    ("values", "missing", "told"),
    [
        (np.linspace(-2, 3, 7), OF_PROBABILITIES, "between 0 and 1"),
        (np.full(7, np.nan), set(PROBABILITY_MEASURES), "no finite numbers"),
    ],
    ids=["decisions", "nan"],
)
def test_odd_probabilities_cost_their_measures_only(monkeypatch, values, missing, told):
    class Odd(Stub):
        def predict_proba(self, X):
            return np.resize(values, (X.shape[0], self.n_labels_))

    replace_method(monkeypatch, "MLKNN", Odd)
    record = run_cell(songs(), planned(("MLKNN",))[0])
    assert record.error is None
    assert {*MEASURES, *PROBABILITY_MEASURES} - set(record.scores) == missing
    assert [told in line for line in record.details["warnings"]] == [True]


def test_record_holds_the_scores_of_a_plain_fit():
    dataset = songs()
    for cell in planned(("BR", "NLDD", "MLKNN")):
        record = run_cell(dataset, cell)
        model = clone(cell.estimator).fit(dataset.X[cell.train], dataset.Y[cell.train])
        Y_test, Y_pred = dataset.Y[cell.test], model.predict(dataset.X[cell.test])
        P = model.predict_proba(dataset.X[cell.test]).astype(np.float32)
        expected = evaluate(Y_test, Y_pred, MEASURES.values())
        assert record.scores == expected | evaluate(Y_test, P, PROBABILITY_MEASURES.values())
        assert (record.key, record.settings, record.error) == (cell.key, cell.settings, None)
        assert record.details["n_folds"] == 3
        assert min(record.fit_seconds, record.predict_seconds) > 0
        assert not hasattr(cell.estimator, "labelsets_")  # it stays unfitted
        if isinstance(model, NLDDClassifier):
            errors = model.regression_.standard_errors.tolist()
            errors = [None if error != error else error for error in errors]
            details = {"coefficients": model.beta_.tolist(), "coefficient_errors": errors}
            n_labelsets = len(np.unique(dataset.Y[cell.train], axis=0))
            details |= {"n_pairs": len(model.pairs_), "n_labelsets": n_labelsets}
            share = model.search_stats(dataset.X[cell.test]).share_evaluated
            assert (details | {"evaluated_share": share}).items() <= record.details.items()


def test_each_measure_is_that_of_a_model_with_its_decision():
    """One fit is evaluated by four decisions, and all that stands beside a score is of its own."""
    dataset = songs()
    cell = planned(("NLDD-P",))[0]
    record = run_cell(dataset, cell)
    Y_test, decisions = dataset.Y[cell.test], record.details["decisions"]
    predicted = {
        decision: clone(cell.estimator)
        .set_params(decision=decision)
        .fit(dataset.X[cell.train], dataset.Y[cell.train])
        .predict(dataset.X[cell.test])
        for decision in ("subset", "hamming", "jaccard", "f1")
    }
    four = ("hamming_loss", "zero_one_loss", "multilabel_accuracy", "f_measure")
    assert [decisions[key] for key in four] == ["hamming", "subset", "jaccard", "f1"]
    assert decisions.keys() == MEASURES.keys()
    kept = record.predictions
    assert_array_equal(kept.Y_pred, predicted["subset"])
    for key, decision in decisions.items():
        assert_array_equal(kept.labels(decision), predicted[decision])
        assert record.scores[key] == MEASURES[key](Y_test, predicted[decision])
    assert len({Y.tobytes() for Y in predicted.values()}) > 1  # else nothing was compared
    seen = labelsets_seen(dataset.Y[cell.train], Y_test)
    for key in four:
        rows = row_values(Y_test, predicted[decisions[key]])[key]
        error = rows.std(ddof=1) / np.sqrt(len(rows))
        assert record.details["standard_errors"][key] == pytest.approx(error)
        assert record.details["observed"][key] == pytest.approx(rows[seen].mean())
    counts = label_counts(Y_test, predicted["f1"]).as_lists()
    assert record.details["label_counts"] == counts


def test_what_a_posterior_has_learned_is_written_down():
    dataset = songs()
    cell = planned(("NLDD-P",))[0]
    details = run_cell(dataset, cell).details
    model = clone(cell.estimator).fit(dataset.X[cell.train], dataset.Y[cell.train])
    X_test, Y_test = dataset.X[cell.test], dataset.Y[cell.test]
    assert details["weights"] == model.weights_._asdict()
    assert details["unseen_share"] == model.unseen_share_
    p = model.exact_match_probability(X_test)
    right = (model.predict(X_test) == Y_test).all(axis=1)
    n, expected, found = np.transpose(details["exact_match_bins"])
    assert n.tolist() == [2] * 10
    np.testing.assert_allclose(expected, np.sort(p).reshape(10, 2).mean(axis=1))
    assert found.mean() == pytest.approx(right.mean())
    thetas = np.transpose(details["theta_bins"])[1]
    assert thetas.mean() == pytest.approx(model.predict_theta(X_test).mean())
    assert not {"coefficients", "evaluated_share"} & set(details)


def test_measures_of_the_same_counts_have_one_decision():
    found = decisions_by_measure({"micro_f": "f1", "macro_recall": "subset", "recall": "hamming"})
    assert found.pop("recall") == "hamming"
    assert set(found.values()) == {"f1"}
    assert found.keys() == {key for key in MEASURES if key.startswith(("micro", "macro"))}
    assert decisions_by_measure({}) == {}


def test_decisions_reach_a_method_behind_preparation_and_search():
    steps = {"prepare": (StandardScaler(),), "search": {"NLDD-P": {"train_fraction": (0.8, 1.0)}}}
    record = run_cell(songs(), planned(("NLDD-P",), **steps)[0])
    assert record.error is None
    assert {"weights", "searched", "decisions"} <= record.details.keys()
    assert record.predictions.decided.keys() == {"f1", "hamming", "jaccard", "subset"}


def test_details_split_the_rows_by_whether_their_labelset_was_seen(monkeypatch):
    """The stub predicts no label: what it scores on a row can be told by hand."""
    replace_method(monkeypatch, "MLKNN", Stub)
    Y = np.array([[1, 0], [0, 0], [1, 0], [0, 0], [1, 1]])
    dataset = Dataset(np.zeros((5, 1)), Y, ["a", "b"])
    cell = planned(("MLKNN",))[0]
    cell = replace(cell, train=np.array([0, 1]), test=np.array([2, 3, 4]))
    details = run_cell(dataset, cell).details
    assert (details["n_train"], details["n_test"], details["n_labels"]) == (2, 3, 2)
    # Rows 2 ({a}: one label wrong) and 3 (right, for both are empty) were seen; 4 was not.
    names = ("hamming_loss", "zero_one_loss", "multilabel_accuracy", "f_measure")
    seen, unseen = dict(zip(names, (0.25, 0.5, 0.5, 0.5), strict=True)), dict.fromkeys(names, 0.0)
    assert details["observed"] == {"n": 2, **seen}
    assert details["unobserved"] == {"n": 1, **unseen, "hamming_loss": 1.0, "zero_one_loss": 1.0}
    # 0.5, 0 and 1: variance 0.25, over three rows.
    assert details["standard_errors"]["hamming_loss"] == pytest.approx(np.sqrt(0.25 / 3))
    assert not {"coefficients", "warnings"} & set(details)


def test_no_row_in_a_part_has_no_scores(monkeypatch):
    replace_method(monkeypatch, "MLKNN", Stub)
    dataset = Dataset(np.zeros((4, 1)), np.array([[1, 0]] * 4), ["a", "b"])
    cell = replace(planned(("MLKNN",))[0], train=np.array([0, 1]), test=np.array([2]))
    record = run_cell(dataset, cell)
    assert record.details["unobserved"] == {"n": 0}
    assert record.details["observed"]["n"] == 1
    assert record.details["standard_errors"]["hamming_loss"] is None


@pytest.mark.parametrize("n_labels", [1, 8, 9, 20])
def test_labelsets_seen_equal_a_set_of_tuples(n_labels):
    rng = np.random.default_rng(n_labels)
    Y_train, Y_test = (rng.random((2, 60, n_labels)) < 1.5 / (n_labels + 3)).astype(int)
    Y_train[0] = 0  # no label at all is a labelset too
    known = set(map(tuple, Y_train.tolist()))
    expected = [tuple(row) in known for row in Y_test.tolist()]
    assert labelsets_seen(Y_train, Y_test).tolist() == expected
    assert n_labels == 1 or 0 < sum(expected) < 60


def test_warning_of_a_prediction_is_counted_once():
    """NLDD searches a second time, for its details, which nobody is told of."""

    class WarnsOfProbabilities(LogisticRegression):
        def predict_proba(self, X):
            warnings.warn("a probability", RuntimeWarning, stacklevel=1)
            return super().predict_proba(X)

    base = {"estimator": WarnsOfProbabilities(solver="liblinear")}
    record = run_cell(songs(), planned(("NLDD",), parameters={"NLDD": base})[0])
    # Of four labels: on T2 and on the test rows.
    assert record.details["warnings"] == {"RuntimeWarning: a probability": 8}


def test_record_says_what_it_was_computed_with_and_not_by_whom():
    record = run_cell(songs(), planned(("MLKNN",))[0])
    assert set(record.versions) == {"python", "nldd", "numpy", "scipy", "scikit-learn", "numba"}
    assert record.versions["numpy"] == np.__version__
    assert set(record.machine) == {"system", "processor", "cores"}


def test_number_that_json_does_not_know_fails_its_cell(monkeypatch):
    monkeypatch.setattr("nldd.bench.runner.cell.evaluate", lambda *args: {"hamming_loss": np.inf})
    record = run_cell(songs(), planned(("MLKNN",))[0])
    assert (record.scores, record.fit_seconds, record.predict_seconds) == ({}, 0.0, 0.0)
    assert "JSON" in record.error


class Warns(Stub):
    def fit(self, X, Y):
        for text in ("b\nsecond line", "a", "b"):
            warnings.warn(text, RuntimeWarning, stacklevel=1)
        warnings.warn("", stacklevel=1)
        return super().fit(X, Y)


def test_warnings_are_counted_by_class_and_first_line(monkeypatch):
    replace_method(monkeypatch, "MLKNN", Warns)
    cell = planned(("MLKNN",))[0]
    for _ in range(2):  # a warning that came once comes again
        record = run_cell(songs(), cell)
        warned = {"RuntimeWarning: a": 1, "RuntimeWarning: b": 2, "UserWarning: ": 1}
        assert (record.details["warnings"], record.error) == (warned, None)
