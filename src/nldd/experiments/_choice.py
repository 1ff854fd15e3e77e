"""What a person names: protocols (TOML files), data sets and methods."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

from nldd.datasets import CATALOGUE, Dataset, load_dataset
from nldd.estimators import METHODS
from nldd.exceptions import InputError
from nldd.experiments._protocol import BASES, Protocol, Shares

PROTOCOLS = ("default", "paper", "quick")
SETTINGS = ("default", "paper")


def load_protocol(name: str | Path) -> Protocol:
    """A protocol that comes with nldd, by name, or one of your own, from a TOML file.

    Examples
    --------
    >>> protocol = load_protocol("paper")
    >>> protocol.n_folds(2417), protocol.n_folds(28596)
    (10, 1)
    >>> protocol.estimator("NLDD", "bibtex", 7395, fold=0).train_fraction
    0.7
    """
    path: Any = Path(name)
    stem, where = path.stem, str(path)
    if str(name) in PROTOCOLS:
        path, where = files("nldd.experiments") / "protocols" / f"{name}.toml", f"{name}.toml"
    elif path.suffix.lower() != ".toml":
        raise InputError(
            f"There is no protocol {str(name)!r}; there are {', '.join(PROTOCOLS)}"
            f"{_did_you_mean(str(name), PROTOCOLS)}. For one of your own give the path of a file "
            "that ends in .toml."
        )
    try:
        return _Reader(where).protocol(stem, tomllib.loads(path.read_text("utf-8")))
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 text, as TOML files are: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not a TOML file: {error}.") from error


class _Reader:
    """Checks a protocol key by key, so that a misspelt one is refused and not ignored."""

    def __init__(self, where: str) -> None:
        self.where = where

    def protocol(self, name: str, found: dict[str, Any]) -> Protocol:
        self.check_keys(found, (*_TYPES, *_TABLES))
        values = {key: self.value(key, found[key]) for key in found if key not in _TABLES}
        large = self.table(found, "large", ("base", "parameters"))
        datasets = self.table(found, "datasets")
        datasets = {name: self.table(datasets, name, ("parameters",)) for name in datasets}
        base = self.choice("base", values.get("base", "logistic"), BASES)
        methods = values.get("methods", list(METHODS))
        values = {"name": name, "title": name} | values
        values |= {
            "methods": tuple(self.choice("methods", method, METHODS) for method in methods),
            "settings": self.choice("settings", values.get("settings", "default"), SETTINGS),
            "base": base,
            "large_base": self.choice("large.base", large.get("base", base), BASES),
            "parameters": self.parameters(found, "parameters"),
            "large_parameters": self.parameters(large, "large.parameters"),
            "dataset_parameters": {
                dataset: self.parameters(table, f"datasets.{dataset}.parameters")
                for dataset, table in datasets.items()
            },
            "shares": self.shares(found) if "shares" in found else None,
        }
        return Protocol(**values)

    def shares(self, found: dict[str, Any]) -> Shares:
        table = self.table(found, "shares", ("dataset", "method", "steps", "parameters"))
        if missing := {"dataset", "method", "steps"} - set(table):
            raise self.error(f"[shares] needs {', '.join(sorted(missing))}")
        steps, dataset = table["steps"], table["dataset"]
        if not isinstance(dataset, str):
            raise self.error(f"shares.dataset must be the name of a data set; got {dataset!r}")
        if not isinstance(steps, list) or not steps or not all(map(_is_share, steps)):
            raise self.error(f"shares.steps must be a list of numbers in (0, 1]; got {steps!r}")
        method = self.choice("shares.method", table["method"], METHODS)
        own = {"parameters": {method: table.get("parameters", {})}}
        parameters = self.parameters(own, "shares.parameters")[method]
        return Shares(dataset, method, tuple(map(float, steps)), parameters)

    def parameters(self, table: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
        """Parameters by method, each known to it and of a value that it can take."""
        found = table.get("parameters", {})
        if not isinstance(found, dict):
            raise self.error(f"{where} must be a table; got {found!r}")
        for method, values in found.items():
            self.choice(where, method, METHODS)
            key = f"{where}.{method}"
            if not isinstance(values, dict):
                raise self.error(f"{key} must be a table of parameters, [{key}]; got {values!r}")
            for name in values:
                self.choice(key, name, signature(METHODS[method].factory).parameters)
            try:
                METHODS[method].factory(**values)._validate_params()
            except ValueError as error:
                raise self.error(f"{key}: {error}") from error
        return found

    def table(self, found: dict[str, Any], key: str, keys: Sequence[str] = ()) -> Any:
        table = found.get(key, {})
        if not isinstance(table, dict):
            raise self.error(f"{key} must be a table, [{key}]; got {table!r}")
        if keys:
            self.check_keys(table, keys, f"{key}.")
        return table

    def check_keys(self, table: Iterable[str], keys: Sequence[str], prefix: str = "") -> None:
        for key in table:
            if key not in keys:
                raise self.error(f"unknown key {prefix + key!r}{_hint(key, keys)}")

    def value(self, key: str, value: Any) -> Any:
        kind, within, expected = _TYPES[key]
        if not isinstance(value, kind) or isinstance(value, bool) or not within(value):
            raise self.error(f"{key} must be {expected}; got {value!r}")
        return value

    def choice(self, key: str, value: Any, known: Iterable[str]) -> str:
        known = tuple(known)
        if value not in known:
            raise self.error(f"{key}: there is no {value!r}{_hint(str(value), known)}")
        return str(value)

    def error(self, what: str) -> InputError:
        return InputError(f"{self.where}: {what}.")


_TABLES = ("parameters", "large", "datasets", "shares")
_TYPES: dict[str, tuple[Any, Any, str]] = {
    "name": (str, re.compile(r"[\w-][\w.-]*").fullmatch, "a name of letters, digits, '-' and '_'"),
    "title": (str, bool, "a text"),
    "seed": (int, lambda seed: 0 <= seed < 2**31, "a whole number from 0 to 2147483647"),
    "folds": (int, lambda folds: folds >= 2, "a whole number from 2 on"),
    "split_from": (int, lambda rows: rows >= 2, "a whole number from 2 on"),
    "test_share": (float, lambda share: 0 < share < 1, "a number between 0 and 1"),
    "settings": (str, bool, f"one of {', '.join(SETTINGS)}"),
    "base": (str, bool, f"one of {', '.join(BASES)}"),
    "methods": (list, bool, "a list of methods"),
}


def _is_share(step: Any) -> bool:
    return isinstance(step, int | float) and not isinstance(step, bool) and 0 < step <= 1


def _hint(found: str, known: Sequence[str]) -> str:
    return f"{_did_you_mean(found, known)}; known are {', '.join(known)}"


def _did_you_mean(found: str, known: Sequence[str]) -> str:
    close = get_close_matches(found, known, n=1) or get_close_matches(found.upper(), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def choose_datasets(
    names: Sequence[str], labels: str | None = None, data_dir: Path | None = None
) -> dict[str, Dataset]:
    """Load data sets by catalogue name or path; all of the catalogue if there are no `names`.

    A file goes by its name without the ending.
    """
    chosen: dict[str, Dataset] = {}
    for name in names or CATALOGUE:
        known = name in CATALOGUE
        key = name if known else Path(name).stem
        if key in chosen:
            raise InputError(
                f"Two data sets are called {key!r}: rename one file, or leave one of them out."
            )
        chosen[key] = load_dataset(name, data_dir=data_dir) if known else _load(name, labels)
    return chosen


def _load(path: str, labels: str | None) -> Dataset:
    """A file; `labels` are for those that do not say themselves which columns are labels."""
    if labels is not None and Path(path).suffix.lower() == ".arff":
        try:
            return load_dataset(path)
        except InputError:
            pass  # it does not say, or is wrong in another way, which the second try tells
    return load_dataset(path, labels=read_labels(labels))


def read_labels(text: str | None) -> str | int | list[str] | None:
    """Label columns as written in a command: a count, names with commas, a pattern or a file."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return text.split(",") if "," in text else text


def choose_methods(names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Methods by short name, in any case; those of the protocol if none is named."""
    wanted = [name.upper() for name in names]
    for name in wanted:
        if name not in METHODS:
            close = get_close_matches(name, METHODS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InputError(f"There is no method {name!r}.{hint} There are {', '.join(METHODS)}.")
    return tuple(method for method in METHODS if method in wanted) or protocol.methods
