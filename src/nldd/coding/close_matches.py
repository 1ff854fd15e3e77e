"""Names that a person may have meant, for a hint."""

from collections.abc import Iterable
from difflib import get_close_matches
from unicodedata import normalize

# Comparing takes time by the square of the lengths, and a name can be as long as a cell.
MOST_NAMES, LONGEST = 2000, 200


def close_matches(name: str, known: Iterable[str], n: int = 1, cutoff: float = 0.6) -> list[str]:
    """Known names that look like a name but for capitals and spaces, the most alike first.

    >>> close_matches("anwser", ["id", "Answer", "age"]), close_matches("why", ["id", "age"])
    (['Answer'], [])
    """
    short = [other for other in list(known)[:MOST_NAMES] if len(other) <= LONGEST]
    folded = {_fold(other): other for other in reversed(short)}
    return [folded[key] for key in get_close_matches(_fold(name[:LONGEST]), folded, n, cutoff)]


def _fold(name: str) -> str:
    return " ".join(normalize("NFKC", name).casefold().split())
