"""Texts from files and users, quoted and made visible for a message."""

from collections.abc import Iterable
from itertools import islice

# They are not printable, but emoji, Persian and Indic words fall apart without them.
JOINERS = "\u200c\u200d"


def quote(text: str, longest: int = 40) -> str:
    r"""Quote text for a message: control characters visible, not too long.

    >>> print(quote("a\tb"), quote("Wolfeschlegelstein", longest=10))
    'a\tb' 'Wolfesc...'
    """
    return repr(text if len(text) <= longest else f"{text[: longest - 3]}...")


def quote_first(texts: Iterable[str], longest: int = 40) -> str:
    """Quote the first few of some texts for a message.

    >>> print(quote_first("abc"), quote_first("abcdefg"), sep="; ")
    'a', 'b', 'c'; 'a', 'b', 'c', 'd', 'e', ...
    """
    few = [quote(text, longest) for text in islice(texts, 6)]
    return ", ".join(few[:5]) + ", ..." * (len(few) > 5)


def printable(text: str, kept: str = JOINERS) -> str:
    r"""Show every unprintable character by its code, except those `kept`.

    So no text from a file moves the cursor of a terminal, colours it, or turns words around.

    >>> print(printable("a\x1b[2Jb\u202ec\td"))
    a\x1b[2Jb\u202ec\td
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
