"""How many answers carry a code that a machine gave, from a random part that people checked.

Of the answers that only the machine coded, those with the code and those without it are looked at
apart: of the former a share is right, of the latter a share was missed, and the sample tells both.
This is the calibration estimator of double sampling (Tenenbein, 1970), stratified by what the
machine said, which is prediction-powered inference where a prediction is yes or no. The limits of
each share are those of an exact test with mid-P in a finite population, so that they have a width
where no error was found. They are put together as squares (MOVER: Zou and Donner, 2008).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom, norm

from nldd.coding.model import CodingModel
from nldd.present.table import Table, TableEntry, tabulate
from nldd.present.text import percent, visible

Counts = NDArray[np.int64]
FloatArray = NDArray[np.float64]
LEVEL = 0.95
# Sums that should be whole numbers are so but for this.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PartCounts:
    """Answers of one kind in numbers; all arrays have one entry a code.

    Of those that nobody checked, the machine gave the code to `rest_with` and did not give it to
    `rest_without`. Of those that people checked, it gave it to `checked_with`, in `right` of them
    rightly, and did not give it to `checked_without`, where in `missed` it should have.
    """

    rest_with: Counts
    rest_without: Counts
    checked_with: Counts
    right: Counts
    checked_without: Counts
    missed: Counts


def count_part(Y_rest: NDArray[Any], Y_machine: NDArray[Any], Y_people: NDArray[Any]) -> PartCounts:
    """Numbers of a part: the machine's codes of the rest, and those of both for what was checked.

    The sample must have been drawn at random from both together, or be like the rest.
    """
    machine, people = Y_machine.astype(bool), Y_people.astype(bool)
    given, asked = Y_rest.astype(bool).sum(axis=0), machine.sum(axis=0)
    right, missed = (machine & people).sum(axis=0), (~machine & people).sum(axis=0)
    return PartCounts(given, len(Y_rest) - given, asked, right, len(machine) - asked, missed)


def rest_limits(
    found: Counts, n: Counts, rest: Counts, level: float = LEVEL
) -> tuple[Counts, Counts]:
    """Fewest and most of `rest` answers that carry something, if `found` of `n` like them do.

    If k of all n + rest carry it, then `found` is hypergeometric. Kept are those k under which as
    few as that, and as many, are not too rare; what is just as many counts half (mid-P).

    >>> rest_limits(np.array([0, 0, 3]), np.array([50, 0, 50]), np.array([1000, 1000, 0]))
    (array([0, 0, 0]), array([  59, 1000,    0]))
    """
    found, n, rest = (np.asarray(values, dtype=np.int64) for values in (found, n, rest))
    tail = (1 - level) / 2

    def is_likely(total: Counts, more: bool) -> NDArray[np.bool_]:
        shape = (np.maximum(n + rest, 1), total, n)
        beyond = hypergeom.sf(found, *shape) if more else hypergeom.cdf(found - 1, *shape)
        return np.asarray(beyond + hypergeom.pmf(found, *shape) / 2 >= tail)

    fewest = _first(found, found + rest, lambda total: is_likely(total, more=True))
    beyond = _first(found, found + rest + 1, lambda total: ~is_likely(total, more=False))
    return fewest - found, beyond - 1 - found


def _first(low: Counts, high: Counts, holds: Callable[[Counts], NDArray[np.bool_]]) -> Counts:
    """The first number of each range for which something holds, else `high`; by halving."""
    while (low < high).any():
        middle, is_closed = (low + high) // 2, low == high
        enough = holds(middle)
        low = np.where(enough | is_closed, low, middle + 1)
        high = np.where(enough, middle, high)
    return low


def estimate_rest(
    parts: Sequence[PartCounts], level: float = LEVEL
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many of the answers that nobody checked carry each code, with limits; over all parts.

    Where nothing like them was checked, the machine is taken at its word, and the limits are the
    widest.
    """
    groups = [
        group
        for part in parts
        for group in (
            (part.right, part.checked_with, part.rest_with, part.rest_with),
            (part.missed, part.checked_without, part.rest_without, np.zeros_like(part.missed)),
        )
    ]
    found, n, rest, word = (np.array(values) for values in zip(*groups, strict=True))
    looked = n > 0
    value = np.where(looked, found / np.maximum(n, 1) * rest, word)
    fewest, most = rest_limits(found, n, rest, level)
    # Errors of estimates partly cancel, and add up as squares. What was not looked at at all is
    # no estimate: all of it may be wrong at once.
    low, high = (np.where(looked, value, limit).sum(axis=0) for limit in (fewest, most))
    below, above = (
        np.where(looked, np.square(np.maximum(error, 0)), 0).sum(axis=0)
        for error in (value - fewest, most - value)
    )
    # There are only whole answers: what lies between two numbers allows for both.
    lower = np.floor(low - np.sqrt(below) + ROUNDING)
    upper = np.ceil(high + np.sqrt(above) - ROUNDING)
    n_rest = rest.sum(axis=0)
    return value.sum(axis=0), np.clip(lower, 0, n_rest), np.clip(upper, 0, n_rest)


@dataclass(frozen=True)
class CodeBias:
    """Shares of answers to which people gave a code, and the machine; and how they differ.

    The difference is that of the machine's share from that of people, with a 95 % interval.
    """

    code: str
    n_answers: int
    people: float
    machine: float
    difference: float
    low: float
    high: float


def code_bias(model: CodingModel) -> list[CodeBias]:
    """What coding all answers by machine would do to the share of each code, the worst first.

    By predictions of answers that were drawn at random, each without itself.
    """
    Y, found = model.Y[model.tested].astype(bool), model.evidence[model.tested].Y.astype(bool)
    n = len(Y)
    wrong, missed = (found & ~Y).sum(axis=0), (Y & ~found).sum(axis=0)
    low, high = difference_limits(wrong, missed, n)
    columns = (Y.mean(axis=0), found.mean(axis=0), (wrong - missed) / n, low, high)
    each = zip(model.labels, *(values.tolist() for values in columns), strict=True)
    biases = [CodeBias(code, n, *values) for code, *values in each]
    return sorted(biases, key=lambda bias: (-abs(bias.difference), bias.code))


def difference_limits(
    plus: Counts, minus: Counts, n: int, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """Limits of the difference of two shares of the same `n` answers, of which so many differ.

    Bonett and Price (2012): one more of either kind keeps a width where none differ.

    >>> [round(float(limit), 4) for limit in difference_limits(np.array(8), np.array(2), 100)]
    [-0.0068, 0.1244]
    """
    more, less = (plus + 1) / (n + 2), (minus + 1) / (n + 2)
    centre = more - less
    half = norm.ppf((1 + level) / 2) * np.sqrt((more + less - centre**2) / (n + 2))
    return np.maximum(centre - half, -1.0), np.minimum(centre + half, 1.0)


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text


def bias_table(found: Iterable[CodeBias]) -> Table:
    """What coding by machine alone would do to the shares of the codes, the worst first."""
    return tabulate(
        "bias",
        "Shares of the codes by people and by the machine alone",
        found,
        {
            "code": lambda b: visible(b.code),
            "people": lambda b: percent(b.people, 1),
            "machine": lambda b: percent(b.machine, 1),
            "difference": lambda b: TableEntry(
                points(b.difference), under=f"{points(b.low)} to {points(b.high)}"
            ),
        },
        "Each answer was coded by a model that had not seen it. Difference: percentage points that "
        "the machine gives too many, with a 95 % interval. Shares that are to be published need "
        "correction: nldd frequencies.",
    )
