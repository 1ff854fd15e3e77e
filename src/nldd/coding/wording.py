"""Numbers of a coding study in words: shares, confidence scores, checks, and what is guaranteed."""

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from nldd.present.text import count_noun, percent, visible

if TYPE_CHECKING:
    from nldd.coding.automation import TargetShare
    from nldd.coding.guarantee import CodeSelection
    from nldd.coding.model import CodingModel
    from nldd.coding.selective import Selection

# Of fewer checked answers no share is shown: it looks more certain than it is.
FEWEST_CHECKED = 20
MEASURED = {"subset": "answers with all codes right", "hamming": "labels that are right"}
SURE = {"chance": "chance from", "theta": "theta up to"}


def join_paragraphs(*parts: str) -> str:
    """Put an empty line between the parts that are there."""
    return "\n\n".join(filter(None, parts))


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
    """Write a doubt as people know it: the confidence score, or theta.

    >>> doubt_number(0.25, "chance"), doubt_number(0.25, "theta"), doubt_number(0.00012, "theta")
    ('0.7500', '0.2500', '0.00012')
    """
    if rank_by == "chance":
        return f"{1 - doubt:.4f}"
    return f"{doubt:.4f}" if doubt >= 0.01 else f"{Decimal(f'{doubt:.2g}'):f}"


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "percent_range": percent_range}
    environment.filters |= {"exact": exact_percent, "doubt": doubt_number, "count_noun": count_noun}
    environment.globals["MEASURED"] = MEASURED
    text = files("nldd.coding").joinpath("words.jinja").read_text(encoding="utf-8")
    return environment.from_string(text).module


def fill_words(macro: str, **values: Any) -> tuple[str, ...]:
    """The paragraphs of a macro of words.jinja."""
    paragraphs = getattr(_template(), macro)(**values).split("\n\n")
    return tuple(filter(None, (" ".join(text.split()) for text in paragraphs)))


def no_threshold_words(selection: "Selection", targets: Sequence["TargetShare"]) -> tuple[str, str]:
    """Say why there is no threshold, which targets hold, and what to do."""
    reason = f"Too few for a test: {count_noun(selection.n_answers, 'coded answer')}."
    if selection.closest is not None:
        n, right, needed = selection.closest
        reached, asked = f"{right:,} are", f"{needed:,}"
        if selection.measure == "hamming":
            reached, asked = f"{percent(right / n, 1)} of the labels are", percent(needed / n, 1)
        reason = f"Of the {n:,} most confident answers, {reached} right; {asked} would be needed."
    shares = ", ".join(
        f"{exact_percent(line.target)} ({percent(line.share)} coded automatically)"
        for line in targets
        if line.n_auto
    )
    held = f"Targets that hold today: {shares}." if shares else "No lower target holds either."
    return (
        f"Nothing can be coded automatically at a target of {exact_percent(selection.target)} with "
        f"{exact_percent(selection.confidence)} confidence: all answers are sent to review. "
        f"{reason}",
        f"{held} Code more answers drawn at random, or lower the target.",
    )


def failed_refit_words(selection: "Selection") -> str:
    """Say in a sentence why a refitted model does not code automatically."""
    stays = "what is in use stays in use"
    if selection.closest is None:
        return f"The refitted model could not be tested on so few answers; {stays}."
    n, n_right, n_needed = selection.closest
    return (
        f"The refitted model did not pass its test on {selection.n_answers:,} answers ({n_right:,} "
        f"of the {n:,} most confident are right, {n_needed:,} are needed); {stays}."
    )


def drawn_notes(model: "CodingModel") -> list[str]:
    """Say on which of its answers the guarantees of an updated model are tested."""
    if all(event.action != "update" for event in model.history):
        return []
    n_drawn, last = len(model.tested), model.history[-1].n_added
    note = (
        f"Of the {len(model.answers):,} coded answers, {n_drawn:,} were drawn at random. The "
        "promise is tested on these alone, so that it stays exact after updates; answers that were "
        "left over for people are harder than new ones, and only teach."
    )
    if last and not model.drawn[-last:].any():
        note += (
            " The last update brought none that were drawn. The more there are, the more can be "
            "proven: nldd predict --random 50 puts some into the next review."
        )
    return [note]


def per_code_words(codes: "CodeSelection") -> tuple[str, ...]:
    """Say what is guaranteed of codes that are settled one by one."""
    if codes.yes is None and codes.no is None:
        return (
            "No code can be settled by itself yet: "
            f"{count_noun(codes.n_answers, 'coded answer')} cannot show, with "
            f"{exact_percent(codes.confidence)} confidence, that at least "
            f"{exact_percent(codes.target)} of such codes are right.",
        )
    settled = (
        f"Code by code, {percent(1 - codes.share_asked, 1)} of the decisions need no people: all "
        f"codes of {codes.n_whole:,} of {count_noun(codes.n_answers, 'coded answer')} would be "
        f"settled. The other {codes.n_answers - codes.n_whole:,} would be sent to review, "
        f"{codes.n_part:,} of them with some codes settled."
    )
    said, ends = [], []
    if codes.right is None:
        ends.append(" No code is sure enough to be set, so that people decide on the likely ones.")
    else:
        said.append(
            f"of the codes that the machine sets in an answer, at least "
            f"{exact_percent(codes.target)} are right ({percent(codes.right, 1)} of those tested)"
        )
    if codes.missed is None:
        ends.append(" No code is unlikely enough to be ruled out: people decide on the rest.")
    else:
        said.append(
            "of the codes that people would give an answer, at most "
            f"{exact_percent(1 - codes.target)} are ruled out ({percent(codes.missed, 1)} of those "
            "tested)"
        )
    mean = f"On average over answers, and with {exact_percent(codes.confidence)} confidence"
    return settled, f"{mean}: {'; and '.join(said)}.{''.join(ends)}"
