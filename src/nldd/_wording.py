"""Texts from files and users, quoted for a message."""

from collections.abc import Iterable
from itertools import islice


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
