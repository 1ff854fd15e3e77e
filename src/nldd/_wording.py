"""Words of messages: texts of a person's file quoted, listed and counted."""

from collections.abc import Iterable
from itertools import islice


def shown(text: str, longest: int = 40) -> str:
    r"""Text for a message: quoted, control characters visible, not too long.

    Examples
    --------
    >>> print(shown("a\tb"), shown("Wolfeschlegelstein", longest=10))
    'a\tb' 'Wolfesc...'
    """
    return repr(text if len(text) <= longest else f"{text[: longest - 3]}...")


def listed(texts: Iterable[str], longest: int = 40) -> str:
    """The first few of some texts for a message.

    Examples
    --------
    >>> print(listed("abc"), listed("abcdefg"), sep="; ")
    'a', 'b', 'c'; 'a', 'b', 'c', 'd', 'e', ...
    """
    few = [shown(text, longest) for text in islice(texts, 6)]
    return ", ".join(few[:5]) + ", ..." * (len(few) > 5)


def counted(n: int, thing: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "blank line"), counted(1200, "blank line")
    ('1 blank line', '1,200 blank lines')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"
