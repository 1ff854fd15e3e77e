"""Words that messages, tables and pages share: texts quoted, nouns counted, shares in percent."""

import os
from collections.abc import Iterable
from itertools import islice
from shlex import join

WINDOWS = os.name == "nt"
# Of fewer checked answers no share is shown: it looks more certain than it is.
FEWEST_CHECKED = 20

# They are not printable by themselves, but emoji, Persian and Indic words fall apart without them.
JOINERS = "\u200c\u200d"
# On pages and terminals also lines, tabs, and marks that keep a name from right to left to itself.
KEPT = f"\n\t\u2068\u2069{JOINERS}"


def printable(text: str, kept: str = JOINERS) -> str:
    r"""Text in which all that is not printable is shown by its code, but for what is `kept`.

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


def quote(text: str, longest: int = 40) -> str:
    r"""Text for a message: quoted, control characters visible, not too long.

    >>> print(quote("a\tb"), quote("Wolfeschlegelstein", longest=10))
    'a\tb' 'Wolfesc...'
    """
    return repr(text if len(text) <= longest else f"{text[: longest - 3]}...")


def quote_first(texts: Iterable[str], longest: int = 40) -> str:
    """The first few of some texts for a message.

    >>> print(quote_first("abc"), quote_first("abcdefg"), sep="; ")
    'a', 'b', 'c'; 'a', 'b', 'c', 'd', 'e', ...
    """
    few = [quote(text, longest) for text in islice(texts, 6)]
    return ", ".join(few[:5]) + ", ..." * (len(few) > 5)


def count_noun(n: int, noun: str) -> str:
    """A number with its noun.

    >>> count_noun(1, "blank line"), count_noun(1200, "blank line")
    ('1 blank line', '1,200 blank lines')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def command_line(*words: object) -> str:
    """Words as they are typed in a shell: those of Windows both know double quotes only.

    >>> command_line("nldd", "report", "results")
    'nldd report results'
    """
    if WINDOWS:
        from subprocess import list2cmdline

        return list2cmdline(map(str, words))
    return join(map(str, words))


def percent(share: float, digits: int = 0) -> str:
    """A share in percent; 0 and 100 are said only where nothing had to be rounded.

    >>> percent(0.6249), percent(0.931, 1), percent(0.9997), percent(1.0, 1)
    ('62 %', '93.1 %', '99.97 %', '100 %')
    """
    words = f"{100 * share:.{0 if share in (0, 1) else digits}f}"
    if float(words) in (0, 100) and share not in (0, 1) and digits < 6:
        return percent(share, digits + 1)
    return f"{words} %"


def percent_range(low: float, high: float, digits: int = 1) -> str:
    """An interval in percent.

    >>> percent_range(0.868, 0.999)
    '86.8 to 99.9 %'
    """
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def checked_accuracy(n_right: int, n: int, low: float, high: float, so_far: str = "") -> str:
    """Result of checks: the 95 % interval and counts; from 20 checks on the interval first.

    >>> checked_accuracy(1, 1, 0.025, 1.0)
    '1 of 1 checked answers right (exact 95 % interval 2.5 to 100 %)'
    >>> checked_accuracy(39, 40, 0.868, 0.999)
    '86.8 to 99.9 % right (exact 95 % interval): 39 of 40 checked answers, 97.5 %'
    """
    interval, counts = percent_range(low, high), f"{n_right:,} of {n:,} checked answers"
    if n < FEWEST_CHECKED:
        return f"{counts} right{so_far} (exact 95 % interval {interval})"
    share = percent(n_right / n, 1)
    return f"{interval} right{so_far} (exact 95 % interval): {counts}, {share}"
