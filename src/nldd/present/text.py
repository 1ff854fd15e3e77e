"""Text for people: names from files made visible, nouns counted, columns; and for spreadsheets."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from shlex import join
from textwrap import fill
from unicodedata import bidirectional

from nldd._wording import JOINERS, printable as printable

WINDOWS = os.name == "nt"
# On pages and terminals also lines, tabs, and marks that isolate a name written right to left.
KEPT = f"\n\t\u2068\u2069{JOINERS}"
# Texts, which are compiled when they are first used: the help needs none of them.
# A formula begins after whatever a spreadsheet skips: spaces, and characters without a width. It
# does so in a cell, in a line, and behind a separator, which another program may cut the file by;
# a quote behind that is one of the file then.
_SKIPPED = r"\s\x00-\x20\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
# What calls a function or another program; without one of these, a sum does no harm.
_CALLS = r"[(|\uff08\uff5c]"
_BREAKS = r",;|\t\n\v\f\r\x85\u2028\u2029"
_FORMULA = rf"[\t\r\n]|[{_SKIPPED}]*+[{_SIGNS}]"
# Not "*+" here, which Python 3.11.2 matches too much with.
_BEHIND = rf"(?=(?:(?![{_BREAKS}])[{_SKIPPED}\"])*[{{}}])"
_UNSAFE = rf"([{_BREAKS}])" + _BEHIND.format(_SIGNS)
_UNSAFE_ANYWAY = rf"([{_BREAKS}])" + _BEHIND.format(r"=@\uff1d\uff20")
_GUARD = rf"([{_BREAKS}])'" + _BEHIND.format(_SIGNS)
_PLAIN_NUMBER = r"(?a:\s*[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\s*)"


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


def escape_formula(text: str) -> str:
    """Make text safe in a CSV file that a spreadsheet opens.

    A spreadsheet runs what begins with ``=``, ``+``, ``-`` or ``@``, also in their wide forms and
    after spaces; and if it cuts cells by another separator, what comes behind that. An apostrophe
    before it makes it text. Plain numbers are left as they are, and so are dashes within a text
    that calls nothing, such as those of a list.

    Parameters
    ----------
    text : str
        Of a cell.

    Returns
    -------
    str
        The text, with apostrophes where it needs some.

    Examples
    --------
    >>> from nldd.present.text import escape_formula
    >>> [escape_formula(text) for text in ("=1+1", " @SUM(A1)", "-5", "so-so", "a;=1")]
    ["'=1+1", "' @SUM(A1)", '-5', 'so-so', "a;'=1"]
    """
    unsafe = _UNSAFE if re.search(_CALLS, text) else _UNSAFE_ANYWAY
    safe = ("'" if re.match(_FORMULA, text) else "") + re.sub(unsafe, r"\1'", text)
    return text if len(safe) > len(text) and re.fullmatch(_PLAIN_NUMBER, text) else safe


def unescape_formula(text: str) -> str:
    """Remove the apostrophes of :func:`escape_formula`.

    Parameters
    ----------
    text : str
        Of a cell.

    Returns
    -------
    str
        What was escaped; other text unchanged.

    Examples
    --------
    >>> from nldd.present.text import unescape_formula
    >>> unescape_formula("'=1+1"), unescape_formula("a;'=1"), unescape_formula("'twas")
    ('=1+1', 'a;=1', "'twas")
    """
    if "'" not in text:
        return text
    found = text[1:] if text.startswith("'") and re.match(_FORMULA, text[1:]) else text
    found = re.sub(_GUARD, r"\1", found)
    return found if escape_formula(found) == text else text
