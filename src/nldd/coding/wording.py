"""Numbers of a coding study in words: percentages, confidence scores, results of checks."""

from collections.abc import Sequence
from decimal import Decimal

from nldd.present.text import percent, visible

# Of fewer checked answers no share is shown: it looks more certain than it is.
FEWEST_CHECKED = 20


def name_list(names: Sequence[str], most: int = 12) -> str:
    """Quote the first names of a list, and count the others."""
    quoted = ", ".join(f'"{visible(name)}"' for name in names[:most])
    return f"{quoted} and {len(names) - most} more" if len(names) > most else quoted


def exact_percent(share: float) -> str:
    """Write a share that somebody asked for in percent, not rounded."""
    return f"{100 * share:.6g} %"


def percent_range(low: float, high: float, digits: int = 1) -> str:
    """Write an interval in percent.

    >>> percent_range(0.868, 0.999)
    '86.8 to 99.9 %'
    """
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def checked_accuracy(n_right: int, n: int, low: float, high: float, so_far: str = "") -> str:
    """Write the result of checks: the 95 % interval and counts; from 20 checks on, interval first.

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


def doubt_number(doubt: float, rank_by: str) -> str:
    """Write a doubt as people know it: theta itself, or the confidence score."""
    return theta_number(doubt) if rank_by == "theta" else f"{1 - doubt:.4f}"


def theta_number(theta: float) -> str:
    """Write theta with four decimals, or with two significant digits if it is small."""
    return f"{theta:.4f}" if theta >= 0.01 else f"{Decimal(f'{theta:.2g}'):f}"


def chance_in_words(chance: float) -> str:
    """Say how likely all codes of an answer are right: 9 in 10, for example."""
    for total in (10, 100):
        if round(total * chance) < total:
            likely = round(total * chance)
            return f"right as a whole: {likely or 'less than 1'} in {total}"
    return "right as a whole: more than 99 in 100"
