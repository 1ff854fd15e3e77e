"""Known names that are like a misspelt one."""

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from unicodedata import normalize

# Comparing takes time by the square of the lengths, and a name can be as long as a cell.
LONGEST, MOST = 200, 5000


def fold_name(name: str) -> str:
    """A name without what people easily get wrong: capitals, spaces, and forms of a letter.

    >>> fold_name(" Home  Office") == fold_name("home office")
    True
    """
    return " ".join(normalize("NFKC", name).casefold().split())


def close_matches(name: str, known: Collection[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that are most like a name, the nearest first.

    >>> close_matches("saftey", ["Safety", "Cycling"])
    ['Safety']
    """
    short = (other for other in islice(known, MOST) if len(other) <= LONGEST)
    by_fold: dict[str, str] = {}
    for other in short:
        by_fold.setdefault(fold_name(other), other)
    close = get_close_matches(fold_name(name[:LONGEST]), by_fold, n=n, cutoff=cutoff)
    return [by_fold[folded] for folded in close]
