"""How texts and results are shown: quoted in messages, visible, in notebooks, as progress."""

from collections.abc import Iterable, Iterator
from itertools import islice
from time import perf_counter
from typing import TypeVar

# They are not printable, but emoji, Persian and Indic words fall apart without them.
JOINERS = "\u200c\u200d"
T = TypeVar("T")


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


class NotebookText:
    """A result that a notebook shows as the text that `print` gives, instead of its `repr`.

    >>> class Sum(NotebookText):
    ...     def __str__(self):
    ...         return "1 < 2"
    >>> Sum()._repr_html_()
    '<pre style="white-space: pre-wrap">1 &lt; 2</pre>'
    """

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="white-space: pre-wrap">{escape(str(self))}</pre>'


def progress(steps: Iterable[T], total: int, title: str | None) -> Iterator[T]:
    """Pass `steps` through; with a `title`, print how many are done.

    That is at most ten lines, a second or more apart but for the last one.

    >>> list(progress("abc", 3, title=None))
    ['a', 'b', 'c']
    """
    start = told = perf_counter()
    for done, step in enumerate(steps, 1):
        yield step
        now = perf_counter()
        is_tenth = done * 10 // total > (done - 1) * 10 // total
        if title and (done == total or (is_tenth and now - told >= 1)):
            told = now
            print(f"[{title}] {done} of {total} done, {now - start:.1f} s", flush=True)
