"""Numbers and truth values as data files spell them.

``number`` is the definition. ``numbers`` does the same for many cells at once and answers None
where it is in doubt; its callers then go back to ``number``, which says what is wrong.
"""

import re
from collections.abc import Collection, Sequence
from itertools import chain
from math import isinf
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.datasets._source import Refusal

# Python's float also takes 1_000, nan, infinity, digits of all scripts and odd spaces.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_CHARACTERS = b"0123456789+-.eE, "
_TRUTH = {"false": 0.0, "true": 1.0}


def number(text: str) -> float:
    """A finite number in decimal notation.

    Examples
    --------
    >>> number("-1.5e3")
    -1500.0
    """
    if not _NUMBER.fullmatch(text):
        hint = " Write decimals with a point." if "," in text else ""
        raise Refusal(f"expected a number such as 12, -0.5 or 1e-3; got {quote(text)}.{hint}")
    value = float(text)
    if isinf(value):
        raise Refusal(f"expected a number below 1.8e308; got {quote(text)}.")
    return value


def numbers(
    cells: Sequence[str], missing: Collection[str] = frozenset()
) -> NDArray[np.float64] | None:
    """All `cells` as numbers, NaN for those in `missing`; None if any of them is in doubt."""
    values = _plain_numbers(cells)
    if values is not None or not missing:
        return values
    present = _plain_numbers([cell for cell in cells if cell not in missing])
    if present is None:
        return None
    values = np.full(len(cells), np.nan)
    values[[cell not in missing for cell in cells]] = present
    return values


def _plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    joined = ",".join(cells)
    if not joined.isascii() or joined.encode("ascii").translate(None, _CHARACTERS):
        return None
    try:
        values = np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return None
    return None if np.isinf(values).any() else values


def truth(text: str) -> float | None:
    """0 or 1 where `text` says so: a number equal to it, or false or true in any case.

    Examples
    --------
    >>> truth("1.0"), truth("False"), truth("2"), truth("yes")
    (1.0, 0.0, None, None)
    """
    if _NUMBER.fullmatch(text):
        value = float(text)
        # Adding 0 turns -0 into 0.
        return value + 0.0 if value in (0, 1) else None
    return _TRUTH.get(text.lower())


def pick(rows: Sequence[Sequence[str]], columns: Sequence[int]) -> list[str]:
    """Cells of some columns, row after row.

    Examples
    --------
    >>> pick(["abc", "def"], [0, 2])
    ['a', 'c', 'd', 'f']
    """
    if len(columns) == 1:
        return [row[columns[0]] for row in rows]
    return list(chain.from_iterable(map(itemgetter(*columns), rows)))
