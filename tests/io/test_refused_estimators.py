"""What estimators in a file may be, node by node and position by position."""

import json

import numpy as np
import pytest
import sklearn
from model_files import (
    members_of,
    npy_bytes,
    put_together,
    small_problem,
    with_schema,
    with_skops,
)
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from nldd.exceptions import InputError
from nldd.io import Contents, read_archive, write_archive
from nldd.io._allowed_types import BY_LOADER, CHECKS, OBJECTS, check_objects
from nldd.io._refusal import Refusal
from nldd.io._values import check_compressed

MEMBER = "estimators/all.skops"


@pytest.fixture
def members(path):
    X, Y = small_problem()
    model = GaussianNB().fit(X, Y[:, 0])
    write_archive(path, Contents("test", estimators={"all": [model]}))
    return members_of(path)


def refusal(path, members, **options):
    put_together(members, path)
    with pytest.raises(InputError) as caught:
        read_archive(path, **options)
    return str(caught.value).removeprefix(f"{path}: ").removesuffix("."), caught.value.hint


def appended(node):
    return lambda schema: {**schema, "content": [*schema["content"], node]}


def node(module, kind, loader, **more):
    return {"__module__": module, "__class__": kind, "__loader__": loader, **more}


def test_canary_is_neither_imported_nor_run(path, members, tmp_path, monkeypatch):
    canary = tmp_path / "canary"
    (tmp_path / "canary_module.py").write_text(f"open({str(canary)!r}, 'w').close()\nThing = int\n")
    monkeypatch.syspath_prepend(tmp_path)
    thing = node("canary_module", "Thing", "ObjectNode")
    changed = with_schema(members, appended(thing), MEMBER)
    message, hint = refusal(path, changed)
    assert message == "it holds the type 'canary_module.Thing', which nldd does not load"
    assert hint.endswith('load_model(path, trusted=["canary_module.Thing"])')
    assert not canary.exists()
    put_together(changed, path)
    read_archive(path, trusted=["canary_module.Thing"])
    assert canary.exists()  # the canary sings where it is let in


def test_all_foreign_types_are_named(path, members):
    things = [node("a", "B", "ObjectNode"), node("os", "system", "FunctionNode")]
    changed = with_schema(members, lambda s: {**s, "content": [*s["content"], *things]}, MEMBER)
    message, hint = refusal(path, changed)
    assert message == "it holds the types 'a.B', 'os.system', which nldd does not load"
    assert '["a.B", "os.system"]' in hint


@pytest.mark.parametrize("loader", ["MethodNode", "OperatorFuncNode", "BytesNode", "CachedNode"])
def test_ways_to_make_things_that_are_never_taken(path, members, loader):
    thing = node("operator", "methodcaller", loader)
    changed = with_schema(members, appended(thing), MEMBER)
    message, _ = refusal(path, changed, trusted=["operator.methodcaller"])
    assert message == (
        f"its estimators need {loader!r} for 'operator.methodcaller', which nldd never loads"
    )


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ({"__id__": 10**6}, "cannot be rebuilt: KeyError"),
        ({"__class__": "A"}, "cannot be rebuilt: KeyError"),
        (node("builtins", "str", "JsonNode", content=["1"]), "cannot be rebuilt: TypeError"),
        (node("builtins", "str", "JsonNode", content="1", __id__=0), "has the number '0'"),
        (node("builtins", "str", "JsonNode", content="1", __id__=1.0), "has the number '1.0'"),
        (
            node("numpy", "ndarray", "NdArrayNode", type="numpy", file="x.npy"),
            "'x.npy' that is not",
        ),
        (node("numpy", "ndarray", "NdArrayNode", type="numpy"), "'None' that is not there"),
        (node("scipy.sparse._csr", "csr_matrix", "SparseMatrixNode", file="0.npy"), "else"),
        (node("numpy", "void", "NdArrayNode", type="numpy", file="0.npy"), "type 'numpy.void'"),
        (node("builtins", "dict", "DictNode", content={}), "rebuilt: KeyError: 'key_types'"),
    ],
)
def test_broken_nodes(path, members, thing, message):
    assert message in refusal(path, with_schema(members, appended(thing), MEMBER))[0]


def test_keys_must_be_plain_types(path, members):
    """skops calls the type of a key with the key."""
    keys = node("builtins", "list", "ListNode", content=[node("os", "system", "TypeNode")])
    thing = node("builtins", "dict", "DictNode", content={"true": 1}, key_types=keys)
    changed = with_schema(members, appended(thing), MEMBER)
    assert refusal(path, changed)[0].startswith("it holds the type 'os.system'")
    message, _ = refusal(path, changed, trusted=["os.system"])
    assert message == "a dict of its estimators has keys that are no plain values"


def test_two_objects_with_one_number(path, members):
    def change(schema):
        first = node("builtins", "list", "ListNode", content=[], __id__=999)
        other = {**first, "content": [first]}
        return {**schema, "content": [first, other]}

    message, _ = refusal(path, with_schema(members, change, MEMBER))
    assert message == "two nodes of its estimators have the same number"


def test_array_used_many_times_counts_many_times(path, members):
    def change(inner):
        schema = json.loads(inner["schema.json"])
        array = node("numpy", "ndarray", "NdArrayNode", type="numpy", file="big.npy")
        schema["content"] += [array] * 100
        text = json.dumps(schema).encode()
        return {**inner, "schema.json": text, "big.npy": npy_bytes(np.zeros(10_000))}

    message, _ = refusal(path, with_skops(members, change, MEMBER), max_bytes=10**6)
    assert message.startswith("its estimators would take 80")
    put_together(with_skops(members, change, MEMBER), path)
    assert len(read_archive(path, max_bytes=10**8).estimators["all"]) == 101


def test_member_that_nobody_uses(path, members):
    changed = with_skops(members, lambda inner: {**inner, "run.npy": b""}, MEMBER)
    assert refusal(path, changed)[0] == "members that its estimators do not use: 'run.npy'"


def test_estimators_that_are_no_list(path, members):
    changed = with_schema(members, lambda schema: {**schema["content"][0], "protocol": 2}, MEMBER)
    assert refusal(path, changed)[0] == "its estimators are no list"
    changed = with_skops(members, lambda inner: {"0.npy": inner["0.npy"]}, MEMBER)
    assert refusal(path, changed)[0] == "its estimators are too many or no estimators"


def test_state_that_a_type_does_not_take(path, members):
    number = node("builtins", "str", "JsonNode", content="1")
    thing = node("sklearn.naive_bayes", "GaussianNB", "ObjectNode", content=number)
    message, hint = refusal(path, with_schema(members, appended(thing), MEMBER))
    assert message.startswith(f"estimators {MEMBER!r} cannot be rebuilt: ")
    assert hint.startswith("Fetch the file again from whoever made it")


def test_lists_of_types():
    """Named one by one; none of them calls what a file names, or keeps such a thing."""
    assert len(OBJECTS) < 50
    assert {name.partition(".")[0] for name in OBJECTS} == {"nldd", "sklearn"}
    assert CHECKS.keys() <= OBJECTS
    for word in ("FunctionTransformer", "Stacking", "Voting", "SearchCV", "ColumnTransformer"):
        assert not any(word in name for name in OBJECTS)
    assert {"MethodNode", "OperatorFuncNode", "FunctionNode", "PartialNode"}.isdisjoint(BY_LOADER)


def test_missing_attribute_is_a_matter_of_versions(path):
    """An attribute that another scikit-learn does not give its machines is no attack."""
    X, Y = small_problem()
    machine = SVC().fit(X, Y[:, 0])
    write_archive(path, Contents("test", estimators={"all": [machine]}))
    members = members_of(path)
    content = members[MEMBER].replace(b'"_n_support"', b'"_n_supports"')

    def renamed(inner):
        schema = inner["schema.json"].replace(b'"_n_support"', b'"_n_supports"')
        return {**inner, "schema.json": schema}

    assert content != members[MEMBER]
    versions = {**json.loads(members["manifest.json"])["versions"], "scikit-learn": "1.2.3"}
    put_together(with_skops(members, renamed, MEMBER), path, versions=versions)
    with pytest.raises(InputError) as caught:
        read_archive(path)
    message, here = str(caught.value), sklearn.__version__
    assert "'SVC' object has no attribute '_n_support'" in message
    assert f"it was saved with scikit-learn 1.2.3, and here is {here}" in message
    assert "points outside" not in message
    assert "damaged" not in message
    assert caught.value.hint == 'pip install "scikit-learn==1.2.3", or fit the model anew.'


def fitted(model, sparse=False):
    X, Y = small_problem()
    return model.fit(csr_matrix(X) if sparse else X, Y[:, 0])


def with_node(model, **values):
    """A tree with something else in one of its inner nodes."""
    state = model.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in values.items():
        nodes[name][0] = value
    model.tree_.__setstate__({**state, "nodes": nodes})
    return model


def with_state(model, **values):
    model.tree_.__setstate__({**model.tree_.__getstate__(), **values})


def changing(name, change):
    return lambda model: setattr(model, name, change(getattr(model, name)))


TREE = [
    *(
        lambda tree, name=name, value=value: with_node(tree, **{name: value})
        for name, value in [
            *[("left_child", 10**6), ("left_child", 0), ("right_child", -5), ("left_child", 2)],
            *[("feature", 4), ("feature", -2), ("feature", 10**9)],
        ]
    ),
    lambda tree: with_state(tree, max_depth=1),
    changing("tree_", lambda tree: type(tree)(*tree.__reduce__()[1])),  # without nodes
    changing("n_features_in_", lambda _: 2),
]
NEIGHBOURS = [
    changing("_y", lambda y: y[:-1]),
    changing("_y", lambda y: y + 1),
    changing("_y", lambda y: y - 1),
    changing("_y", lambda _: None),
    changing("_fit_X", lambda X: X[:-1]),
]
MACHINE = [
    changing("_n_support", lambda counts: counts * 2),
    changing("_n_support", lambda n: np.array([-1, 1 + n.sum()], dtype=np.int32)),
    changing("_dual_coef_", lambda coef: coef[:, :-1]),
    changing("_intercept_", lambda intercept: intercept[:0]),
    changing("_probA", lambda _: np.zeros(7)),
    changing("support_", lambda support: support[:-1]),
    changing("support_vectors_", lambda vectors: vectors[:, :-1]),
]


@pytest.mark.parametrize(
    ("model", "sparse", "changes"),
    [
        (DecisionTreeClassifier(random_state=0), False, TREE),
        (RandomForestClassifier(2, random_state=0), False, TREE[-1:]),
        (KNeighborsClassifier(algorithm="brute"), False, NEIGHBOURS),
        (SVC(), False, MACHINE),
        (SVC(), True, MACHINE),
    ],
)
def test_arrays_that_lead_elsewhere(model, sparse, changes):
    check_objects([clone(model)])  # what is not fitted leads nowhere
    for change in changes:
        broken = fitted(clone(model), sparse)
        check_objects([broken])
        change(broken)
        with pytest.raises(Refusal, match=f"{type(model).__name__} in it points outside"):
            check_objects({"deep": [(broken,)]})


def test_neighbours_with_labels_of_several_columns():
    check_objects([KNeighborsClassifier().fit(*small_problem())])


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


def test_search_trees_are_not_in_the_file(path):
    X, Y = small_problem()
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, Y[:, 0])
    write_archive(path, Contents("test", estimators={"all": [model]}))
    assert b"_kd_tree" not in members_of(path)[MEMBER]
    (loaded,) = read_archive(path).estimators["all"]
    assert isinstance(loaded._tree, type(model._tree))
    for given, expected in zip(loaded.kneighbors(X), model.kneighbors(X), strict=True):
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("metric", ["nonsense", "precomputed"])
def test_search_tree_that_cannot_grow(path, metric):
    X, Y = small_problem()
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, Y[:, 0])
    model.effective_metric_ = metric
    write_archive(path, Contents("test", estimators={"all": [model]}))
    with pytest.raises(InputError, match="cannot be rebuilt: ValueError"):
        read_archive(path)
