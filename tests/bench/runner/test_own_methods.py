"""Methods of one's own: found by their import path, run beside ours, and refused with reasons."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from bench.runner.trials import Stub, n_lines, songs, trial, work_at_home, write_csv
from nldd import cli
from nldd.bench.runner.benchmark import run_benchmark
from nldd.bench.runner.cell import cells, run_cell
from nldd.bench.runner.methods import predict_labels, predict_probabilities
from nldd.bench.runner.protocol_file import choose_methods, load_protocol
from nldd.bench.runner.records import read_records
from nldd.exceptions import InputError

PAGE = (Path(__file__).parents[3] / "docs" / "benchmark.md").read_text("utf-8")
KNN = "sklearn.neighbors:KNeighborsClassifier"
TREE = "sklearn.tree:DecisionTreeClassifier"
SCALER = "sklearn.preprocessing:StandardScaler"


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


def run_first(protocol, method):
    cell, *_ = cells(protocol, "songs", songs(), (method,))
    return cell, run_cell(songs(), cell)


# The page


def test_eight_lines_of_the_page_are_a_method(here, monkeypatch):
    (code,) = re.findall(r"```python\n(# mine\.py\n.*?)```", PAGE, re.DOTALL)
    lines = [line for line in code.splitlines()[1:] if line.strip()]
    assert len(lines) == 8
    (here / "mine.py").write_text(code)
    work_at_home(monkeypatch)
    (command,) = re.findall(r"\$ nldd (benchmark .*mine:.*)", PAGE)
    assert cli.run([word.strip("'") for word in command.split()]) == 0
    (folder,) = (here / "nldd-results").iterdir()
    records = read_records(folder / "cells.jsonl")
    assert {record.method for record in records} == {"BR", "Frequent"}
    Y = songs().Y
    for record in records:
        if record.method == "Frequent":
            assert record.error is None
            assert record.scores["hamming_loss"] > 0
            assert record.details["label_counts"]["fp"] != [0] * Y.shape[1]


@pytest.mark.parametrize(
    "text", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL), ids=lambda text: text.split("\n")[0]
)
def test_every_protocol_of_the_page_loads_and_plans(text, tmp_path):
    (tmp_path / "mine.toml").write_text(text)
    protocol = load_protocol(tmp_path / "mine.toml")
    for method in protocol.methods:
        assert protocol.estimator(method, "songs", 60, fold=0) is not None


# By import path


@pytest.mark.parametrize(
    ("entries", "parameters", "method"),
    [
        ([KNN], {"n_neighbors": 3}, "KNeighborsClassifier"),
        ([f"KNN={KNN}"], {"n_neighbors": 3}, "KNN"),
        (
            ["RF=sklearn.ensemble:RandomForestClassifier"],
            {"n_estimators": 5, "max_depth": 2},
            "RF",
        ),
        (
            ["Binary=sklearn.multioutput:MultiOutputClassifier"],
            {"estimator": "sklearn.linear_model:LogisticRegression", "estimator__C": 0.5},
            "Binary",
        ),
    ],
    ids=["class", "name", "forest", "inner estimator"],
)
def test_classifiers_of_scikit_learn_run_as_they_are(entries, parameters, method, tmp_path):
    path = tmp_path / "mine.toml"
    values = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
    path.write_text(f"methods = ['BR', {entries[0]!r}]\n[parameters.{method}]\n{values}")
    protocol = load_protocol(path)
    assert protocol.methods == ("BR", method)
    cell, record = run_first(protocol, method)
    assert record.error is None
    X, Y, _ = songs()
    model = cell.estimator.fit(X[cell.train], Y[cell.train])
    assert_array_equal(record.predictions.Y_pred, model.predict(X[cell.test]))
    assert record.scores["macro_auroc"] > 0.5
    seeds = [v for k, v in cell.estimator.get_params().items() if k.endswith("random_state")]
    assert seeds == [0] * len(seeds)


def test_base_of_ours_by_import_path_is_seeded(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[parameters.BR]\nestimator = 'sklearn.ensemble:RandomForestClassifier'")
    base = load_protocol(path).estimator("BR", "songs", 60, fold=4).estimator
    assert isinstance(base, RandomForestClassifier)
    assert base.random_state == 4


def test_own_methods_come_after_ours_and_those_of_the_protocol_are_known():
    protocol = choose_methods([f"KNN={KNN}", "nldd", "BR"], trial())
    assert protocol.methods == ("BR", "NLDD", "KNN")
    assert choose_methods(["KNN"], protocol).methods == ("KNN",)


def test_search_of_an_own_method(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f"methods = ['KNN={KNN}']\n[search.KNN]\nn_neighbors = [1, 7]")
    _, record = run_first(load_protocol(path), "KNN")
    assert record.details["searched"]["best"]["n_neighbors"] in (1, 7)


@pytest.mark.parametrize(("steps", "n_labels"), [("", 4), (f"prepare = ['{SCALER}']", 2)])
def test_search_among_classes(tmp_path, steps, n_labels):
    """They become estimators in each cell, and words in its record."""
    path, names = tmp_path / "mine.toml", ["sklearn.naive_bayes:GaussianNB", TREE]
    path.write_text(f"{steps}\nmethods = ['BR']\n[search.BR]\nestimator = {names}")
    dataset = replace(songs(), Y=songs().Y[:, :n_labels])
    cell = next(cells(load_protocol(path), "songs", dataset, ("BR",)))
    (grid,) = cell.estimator.param_grid.values()
    assert [type(base).__name__ for base in grid] == ["GaussianNB", "DecisionTreeClassifier"]
    assert grid[1].random_state == 0
    record = run_cell(dataset, cell)
    assert record.error is None
    assert record.details["searched"]["best"]["estimator"] in names
    path.write_text("methods = ['BR']\n[search.BR]\nestimator__base = ['os:remove']")
    with pytest.raises(InputError, match="os:remove is no class"):
        next(cells(load_protocol(path), "songs", songs(), ("BR",)))


@pytest.mark.parametrize("base", [KNN, TREE])
def test_one_label_is_a_class_to_scikit_learn(base, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f"methods = ['Mine={base}']")
    dataset = replace(songs(), Y=songs().Y[:, :1], label_names=["sad"])
    cell = next(cells(load_protocol(path), "songs", dataset, ("Mine",)))
    record = run_cell(dataset, cell)
    assert record.error is None
    assert record.predictions.Y_pred.shape == (6, 1)
    model = cell.estimator.fit(dataset.X[cell.train], dataset.Y[cell.train, 0])
    P = model.predict_proba(dataset.X[cell.test])[:, 1:]
    assert_allclose(record.predictions.P, P, rtol=1e-6)
    for only in (0, 1):
        model = cell.estimator.fit(dataset.X, np.full(60, only))
        assert_array_equal(predict_probabilities(model, dataset.X, 1), np.full((60, 1), only))


def test_classifier_of_one_label_is_told_what_to_do(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("methods = ['sklearn.svm:SVC']")
    _, record = run_first(load_protocol(path), "SVC")
    assert record.error.startswith("ValueError: y should be a 1d array")
    assert "make it the estimator of sklearn.multioutput:MultiOutputClassifier" in record.error


def test_search_of_a_method_that_is_not_run_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("methods = ['BR']\n[search.NLDD]\ntrain_fraction = [0.5, 1.0]")
    with pytest.raises(InputError, match=r"search\.NLDD: NLDD is not among the methods"):
        load_protocol(path)


def test_measure_of_the_page_from_kept_predictions(here, monkeypatch, capsys):
    """What the page computes from the kept predictions is what the records have."""
    work_at_home(monkeypatch)
    run_benchmark(trial(folds=2, methods=("BR", "MLKNN")), {"songs": songs()}, "mine")
    (code,) = re.findall(r"```python\n(from nldd.bench import read_.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    wrong = {(r.method, r.fold): r.scores["hamming_loss"] for r in read_records("mine/cells.jsonl")}
    assert {(method, int(fold)): float(value) for _, method, fold, value in lines} == {
        key: pytest.approx(value, abs=5e-4) for key, value in wrong.items()
    }
    with pytest.raises(InputError, match="datasets must be a dict of data sets by name"):
        run_benchmark(trial(), [songs()], "mine")


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
        ([[1, 0], [0], [1, 1]], "rows of different lengths"),
        (Y3 + 1, "other values than 0 and 1"),
        (Y3 * np.nan, "other values than 0 and 1"),
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
    "no_such_module:A": "there is no module 'no_such_module'",
    "sklearn.no_such:A": "there is no module 'sklearn.no_such'",
    "sklearn.neighbors:KNeighborClassifier": "did you mean 'KNeighborsClassifier'",
    "sklearn:__version__": "is no class",
    "fails:A": r"cannot be imported \(ZeroDivisionError: division by zero\)",
    "ends:A": r"cannot be imported \(SystemExit: 3\)",
    "needs:A": "needs 'no_such_module_either', which is missing",
    "plain:Plain": "it has no fit, predict, get_params",
    "sklearn.preprocessing:StandardScaler": "it has no predict",
    "sklearn.linear_model:Ridge": "is a regressor",
    "sklearn.multioutput:ClassifierChain": r"cannot be made with \[parameters.ClassifierChain\]",
    "NLDD=sklearn.linear_model:Ridge": "'NLDD' is a method of nldd",
    "a b=sklearn.linear_model:Ridge": "'a b' is no name for a method",
}


@pytest.mark.parametrize(("entry", "message"), BROKEN.items(), ids=BROKEN)
def test_what_is_no_classifier_is_refused_before_the_run(here, entry, message):
    (here / "fails.py").write_text("1 / 0")
    (here / "ends.py").write_text("raise SystemExit(3)")
    (here / "needs.py").write_text("import no_such_module_either")
    (here / "plain.py").write_text("class Plain: pass")
    with pytest.raises(InputError, match=message):
        choose_methods([entry], trial())
    (here / "mine.toml").write_text(f"methods = [{entry!r}]")
    with pytest.raises(InputError, match=rf"mine\.toml: .*{message}"):
        load_protocol(here / "mine.toml")


def test_two_of_one_name_are_refused(here):
    entries = [KNN, "KNeighborsClassifier=sklearn.tree:DecisionTreeClassifier"]
    with pytest.raises(InputError, match="Two methods are called 'KNeighborsClassifier'"):
        choose_methods(entries, trial())
    (here / "mine.toml").write_text(f"methods = {entries}")
    with pytest.raises(InputError, match="two are called 'KNeighborsClassifier'"):
        load_protocol(here / "mine.toml")


def test_unknown_parameter_of_an_own_method_is_refused(here):
    (here / "mine.toml").write_text(
        f"methods = ['{KNN}']\n[parameters.KNeighborsClassifier]\nk = 1"
    )
    with pytest.raises(InputError, match="there is no 'k'; known are n_neighbors"):
        load_protocol(here / "mine.toml")


@pytest.mark.parametrize(
    "text",
    [
        "methods = ['Mine=pathlib:Path.unlink']\n[parameters.Mine]\nself = 'kept'",
        "methods = ['Mine=os:remove']\n[parameters.Mine]\npath = 'kept'",
        f"methods = ['{KNN}']\n[parameters.KNeighborsClassifier]\nmetric = 'os:getcwd'",
        "[parameters.BR]\nestimator = 'shutil:rmtree'",
    ],
)
def test_protocol_calls_no_functions(here, text):
    (here / "kept").touch()
    (here / "mine.toml").write_text(text)
    with pytest.raises(InputError, match="is no class"):
        load_protocol(here / "mine.toml")
    assert (here / "kept").exists()


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
