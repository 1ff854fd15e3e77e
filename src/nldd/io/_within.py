"""All objects that some estimators hold, at any depth."""

from collections.abc import Iterator
from typing import Any

import numpy as np

VALUES = (str, bytes, int, float, complex, type, type(None), np.generic)


def everything_within(root: Any) -> Iterator[Any]:
    """The root and all that it holds in attributes, lists, dicts and arrays, each once.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = make_pipeline(StandardScaler())
    >>> sum(isinstance(thing, StandardScaler) for thing in everything_within([pipeline, pipeline]))
    1
    """
    to_visit, seen = [root], set()
    while to_visit:
        thing = to_visit.pop()
        if isinstance(thing, VALUES) or id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        to_visit += _held(thing)


def _held(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple | set):
        return list(thing)
    if isinstance(thing, np.ndarray):
        return list(thing.flat) if thing.dtype == object else []
    return list(getattr(thing, "__dict__", {}).values())
