"""Words of the coding reports: text from files made fit to be seen, and numbers."""

from collections.abc import Sequence
from unicodedata import bidirectional

import numpy as np
from scipy.stats import binom

from nldd._wording import count_noun, percent
from nldd.coding import Kept, Selection, Triage
from nldd.displays import Calibration

LONGEST_ANSWER, LONGEST_NAME = 200, 80
# They are not printable by themselves, but emoji, Persian and Indic words fall apart without them.
JOINERS = "\u200c\u200d"
ISOLATE, END_ISOLATE = "\u2068", "\u2069"

RIGHT = {"subset": "these", "hamming": "the labels of these"}
ASSUMED = (
    "This holds for answers to the same question, of the same kind of people, coded by the same "
    "rules: as if the new answers and these had been drawn at random from all of them."
)
LEARNED = (
    "Careful: the model has learned from these answers, or from some of them, so that all numbers "
    "here are too good. "
    "Evaluate it on answers that are new to it."
)


def shown(text: str, longest: int = LONGEST_NAME) -> str:
    """Text from a file for one line of a page: cut, without line breaks and hidden characters.

    What is not printable is shown by its code. Words from right to left keep to themselves, so that
    what stands beside them stays in order.

    Examples
    --------
    >>> shown("two\\n\\tlines, a\\x07bell"), shown(10_000 * "x", 5)
    ('two lines, a\\\\x07bell', 'xxxxx\u2026')
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[:longest].rstrip(f" {JOINERS}") + "\u2026"
    seen = "".join(c if c.isprintable() or c in JOINERS else _code_of(c) for c in line)
    if any(bidirectional(c) in ("R", "AL") for c in seen):
        return f"{ISOLATE}{seen}{END_ISOLATE}"
    return seen


def _code_of(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def short_percent(share: float) -> str:
    """A share in percent, without a decimal that says nothing.

    Examples
    --------
    >>> short_percent(0.9), short_percent(0.6234), short_percent(0.99999)
    ('90 %', '62.3 %', '99.999 %')
    """
    return percent(share, 1).replace(".0 %", " %")


def interval_words(low: float, high: float, digits: int = 1) -> str:
    """Limits of a share in percent.

    Examples
    --------
    >>> interval_words(0.964, 1.0)
    '96.4 to 100 %'
    """
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def readable_time(time: str) -> str:
    """A time of a model's history.

    Examples
    --------
    >>> readable_time("2024-05-17T08:30:00Z")
    '2024-05-17 08:30:00 UTC'
    """
    return shown(time.replace("T", " ").replace("Z", " UTC"))


def theta_number(theta: float) -> str:
    """Theta with four decimals, and with two digits that count where it is small.

    Examples
    --------
    >>> theta_number(0.12345), theta_number(0.00004567)
    ('0.1235', '0.000046')
    """
    if theta >= 0.01:
        return f"{theta:.4f}"
    return np.format_float_positional(theta, 2, fractional=False, trim="-")


def listed_names(names: Sequence[str], most: int = 12) -> str:
    """Names in quotes, and how many more there are.

    Examples
    --------
    >>> listed_names(["age", "region", "id"], most=2)
    '"age", "region" and 1 more'
    """
    said = ", ".join(f'"{shown(name)}"' for name in names[:most])
    return f"{said} and {len(names) - most} more" if len(names) > most else said


def promise_paragraphs(made: Triage) -> tuple[str, ...]:
    """How much can be coded automatically at which accuracy; or why nothing can."""
    selection = made.selection
    if selection.threshold is None or selection.accuracy is None:
        return no_promise(selection, made.measure)
    combined = next(row.combined for row in made.rows if row.chosen)
    n_people = selection.n_answers - selection.n_auto
    rest = (
        f"The other {n_people:,} go to people; if these are right in "
        f"{short_percent(made.human_accuracy)} of them, {short_percent(combined)} are right in all."
        if n_people
        else "None is left to people."
    )
    return (
        f"{short_percent(selection.share)} of answers like these can be coded automatically, and "
        f"{_held(selection, made.measure)}, with {short_percent(selection.confidence)} confidence: "
        f"in at most {short_percent(1 - selection.confidence)} of studies does such a promise "
        "fail.",
        f"The machine codes an answer if its theta is at most {theta_number(selection.threshold)}; "
        f"theta is the share of the answer's labels that it expects to be wrong. Of the "
        f"{selection.n_answers:,} coded answers, each coded as if it were new, "
        f"{selection.n_auto:,} are that sure, and {short_percent(selection.accuracy)} of "
        f"{RIGHT[made.measure]} are right. {rest}",
        ASSUMED,
    )


def _held(selection: Selection, measure: str) -> str:
    what = {
        "subset": "of these answers get exactly the codes that people would give",
        "hamming": "of the labels of these answers are as people would decide",
    }
    return f"at least {short_percent(selection.target)} {what[measure]}"


def no_promise(selection: Selection, measure: str) -> tuple[str, ...]:
    """Why nothing can be coded automatically, and what it would take."""
    cannot = (
        "Nothing can be coded automatically yet. "
        f"{count_noun(selection.n_answers, 'coded answer')} cannot show, with "
        f"{short_percent(selection.confidence)} confidence, that the machine is good enough at "
        f"even the surest of them: that {_held(selection, measure)}. So all answers go to people."
    )
    if selection.needed is None:
        return (
            cannot,
            "How many would do cannot be told from these, as even their surest codes are not right "
            "often enough. More answers make better codes. So does what makes codes easier to tell "
            "apart: the sections below show which are found badly and which are taken for others. "
            "Or lower the target.",
        )
    return (
        cannot,
        f"About {count_noun(selection.needed, 'coded answer')} would do, if further ones are like "
        "these; such a number is enough in four of five cases. Or lower the target.",
    )


def kept_paragraphs(kept: Kept, learned: bool) -> tuple[str, ...]:
    """Whether a promise held on the evaluated answers, which the model may have `learned`."""
    warning = (LEARNED,) if learned else ()
    selection = kept.selection
    if selection.threshold is None:
        return (*warning, "The model makes no promise.", *no_promise(selection, kept.measure))
    promise = (
        "The machine codes an answer if its theta, the share of the answer's labels that it "
        f"expects to be wrong, is at most {theta_number(selection.threshold)}. The model's own "
        f"answers promise, with {short_percent(selection.confidence)} confidence, that "
        f"{_held(selection, kept.measure)}."
    )
    if kept.accuracy is None or kept.low is None or kept.high is None:
        return (
            *warning,
            "The machine is sure of none of these answers: all go to people.",
            promise,
        )
    found = (
        f"The machine codes {kept.n_auto:,} of {count_noun(kept.n_answers, 'answer')} by itself "
        f"({short_percent(kept.share)}), and {short_percent(kept.accuracy)} of "
        f"{RIGHT[kept.measure]} are right, with a 95 % interval of "
        f"{interval_words(kept.low, kept.high)}; at least {short_percent(selection.target)} were "
        "promised."
    )
    return (*warning, f"{_verdict(kept.accuracy, kept.high, selection.target)} {found}", promise)


def _verdict(accuracy: float, high: float, target: float) -> str:
    if accuracy >= target:
        return "The promise held."
    if high >= target:
        return "The accuracy is below the promise, by no more than chance can do."
    return (
        "The promise did not hold, by more than chance can do: these answers, or the people who "
        "coded them, differ from those that the model learned from. Let some of them join the "
        "model by nldd update."
    )


def calibration_words(found: Calibration) -> tuple[str, ...]:
    """Whether theta is calibrated, in a sentence that says why."""
    n, n_more = len(found.counts), int((found.expected < found.lower).sum())
    n_fewer = int((found.expected > found.upper).sum())
    n_inside = n - n_more - n_fewer
    expected, observed = (
        float(np.average(values, weights=found.counts))
        for values in (found.expected, found.observed)
    )
    # Of a calibrated theta, fewer intervals than that hold it in less than one of twenty cases.
    if n_inside >= binom.ppf(0.05, n, 0.95):
        verdict = "Theta is calibrated as far as these answers can tell"
    else:
        verdict = "Theta is not calibrated"
    return (
        f"{verdict}: in {n_inside} of {count_noun(n, 'group')} of answers, the share of wrong "
        "labels that it expects lies in the 95 % interval of the share observed. In "
        f"{n_fewer} fewer are wrong than it expects, in {n_more} more. Expected and observed share "
        f"are {100 * found.error:.2g} percentage points apart on average; over all answers it "
        f"expects {percent(expected, 2)} and {percent(observed, 2)} are wrong.",
        "What may be coded automatically does not depend on this: that comes from counting errors.",
    )
