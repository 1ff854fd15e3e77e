"""Text for people: names from files made visible, shares, columns and paragraphs."""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from textwrap import fill
from unicodedata import bidirectional

from nldd._wording import percent

LONGEST_NAME = 80
# They are not printable by themselves, but emoji, Persian and Indic words fall apart without them.
JOINERS = "\u200c\u200d"
ISOLATE, END_ISOLATE = "\u2068", "\u2069"


def visible(text: str, longest: int = LONGEST_NAME) -> str:
    """Text from a file on one line: cut, and what is not printable shown by its code.

    Words from right to left keep to themselves, so that what stands beside them stays in order.

    Examples
    --------
    >>> visible("two\\n\\tlines, a\\x07bell"), visible(10_000 * "x", 5)
    ('two lines, a\\\\x07bell', 'xxxxx\u2026')
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[:longest].rstrip(f" {JOINERS}") + "\u2026"
    seen = "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode("ascii")
        for c in line
    )
    right_to_left = any(bidirectional(c) in ("R", "AL") for c in seen)
    return f"{ISOLATE}{seen}{END_ISOLATE}" if right_to_left else seen


def name_list(names: Sequence[str], most: int = 12) -> str:
    quoted = ", ".join(f'"{visible(name)}"' for name in names[:most])
    return f"{quoted} and {len(names) - most} more" if len(names) > most else quoted


def exact_percent(share: float) -> str:
    """A share that somebody asked for, in percent and not rounded."""
    return f"{100 * share:.6g} %"


def percent_range(low: float, high: float, digits: int = 1) -> str:
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def theta_number(theta: float) -> str:
    """Theta with four decimals, and with two digits that count where it is small."""
    return f"{theta:.4f}" if theta >= 0.01 else f"{Decimal(f'{theta:.2g}'):f}"


def align(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Rows of cells as lines with columns, those of `right` flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if j in right else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def align_facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"  {name:<17}{value}" for name, value in facts)


def wrap(paragraphs: Iterable[str]) -> str:
    """Paragraphs for a terminal, each from a new line on."""
    return "\n".join(fill(paragraph, 100) for paragraph in paragraphs)
