"""Text for people: names from files made visible, nouns counted, percentages, aligned columns."""

import os
from collections.abc import Collection, Iterable, Sequence
from shlex import join
from textwrap import fill
from unicodedata import bidirectional

from nldd._wording import JOINERS, printable as printable

WINDOWS = os.name == "nt"
# On pages and terminals also lines, tabs, and marks that isolate a name written right to left.
KEPT = f"\n\t\u2068\u2069{JOINERS}"


def visible(text: str, longest: int = 80) -> str:
    r"""Show text from a file on one line: printable, and not too long.

    Words written right to left are isolated, so that the words beside them stay in order.

    >>> visible("two\n\tlines, a\x07bell"), visible(10_000 * "x", 5)
    ('two lines, a\\x07bell', 'xxxxx…')
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[:longest].rstrip(f" {JOINERS}") + "\u2026"
    seen = printable(line)
    right_to_left = any(bidirectional(c) in ("R", "AL") for c in seen)
    return f"\u2068{seen}\u2069" if right_to_left else seen


def count_noun(n: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count_noun(1, "blank line"), count_noun(1200, "blank line")
    ('1 blank line', '1,200 blank lines')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def command_line(*words: object) -> str:
    """Write words as they are typed in a shell; those of Windows share only double quotes.

    >>> command_line("nldd", "report", "results")
    'nldd report results'
    """
    if WINDOWS:
        from subprocess import list2cmdline

        return list2cmdline(map(str, words))
    return join(map(str, words))


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent; 0 and 100 only if nothing had to be rounded.

    >>> percent(0.6249), percent(0.931, 1), percent(0.9997), percent(1.0, 1)
    ('62 %', '93.1 %', '99.97 %', '100 %')
    """
    words = f"{100 * share:.{0 if share in (0, 1) else digits}f}"
    if float(words) in (0, 100) and share not in (0, 1) and digits < 6:
        return percent(share, digits + 1)
    return f"{words} %"


def align(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Write rows of cells in columns; those of `right` are right-aligned."""
    columns = []
    for j, cells in enumerate(zip(*rows, strict=True)):
        pad, width = str.rjust if j in right else str.ljust, max(map(len, cells))
        columns.append([pad(cell, width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def wrap(paragraphs: Iterable[str]) -> str:
    """Wrap paragraphs for a terminal."""
    return "\n".join(fill(paragraph, 100) for paragraph in paragraphs)
