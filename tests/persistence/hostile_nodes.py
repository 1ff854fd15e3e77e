"""Estimators and values in model files that no model has, under checksums that fit."""

import json
from io import BytesIO

import numpy as np
from model_files import members_of, npy_bytes, with_schema, with_skops, zip_bytes

CANARY_MODULE = "canary_in_a_coal_mine"
MODELS = "estimators/classifier/models.skops"
# The first dozen in every way there is, the others in the likely ones.
FOREIGN = [
    *("os.system", "posix.system", "builtins.eval", "builtins.exec", "builtins.getattr"),
    *("pickle.loads", "operator.methodcaller", "functools.partial", "numpy.void", "numpy.load"),
    *(f"{CANARY_MODULE}.Thing", "sklearn.neighbors._kd_tree.KDTree"),
    *("subprocess.Popen", "builtins.__import__", "builtins.map", "builtins.object"),
    *("builtins.open", "operator.attrgetter", "numpy.memmap", "joblib.load", "ctypes.CDLL"),
    *("joblib.memory.Memory", "shutil.rmtree", "importlib.import_module", "pathlib.Path"),
    *("sklearn.datasets.fetch_openml", "sklearn.ensemble._gb.GradientBoostingClassifier"),
    *(f"{CANARY_MODULE}.sub.Thing", "nldd.persistence._models.load_model", "", "."),
]
LOADERS = [
    *("ObjectNode", "FunctionNode", "TypeNode", "ConstructorFromReduceNode", "PartialNode"),
    *("MethodNode", "OperatorFuncNode", "ListNode", "DictNode", "TupleNode", "NdArrayNode"),
    *("LossNode", "TreeNode", "ReduceNode", "DefaultDictNode", "BytesNode", "CachedNode"),
    *("RandomStateNode", "RandomGeneratorNode", "SparseMatrixNode", "NoSuchNode"),
]


def foreign_nodes(members):
    """Types and ways to make them that could run something."""
    for number, name in enumerate(FOREIGN):
        module, _, kind = name.rpartition(".")
        for loader in LOADERS if number < 8 else LOADERS[:4]:
            yield "foreign", with_schema(members, _appending(_node(module, kind, loader)))
    for loader in ("MethodNode", "OperatorFuncNode", "PartialNode", "FunctionNode"):
        node = _node("sklearn.naive_bayes", "GaussianNB", loader)
        yield "foreign", with_schema(members, _appending(node))


def _node(module, kind, loader):
    """A node with all that any loader looks for."""
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "[]"}
    return {
        **{"__class__": kind, "__module__": module, "__loader__": loader},
        "content": {"func": "__class__", "obj": text, "main": text, "args": text, "kwds": text},
        **{"attrs": text, "__reduce__": {"args": text}, "file": "0.npy", "type": "numpy"},
        **{"key_types": text, "shape": text},
    }


def _appending(node):
    return lambda schema: {**schema, "content": [*schema["content"], node]}


def mazes(members):
    """Schemas that are deep, run in circles, or stand for billions of nodes."""
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "1"}
    of_list = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    yield "maze", with_schema(members, lambda _: b"[" * 10**6 + b"]" * 10**6)
    yield "maze", with_schema(members, lambda _: b"[" + b"{}," * 10**6 + b"1]")
    deep = text
    for _ in range(200):
        deep = {**of_list, "content": [deep]}
    yield "maze", with_schema(members, _appending(deep))
    yield "maze", with_schema(members, _appending({**text, "content": "[" * 10**5}))
    circle = {**of_list, "__id__": 10**6, "content": [{**of_list, "__id__": 10**6, "content": []}]}
    yield "maze", with_schema(members, _appending(circle))
    yield "maze", with_schema(members, _appending({**circle, "content": [{"__id__": 10**6}]}))
    twins = [{**of_list, "__id__": 10**6, "content": [text]}]
    for level in range(60):
        stub = {**of_list, "__id__": 10**6 + level, "content": []}
        twins.append({**of_list, "__id__": 10**6 + level + 1, "content": [stub, stub]})
    yield "maze", with_schema(members, lambda s: {**s, "content": [*s["content"], *twins]})
    again = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
    many = [{**again, "type": "numpy", "file": "big.npy"}] * 5000

    def often(inner):
        schema = json.loads(inner["schema.json"])
        schema["content"] += many
        big = npy_bytes(np.zeros(10**6))
        return {**inner, "schema.json": json.dumps(schema).encode(), "big.npy": big}

    yield "maze", with_skops(members, often)
    for protocol in (0, 1, 3, -1, "2", None, True):
        yield "maze", with_schema(members, lambda schema, p=protocol: {**schema, "protocol": p})


JUNK = [None, True, -1, 10**30, 1e308, float("nan"), "x", "../x", "", [], [[]], {}, {"a": 1}]


def junk_in_json(members, rng):
    """One value of a document or the schema replaced by another, with checksums that fit."""
    names = ("documents/classifier.json", "manifest.json", "estimators/classifier/models.json")
    for name in (name for name in names if name in members):
        for _ in range(25):
            document = json.loads(members[name])
            _replace_one(document, rng)
            changed = {**members, name: json.dumps(document).encode()}
            yield "junk in JSON", zip_bytes(changed) if name == "manifest.json" else changed
    for _ in range(50 if MODELS in members else 0):

        def change(schema):
            _replace_one(schema, rng)
            return schema

        yield "junk in schema", with_schema(members, change)


def _replace_one(document, rng):
    places = []
    to_visit = [document]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, dict | list):
            keys = list(value) if isinstance(value, dict) else range(len(value))
            places += [(value, key) for key in keys]
            to_visit += [value[key] for key in keys]
    holder, key = rng.choice(places)
    holder[key] = rng.choice(JUNK)


def junk_in_arrays(members, rng):
    """Values and shapes that no model has, outside and inside of estimators."""
    for name, content in members.items():
        if name.endswith(".npy"):
            for changed in rng.sample(list(_junk_arrays(np.load(BytesIO(content)), rng)), 4):
                yield "junk in arrays", {**members, name: npy_bytes(changed)}
    inner = members_of(BytesIO(members[MODELS])) if MODELS in members else {}
    names = [name for name in inner if name.endswith(".npy")]
    for name in rng.sample(names, min(len(names), 6)):
        for changed in _junk_arrays(np.load(BytesIO(inner[name])), rng):
            new = {**inner, name: npy_bytes(changed)}
            yield "junk in estimators", {**members, MODELS: zip_bytes(new)}


def _junk_arrays(array, rng):
    noise = np.frombuffer(rng.randbytes(array.nbytes), np.uint8)
    yield noise.view(array.dtype).reshape(array.shape)
    yield array.reshape(-1)
    yield array.reshape(-1)[:0]
    yield array[..., np.newaxis]
    yield np.concatenate([np.atleast_1d(array)] * 2)
    if array.dtype.names is None:
        yield array + array.dtype.type(100)
        yield array.astype(str)
        yield np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else np.nan)
    else:
        for name in array.dtype.names:
            changed = array.copy()
            changed[name][rng.randrange(len(array))] = 2**20 if name != "missing_go_to_left" else 1
            yield changed
