"""What a model promises, in words: how much it codes by itself, and how much of that is right."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nldd.coding.wording import doubt_number, exact_percent, percent_range
from nldd.present.text import align, count_noun, percent, wrap

if TYPE_CHECKING:
    from nldd.coding.coded_answers import CodingOptions, CodingSummary
    from nldd.coding.evaluation import GuaranteeCheck, TargetShare, Triage
    from nldd.coding.guarantee import CodeSelection
    from nldd.coding.model import CodingModel
    from nldd.coding.selective import Selection

MEASURED = {"subset": "answers with all codes right", "hamming": "labels that are right"}
OF_THESE = {"subset": "these", "hamming": "the labels of these"}
PROMISED = {
    "subset": "of these answers get exactly the codes that people would give",
    "hamming": "of the labels of these answers are as people would decide",
}
RULES = {
    "chance": "the chance that all its codes are right is at least",
    "theta": "its theta, the share of the answer's labels that it expects to be wrong, is at most",
}
COUNTED = ("rows", "auto", "part", "review", "people", "coded", "drawn")
SURE = {"chance": "chance from", "theta": "theta up to"}


def guarantee_paragraphs(triage: "Triage") -> tuple[str, ...]:
    """How much can be coded automatically at which accuracy, as a whole or code by code."""
    codes = () if triage.codes is None else code_paragraphs(triage.codes)
    return *_whole_answers(triage), *_repeated_words(triage.selection), *codes


def _repeated_words(selection: "Selection") -> tuple[str, ...]:
    """What holds of answers whose words stand in the training data, where no ids tell copies."""
    if (again := selection.repeated) is None:
        return ()
    share = percent(again.share, 1) if again.threshold is not None else "none"
    return (
        f"All of this is about answers with new words. {again.n_answers:,} coded answers have the "
        "words of another one, and no ids tell whether they are copies. They are tested apart: of "
        f"answers whose words are in the training data, {share} can be coded automatically, if "
        "other people gave them. For copies this does not hold: name a column of ids (--id).",
    )


def _whole_answers(triage: "Triage") -> tuple[str, ...]:
    """How much can be coded automatically at which accuracy; or why nothing can."""
    selection = triage.selection
    if triage.earlier is not None:
        share = percent(triage.earlier.share, 1)
        return (
            f"{render_failed_refit(selection)} The model before it codes {share} of answers like "
            f"these automatically, and {_promised(selection, triage.measure)}.",
        )
    if selection.threshold is None or selection.accuracy is None:
        return _no_promise(selection, triage.measure, triage.targets)
    rest = "None is left to people."
    if n_people := selection.n_answers - selection.n_auto:
        combined = next(row.combined for row in triage.rows if row.chosen)
        rest = (
            f"The other {n_people:,} go to people; if these are right in "
            f"{exact_percent(triage.human_accuracy)} of them, {percent(combined, 1)} are right in "
            "all."
        )
    return (
        f"{percent(selection.share, 1)} of answers like these can be coded automatically, and "
        f"{_promised(selection, triage.measure)}, with {exact_percent(selection.confidence)} "
        f"confidence: such a promise fails in at most {exact_percent(1 - selection.confidence)} of "
        "studies.",
        f"{_rule(selection)} Of the {selection.n_answers:,} coded answers, each coded as if it "
        f"were new, {selection.n_auto:,} are that sure, and {percent(selection.accuracy, 1)} "
        f"of {OF_THESE[triage.measure]} are right. {rest}",
    )


def drawn_notes(model: "CodingModel") -> list[str]:
    """On which of its answers the promises of an updated model are tested."""
    if not model.updated:
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


def _rule(selection: "Selection") -> str:
    """What is asked of new answers; that of the tested ones is in the table."""
    assert selection.limit is not None
    limit = doubt_number(selection.limit, selection.rank_by)
    rule = f"The machine codes an answer if {RULES[selection.rank_by]} {limit}."
    if selection.limit == selection.threshold:
        return rule
    return (
        f"{rule} This is a little stricter than the chosen line, as the model, which has learned "
        "from all answers, is a little surer than those that were tested."
    )


def _promised(selection: "Selection", measure: str) -> str:
    return f"at least {exact_percent(selection.target)} {PROMISED[measure]}"


def _no_promise(
    selection: "Selection", measure: str, targets: Sequence["TargetShare"]
) -> tuple[str, str]:
    reason = f"Too few for a test: {count_noun(selection.n_answers, 'coded answer')}."
    if selection.closest is not None:
        n, right, needed = selection.closest
        reached, asked = f"{right:,} are", f"{needed:,}"
        if measure == "hamming":
            reached, asked = f"{percent(right / n, 1)} of the labels are", percent(needed / n, 1)
        reason = f"Of the {n:,} most confident answers, {reached} right; {asked} would be needed."
    shares = [
        f"{exact_percent(line.target)} ({percent(line.share)} coded automatically)"
        for line in targets
        if line.n_auto
    ]
    held = "No lower target holds either."
    if shares:
        held = f"Targets that hold today: {', '.join(shares)}."
    return (
        f"Nothing can be coded automatically at a target of {exact_percent(selection.target)} with "
        f"{exact_percent(selection.confidence)} confidence: all answers are sent to review. "
        f"{reason}",
        f"{held} Code more answers drawn at random, or lower the target.",
    )


def render_unsupported(
    selection: "Selection", measure: str, targets: Sequence["TargetShare"]
) -> str:
    """Why there is no threshold, which targets hold, and what to do."""
    return wrap(_no_promise(selection, measure, targets))


def render_failed_refit(selection: "Selection") -> str:
    """Why a refitted model does not code automatically, in a sentence."""
    stays = "what is in use stays in use"
    if selection.closest is None:
        return f"The refitted model could not be tested on so few answers; {stays}."
    n, n_right, n_needed = selection.closest
    return (
        f"The refitted model did not pass its test on {selection.n_answers:,} answers ({n_right:,} "
        f"of the {n:,} most confident are right, {n_needed:,} are needed); {stays}."
    )


def check_paragraphs(kept: "GuaranteeCheck") -> tuple[str, ...]:
    """Whether a promise held on the evaluated answers."""
    selection = kept.selection
    if selection.threshold is None:
        return "The model makes no promise.", *_no_promise(selection, kept.measure, kept.targets)
    promise = (
        f"{_rule(selection)} The model's own answers promise, with "
        f"{exact_percent(selection.confidence)} confidence, that "
        f"{_promised(selection, kept.measure)}."
    )
    if kept.accuracy is None or kept.low is None or kept.high is None:
        return "The machine is sure of none of these answers: all go to people.", promise
    if kept.low >= selection.target:
        verdict = "The promise held: even the lower end of the interval is not below it."
    elif kept.accuracy >= selection.target:
        verdict = (
            "The promise held on these answers, but they are too few to prove that it holds for "
            "all like them: the interval reaches below it."
        )
    elif kept.high >= selection.target:
        verdict = "The accuracy is below the promise, by no more than chance can do."
    else:
        verdict = (
            "The promise did not hold, by more than chance can do: these answers, or the people "
            "who coded them, differ from those that the model learned from. Let some of them join "
            "the model by nldd update."
        )
    return (
        f"{verdict} The machine codes "
        f"{kept.n_auto:,} of {count_noun(kept.n_answers, 'answer')} by itself "
        f"({percent(kept.share, 1)}), and {percent(kept.accuracy, 1)} of {OF_THESE[kept.measure]} "
        f"are right, with a 95 % interval of {percent_range(kept.low, kept.high)}; at least "
        f"{exact_percent(selection.target)} were promised.",
        promise,
    )


def code_paragraphs(codes: "CodeSelection") -> tuple[str, ...]:
    """What is promised of codes that are settled one by one."""
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
    return settled, *_code_promises(codes)


def _code_promises(codes: "CodeSelection") -> tuple[str, ...]:
    said = []
    if codes.yes is not None and codes.right is not None:
        said.append(
            f"of the codes that the machine sets in an answer, at least "
            f"{exact_percent(codes.target)} are right ({percent(codes.right, 1)} of those tested)"
        )
    if codes.no is not None and codes.missed is not None:
        said.append(
            "of the codes that people would give an answer, at most "
            f"{exact_percent(1 - codes.target)} are ruled out ({percent(codes.missed, 1)} of those "
            "tested)"
        )
    sure = f"with {exact_percent(codes.confidence)} confidence"
    promise = f"On average over answers, and {sure}: {'; and '.join(said)}."
    if codes.yes is None:
        promise += " No code is sure enough to be set, so that people decide on all that is likely."
    if codes.no is None:
        promise += " No code is unlikely enough to be ruled out, so that people decide on the rest."
    return (promise,)


def render_counts(
    counts: "CodingSummary",
    policy: "CodingOptions",
    selection: "Selection | None",
    measure: str,
    codes: "CodeSelection | None" = None,
) -> str:
    """How many answers got which status, and why."""
    n = counts.n_rows
    auto, review = (percent(k / n if n else 0, 1) for k in (counts.n_auto, counts.n_people))
    lines = [f"{count_noun(n, 'answer')}: {counts.n_auto:,} coded automatically ({auto})"]
    if policy.threshold is not None:
        limit = doubt_number(policy.threshold, policy.rank_by)
        lines[0] += f", {SURE[policy.rank_by]} {limit}"
    if selection is not None and selection.threshold is not None:
        lines.append(
            f"  at least {exact_percent(selection.target)} of these are right "
            f"({MEASURED[measure]}), with {exact_percent(selection.confidence)} confidence"
        )
    if codes is not None:
        lines.append(wrap(code_paragraphs(codes)[-1:]))
    lines.append(f"{counts.n_people:,} sent to review ({review})")
    if counts.n_part:
        whole = count_noun(counts.n_review, "whole answer")
        lines[-1] += f": {whole}, {counts.n_part:,} with some codes open (nldd_ask)"
    if counts.n_coded:
        lines.append(f"{counts.n_coded:,} had codes already and were left alone (status: coded)")
    if counts.why:
        lines.append(align([("", f"{k:,}", why) for why, k in counts.why.most_common()], right=[1]))
    if counts.n_drawn:
        lines.append(f"{counts.n_drawn:,} drawn at random for the review, to be coded unaided")
    return "\n".join(lines)


def counts_record(
    counts: "CodingSummary",
    policy: "CodingOptions",
    selection: "Selection | None",
    codes: "CodeSelection | None" = None,
) -> dict[str, Any]:
    """The same for JSON."""
    return {
        **{name: getattr(counts, f"n_{name}") for name in COUNTED},
        "why": dict(counts.why),
        "threshold": policy.threshold,
        "rank_by": policy.rank_by,
        "selection": selection_record(selection),
        "per_code": None if codes is None else asdict(codes),
        "notes": counts.notes,
    }


def selection_record(selection: "Selection | None") -> dict[str, Any] | None:
    return None if selection is None else {**asdict(selection), "share": selection.share}
