"""Protocols from TOML files, checked key by key: a misspelt one is refused and not ignored."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

from nldd.bench.runner.methods import (
    NAME,
    check_classifier,
    is_own,
    is_path,
    make,
    make_transformer,
    own_method,
    takes,
)
from nldd.bench.runner.protocol import BASES, SETTINGS, Protocol, Shares, make_steps
from nldd.bench.runner.splits import KINDS, Split
from nldd.estimators._registry import METHODS, Method
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES
from nldd.metrics._probability_measures import PROBABILITY_MEASURES
from nldd.present.text import printable

PROTOCOLS = ("default", "best", "paper", "quick")
"""Names of the protocols that come with nldd, for :func:`load_protocol`.

>>> from nldd.bench import load_protocol
>>> from nldd.bench.runner.protocol_file import PROTOCOLS
>>> PROTOCOLS
('default', 'best', 'paper', 'quick')
>>> [load_protocol(name).folds for name in PROTOCOLS]
[10, 10, 10, 3]
"""
Methods = Mapping[str, Method]


def load_protocol(name: str | Path) -> Protocol:
    """A protocol that comes with nldd, by name, or one of your own, from a TOML file.

    A file that names classes by ``module:Class`` has them imported: load none from strangers.

    Parameters
    ----------
    name : str or path
        One of :data:`PROTOCOLS`, or the path of a file that ends in ``.toml``.

    Returns
    -------
    Protocol

    Examples
    --------
    >>> from nldd.bench import load_protocol
    >>> protocol = load_protocol("paper")
    >>> protocol.split_of("yeast", 2417).kind, protocol.split_of("tmc2007", 28596).kind
    ('k-fold', 'random')
    >>> protocol.estimator("NLDD", "bibtex", 7395, fold=0).train_fraction
    0.7
    """
    path: Any = Path(name)
    stem, where = path.stem, str(path)
    if str(name) in PROTOCOLS:
        path, where = files("nldd.bench") / "protocols" / f"{name}.toml", f"{name}.toml"
    elif path.suffix.lower() != ".toml":
        raise InputError(
            f"There is no protocol {str(name)!r}{hint(str(name), PROTOCOLS, 'there are')}. "
            "For one of your own give the path of a file that ends in .toml."
        )
    try:
        return _read_protocol(stem, tomllib.loads(path.read_text("utf-8")))
    except InputError as error:
        raise InputError(f"{where}: {printable(str(error)).rstrip('.')}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not a TOML file: {printable(str(error))}.") from error


def choose_methods(names: Sequence[str], protocol: Protocol) -> Protocol:
    """The protocol with these methods only; with its own ones if none is named.

    Parameters
    ----------
    names : sequence of str
        Short names, in any case, or ``module:Class`` or ``Name=module:Class``.
    protocol : Protocol

    Returns
    -------
    Protocol

    Examples
    --------
    >>> from nldd.bench import load_protocol
    >>> from nldd.bench.runner.protocol_file import choose_methods
    >>> mine = ["nldd", "br", "Forest=sklearn.ensemble:RandomForestClassifier"]
    >>> choose_methods(mine, load_protocol("quick")).methods
    ('BR', 'NLDD', 'Forest')
    """
    if not names:
        return protocol
    found: dict[str, Method] = {}
    for name in names:
        method = _find_method(name, protocol)
        if found.setdefault(method.key, method) != method:
            raise InputError(f"Two methods are called {method.key!r}: write Name={method.name}.")
    own = {key: method for key, method in found.items() if key not in METHODS}
    order = [key for key in METHODS if key in found]
    return replace(protocol, methods=(*order, *own), own={**protocol.own, **own})


def _find_method(name: str, protocol: Protocol) -> Method:
    if name in protocol.own:
        return protocol.own[name]
    if is_own(name):
        try:
            method = own_method(name)
            check_classifier(method, protocol.parameters.get(method.key, {}))
            return method
        except InputError as error:
            raise InputError(f"{error}.") from error
    key = name.upper()
    if key not in METHODS:
        known = hint(name, (*METHODS, *protocol.own), "there are")
        how = "is named by its module and class, such as my_module:MyClassifier"
        raise InputError(f"There is no method {name!r}{known}; one of your own {how}.")
    return METHODS[key]


_AT_LEAST = {
    least: (int, lambda n, least=least: n >= least, f"a whole number from {least} on")
    for least in (1, 2)
}
# What the value of a key must be: its type, a further check, and both in words.
_VALUES: dict[str, tuple[Any, Any, str]] = {
    "name": (str, NAME.fullmatch, "a name of letters, digits, '-' and '_'"),
    "title": (str, bool, "a text"),
    "seed": (int, lambda seed: 0 <= seed < 2**31, "a whole number from 0 to 2147483647"),
    "folds": _AT_LEAST[2],
    "split_from": _AT_LEAST[2],
    "splits": _AT_LEAST[1],
    "test_share": (float, lambda share: 0 < share < 1, "a number between 0 and 1"),
}
_SPLIT_VALUES: dict[str, tuple[Any, Any, str]] = {
    **{key: _VALUES[key] for key in ("folds", "splits", "test_share")},
    "repeats": _AT_LEAST[1],
    "order": (int, (1, 2).__contains__, "1 or 2"),
    "groups": (str, bool, "the name of a column"),
}
_COLUMNS = {
    "labels": (str, bool, "columns, in the words of --labels, such as 'code_*'"),
    "text": (str, bool, "the name of a column"),
}
_TABLES = ("split", "settings", "base", "methods", "parameters", "large", "datasets", "prepare")


def _read_protocol(name: str, found: dict[str, Any]) -> Protocol:
    for key in found:
        choose("", key, (*_VALUES, *_TABLES, "search", "shares"))
    values: dict[str, Any] = {"name": name, "title": name}
    values |= {key: _read_value(key, found[key], _VALUES[key]) for key in found if key in _VALUES}
    base = choose("base", found.get("base", BASES[0]), BASES)
    large = _read_table(found, "large", ("base", "parameters"))
    methods = _read_methods(found.get("methods", list(METHODS)))
    own = {key: method for key, method in methods.items() if key not in METHODS}
    known = METHODS | own
    parameters = _read_parameters(found, "parameters", known)
    for key, method in own.items():
        check_classifier(method, parameters.get(key, {}))
    prepare = _read_transformers(found.get("prepare", []))
    search = _read_search(found, known, dict(make_steps(prepare, is_text=True)))
    if idle := [key for key in search["search"] if key not in methods]:
        raise InputError(f"search.{idle[0]}: {idle[0]} is not among the methods of the protocol")
    return Protocol(
        **values,
        **search,
        **_read_datasets(found, values, known),
        split=_read_split(found["split"], "split", values) if "split" in found else None,
        settings=choose("settings", found.get("settings", SETTINGS[0]), SETTINGS),
        base=base,
        large_base=choose("large.base", large.get("base", base), BASES),
        methods=tuple(methods),
        own=own,
        parameters=parameters,
        large_parameters=_read_parameters(large, "large.parameters", known),
        prepare=prepare,
        shares=_read_shares(found, known) if "shares" in found else None,
    )


def _read_value(key: str, value: Any, rule: tuple[Any, Any, str]) -> Any:
    kind, within, expected = rule
    _require(type(value) is kind and within(value), key, expected, value)
    return value


def _read_datasets(
    found: dict[str, Any], values: Mapping[str, Any], known: Methods
) -> dict[str, Any]:
    """What is said of single data sets: each part by data set."""
    tables, parts = _read_table(found, "datasets"), ("splits", "bases", "parameters", "columns")
    chosen: dict[str, dict[str, Any]] = {f"dataset_{part}": {} for part in parts}
    for name in tables:
        where = f"datasets.{name}"
        table = _read_table(tables, name, ("base", "parameters", "split", *_COLUMNS), where)
        if "split" in table:
            chosen["dataset_splits"][name] = _read_split(table["split"], f"{where}.split", values)
        if "base" in table:
            chosen["dataset_bases"][name] = choose(f"{where}.base", table["base"], BASES)
        if "parameters" in table:
            parameters = _read_parameters(table, f"{where}.parameters", known)
            chosen["dataset_parameters"][name] = parameters
        columns = {key: table[key] for key in _COLUMNS if key in table}
        for key, value in columns.items():
            _read_value(f"{where}.{key}", value, _COLUMNS[key])
        if columns:
            chosen["dataset_columns"][name] = columns
    return chosen


def _read_methods(found: Any) -> dict[str, Method]:
    _require(type(found) is list and found, "methods", "a list of methods", found)
    methods: dict[str, Method] = {}
    for entry in found:
        method = own_method(entry) if is_own(entry) else METHODS[choose("methods", entry, METHODS)]
        if methods.setdefault(method.key, method) != method:
            raise InputError(
                f"methods: two are called {method.key!r}; write another name before one of them, "
                f"such as 'Mine={method.name}'"
            )
    return methods


def _read_split(found: Any, where: str, values: Mapping[str, Any]) -> Split:
    """A kind by its name, or a table; folds and shares of the whole protocol hold here too."""
    table = {"kind": found} if isinstance(found, str) else found
    _require(isinstance(table, dict), where, f"a table, [{where}], or a kind of split", found)
    kind = choose(f"{where}.kind", table.get("kind", "k-fold"), KINDS)
    for key in table:
        choose(where, key, ("kind", *_SPLIT_VALUES))
        if key != "kind" and key not in KINDS[kind]:
            kinds = " or ".join(f'"{other}"' for other, keys in KINDS.items() if key in keys)
            raise InputError(f'{where}: {key} goes with kind = {kinds}, and the kind is "{kind}"')
    chosen = {key: values[key] for key in ("folds", "splits", "test_share") if key in values}
    chosen |= {"repeats": 10} if kind == "repeated" else {}
    chosen |= {
        key: _read_value(f"{where}.{key}", value, _SPLIT_VALUES[key])
        for key, value in table.items()
        if key != "kind"
    }
    return Split(kind, **{key: value for key, value in chosen.items() if key in KINDS[kind]})


def _read_transformers(found: Any) -> tuple[Any, ...]:
    """Transformers by import path, or tables with their parameters, in order."""
    _require(type(found) is list, "prepare", "a list of transformers", found)
    tables = [{"transformer": each} if isinstance(each, str) else each for each in found]
    for table in tables:
        fine = isinstance(table, dict) and is_path(table.get("transformer"))
        what = 'a list of "module:Class" or of { transformer = "module:Class", parameter = value }'
        _require(fine, "prepare", what, table)
    return tuple(
        make_transformer(table["transformer"], {k: table[k] for k in table if k != "transformer"})
        for table in tables
    )


def _read_search(found: dict[str, Any], known: Methods, steps: Mapping[str, Any]) -> dict[str, Any]:
    """The search of each method, the measure and the folds that decide it."""
    table = _read_table(found, "search", ("scoring", "inner_folds", *known))
    chosen: dict[str, Any] = {"search": {}}
    if "scoring" in table:
        measures = (*MEASURES, *PROBABILITY_MEASURES)
        chosen["scoring"] = choose("search.scoring", table["scoring"], measures)
    if "inner_folds" in table:
        rule = _AT_LEAST[2]
        chosen["inner_folds"] = _read_value("search.inner_folds", table["inner_folds"], rule)
    for method in [key for key in table if key in known]:
        where = f"search.{method}"
        grid = _read_table(table, method, where=where)
        for name, values in grid.items():
            _require(type(values) is list and values, f"{where}.{name}", "a list of values", values)
            if name.partition("__")[0] in steps:
                continue
            for value in values:
                _check_parameters(known[method], {name: value}, where)
        chosen["search"][method] = {name: tuple(values) for name, values in grid.items()}
    return chosen


def _read_shares(found: dict[str, Any], known: Methods) -> Shares:
    table = _read_table(found, "shares", ("dataset", "method", "steps", "parameters"))
    if missing := {"dataset", "method", "steps"} - set(table):
        raise InputError(f"[shares] needs {', '.join(sorted(missing))}")
    steps, dataset = table["steps"], table["dataset"]
    _require(isinstance(dataset, str), "shares.dataset", "the name of a data set", dataset)
    shares = type(steps) is list and [type(s) in (int, float) and 0 < s <= 1 for s in steps]
    _require(shares and all(shares), "shares.steps", "a list of numbers in (0, 1]", steps)
    method = choose("shares.method", table["method"], known)
    own = {"parameters": {method: table.get("parameters", {})}}
    parameters = _read_parameters(own, "shares.parameters", known)[method]
    return Shares(dataset, method, tuple(map(float, steps)), parameters)


def _read_parameters(
    table: dict[str, Any], where: str, known: Methods
) -> dict[str, dict[str, Any]]:
    """Parameters by method, each known to it and of a value that it can take."""
    found = table.get("parameters", {})
    _require(isinstance(found, dict), where, "a table", found)
    for method, values in found.items():
        record = known[choose(where, method, known)]
        key = f"{where}.{method}"
        _require(isinstance(values, dict), key, f"a table of parameters, [{key}]", values)
        _check_parameters(record, values, key)
    return found


def _check_parameters(method: Method, values: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that a method does not have, and values that one of ours cannot take."""
    names = signature(method.factory).parameters
    for name in values:
        if not takes(method.factory, outer := name.partition("__")[0]):
            choose(where, outer, names)
    if method.key in METHODS:
        own = {name: value for name, value in values.items() if "__" not in name}
        make(method.factory, own, method.key, where)


def _require(fine: Any, key: str, expected: str, value: Any) -> None:
    if not fine:
        raise InputError(f"{key} must be {expected}; got {value!r:.80}")


def _read_table(
    found: Mapping[str, Any], key: str, keys: Sequence[str] = (), where: str = ""
) -> Any:
    table, where = found.get(key, {}), where or key
    _require(isinstance(table, dict), where, f"a table, [{where}]", table)
    for name in table:
        choose(where, name, keys or table)
    return table


def choose(key: str, value: Any, known: Iterable[str]) -> str:
    """One of the `known`, or an error with the nearest of them."""
    known = tuple(known)
    if value not in known:
        what = f"{key}: there is no" if key else "unknown key"
        raise InputError(f"{what} {value!r:.80}{hint(str(value), known)}")
    return str(value)


def hint(found: str, known: Iterable[str], intro: str = "known are") -> str:
    """The nearest of the `known` that a misspelt word may mean, and all of them."""
    close = get_close_matches(found, known, n=1) or get_close_matches(found.upper(), known, n=1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{meant}; {intro} {', '.join(known) or 'none'}"
