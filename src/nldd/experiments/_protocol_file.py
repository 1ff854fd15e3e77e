"""Protocols as TOML files: those that come with nldd, and your own."""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

from nldd.estimators import METHODS
from nldd.exceptions import InputError
from nldd.experiments._bases import BASES
from nldd.experiments._protocol import Protocol, Shares

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
    if str(name) in PROTOCOLS:
        text = (files("nldd.experiments") / "protocols" / f"{name}.toml").read_text("utf-8")
        return _from_toml(text, str(name), f"{name}.toml")
    path = Path(name)
    if path.suffix.lower() != ".toml":
        raise InputError(
            f"There is no protocol {str(name)!r}; there are {', '.join(PROTOCOLS)}"
            f"{_did_you_mean(str(name), PROTOCOLS)}. For one of your own give the path of a file "
            "that ends in .toml."
        )
    try:
        return _from_toml(path.read_text("utf-8"), path.stem, str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text, as TOML files are: {error}.") from error


def _from_toml(text: str, name: str, where: str) -> Protocol:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not a TOML file: {error}.") from error
    return _Reader(where).protocol(name, found)


class _Reader:
    """Checks a protocol key by key, so that a misspelt one is refused and not ignored."""

    def __init__(self, where: str) -> None:
        self.where = where

    def protocol(self, name: str, found: dict[str, Any]) -> Protocol:
        large = self.table(found, "large", ("base", "parameters"))
        datasets = self.table(found, "datasets", None)
        values: dict[str, Any] = {"name": name, "title": name}
        self.check_keys(found, (*_TYPES, *_TABLES))
        values |= {key: value for key, value in found.items() if key not in _TABLES}
        for key, value in values.items():
            self.check_type(key, value)
        base = self.choice("base", values.get("base", "logistic"), tuple(BASES))
        values |= {
            "methods": self.methods(values.get("methods", list(METHODS))),
            "settings": self.choice("settings", values.get("settings", "default"), SETTINGS),
            "base": base,
            "large_base": self.choice("large.base", large.get("base", base), tuple(BASES)),
            "parameters": self.parameters(found.get("parameters", {}), "parameters"),
            "large_parameters": self.parameters(large.get("parameters", {}), "large.parameters"),
            "dataset_parameters": {
                dataset: self.parameters(
                    self.table(datasets, dataset, ("parameters",)).get("parameters", {}),
                    f"datasets.{dataset}.parameters",
                )
                for dataset in datasets
            },
            "shares": self.shares(found),
        }
        return Protocol(**values)

    def shares(self, found: dict[str, Any]) -> Shares | None:
        if "shares" not in found:
            return None
        table = self.table(found, "shares", ("dataset", "method", "steps", "parameters"))
        if missing := {"dataset", "method", "steps"} - set(table):
            raise self.error(f"[shares] needs {', '.join(sorted(missing))}")
        steps, dataset = table["steps"], table["dataset"]
        if not isinstance(dataset, str):
            raise self.error(f"shares.dataset must be the name of a data set; got {dataset!r}")
        if not isinstance(steps, list) or not steps or not all(map(_is_share, steps)):
            raise self.error(f"shares.steps must be a list of numbers in (0, 1]; got {steps!r}")
        method = self.choice("shares.method", table["method"], tuple(METHODS))
        own = self.parameters({method: table.get("parameters", {})}, "shares.parameters")
        return Shares(dataset, method, tuple(map(float, steps)), own[method])

    def methods(self, found: list[Any]) -> tuple[str, ...]:
        return tuple(self.choice("methods", method, tuple(METHODS)) for method in found)

    def parameters(self, found: Any, key: str) -> dict[str, dict[str, Any]]:
        """Parameters by method, each known to it and of a value that it can take."""
        if not isinstance(found, dict):
            raise self.error(f"{key} must be a table; got {found!r}")
        for method, values in found.items():
            self.choice(key, method, tuple(METHODS))
            if not isinstance(values, dict):
                raise self.error(
                    f"{key}.{method} must be a table of parameters, [{key}.{method}]; "
                    f"got {values!r}"
                )
            known = tuple(signature(METHODS[method].factory).parameters)
            for name in values:
                self.choice(f"{key}.{method}", name, known)
            try:
                METHODS[method].factory(**values)._validate_params()
            except ValueError as error:
                raise self.error(f"{key}.{method}: {error}") from error
        return found

    def table(self, found: dict[str, Any], key: str, keys: tuple[str, ...] | None) -> Any:
        table = found.get(key, {})
        if not isinstance(table, dict):
            raise self.error(f"{key} must be a table, [{key}]; got {table!r}")
        if keys is not None:
            self.check_keys(table, keys, f"{key}.")
        return table

    def check_keys(self, table: Mapping[str, Any], keys: tuple[str, ...], prefix: str = "") -> None:
        for key in table:
            if key not in keys:
                raise self.error(
                    f"unknown key {prefix + key!r}{_did_you_mean(key, keys)}; known are "
                    f"{', '.join(keys)}"
                )

    def check_type(self, key: str, value: Any) -> None:
        kind, within, expected = _TYPES[key]
        if not isinstance(value, kind) or isinstance(value, bool) or not within(value):
            raise self.error(f"{key} must be {expected}; got {value!r}")

    def choice(self, key: str, value: Any, known: tuple[str, ...]) -> str:
        if value not in known:
            raise self.error(
                f"{key}: there is no {value!r}{_did_you_mean(str(value), known)}; known are "
                f"{', '.join(known)}"
            )
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


def _did_you_mean(found: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(found, known, n=1) or get_close_matches(found.upper(), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
