"""Codes that look like one another, and so may be one code misspelt."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from unicodedata import normalize

# What people write into a cell to say that no code applies.
MARKS = frozenset({"-", "--", "–", "—", "/"})  # noqa: RUF001 (other dashes are meant)
CLOSE = 0.8


def composed(names: Iterable[str]) -> set[str]:
    """Names in which a letter and its accent are one character, so that equal looks are equal."""
    return {normalize("NFC", name) for name in names}


def folded(name: str) -> str:
    """A name without what people easily get wrong: capitals and spaces.

    Examples
    --------
    >>> folded(" Public  Transport") == folded("public transport")
    True
    """
    return " ".join(normalize("NFKC", name).casefold().split())


def groups_alike(names: Sequence[str]) -> list[list[str]]:
    """Names that differ only in capitals or spaces, those of a group together.

    Examples
    --------
    >>> groups_alike(["Price", "bus", "price"])
    [['Price', 'price']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def alike(name: str, known: Sequence[str]) -> str | None:
    """The known name that a new one may be meant to be; names with other numbers are others.

    Examples
    --------
    >>> alike("prices", ["bus", "price"]), alike("q1_07", ["q1_06"])
    ('price', None)
    """
    by_fold = {folded(other): other for other in known if _digits(other) == _digits(name)}
    close = get_close_matches(folded(name), by_fold, n=1, cutoff=CLOSE)
    return by_fold[close[0]] if close else None


def _digits(name: str) -> str:
    return re.sub(r"\D", "", name)
