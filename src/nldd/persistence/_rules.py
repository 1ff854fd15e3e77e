"""Rules for the attributes of an object: what each may be, before the object exists.

A rule takes a value of a record and the scope of the object, and returns the attribute, or raises
:class:`Misfit`. Sizes have names: the first attribute of an object that has a size of that name
states it, and all others must agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from nldd.persistence._records import PLAIN, Record

LARGEST = np.finfo(np.float64).max
MAX_TEXT = 10_000


class Misfit(Exception):
    """A value that no attribute of the name has; the message says what it is."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The sizes of the object that is being made, and what makes the objects within."""

    make: Callable[[Record, Mapping[str, int]], Any]
    sizes: dict[str, int] = field(default_factory=dict)

    def agree(self, size: str | int | None, n: int) -> None:
        """State the size, or compare it with what was stated."""
        expected = self.sizes.setdefault(size, n) if isinstance(size, str) else size
        if expected is not None and n != expected:
            raise Misfit(f"has {n} where there are {expected}")


Rule = Callable[[Any, Scope], Any]


def numbers(
    *shape: str | int | None,
    kinds: str = "f",
    least: float = -LARGEST,
    most: float = LARGEST,
    below: str | None = None,
    sparse: bool = False,
    nan: bool = False,
) -> Rule:
    """An array of the shape; with `below`, positions in what has that size."""

    def rule(value: Any, scope: Scope) -> Any:
        if not isinstance(value, np.ndarray) and not (sparse and issparse(value)):
            raise Misfit("is no array of numbers")
        dtype = value.dtype
        if dtype.kind not in kinds or dtype.itemsize > 8 or value.ndim != len(shape):
            raise Misfit(f"has the type {dtype} and the shape {value.shape}")
        for size, n in zip(shape, value.shape, strict=True):
            scope.agree(size, n)
        data = value.data if issparse(value) else value
        data = data[~np.isnan(data)] if nan else data
        highest = scope.sizes[below] - 1 if below else most
        # With NaN among them both comparisons are false.
        if data.size and not (data.min() >= least and data.max() <= highest):
            raise Misfit("holds numbers that none has")
        return value

    return rule


def positions(size: str | int | None, below: str) -> Rule:
    """Positions in what has the size `below`."""
    return numbers(size, kinds="iu", least=0, below=below)


def whole(size: str | None = None, least: int = 0, most: int = 2**62) -> Rule:
    """A count, which may be a size."""

    def rule(value: Any, scope: Scope) -> int:
        value = _scalar(value)
        if type(value) is not int or not least <= value <= most:
            raise Misfit("is no count")
        scope.agree(size, value)
        return value

    return rule


def real(value: Any, scope: Scope) -> float:
    """A finite number."""
    del scope
    value = _scalar(value)
    if type(value) not in (int, float) or not abs(value) <= LARGEST:
        raise Misfit("is no number")
    return float(value)


def flag(value: Any, scope: Scope) -> bool:
    """True or False."""
    del scope
    value = _scalar(value)
    if type(value) is not bool:
        raise Misfit("is neither true nor false")
    return value


def text(*choices: str) -> Rule:
    """One of these words."""

    def rule(value: Any, scope: Scope) -> str:
        del scope
        if type(value) is not str or value not in choices:
            raise Misfit("is none of the words that it may be")
        return value

    return rule


def phrase(value: Any, scope: Scope) -> str:
    """Any words, not too many."""
    del scope
    if type(value) is not str or len(value) > MAX_TEXT:
        raise Misfit("is no text")
    return value


def nothing(value: Any, scope: Scope) -> None:
    """None."""
    del scope
    if value is not None:
        raise Misfit("is something")


def classes(size: str | None = None) -> Rule:
    """The names of classes."""

    def rule(value: Any, scope: Scope) -> Any:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO":
            raise Misfit("is no array of classes")
        if any(type(_scalar(name)) not in PLAIN for name in value):
            raise Misfit("has classes that are neither text nor numbers")
        scope.agree(size, len(value))
        return value

    return rule


def names(size: str) -> Rule:
    """Names in an array of objects."""
    of_classes = classes(size)

    def rule(value: Any, scope: Scope) -> Any:
        return of_classes(value, scope).astype(object)

    return rule


def several(item: Rule, size: str | int | None = None) -> Rule:
    """A list, or a tuple."""

    def rule(value: Any, scope: Scope) -> Any:
        if not isinstance(value, list | tuple):
            raise Misfit("is no list")
        scope.agree(size, len(value))
        return type(value)(item(each, scope) for each in value)

    return rule


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""

    def rule(value: Any, scope: Scope) -> Any:
        for each in rules:
            try:
                # A rule that fails half-way must not leave sizes behind.
                trial = Scope(scope.make, dict(scope.sizes))
                found = each(value, trial)
            except Misfit as misfit:
                reason = misfit
                continue
            scope.sizes.update(trial.sizes)
            return found
        raise reason

    return rule


def member(*types: str, **sizes: str) -> Rule:
    """An object of one of the types, whose sizes are those of its owner: ``inner="outer"``."""

    def rule(value: Any, scope: Scope) -> Any:
        if not isinstance(value, Record) or value.type not in types:
            raise Misfit("is of a type that it never has")
        return scope.make(value, {inner: scope.sizes[outer] for inner, outer in sizes.items()})

    return rule


def estimator(value: Any, scope: Scope) -> Any:
    """Anything that predicts."""
    found = scope.make(value, {}) if isinstance(value, Record) else None
    if not hasattr(found, "predict"):
        raise Misfit("is no estimator")
    return found


def dict_of(rules: Mapping[str, Rule]) -> Rule:
    """A dict with some of these keys."""

    def rule(value: Any, scope: Scope) -> dict[str, Any]:
        if not isinstance(value, dict) or not value.keys() <= rules.keys():
            raise Misfit("is no dict of the keys that it may have")
        return {key: rules[key](part, scope) for key, part in value.items()}

    return rule


def by_name(item: Rule) -> Rule:
    """A dict with keys of any words."""

    def rule(value: Any, scope: Scope) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Misfit("is no dict")
        return {phrase(key, scope): item(part, scope) for key, part in value.items()}

    return rule


def parameter(value: Any, scope: Scope) -> Any:
    """A plain value, an estimator, or a collection of these; what it means is for its type."""
    if isinstance(value, Record):
        return scope.make(value, {})
    if isinstance(value, list | tuple):
        return type(value)(parameter(item, scope) for item in value)
    if isinstance(value, dict):
        return {key: parameter(part, scope) for key, part in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value
    value = _scalar(value)
    if type(value) not in PLAIN or (isinstance(value, str) and len(value) > MAX_TEXT):
        raise Misfit("is no plain value")
    return value


def _scalar(value: Any) -> Any:
    is_one = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if is_one else value
