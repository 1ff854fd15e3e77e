"""Methods of one's own: found by their import path, run beside ours, and refused with reasons."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier

from bench.runner.trials import Stub, n_lines, run_first, songs, trial, work_at_home, write_csv
from nldd import cli
from nldd.bench.runner.benchmark import run_benchmark
from nldd.bench.runner.cell import cells
from nldd.bench.runner.methods import predict_labels, predict_probabilities
from nldd.bench.runner.protocol_file import choose_methods
from nldd.bench.runner.records import read_records
from nldd.exceptions import InputError

PAGE = (Path(__file__).parents[3] / "docs" / "benchmark.md").read_text("utf-8")
KNN = "sklearn.neighbors:KNeighborsClassifier"
TREE = "sklearn.tree:DecisionTreeClassifier"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    write_csv(songs(), tmp_path / "songs.csv")
    yield tmp_path
    for name in set(sys.modules) - known:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


# The page


def test_eight_lines_of_the_page_are_a_method(here, monkeypatch):
    (code,) = re.findall(r"```python\n(# mine\.py\n.*?)```", PAGE, re.DOTALL)
    assert len([line for line in code.splitlines()[1:] if line.strip()]) == 8
    (here / "mine.py").write_text(code)
    work_at_home(monkeypatch)
    (command,) = re.findall(r"\$ nldd (benchmark .*mine:.*)", PAGE)
    assert cli.run([word.strip("'") for word in command.split()]) == 0
    (folder,) = (here / "nldd-results").iterdir()
    found = {(record.method, record.error) for record in read_records(folder / "cells.jsonl")}
    assert found == {("BR", None), ("Frequent", None)}


@pytest.mark.parametrize(
    "text", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL), ids=lambda text: text.split("\n")[0]
)
def test_every_protocol_of_the_page_loads_and_plans(text, own):
    protocol = own(text)
    for method in protocol.methods:
        assert protocol.estimator(method, "songs", 60, fold=0) is not None


def test_measure_of_the_page_from_kept_predictions(here, monkeypatch, capsys):
    work_at_home(monkeypatch)
    run_benchmark(trial(folds=2, methods=("BR", "MLKNN")), {"songs": songs()}, "mine")
    (code,) = re.findall(r"```python\n(from nldd.bench import read_.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    lines = [line.split()[1:] for line in capsys.readouterr().out.splitlines()]
    assert sorted(lines) == sorted(
        [r.method, str(r.fold), f"{r.scores['hamming_loss']:.3f}"]
        for r in read_records("mine/cells.jsonl")
    )
    with pytest.raises(InputError, match="dict of data sets"):
        run_benchmark(trial(), [songs()], "mine")


# By import path


@pytest.mark.parametrize(
    ("entry", "parameters", "method"),
    [
        (KNN, {"n_neighbors": 3}, "KNeighborsClassifier"),
        ("RF=sklearn.ensemble:RandomForestClassifier", {"n_estimators": 5}, "RF"),
        (
            "Binary=sklearn.multioutput:MultiOutputClassifier",
            {"estimator": "sklearn.linear_model:LogisticRegression", "estimator__C": 0.5},
            "Binary",
        ),
    ],
)
def test_classifiers_of_scikit_learn_run_as_they_are(entry, parameters, method, own):
    values = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
    protocol = own(f"methods = ['BR', {entry!r}]\n[parameters.{method}]\n{values}")
    assert protocol.methods == ("BR", method)
    cell, record = run_first(protocol, method)
    assert record.error is None
    X, Y, _ = songs()
    model = cell.estimator.fit(X[cell.train], Y[cell.train])
    assert_array_equal(record.predictions.Y_pred, model.predict(X[cell.test]))
    assert record.scores["macro_auroc"] > 0.5
    seeds = [v for k, v in cell.estimator.get_params().items() if k.endswith("random_state")]
    assert seeds == [0] * len(seeds)


def test_own_methods_come_after_ours_and_those_of_the_protocol_are_known():
    protocol = choose_methods([f"KNN={KNN}", "nldd", "BR"], trial())
    assert protocol.methods == ("BR", "NLDD", "KNN")
    assert choose_methods(["KNN"], protocol).methods == ("KNN",)


@pytest.mark.parametrize(("steps", "n_labels"), [("", 4), ("StandardScaler", 2)])
def test_search_among_classes(own, steps, n_labels):
    """They become estimators in each cell, and words in its record."""
    names = ["sklearn.naive_bayes:GaussianNB", TREE]
    prepare = f"prepare = ['sklearn.preprocessing:{steps}']" if steps else ""
    protocol = own(f"{prepare}\nmethods = ['BR']\n[search.BR]\nestimator = {names}")
    cell, record = run_first(protocol, "BR", replace(songs(), Y=songs().Y[:, :n_labels]))
    (grid,) = cell.estimator.param_grid.values()
    assert [type(base).__name__ for base in grid] == ["GaussianNB", "DecisionTreeClassifier"]
    assert grid[1].random_state == 0
    assert record.error is None
    assert record.details["searched"]["best"]["estimator"] in names
    protocol = own("methods = ['BR']\n[search.BR]\nestimator__base = ['os:remove']")
    with pytest.raises(InputError, match="os:remove is no class"):
        next(cells(protocol, "songs", songs(), ("BR",)))


@pytest.mark.parametrize("base", [KNN, TREE])
def test_one_label_is_a_class_to_scikit_learn(base, own):
    dataset = replace(songs(), Y=songs().Y[:, :1], label_names=["sad"])
    cell, record = run_first(own(f"methods = ['Mine={base}']"), "Mine", dataset)
    assert record.error is None
    assert record.predictions.Y_pred.shape == (6, 1)
    model = cell.estimator.fit(dataset.X[cell.train], dataset.Y[cell.train, 0])
    P = model.predict_proba(dataset.X[cell.test])[:, 1:]
    assert_allclose(record.predictions.P, P, rtol=1e-6)
    for only in (0, 1):
        model = cell.estimator.fit(dataset.X, np.full(60, only))
        assert_array_equal(predict_probabilities(model, dataset.X, 1), np.full((60, 1), only))


def test_classifier_of_one_label_is_told_what_to_do(own):
    _, record = run_first(own("methods = ['sklearn.svm:SVC']"), "SVC")
    assert "sklearn.multioutput:MultiOutputClassifier" in record.error


# What they predict


class Says(Stub):
    """Gives back what it is told."""

    def __init__(self, labels=None, probabilities=None):
        self.labels = labels
        self.probabilities = probabilities

    def predict(self, X):
        return self.labels

    def predict_proba(self, X):
        return self.probabilities


X3 = np.zeros((3, 1))
Y3 = np.array([[1, 0], [0, 0], [1, 1]])


@pytest.mark.parametrize(
    "form", [csr_array, np.ndarray.tolist, np.array, lambda Y: Y.astype(bool), lambda Y: Y * 1.0]
)
def test_labels_in_every_form(form):
    found = predict_labels(Says(form(Y3)), X3, 2)
    assert found.dtype.kind == "i"
    assert_array_equal(found, Y3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y3[:, 0], r"shape \(3,\) and not \(3, 2\)"),
        (Y3.T, r"shape \(2, 3\) and not \(3, 2\)"),
        ([[1, 0], [0], [1, 1]], "different lengths"),
        (Y3 + 1, "other values"),
        (Y3 * np.nan, "other values"),
    ],
)
def test_labels_in_another_form_are_told(labels, message):
    with pytest.raises(InputError, match=message):
        predict_labels(Says(labels), X3, 2)


def test_probabilities_of_lists_also_of_constant_labels():
    X, Y, _ = songs()
    Y = np.column_stack([Y[:, :2], np.ones(60, int), np.zeros(60, int)])
    model = KNeighborsClassifier().fit(X, Y)
    P = predict_probabilities(model, X, 4)
    assert_allclose(P[:, :2], np.column_stack([p[:, 1] for p in model.predict_proba(X)[:2]]))
    assert_array_equal(P[:, 2:], np.tile([1.0, 0.0], (60, 1)))
    with pytest.raises(InputError, match=r"shape \(3, 1\) and not \(3, 2\)"):
        predict_probabilities(Says(None, np.zeros((3, 1))), X3, 2)


# Refused

BROKEN = {
    "no_such_module:A": "no module 'no_such_module'",
    "sklearn.no_such:A": "no module 'sklearn.no_such'",
    "sklearn.neighbors:KNeighborClassifier": "'KNeighborsClassifier'",
    "sklearn:__version__": "no class",
    "fails:A": "ZeroDivisionError",
    "ends:A": "SystemExit: 3",
    "needs:A": "needs 'no_such_module_either'",
    "plain:Plain": "no fit, predict, get_params",
    "sklearn.preprocessing:StandardScaler": "no predict",
    "sklearn.linear_model:Ridge": "regressor",
    "sklearn.multioutput:ClassifierChain": r"\[parameters.ClassifierChain\]",
    "NLDD=sklearn.linear_model:Ridge": "'NLDD'",
    "a b=sklearn.linear_model:Ridge": "'a b'",
    "Mine=pathlib:Path.unlink": "no class",
    f"KNN={KNN}', 'KNN={TREE}": "Two methods are called 'KNN'",
}


@pytest.mark.parametrize(("entries", "message"), BROKEN.items(), ids=BROKEN)
def test_what_is_no_classifier_is_refused_before_the_run(here, own, entries, message):
    (here / "fails.py").write_text("1 / 0")
    (here / "ends.py").write_text("raise SystemExit(3)")
    (here / "needs.py").write_text("import no_such_module_either")
    (here / "plain.py").write_text("class Plain: pass")
    with pytest.raises(InputError, match=message):
        choose_methods(entries.split("', '"), trial())
    with pytest.raises(InputError, match=rf"mine\.toml: .*{message}"):
        own(f"methods = ['{entries}']")


@pytest.mark.parametrize(
    "text",
    [
        "methods = ['Mine=os:remove']\n[parameters.Mine]\npath = 'kept'",
        f"methods = ['K={KNN}']\n[parameters.K]\nmetric = 'os:getcwd'",
        "[parameters.BR]\nestimator = 'shutil:rmtree'",
    ],
)
def test_protocol_calls_no_functions(here, own, text):
    (here / "kept").touch()
    with pytest.raises(InputError, match="is no class"):
        own(text)
    assert (here / "kept").exists()
    with pytest.raises(InputError, match="no 'k'; known are n_neighbors"):
        own(f"methods = ['K={KNN}']\n[parameters.K]\nk = 1")


@pytest.mark.slow
def test_worker_processes_import_it_too(here):
    (here / "elsewhere.py").write_text(
        "from sklearn.neighbors import KNeighborsClassifier\n"
        "class Mine(KNeighborsClassifier): pass\n"
    )
    (here / "trial.toml").write_text("folds = 3\nmethods = ['elsewhere:Mine']")
    words = ["--datasets", "songs.csv", "--labels", "label_*", "--out", "out", "--jobs", "2"]
    assert cli.run(["benchmark", "--protocol", "trial.toml", *words]) == 0
    assert n_lines(here / "out") == 3
