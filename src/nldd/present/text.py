"""Text for people: names from files made visible, shares, columns and paragraphs."""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from textwrap import fill
from unicodedata import bidirectional

from nldd._wording import JOINERS, printable


def visible(text: str, longest: int = 80) -> str:
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
    seen = printable(line)
    right_to_left = any(bidirectional(c) in ("R", "AL") for c in seen)
    return f"\u2068{seen}\u2069" if right_to_left else seen  # isolated from its neighbours


def name_list(names: Sequence[str], most: int = 12) -> str:
    quoted = ", ".join(f'"{visible(name)}"' for name in names[:most])
    return f"{quoted} and {len(names) - most} more" if len(names) > most else quoted


def exact_percent(share: float) -> str:
    """A share that somebody asked for, in percent and not rounded."""
    return f"{100 * share:.6g} %"


def doubt_number(doubt: float, rank_by: str) -> str:
    """A doubt as people know it: theta itself, or the chance that all codes are right."""
    return theta_number(doubt) if rank_by == "theta" else f"{1 - doubt:.4f}"


def chance_in_words(chance: float) -> str:
    """How likely all codes of an answer are right: 9 in 10, say."""
    for total in (10, 100):
        if round(total * chance) < total:
            likely = round(total * chance)
            return f"right as a whole: {likely or 'less than 1'} in {total}"
    return "right as a whole: more than 99 in 100"


def theta_number(theta: float) -> str:
    """Theta with four decimals, and with two digits that count where it is small."""
    return f"{theta:.4f}" if theta >= 0.01 else f"{Decimal(f'{theta:.2g}'):f}"


def align(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Rows of cells as lines with columns, those of `right` flush right."""
    columns = []
    for j, cells in enumerate(zip(*rows, strict=True)):
        pad, width = str.rjust if j in right else str.ljust, max(map(len, cells))
        columns.append([pad(cell, width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def align_facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"  {name:<17}{value}" for name, value in facts)


def wrap(paragraphs: Iterable[str]) -> str:
    """Paragraphs for a terminal, each from a new line on."""
    return "\n".join(fill(paragraph, 100) for paragraph in paragraphs)
