"""Estimators are records in a file: equal to the last bit, each attribute checked by its schema."""

import json

import numpy as np
import pytest
from model_files import members_of, put_together, refusal, small_problem
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._label_models import ConstantLabel
from nldd.estimators._platt_svc import PlattSVC
from nldd.persistence._archive import Contents, read_archive, write_archive
from nldd.persistence._models import load_model, save_model
from nldd.persistence._objects import make_objects, record_of
from nldd.persistence._records import Decoder, Encoder, Record
from nldd.persistence._refusal import Refusal
from nldd.persistence._schemas import SCHEMAS
from nldd.persistence._values import check_compressed

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::FutureWarning"
)

LINEAR = [
    (LogisticRegression, {"solver": "liblinear"}),
    (LogisticRegression, {"C": 2.5, "random_state": 3}),
    (LogisticRegression, {"class_weight": {0: 1.0, 1: 2.0}}),
    (SGDClassifier, {"loss": "log_loss"}),
    (SGDClassifier, {"loss": "log_loss", "average": True}),
    (Perceptron, {}),
    (PassiveAggressiveClassifier, {}),
    (LinearSVC, {}),
    (PlattSVC, {}),
    (PlattSVC, {"solver": "liblinear"}),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("Type", "parameters"), LINEAR)
def test_linear_classifiers(path, Type, parameters, dtype):
    X, Y = small_problem()
    X = X.astype(dtype)
    model = BinaryRelevance(Type(**parameters), random_state=0).fit(X, Y)
    save_model(model, path)
    assert members_of(path).keys() == {
        *("manifest.json", "estimators/model.json", "estimators/model.bin"),
    }
    loaded = load_model(path)
    assert isinstance(loaded.estimators_[3], ConstantLabel)
    for label in range(3):
        given, expected = loaded.estimators_[label], model.estimators_[label]
        assert type(given) is type(expected)
        assert given.get_params() == expected.get_params()
        assert_array_equal(given.coef_, expected.coef_)
        assert given.coef_.dtype == expected.coef_.dtype
        assert type(given.random_state) is int
        assert_array_equal(given.predict(X), expected.predict(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_what_predictions_do_not_need_is_left_out(path):
    X, Y = small_problem()
    model = SGDClassifier(random_state=np.random.RandomState(0)).fit(X, Y[:, 0])
    model.note_, model.raw_, model.verbose = "mine", b"anything", 1
    write_archive(path, Contents("test", estimators={"all": [model]}))
    (loaded,) = read_archive(path).estimators["all"]
    assert vars(loaded).keys() & {"note_", "raw_", "_loss_function_"} == set()
    assert loaded.random_state is None
    assert loaded.verbose == 0
    assert_array_equal(loaded.predict(X), model.predict(X))


def values_again(values):
    encoder = Encoder(record_of)
    text = json.dumps(encoder.encode(values))
    return Decoder(bytes(encoder.content), 2**20).decode(json.loads(text))


def test_values_through_json():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    nodes = np.zeros(2, dtype=np.dtype({"names": ["a"], "formats": ["<i2"], "itemsize": 8}))
    names = np.array(["a", 1, None], dtype=object)
    given = [None, True, -3, 0.1, float("inf"), "é\ud800", (1, [2.5]), {1: "a", "b": ()}]
    again = values_again([*given, array, array, csr_matrix(array), names, nodes, np.float32(0.5)])
    assert again[:8] == given
    assert_array_equal(again[8], array)
    assert again[8].dtype == array.dtype
    assert again[8] is not again[9]  # so that a change of one is no change of the other
    assert isinstance(again[10], csr_matrix)
    assert_array_equal(again[10].toarray(), array)
    assert again[11].tolist() == names.tolist()
    assert again[12]["a"].tolist() == [0, 0]
    assert again[13] == 0.5


def test_equal_arrays_are_stored_once():
    encoder = Encoder(record_of)
    encoder.encode([np.zeros(100)] * 50)
    assert len(encoder.content) == 800


ARRAY = {"array": ["<f8", [2], 0]}


@pytest.mark.parametrize(
    "value",
    [
        {"array": ["<f8", [3], 0]},
        {"array": ["<f8", [2], 8]},
        {"array": ["<f8", [-1], 0]},
        {"array": ["<f8", [2], -8]},
        {"array": ["<f8", [2.0], 0]},
        {"array": ["<f8", [True], 0]},
        {"array": ["<f8", [2**70, 2**70, 0], 0]},
        {"array": ["<f8", [1] * 40, 0]},
        {"array": ["O", [1], 0]},
        {"array": [[["a", "O"]], [1], 0]},
        {"array": ["<M8[s]", [1], 0]},
        {"array": ["S8", [1], 0]},
        {"array": ["V0", [1], 0]},
        {"array": ["nonsense", [1], 0]},
        {"array": ["(1000000000,1000000000)f8", [1], 0]},
        {"sparse": ["csr_matrix", [1, 3], ARRAY, ARRAY, ARRAY]},
        {"sparse": ["dok_matrix", [1, 3], ARRAY, ARRAY, ARRAY]},
        {"same": 0},
        {"same": -1},
        {"same": True},
        {"type": ["sklearn.GaussianNB"]},
        {"type": ["sklearn.GaussianNB", [1]]},
        {"dict": [[[], 1]]},
        {"nonsense": []},
        {"tuple": [], "dict": []},
        {},
    ],
)
def test_json_that_is_no_value(path, members, value):
    changed = {**members, "estimators/all.json": json.dumps([value]).encode()}
    put_together({**changed, "estimators/all.bin": bytes(16)}, path)
    assert refusal(path).startswith("damaged: ")


@pytest.fixture
def members(path):
    X, Y = small_problem()
    write_archive(path, Contents("test", estimators={"all": [GaussianNB().fit(X, Y[:, 0])]}))
    return members_of(path)


def with_record(members, change, name="estimators/all.json"):
    """Members with the type and the attributes of the first estimator changed."""
    document = json.loads(members[name])
    document[0]["type"] = change(*document[0]["type"])
    return {**members, name: json.dumps(document).encode()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kind, state: ["os.system", state], "it holds the type 'os.system', which nldd"),
        (lambda kind, state: ["sklearn.Lasso", state], "it holds the type 'sklearn.Lasso'"),
        (lambda kind, state: [None, state], "damaged: "),
        (lambda kind, state: [kind, {**state, "theta_": 1.0}], "'theta_' of a GaussianNB in it is"),
        (lambda kind, state: [kind, {**state, "var_smoothing": -1.0}], "InvalidParameterError"),
        (lambda kind, state: [kind, {**state, "priors": {"same": 0}}], "damaged: "),
        (lambda kind, state: [kind, {**state, "n_features_in_": 3}], "has 4 where there are 3"),
        (lambda kind, state: [kind, {"classes_": state["classes_"]}], "has no attribute 'n_feat"),
    ],
)
def test_record_that_no_estimator_has(path, members, change, message):
    put_together(with_record(members, change), path)
    assert message in refusal(path)


def test_arrays_without_their_estimators(path, members):
    rest = {name: content for name, content in members.items() if not name.endswith(".bin")}
    put_together(rest, path)
    assert "it has estimators without their arrays" in refusal(path)


def test_arrays_used_often_count_often(path, members):
    large = {"array": ["<f8", [10_000], 0]}
    document = json.loads(members["estimators/all.json"])
    document[0]["type"][1]["nobody_"] = [large] * 100
    changed = {**members, "estimators/all.json": json.dumps(document).encode()}
    changed["estimators/all.bin"] += bytes(80_000)
    put_together(changed, path)
    assert "would take more memory than max_bytes" in refusal(path, max_bytes=10**6)
    assert len(read_archive(path, max_bytes=10**8).estimators["all"]) == 1


def test_attribute_of_another_version_names_both(path, members):
    changed = with_record(members, lambda kind, state: [kind, {"theta_": state["theta_"]}])
    versions = {**json.loads(members["manifest.json"])["versions"], "scikit-learn": "1.2.3"}
    put_together(changed, path, versions=versions)
    message = refusal(path)
    assert "has no attribute 'n_features_in_'; it was saved with scikit-learn 1.2.3" in message
    assert "damaged" not in message


def test_types_are_few_and_named():
    assert len(SCHEMAS) < 55
    assert {name.partition(".")[0] for name in SCHEMAS} == {"nldd", "sklearn"}
    for word in ("FunctionTransformer", "Stacking", "Voting", "SearchCV", "Vectorizer", "Frozen"):
        assert not any(word in name for name in SCHEMAS)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC(kernel="precomputed"), "a SVC in it takes distances or a kernel, not rows"),
        (RandomForestClassifier(2, n_jobs=5000), "asks for 5000 threads"),
        (make_pipeline(StandardScaler(), GaussianNB(), memory="x"), "keep files in a folder"),
        (KNeighborsClassifier(metric="yule"), "'effective_metric_' of a KNeighborsClassifier"),
    ],
)
def test_estimators_that_are_not_written(path, estimator, message):
    X, Y = small_problem()
    X = np.abs(X @ X.T).round()
    X[:, 0] %= 4
    if isinstance(estimator, SVC | KNeighborsClassifier):
        estimator.fit(X, Y[:, 0])
    found = refusal(
        path, lambda p: write_archive(p, Contents("test", estimators={"a": [estimator]}))
    )
    assert message in found
    assert "estimators 'a' cannot be stored" in found
    assert not path.exists()


def deep_record(thing):
    """A record whose objects are records too."""
    if isinstance(thing, list | tuple):
        return type(thing)(deep_record(item) for item in thing)
    if not isinstance(thing, BaseEstimator) and type(thing).__name__ != "Tree":
        return thing
    record = record_of(thing)
    return Record(record.type, {name: deep_record(part) for name, part in record.state.items()})


def with_parts(record, **parts):
    return Record(record.type, {**record.state, **parts})


def changing(name, change):
    return lambda record: with_parts(record, **{name: change(record.state[name])})


def in_tree(change):
    return changing("tree_", change)


def with_node(name, value):
    def change(tree):
        nodes = tree.state["nodes"].copy()
        nodes[name][0] = value
        return with_parts(tree, nodes=nodes)

    return in_tree(change)


TREE = [
    *(
        with_node(name, value)
        for name, value in [
            *[("left_child", 10**6), ("left_child", 0), ("right_child", -5), ("left_child", 2)],
            *[("feature", 4), ("feature", -2), ("feature", 10**9)],
        ]
    ),
    in_tree(changing("max_depth", lambda _: 1)),
    in_tree(changing("nodes", lambda nodes: nodes[:0])),
    in_tree(changing("nodes", lambda nodes: nodes["feature"])),
    in_tree(changing("nodes", lambda nodes: nodes[["feature", "threshold"]])),
    in_tree(changing("values", lambda values: values[:-1])),
    in_tree(changing("values", lambda values: values[:, :, :-1])),
    in_tree(changing("n_classes", lambda n: n + 1)),
    in_tree(changing("n_classes", lambda n: n * 0)),
    changing("n_features_in_", lambda _: 2),
    in_tree(changing("n_features", lambda _: 5)),
]
FOREST = [
    changing("n_features_in_", lambda _: 2),
    changing("estimators_", lambda trees: [GaussianNB(), *trees]),
    changing("estimators_", lambda trees: [*trees[:-1], TREE[-1](trees[-1])]),
]
NEIGHBOURS = [
    changing("_y", lambda y: y[:-1]),
    changing("_y", lambda y: y + 1),
    changing("_y", lambda y: y - 1),
    changing("_y", lambda _: None),
    changing("_y", lambda y: np.column_stack([y, y])),
    changing("_fit_X", lambda X: X[:-1]),
    changing("effective_metric_params_", lambda _: {"func": 1}),
    changing("effective_metric_", lambda _: "pyfunc"),
    changing("_fit_method", lambda _: "__class__"),
]
MACHINE = [
    changing("_n_support", lambda counts: counts * 2),
    changing("_n_support", lambda n: np.array([-1, 1 + n.sum()], dtype=np.int32)),
    changing("_dual_coef_", lambda coef: coef[:, :-1]),
    changing("_intercept_", lambda intercept: intercept[:0]),
    changing("_probA", lambda _: np.zeros(7)),
    changing("support_", lambda support: support[:-1]),
    changing("support_vectors_", lambda vectors: vectors[:, :-1]),
    changing("_sparse", lambda is_sparse: not is_sparse),
]


@pytest.mark.parametrize(
    ("model", "sparse", "changes"),
    [
        (DecisionTreeClassifier(random_state=0), False, TREE),
        (RandomForestClassifier(2, random_state=0), False, FOREST),
        (KNeighborsClassifier(algorithm="brute"), False, NEIGHBOURS),
        (SVC(), False, MACHINE),
        (SVC(), True, MACHINE),
    ],
)
def test_arrays_that_lead_elsewhere(model, sparse, changes):
    X, Y = small_problem()
    make_objects([deep_record(clone(model))], {})  # what is not fitted leads nowhere
    record = deep_record(model.fit(csr_matrix(X) if sparse else X, Y[:, 0]))
    make_objects([record], {})
    for number, change in enumerate(changes):
        with pytest.raises(Refusal):
            make_objects([change(record)], {})
            pytest.fail(f"change {number} goes unnoticed")


def test_forest_whose_tree_is_also_elsewhere():
    """A tree that was made for fewer features is not taken for one of this forest."""
    X, Y = small_problem()
    narrow = deep_record(DecisionTreeClassifier().fit(X[:, :2], Y[:, 0]))
    forest = deep_record(RandomForestClassifier(2).fit(X, Y[:, 0]))
    with pytest.raises(Refusal, match="is of another size"):
        make_objects([narrow, with_parts(forest, estimators_=[narrow])], {})


def test_neighbours_with_labels_of_several_columns():
    X, Y = small_problem()
    model = KNeighborsClassifier().fit(X, Y)
    (again,) = make_objects([deep_record(model)], {})
    assert_array_equal(again.predict(X), model.predict(X))


LARGEST = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("indices", "indptr", "n_major"),
    [
        ([0, 3], [0, 1, 2], 2),
        ([0, -1], [0, 1, 2], 2),
        ([0, 1], [0, 1, 3], 2),
        ([0, 1], [0, 2, 1], 2),
        ([0, 1], [1, 1, 2], 2),
        ([0, 1], [0, 2], 2),
        ([], [], -1),
        # Each number is larger than the one before, if differences may come round.
        ([0, 1], [0, LARGEST, -LARGEST, 0, 2], 4),
    ],
)
def test_sparse_matrix_with_positions_outside(indices, indptr, n_major):
    check_compressed(np.ones(2), np.array([0, 2]), np.array([0, 1, 2]), 2, 3)
    indices, indptr = np.array(indices, dtype=np.int64), np.array(indptr, dtype=np.int64)
    with pytest.raises(Refusal, match="a sparse matrix has positions outside of it"):
        check_compressed(np.ones(len(indices)), indices, indptr, n_major, 3)


def test_search_trees_are_grown_anew(path):
    X, Y = small_problem()
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, Y[:, 0])
    write_archive(path, Contents("test", estimators={"all": [model]}))
    assert b'_tree"' not in members_of(path)["estimators/all.json"].replace(b"kd_tree", b"")
    (loaded,) = read_archive(path).estimators["all"]
    assert isinstance(loaded._tree, type(model._tree))
    for given, expected in zip(loaded.kneighbors(X), model.kneighbors(X), strict=True):
        assert_array_equal(given, expected)


@pytest.mark.parametrize("n_models", [3, 5])
def test_classifiers_that_are_not_one_a_label(path, n_models):
    X, Y = small_problem()
    model = BinaryRelevance().fit(X, Y)
    model.estimators_ = [model.estimators_[0]] * n_models
    with pytest.raises(Refusal, match=f"has {n_models} where there are 4"):
        make_objects([deep_record(model)], {})
