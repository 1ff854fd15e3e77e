"""Estimators to records and back: objects of known types, with what their schemas name.

A file names a type and its attributes; what is made of them is an object of that type with the
attributes of its schema and no others, each found right before the object exists. So a file can
decide what is predicted, and nothing else.
"""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from nldd._versions import library_versions
from nldd.persistence._records import Decoder, Encoder, Record
from nldd.persistence._refusal import FETCH_AGAIN, Refusal, damaged, in_one_line, quote
from nldd.persistence._rules import Misfit, Rule, Scope, parameter
from nldd.persistence._schemas import SCHEMAS, TREE_SIZES
from nldd.persistence._values import json_bytes, read_json
from nldd.persistence._whole_objects import Attributes, fits_together

MAX_THREADS = 1024
MAX_DEPTH = 250
NO_LIMIT = 2**63
KNOWN_TYPES = "Use estimators of scikit-learn or nldd, without functions of your own."


class Foreign(Refusal):
    """A type that has no schema."""

    def __init__(self, name: str) -> None:
        super().__init__(f"it holds the type {quote(name)}, which nldd does not load")


def short_name(name: str) -> str:
    """The name of a type in a record: its package and its own name."""
    return f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"


def full_name(Type: type) -> str:
    """The name of a type with its module."""
    return f"{Type.__module__}.{Type.__name__}"


def has_schema(Type: type) -> bool:
    """Whether objects of the type can be kept in a file."""
    kind = short_name(full_name(Type))
    return kind in SCHEMAS and _find_type(kind) is Type


def record_of(thing: Any) -> Record:
    """The record of an object: parameters that are not the default, and fitted attributes."""
    Type = type(thing)
    if not has_schema(Type):
        raise Foreign(full_name(Type))
    kind = short_name(full_name(Type))
    if kind == "sklearn.Tree":
        _, sizes, state = thing.__reduce__()
        return Record(kind, {**dict(zip(TREE_SIZES, sizes, strict=True)), **state})
    defaults, state = _defaults(Type), vars(thing)
    parameters = {
        name: None if isinstance(state[name], np.random.RandomState) else state[name]
        for name, default in defaults.items()
        if repr(state[name]) != repr(default)
    }
    fitted = {name: state[name] for name in SCHEMAS[kind].attributes if name in state}
    return Record(kind, {**parameters, **fitted})


def pack_estimators(estimators: Sequence[Any], name: str) -> tuple[bytes, bytes]:
    """Estimators as JSON and the bytes of their arrays, found to be such as can be read again.

    Raises :class:`Foreign` where one is of a type that has no schema, or holds such a thing.
    """
    encoder = Encoder(record_of)
    document = json_bytes([encoder.encode(each) for each in estimators], name)
    content = bytes(encoder.content)
    try:
        unpack_estimators(document, content, name, library_versions(), NO_LIMIT)
    except Refusal as refusal:
        raise Refusal(f"estimators {name!r} cannot be stored: {refusal}", KNOWN_TYPES) from refusal
    return document, content


def unpack_estimators(
    document: bytes | bytearray,
    content: bytes | bytearray,
    name: str,
    versions: Mapping[str, str],
    max_bytes: int,
) -> list[Any]:
    """The estimators of a file that may have come from anybody."""
    try:
        values = Decoder(content, max_bytes).decode(read_json(document, name, max_depth=MAX_DEPTH))
    except Refusal:
        raise
    except Exception as error:  # JSON that is not of the form that the decoder takes
        raise damaged(f"estimators {quote(name)} are no records: {in_one_line(error)}") from error
    try:
        return make_objects(values, versions)
    except Refusal:
        raise
    except Exception as error:  # attributes that are right one by one, and make no sense together
        what = f"estimators {quote(name)} cannot be rebuilt: {in_one_line(error)}"
        raise other_version(what, versions) from error


def make_objects(records: Sequence[Any], versions: Mapping[str, str]) -> list[Any]:
    """The objects of records that may have come from anybody, in their order."""
    made: dict[int, tuple[Any, dict[str, int]]] = {}

    def make(record: Record, given: Mapping[str, int]) -> Any:
        """The object of a record, whose sizes are those that are given."""
        if id(record) not in made:
            scope = Scope(make, dict(given))
            made[id(record)] = _make(record, scope, versions), scope.sizes
        thing, sizes = made[id(record)]
        if any(sizes.get(size) != n for size, n in given.items()):
            raise Misfit("is of another size than what it belongs to")
        return thing

    if not all(isinstance(record, Record) for record in records):
        raise Refusal("its estimators are no list of estimators")
    return [make(record, {}) for record in records]


def other_version(what: str, versions: Mapping[str, str]) -> Refusal:
    """The refusal of estimators that do not work here, which mostly is a matter of versions."""
    saved, here = versions.get("scikit-learn", "unknown"), version("scikit-learn")
    if saved == here:
        return Refusal(what, FETCH_AGAIN)
    return Refusal(
        f"{what}; it was saved with scikit-learn {saved}, and here is {here}",
        f'pip install "scikit-learn=={saved}", or fit the model anew.',
    )


def _make(record: Record, scope: Scope, versions: Mapping[str, str]) -> Any:
    schema = SCHEMAS.get(record.type)
    if schema is None:
        raise Foreign(record.type)
    kind = record.type.partition(".")[2]
    Type = _find_type(record.type)
    known = sorted(record.state.keys() & _defaults(Type).keys())
    parameters = {name: _apply(parameter, record, name, scope) for name in known}
    parameters = check_parameters(kind, parameters)
    attributes = {}
    is_fitted = not schema.attributes.keys().isdisjoint(record.state)
    for name, rule in schema.attributes.items():
        if name in record.state:
            attributes[name] = _apply(rule, record, name, scope)
        elif is_fitted and name not in schema.optional:
            raise other_version(f"a {kind} in it has no attribute {name!r}", versions)
    if is_fitted and not fits_together(record.type, attributes):
        raise Refusal(f"a {kind} in it points outside of its own arrays")
    try:
        return MAKERS.get(record.type, _make_plainly)(Type, parameters, attributes)
    except Exception as error:  # parameters that this version does not have, or not such
        raise other_version(f"a {kind} cannot be made: {in_one_line(error)}", versions) from error


def _apply(rule: Rule, record: Record, name: str, scope: Scope) -> Any:
    try:
        return rule(record.state[name], scope)
    except Misfit as misfit:
        kind = record.type.partition(".")[2]
        raise Refusal(f"{quote(name)} of a {kind} in it {misfit}") from misfit


def check_parameters(kind: str, parameters: Mapping[str, Any]) -> Attributes:
    """Parameters of an estimator without those that let it print, if none asks for too much."""
    n_jobs = parameters.get("n_jobs")
    if isinstance(n_jobs, int | float) and abs(n_jobs) > MAX_THREADS:
        raise Refusal(f"a {kind} in it asks for {n_jobs} threads")
    if parameters.get("memory") is not None:
        raise Refusal(f"a {kind} in it wants to keep files in a folder")
    if "precomputed" in (parameters.get("kernel"), parameters.get("metric")):
        raise Refusal(f"a {kind} in it takes distances or a kernel, not rows")
    # What a model prints would stand among its predictions.
    return {name: value for name, value in parameters.items() if name != "verbose"}


def _make_plainly(Type: Any, parameters: Attributes, attributes: Attributes) -> Any:
    """An object with all that it was found to hold."""
    if not hasattr(Type, "get_params"):
        thing = object.__new__(Type)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about types and parameters that will go one day
            thing = Type(**parameters)
            if hasattr(Type, "_parameter_constraints"):
                thing._validate_params()
    vars(thing).update(attributes)
    return thing


def _find_type(kind: str) -> Any:
    """The type of a record; None where this scikit-learn has none of the name."""
    return getattr(import_module(SCHEMAS[kind].module), kind.partition(".")[2], None)


def _defaults(Type: Any) -> dict[str, Any]:
    if not hasattr(Type, "get_params"):
        return {}
    parameters = inspect.signature(Type.__init__).parameters
    return {name: parameters[name].default for name in Type._get_param_names()}


def _make_tree(Type: Any, parameters: Attributes, attributes: Attributes) -> Any:
    del parameters
    tree = Type(*(attributes[name] for name in TREE_SIZES))
    # A field that this version of scikit-learn has and that of the file had not is 0.
    given = attributes["nodes"]
    nodes = np.zeros(len(given), dtype=tree.__getstate__()["nodes"].dtype)
    for name in set(nodes.dtype.names or ()) & set(given.dtype.names or ()):
        nodes[name] = given[name]
    rest = {name: attributes[name] for name in ("max_depth", "node_count", "values")}
    tree.__setstate__({**rest, "nodes": nodes})
    return tree


def _make_neighbours(Type: Any, parameters: Attributes, attributes: Attributes) -> Any:
    """With a search tree that is grown here: a stored one could point outside of the rows."""
    from sklearn.neighbors import BallTree, KDTree

    model = _make_plainly(Type, parameters, attributes)
    trees: dict[Any, Any] = {"kd_tree": KDTree, "ball_tree": BallTree}
    if attributes:
        Tree = trees.get(model._fit_method)
        options = {"metric": model.effective_metric_, **model.effective_metric_params_}
        model._tree = Tree and Tree(model._fit_X, model.leaf_size, **options)
    return model


def _make_isotonic(Type: Any, parameters: Attributes, attributes: Attributes) -> Any:
    model = _make_plainly(Type, parameters, attributes)
    if attributes:
        model._build_f(model.X_thresholds_, model.y_thresholds_)
    return model


# How objects are made that are more than their attributes.
MAKERS = {
    "sklearn.Tree": _make_tree,
    "sklearn.KNeighborsClassifier": _make_neighbours,
    "sklearn.IsotonicRegression": _make_isotonic,
}
