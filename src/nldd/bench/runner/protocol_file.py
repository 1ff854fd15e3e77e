"""Protocols from TOML files, checked key by key: a misspelt one is refused and not ignored."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from nldd.bench.runner.methods import (
    NAME,
    check_classifier,
    did_you_mean,
    import_class,
    is_own,
    is_path,
    make,
    own_method,
)
from nldd.bench.runner.protocol import (
    ALL_MEASURES,
    BASES,
    SETTINGS,
    DatasetRules,
    Protocol,
    Shares,
    make_steps,
)
from nldd.bench.runner.splits import KINDS, Split
from nldd.estimators._registry import METHODS, Method
from nldd.exceptions import InputError
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
# A reader takes a value and where it stands, and returns what a protocol has of it.
Reader = Callable[[Any, str], Any]


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
    found = _find_methods(names, protocol.known_methods)
    own = {key: method for key, method in found.items() if key not in METHODS}
    for key, method in own.items():
        check_classifier(method, protocol.parameters.get(key, {}))
    order = [key for key in METHODS if key in found]
    return replace(protocol, methods=(*order, *own), own={**protocol.own, **own})


def _find_methods(entries: Iterable[Any], known: Methods) -> dict[str, Method]:
    """Methods by name: those that are known, in any case, and others by their import path."""
    found: dict[str, Method] = {}
    for entry in entries:
        name = str(entry) if str(entry) in known else str(entry).upper()
        if name not in known and not is_own(entry):
            raise InputError(
                f"There is no method {entry!r:.80}{hint(str(entry), known)}; one of your own is "
                "named by its module and class, such as my_module:MyClassifier."
            )
        method = known[name] if name in known else own_method(entry)
        if found.setdefault(method.key, method) != method:
            raise InputError(
                f"Two methods are called {method.key!r}. Write another name before one of them, "
                f"such as 'Mine={method.name}'."
            )
    return found


def _value(kind: type, within: Callable[[Any], Any], expected: str) -> Reader:
    """Reader of a value of a type that has to be in a certain range, which is told in words."""

    def read(value: Any, where: str) -> Any:
        _require(type(value) is kind and within(value), where, expected, value)
        return value

    return read


def _one_of(known: Iterable[str]) -> Reader:
    """Reader of a word that has to be known."""
    return lambda value, where: choose(where, value, known)


def _table(readers: Mapping[str, Reader]) -> Reader:
    """Reader of a table, each value by the reader of its key."""

    def read(found: Any, where: str) -> dict[str, Any]:
        _require(isinstance(found, dict), where, f"a table, [{where}]", found)
        for key in found:
            choose(where, key, readers)
        return {key: readers[key](found[key], f"{where}.{key}".lstrip(".")) for key in found}

    return read


def _require(fine: Any, key: str, expected: str, value: Any) -> None:
    if not fine:
        raise InputError(f"{key} must be {expected}; got {value!r:.80}")


_FROM_1 = _value(int, lambda n: n >= 1, "a whole number from 1 on")
_FROM_2 = _value(int, lambda n: n >= 2, "a whole number from 2 on")
_COLUMN = _value(str, bool, "the name of a column")
_SIZES: dict[str, Reader] = {
    "folds": _FROM_2,
    "splits": _FROM_1,
    "test_share": _value(float, lambda share: 0 < share < 1, "a number between 0 and 1"),
}
_VALUES: dict[str, Reader] = {
    **_SIZES,
    "name": _value(str, NAME.fullmatch, "a name of letters, digits, '-' and '_'"),
    "title": _value(str, bool, "a text"),
    "seed": _value(int, lambda n: 0 <= n < 2**31, "a whole number from 0 to 2147483647"),
    "split_from": _FROM_2,
    "settings": _one_of(SETTINGS),
    "base": _one_of(BASES),
}
_COLUMNS: dict[str, Reader] = {
    "labels": _value(str, bool, "columns, in the words of --labels, such as 'code_*'"),
    "text": _COLUMN,
}
_SPLIT: dict[str, Reader] = {
    **_SIZES,
    "kind": _one_of(KINDS),
    "repeats": _FROM_1,
    "order": _value(int, (1, 2).__contains__, "1 or 2"),
    "groups": _COLUMN,
}


def _read_protocol(name: str, found: dict[str, Any]) -> Protocol:
    methods = found.get("methods", list(METHODS))
    _require(type(methods) is list and methods, "methods", "a list of methods", methods)
    methods = _find_methods(methods, METHODS)
    own = {key: method for key, method in methods.items() if key not in METHODS}
    known = METHODS | own
    prepare = _read_transformers(found.get("prepare", []), "prepare")
    of_large: dict[str, Reader] = {
        "base": _one_of(BASES),
        "parameters": partial(_read_parameters, known),
    }
    sizes = {key: found[key] for key in _SIZES if key in found}
    rules: dict[str, Reader] = {**of_large, "split": partial(_read_split, sizes)}
    readers: dict[str, Reader] = {
        **_VALUES,
        **rules,
        "methods": lambda *_: tuple(methods),
        "prepare": lambda *_: prepare,
        "large": lambda *found: DatasetRules(**_table(of_large)(*found)),
        "datasets": partial(_read_datasets, {**rules, **_COLUMNS}),
        "search": partial(_read_search, known, dict(make_steps(prepare, is_text=True))),
        "shares": partial(_read_shares, known),
    }
    values = {"name": name, "title": name, "own": own} | _table(readers)(found, "")
    values |= values.pop("search", {})
    for key, method in own.items():
        check_classifier(method, values.get("parameters", {}).get(key, {}))
    if idle := [key for key in values.get("search", {}) if key not in methods]:
        raise InputError(f"search.{idle[0]}: {idle[0]} is not among the methods of the protocol")
    return Protocol(**values)


def _read_datasets(rules: Mapping[str, Reader], found: Any, where: str) -> dict[str, DatasetRules]:
    """What is said of single data sets, of any names."""
    _require(isinstance(found, dict), where, f"a table, [{where}]", found)
    tables = _table(dict.fromkeys(found, _table(rules)))(found, where)
    return {name: DatasetRules(**table) for name, table in tables.items()}


def _read_split(sizes: Mapping[str, Any], found: Any, where: str) -> Split:
    """A kind by its name, or a table; folds and shares of the whole protocol hold here too."""
    is_kind = isinstance(found, str)
    _require(is_kind or isinstance(found, dict), where, f"a kind of split or [{where}]", found)
    table = _table(_SPLIT)({"kind": found} if is_kind else found, where)
    kind = table.pop("kind", "k-fold")
    for key in table:
        if key not in KINDS[kind]:
            kinds = " or ".join(f'"{other}"' for other, keys in KINDS.items() if key in keys)
            raise InputError(f'{where}: {key} goes with kind = {kinds}, and the kind is "{kind}"')
    usual = {**sizes, "repeats": 10 if kind == "repeated" else 1}
    return Split(kind, **{key: usual[key] for key in KINDS[kind] if key in usual} | table)


def _read_transformers(found: Any, where: str) -> tuple[Any, ...]:
    """Transformers by import path, or tables with their parameters, in order."""
    form = '"module:Class" or of { transformer = "module:Class", parameter = value }'
    _require(type(found) is list, where, f"a list of {form}", found)
    transformers = []
    for entry in found:
        table = {"transformer": entry} if isinstance(entry, str) else entry
        fine = isinstance(table, dict) and is_path(table.get("transformer"))
        _require(fine, where, f"a list of {form}", entry)
        parameters = dict(table)
        path = parameters.pop("transformer")
        factory = import_class(path, ("fit", "transform", "get_params"))
        transformers.append(make(factory, parameters, path, where))
    return tuple(transformers)


def _read_search(
    known: Methods, steps: Mapping[str, Any], found: Any, where: str
) -> dict[str, Any]:
    """The search of each method, the measure and the folds that decide it."""
    readers: dict[str, Reader] = {"scoring": _one_of(ALL_MEASURES), "inner_folds": _FROM_2}
    readers |= {key: partial(_read_grid, method, steps) for key, method in known.items()}
    table = _table(readers)(found, where)
    return {"search": {key: table.pop(key) for key in list(table) if key in known}, **table}


def _read_grid(
    method: Method, steps: Mapping[str, Any], found: Any, where: str
) -> dict[str, tuple[Any, ...]]:
    """Values by parameter: of the method, or of a step of the preparation."""
    _require(isinstance(found, dict), where, f"a table, [{where}]", found)
    for name, values in found.items():
        _require(type(values) is list and values, f"{where}.{name}", "a list of values", values)
        for value in values if name.partition("__")[0] not in steps else []:
            _check_parameters(method, {name: value}, where)
    return {name: tuple(values) for name, values in found.items()}


def _read_shares(known: Methods, found: Any, where: str) -> Shares:
    def are_shares(steps: list[Any]) -> bool:
        return bool(steps) and all(type(s) in (int, float) and 0 < s <= 1 for s in steps)

    readers: dict[str, Reader] = {
        "dataset": _value(str, bool, "the name of a data set"),
        "method": _one_of(known),
        "steps": _value(list, are_shares, "a list of numbers in (0, 1]"),
        "parameters": lambda parameters, _: parameters,
    }
    table = _table(readers)(found, where)
    if missing := sorted({"dataset", "method", "steps"} - set(table)):
        raise InputError(f"[{where}] needs {', '.join(missing)}")
    method, own = table["method"], table.get("parameters", {})
    parameters = _read_parameters(known, {method: own}, f"{where}.parameters")[method]
    return Shares(table["dataset"], method, tuple(map(float, table["steps"])), parameters)


def _read_parameters(known: Methods, found: Any, where: str) -> dict[str, dict[str, Any]]:
    """Parameters by method, each known to it and of a value that it can take."""
    _require(isinstance(found, dict), where, f"a table, [{where}]", found)
    for method, values in found.items():
        key = f"{where}.{choose(where, method, known)}"
        _require(isinstance(values, dict), key, f"a table of parameters, [{key}]", values)
        _check_parameters(known[method], values, key)
    return dict(found)


def _check_parameters(method: Method, values: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that a method does not have, and values that one of ours cannot take."""
    known = signature(method.factory).parameters
    takes_any = any(each.kind == Parameter.VAR_KEYWORD for each in known.values())
    for name in values if not takes_any else ():
        choose(where, name.partition("__")[0], known)
    if method.key in METHODS:
        own = {name: value for name, value in values.items() if "__" not in name}
        make(method.factory, own, method.key, where)


def choose(key: str, value: Any, known: Iterable[str]) -> str:
    """One of the `known`, or an error with the nearest of them."""
    known = tuple(known)
    if value not in known:
        what = f"{key}: there is no" if key else "unknown key"
        raise InputError(f"{what} {value!r:.80}{hint(str(value), known)}")
    return str(value)


def hint(found: str, known: Iterable[str], intro: str = "known are") -> str:
    """The nearest of the `known` that a misspelt word may mean, and all of them."""
    known = tuple(known)
    return f"{did_you_mean(found, known)}; {intro} {', '.join(known) or 'none'}"
