"""Skops in model files: read as records where 0.1.0 wrote it, loaded by skops with consent only."""

import json
from pathlib import Path

import numpy as np
import pytest
from model_files import members_of, npy_bytes, put_together, refusal, with_schema, with_skops

from nldd.persistence._archive import read_archive
from nldd.persistence._models import load_model

FILE = Path(__file__).parent / "files" / "v0.1.0" / "binary_relevance_forest.nldd"
MEMBER = "estimators/model.skops"

pytestmark = pytest.mark.filterwarnings("ignore:.*saved with scikit-learn 1.6")


@pytest.fixture
def members():
    return members_of(FILE)


def refusal_of(path, members, **options):
    put_together(members, path)
    return refusal(path, **options)


def appended(*nodes):
    return lambda schema: {**schema, "content": [*schema["content"], *nodes]}


def node(module, kind, loader, **more):
    return {"__module__": module, "__class__": kind, "__loader__": loader, **more}


def test_canary_is_neither_imported_nor_run(path, members, tmp_path, monkeypatch):
    canary = tmp_path / "canary"
    (tmp_path / "canary_module.py").write_text(f"open({str(canary)!r}, 'w').close()\nThing = int\n")
    monkeypatch.syspath_prepend(tmp_path)
    thing = node("canary_module", "Thing", "ObjectNode")
    changed = with_schema(members, appended(thing), MEMBER)
    message = refusal_of(path, changed)
    assert message == "it holds the type 'canary_module.Thing', which nldd does not load"
    assert not canary.exists()
    read_archive(path, trusted=["canary_module.Thing"])
    assert canary.exists()  # the canary sings where it is let in


def test_all_foreign_types_are_named(path, members):
    things = node("a", "B", "ObjectNode"), node("os", "system", "FunctionNode")
    changed = with_schema(members, appended(*things), MEMBER)
    message = refusal_of(path, changed)
    assert message == "it holds the types 'a.B', 'os.system', which nldd does not load"
    # Consent to one is none to the other.
    message = refusal_of(path, changed, trusted=["a.B"])
    assert message == "it holds the type 'os.system', which nldd does not load"


@pytest.mark.parametrize("loader", ["MethodNode", "OperatorFuncNode"])
def test_ways_to_make_things_that_are_never_taken(path, members, loader):
    thing = node("operator", "methodcaller", loader)
    changed = with_schema(members, appended(thing), MEMBER)
    message = refusal_of(path, changed, trusted=["operator.methodcaller"])
    assert message == (
        f"its estimators need {loader!r} for 'operator.methodcaller', which nldd never loads"
    )


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ({"__class__": "A"}, "cannot be rebuilt: KeyError"),
        ({"__loader__": "ObjectNode"}, "cannot be rebuilt: KeyError"),
        (node("builtins", "str", "JsonNode", content=["1"]), "cannot be rebuilt: TypeError"),
        (node("builtins", "str", "JsonNode", content="[" * 9999), "cannot be rebuilt: "),
        (node("builtins", "str", "JsonNode", content="1"), "are no list of estimators"),
        (
            node("numpy", "ndarray", "NdArrayNode", type="numpy", file="x.npy"),
            "'x.npy' that is not",
        ),
        (node("numpy", "ndarray", "NdArrayNode", type="numpy"), "'None' that is not there"),
        (node("scipy.sparse._csr", "csr_matrix", "SparseMatrixNode", file="0.npy"), "damaged"),
        (node("numpy", "void", "NdArrayNode", type="numpy", file="0.npy"), "type 'numpy.void'"),
        (node("builtins", "dict", "DictNode", content={}), "rebuilt: KeyError: 'key_types'"),
        (node("sklearn.naive_bayes", "GaussianNB", "ObjectNode", content=[]), "rebuilt: TypeError"),
    ],
)
def test_broken_nodes(path, members, thing, message):
    assert message in refusal_of(path, with_schema(members, appended(thing), MEMBER))


def test_keys_must_be_of_plain_types(path, members):
    """skops calls the type of a key with the key."""
    keys = node("builtins", "list", "ListNode", content=[node("os", "system", "TypeNode")])
    thing = node("builtins", "dict", "DictNode", content={"true": 1}, key_types=keys)
    changed = with_schema(members, appended(thing), MEMBER)
    assert refusal_of(path, changed).startswith("it holds the type 'os.system'")


def test_array_used_many_times_counts_many_times(path, members):
    def change(inner):
        schema = json.loads(inner["schema.json"])
        array = node("numpy", "ndarray", "NdArrayNode", type="numpy", file="big.npy")
        schema["content"] += [array] * 100
        text = json.dumps(schema).encode()
        return {**inner, "schema.json": text, "big.npy": npy_bytes(np.zeros(10_000))}

    changed = with_skops(members, change, MEMBER)
    assert "more memory than max_bytes" in refusal_of(path, changed, max_bytes=10**6)


def test_estimators_that_are_no_list(path, members):
    changed = with_schema(members, lambda schema: {**schema["content"][0], "protocol": 2}, MEMBER)
    assert refusal_of(path, changed) == "its estimators are no list"
    changed = with_skops(members, lambda inner: {"0.npy": inner["0.npy"]}, MEMBER)
    assert refusal_of(path, changed) == "its estimators are too many or no estimators"
    changed = with_schema(members, lambda schema: {**schema, "protocol": 3}, MEMBER)
    assert "in a form of skops that this nldd does not know" in refusal_of(path, changed)


def test_attribute_that_this_version_lacks(path, members):
    """An attribute that another scikit-learn does not give its trees is no attack."""

    def renamed(inner):
        schema = inner["schema.json"].replace(b'"n_outputs_"', b'"n_output_"')
        return {**inner, "schema.json": schema}

    versions = {**json.loads(members["manifest.json"])["versions"], "scikit-learn": "1.2.3"}
    put_together(with_skops(members, renamed, MEMBER), path, versions=versions)
    message = refusal(path, load_model)
    assert "has no attribute 'n_outputs_'; it was saved with scikit-learn 1.2.3" in message
    assert "damaged" not in message
