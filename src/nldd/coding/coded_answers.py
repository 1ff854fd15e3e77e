"""Code answers: the codes of each, how sure they are, and why people must look."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding import wording
from nldd.coding.answers import Answers, Entries
from nldd.coding.columns import Codes
from nldd.coding.guarantee import (
    USUAL,
    CodeLimits,
    CodeSelection,
    Guarantee,
    GuaranteeTarget,
    threshold_text,
)
from nldd.coding.model import CodingModel
from nldd.coding.predictions import PER_CODE, Predictions, Watch, no_progress
from nldd.coding.reasons import EMPTY, PART, Reason, Reasons, join_names
from nldd.coding.selective import Selection
from nldd.present.text import align, count_noun, percent, wrap

AUTO, REVIEW, PARTLY, BY_PEOPLE = "auto", "review", "part", "coded"
# Answers that are coded at a time, so that what is worked out for each does not fill the memory.
BLOCK_ROWS = 2000
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
# Labelsets beside the suggestion that people can choose from in a review.
N_NEXT = 3
# What is counted in JSON.
COUNTED = ("rows", "auto", "part", "review", "people", "coded", "drawn")


@dataclass(frozen=True)
class CodingSummary:
    """How many rows of a table got which status; made by :func:`code_table`.

    Attributes
    ----------
    n_rows, n_auto, n_review : int
        All rows, those coded automatically, and those sent to review with all codes open.
    why : Counter of str
        Why people must look, and how often.
    notes : list of str
        What a person should know about the table.
    n_part : int
        Rows with some codes settled and others to decide.
    n_drawn : int
        Rows drawn at random for the review, whatever their status.
    options : CodingOptions or None
        By which they were coded.

    Examples
    --------
    >>> from nldd.coding.coded_answers import CodingSummary
    >>> CodingSummary(n_rows=100, n_auto=70, n_review=20).n_coded
    10
    """

    n_rows: int = 0
    n_auto: int = 0
    n_review: int = 0
    why: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    n_part: int = 0
    n_drawn: int = 0
    options: "CodingOptions | None" = None

    def __str__(self) -> str:
        n, selection, codes = self.n_rows, None, None
        auto, review = (percent(k / n if n else 0, 1) for k in (self.n_auto, self.n_people))
        lines = [f"{count_noun(n, 'answer')}: {self.n_auto:,} coded automatically ({auto})"]
        if (options := self.options) is not None:
            selection, codes = options.selection, options.code_selection
            if options.threshold is not None:
                limit = wording.doubt_number(options.threshold, options.rank_by)
                lines[0] += f", {wording.SURE[options.rank_by]} {limit}"
        if selection is not None and selection.threshold is not None:
            lines.append(
                f"  at least {wording.exact_percent(selection.target)} of these are right "
                f"({wording.MEASURED[selection.measure]}), with "
                f"{wording.exact_percent(selection.confidence)} confidence"
            )
        if codes is not None:
            lines.append(wrap(wording.per_code_words(codes)[-1:]))
        lines.append(f"{self.n_people:,} sent to review ({review})")
        if self.n_part:
            whole = count_noun(self.n_review, "whole answer")
            lines[-1] += f": {whole}, {self.n_part:,} with some codes open (nldd_ask)"
        if self.n_coded:
            lines.append(f"{self.n_coded:,} had codes already and were left alone (status: coded)")
        if self.why:
            lines.append(align([("", f"{k:,}", why) for why, k in self.why.most_common()], [1]))
        if self.n_drawn:
            lines.append(f"{self.n_drawn:,} drawn at random for the review, to be coded unaided")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        options = self.options or CodingOptions(None)
        selection, codes = options.selection, options.code_selection
        return {
            **{name: getattr(self, f"n_{name}") for name in COUNTED},
            "why": dict(self.why),
            "threshold": options.threshold,
            "rank_by": options.rank_by,
            "selection": selection and selection.to_dict(),
            "per_code": codes and asdict(codes),
            "notes": self.notes,
        }

    @property
    def n_people(self) -> int:
        """Rows sent to review, with all of their codes open or some."""
        return self.n_review + self.n_part

    @property
    def n_coded(self) -> int:
        """Rows that had codes already."""
        return self.n_rows - self.n_auto - self.n_people


@dataclass(frozen=True)
class CodingOptions:
    """Which answers go to people, and what is written about them.

    Attributes
    ----------
    threshold : float or None
        Answers whose doubt is above it go to people; without one, all do. See
        :attr:`Selection.limit`.
    explain : bool
        Whether to write the distances and the next best codes as well.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.
    rank_by : {"theta", "chance"}
        What the doubt is: theta, or one minus the chance that all codes are right.
    n_random, seed : int
        So many of the rows without codes are drawn for people, whether they are sure or not.
    per_code : CodeLimits, optional
        Codes are settled one by one by these limits instead; see :func:`triage`.
    repeated : float, None or "same"
        The threshold of answers whose words stand in the training data, if it is another one; see
        :attr:`Selection.limits`.
    per_code_repeated : CodeLimits, optional
        Limits of single codes in such answers.
    by_fallback : bool
        Whether the earlier fit codes that is still in use; see :meth:`CodingModel.in_use`.
    guarantee : Guarantee, optional
        What the coded table states of its accuracy; set where the thresholds come from a test.
    selection, code_selection : Selection, CodeSelection or None
        The test that the thresholds come from, of whole answers or code by code.

    Examples
    --------
    >>> from nldd.coding import CodingOptions
    >>> from nldd.coding.selective import Selection
    >>> found = Selection(0.9, 0.9, 0.12, 400, 150, 0.95, limit=0.11, rank_by="chance")
    >>> policy = CodingOptions(found.limit, rank_by=found.rank_by, n_random=50)
    >>> policy.threshold, policy.n_random
    (0.11, 50)
    """

    threshold: float | None
    explain: bool = False
    raw: bool = False
    rank_by: str = "theta"
    n_random: int = 0
    seed: int = 0
    per_code: CodeLimits | None = None
    repeated: float | str | None = "same"
    per_code_repeated: CodeLimits | None = None
    by_fallback: bool = False
    guarantee: Guarantee | None = None
    selection: Selection | None = None
    code_selection: CodeSelection | None = None

    def follow(self, model: CodingModel, goal: GuaranteeTarget = USUAL) -> tuple[Self, Selection]:
        """The policy that keeps a guarantee with the fit that is in use, and its threshold."""
        used, found = model.in_use(goal)
        return replace(self.apply(found), by_fallback=used is not model), found

    def apply(self, found: Selection) -> Self:
        """The policy with the thresholds that were found."""
        limit, repeated = found.limits
        again = repeated if found.repeated else "same"
        texts = [threshold_text(found.rank_by, each) for each in dict.fromkeys(found.limits)]
        own = Guarantee(found.target, found.confidence, found.measure, found.rank_by, *texts)
        limits: dict[str, Any] = {"threshold": limit, "repeated": again, "rank_by": own.rank_by}
        return replace(self, **limits, guarantee=own, selection=found)

    def follow_codes(self, found: CodeSelection) -> Self:
        """The policy that settles codes one by one as far as was found to be right."""
        again = None if found.repeated is None else found.repeated.limits
        both = (each for each in (found.limits, again) if each is not None)
        texts = [threshold_text("probability", each.yes, each.no) for each in both]
        own = Guarantee(found.target, found.confidence, PER_CODE, "probability", *texts)
        limits: dict[str, Any] = {"per_code": found.limits, "per_code_repeated": again}
        return replace(self, **limits, guarantee=own, code_selection=found)

    def model_in_use(self, model: CodingModel) -> CodingModel:
        """The fit that codes: the model, or its fallback."""
        return model.fallback if self.by_fallback and model.fallback is not None else model

    def limits(self, model: CodingModel, answers: Answers) -> FloatArray:
        """The largest doubt at which each answer is coded automatically; -1 where none is."""
        both = (self.threshold, self.threshold if self.repeated == "same" else self.repeated)
        new, again = (-1.0 if limit is None else limit for limit in both)
        if new == again:
            return np.full(len(answers), new)
        return np.where(model.knows_words(answers), again, new)


@dataclass(frozen=True, eq=False)
class CodedAnswers(Entries):
    """Answers with what a model has found for each, one entry per answer.

    Attributes
    ----------
    answers : Answers
        What was coded.
    given : list of (frozenset of str or None)
        The codes that people gave before, if any.
    found : Predictions
        The nearest labelsets with their evidence.
    Y : ndarray of int8 of shape (n_answers, n_labels)
        The codes that each answer gets: of people, settled one by one, or of the nearest labelset.
    doubt : ndarray of shape (n_answers,)
        By which they are ranked.
    empty, settled : ndarray of bool of shape (n_answers,)
        Answers that say nothing, and those of which some codes are settled one by one.
    statuses : list of str
        "auto", "review", "part", or "coded" if people gave codes.
    reasons : list of (Reason or None)
        Why people must look.
    ask : list of (ndarray of bool or None)
        The codes to decide, if others are settled.
    drawn : list of bool
        Which answers belong to the random check sample.
    """

    answers: Answers
    given: list[Codes | None]
    found: Predictions
    Y: NDArray[np.int8]
    doubt: FloatArray
    empty: BoolArray
    settled: BoolArray
    statuses: list[str]
    reasons: list[Reason | None]
    ask: list[BoolArray | None]
    drawn: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.statuses)

    @property
    def why(self) -> list[str]:
        """Why people must look, in words; empty for answers that they need not look at."""
        return ["" if reason is None else reason.words for reason in self.reasons]

    @property
    def for_people(self) -> list[int]:
        """Places of the answers that a review has: all but those that are sure, or coded."""
        each = enumerate(zip(self.statuses, self.drawn, strict=True))
        return [i for i, (status, drawn) in each if drawn or status in (REVIEW, PARTLY)]

    def summary(self, notes: Sequence[str] = ()) -> CodingSummary:
        """How many answers got which status."""
        counts, why = Counter(self.statuses), Counter(r.kind for r in self.reasons if r is not None)
        parts = (len(self), counts[AUTO], counts[REVIEW], why, list(notes))
        return CodingSummary(*parts, counts[PARTLY], sum(self.drawn))


def code_answers(
    model: CodingModel,
    answers: Answers,
    given: Sequence[Codes | None],
    options: CodingOptions,
    *,
    k: int = N_NEXT + 1,
    drawn: frozenset[int] = frozenset(),
    watch: Watch = no_progress,
) -> CodedAnswers:
    """Code answers by a model; those with `given` codes keep them, as do its training answers.

    Of the `k` nearest labelsets, those behind the first are found too. `drawn` are places of
    answers in the random check sample.
    """
    known, n = model.codes(model.Y), len(answers)
    kept = [
        own if own is not None or place is None else frozenset(known[place])
        for own, place in zip(given, model.find_places(answers), strict=True)
    ]
    used = options.model_in_use(model)
    reasons, nothing = Reasons(used), np.array([], dtype=np.intp)
    if not n:  # arrays of the right widths, without a row
        return _code_block(used, used.answers[np.array([0])], [None], options, k, reasons)[nothing]
    blocks = [np.arange(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]
    parts = [
        _code_block(used, answers[rows], [kept[i] for i in rows], options, k, reasons)
        for rows in watch(blocks, len(blocks), "coding")
    ]
    return replace(CodedAnswers.join(parts), drawn=[i in drawn for i in range(n)])


def _code_block(
    model: CodingModel,
    answers: Answers,
    given: list[Codes | None],
    options: CodingOptions,
    k: int,
    reasons: Reasons,
) -> CodedAnswers:
    X = model.features.transform(answers)
    found = model.code(answers, X, k)
    empty, doubt, Y = model.is_blank(answers), found.doubt(options.rank_by), found.Y
    # Not "doubt > limit": a limit that is not a number lets nothing through.
    sure = (doubt <= options.limits(model, answers)) & ~empty
    statuses = [AUTO if is_sure else REVIEW for is_sure in sure.tolist()]
    ask: list[BoolArray | None] = [None] * len(found)
    settled = np.zeros(len(found), dtype=bool)
    if options.per_code is not None:
        assert found.P is not None
        set_codes, asked = _settle_codes(model, options, found.P, answers, empty)
        settled = np.asarray(~asked.all(axis=1))
        kinds = zip(np.any(asked, axis=1).tolist(), settled.tolist(), strict=True)
        statuses = [(PARTLY if some else REVIEW) if open else AUTO for open, some in kinds]
        ask = [own if s == PARTLY else None for s, own in zip(statuses, asked, strict=True)]
        Y = np.where(settled[:, np.newaxis], set_codes, Y).astype(np.int8)
    # Answers that people have coded are left alone.
    statuses = [s if own is None else BY_PEOPLE for s, own in zip(statuses, given, strict=True)]
    why = _find_reasons(model, reasons, found, X, empty, statuses, ask)
    Y = _with_given(Y, given, model.labels)
    drawn = [False] * len(found)
    return CodedAnswers(answers, given, found, Y, doubt, empty, settled, statuses, why, ask, drawn)


def _settle_codes(
    model: CodingModel, options: CodingOptions, P: NDArray[Any], answers: Answers, empty: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Codes that are set, and those that are asked about."""
    limits, again = options.per_code, options.per_code_repeated
    assert limits is not None
    given, asked = limits.settle(P, model.Y, empty)
    if again is None:
        return given, asked
    known = model.knows_words(answers)[:, np.newaxis]
    set_again, asked_again = again.settle(P, model.Y, empty)
    return np.where(known, set_again, given), np.where(known, asked_again, asked)


def _find_reasons(
    model: CodingModel,
    known: Reasons,
    found: Predictions,
    X: Any,
    empty: BoolArray,
    statuses: list[str],
    ask: list[BoolArray | None],
) -> list[Reason | None]:
    """Why each answer is left to people; None for those that are not."""
    reasons: list[Reason | None] = [None] * len(statuses)
    unsure = [i for i, s in enumerate(statuses) if s == REVIEW and not empty[i]]
    rows = np.array(unsure, dtype=np.intp)
    for i, reason in zip(unsure, known.find(found, X, rows), strict=True):
        reasons[i] = reason
    for i, (status, codes) in enumerate(zip(statuses, ask, strict=True)):
        if status == REVIEW and empty[i]:
            reasons[i] = Reason(EMPTY, EMPTY)
        elif status == PARTLY and codes is not None:
            asked = model.codes(codes[np.newaxis])[0]
            reasons[i] = Reason(PART, f"to be decided: {join_names(list(map(quote, asked)))}")
    return reasons


def _with_given(
    Y: NDArray[np.int8], given: list[Codes | None], labels: Sequence[str]
) -> NDArray[np.int8]:
    """Predicted labelsets, but where people gave codes, these; others than the labels are not."""
    rows = [(i, codes) for i, codes in enumerate(given) if codes is not None]
    if rows:
        Y = Y.copy()
        Y[[i for i, _ in rows]] = [[name in codes for name in labels] for _, codes in rows]
    return Y


def next_labelsets(model: CodingModel, coded: CodedAnswers) -> list[list[tuple[str, ...]]]:
    """The codes that each answer may have beside its suggestion, the likeliest first.

    Codes that are likely one by one come before all, if that combination was never given; behind
    them are the next best labelsets, of which small models have fewer. If codes were settled one by
    one, the nearest labelset is one of those.
    """
    found = coded.found
    assert found.others is not None
    assert found.P is not None
    seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
    likely = found.P > 0.5
    columns = [likely, found.Y, *found.others.swapaxes(0, 1)]
    rows = zip(*(model.codes(Y) for Y in columns), strict=True)
    nexts = []
    for own, settled, (first, nearest, *others) in zip(likely, coded.settled, rows, strict=True):
        known = own.tobytes() in seen or not own.any()
        behind = [nearest, *others[:-1]] if settled else others
        nexts.append(behind if known else [first, *behind])
    return nexts
