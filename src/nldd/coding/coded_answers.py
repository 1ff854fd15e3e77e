"""Code answers: the codes of each, how sure they are, and why people must look."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from nldd._wording import quote
from nldd.coding import wording
from nldd.coding.answers import Answers, BoolArray, Entries, FloatArray, LabelArray
from nldd.coding.columns import AUTO, BY_PEOPLE, PARTLY, REVIEW, Codes
from nldd.coding.guarantee import USUAL, CodeSelection, Guarantee, GuaranteeTarget, Selection
from nldd.coding.model import CodingModel
from nldd.coding.predictions import EMPTY, PART, Predictions, Reason, Reasons, Watch, no_progress
from nldd.present.text import align, wrap

# Answers that are coded at a time, so that what is worked out for each does not fill the memory.
BLOCK_ROWS = 2000
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
    options : CodingOptions
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
    options: "CodingOptions" = field(default_factory=lambda: CodingOptions(None))

    def __str__(self) -> str:
        options = self.options
        head, *guarantee = wording.fill_words("coded", found=self, options=options)
        lines = [head, *(f"  {line}" for line in guarantee)]
        if options.code_selection is not None:
            lines.append(wrap(wording.fill_words("per_code", codes=options.code_selection)[-1:]))
        lines += wording.fill_words("for_people", found=self)
        if self.why:
            lines.append(align([("", f"{k:,}", why) for why, k in self.why.most_common()], [1]))
        if self.n_drawn:
            lines.append(f"{self.n_drawn:,} drawn at random for the review, to be coded unaided")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        options, codes = self.options, self.options.code_selection
        return {
            **{name: getattr(self, f"n_{name}") for name in COUNTED},
            "why": dict(self.why),
            "threshold": options.threshold,
            "rank_by": options.rank_by,
            "selection": options.selection and options.selection.to_dict(),
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
        Answers whose doubt is above it go to people; without one, all do.
    explain : bool
        Whether to write what speaks for the codes, and the next best codes, as well.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.
    rank_by : {"theta", "chance"}
        What the doubt is: theta, or one minus the chance that all codes are right.
    n_random, seed : int
        So many of the rows without codes are drawn for people, whether they are sure or not.
    by_fallback : bool
        Whether the earlier fit codes that is still in use; see :meth:`CodingModel.in_use`.
    selection : Selection, optional
        The test that the threshold comes from; see :meth:`apply`.
    code_selection : CodeSelection, optional
        The test by which codes are settled one by one instead.

    Examples
    --------
    >>> from nldd.coding import CodingOptions
    >>> from nldd.coding.guarantee import Selection
    >>> found = Selection(0.9, 0.9, 0.12, 400, 150, 0.95, limit=0.11, rank_by="chance")
    >>> policy = CodingOptions(None, n_random=50).apply(found)
    >>> policy.threshold, policy.rank_by
    (0.11, 'chance')
    """

    threshold: float | None
    explain: bool = False
    raw: bool = False
    rank_by: str = "theta"
    n_random: int = 0
    seed: int = 0
    by_fallback: bool = False
    selection: Selection | None = None
    code_selection: CodeSelection | None = None

    @property
    def guarantee(self) -> Guarantee | None:
        """What the coded table states of its accuracy; nothing of a threshold set by hand."""
        found = self.code_selection or self.selection
        return None if found is None else Guarantee.of(found)

    def follow(self, model: CodingModel, goal: GuaranteeTarget = USUAL) -> tuple[Self, Selection]:
        """The policy that keeps a guarantee with the fit that is in use, and its threshold."""
        used, found = model.in_use(goal)
        return replace(self.apply(found), by_fallback=used is not model), found

    def apply(self, found: Selection | CodeSelection) -> Self:
        """The policy with the thresholds that were found, of whole answers or of single codes."""
        if isinstance(found, CodeSelection):
            return replace(self, code_selection=found)
        return replace(self, threshold=found.limit, rank_by=found.rank_by, selection=found)

    def model_in_use(self, model: CodingModel) -> CodingModel:
        """The fit that codes: the model, or its fallback."""
        return model.fallback if self.by_fallback and model.fallback is not None else model

    def sure(self, model: CodingModel, answers: Answers, doubt: FloatArray) -> BoolArray:
        """Which answers are coded automatically, by their doubt and whether their words are new."""
        both = self.selection.limits if self.selection else (self.threshold, self.threshold)
        new, again = (-1.0 if limit is None else limit for limit in both)
        known = new != again and model.knows_words(answers)
        # Not "doubt > limit": a limit that is not a number lets nothing through.
        return np.asarray(doubt <= np.where(known, again, new))


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
        The most probable labelsets with their evidence.
    Y : ndarray of int8 of shape (n_answers, n_labels)
        The codes that each answer gets: of people, settled one by one, or the most probable ones.
    doubt : ndarray of shape (n_answers,)
        By which they are ranked.
    empty, settled : ndarray of bool of shape (n_answers,)
        Answers that say nothing, and those of which some codes are settled one by one.
    ask : ndarray of bool of shape (n_answers, n_labels)
        The codes to decide where others are settled.
    statuses : list of str
        "auto", "review", "part", or "coded" if people gave codes.
    reasons : list of (Reason or None)
        Why people must look.
    drawn : list of bool
        Which answers belong to the random check sample.
    """

    answers: Answers
    given: list[Codes | None]
    found: Predictions
    Y: LabelArray
    doubt: FloatArray
    empty: BoolArray
    settled: BoolArray
    ask: BoolArray
    statuses: list[str]
    reasons: list[Reason | None]
    drawn: list[bool]

    @property
    def why(self) -> list[str]:
        """Why people must look, in words; empty for answers that they need not look at."""
        return ["" if reason is None else reason.words for reason in self.reasons]

    def summary(self) -> CodingSummary:
        """How many answers got which status."""
        counts, why = Counter(self.statuses), Counter(r.kind for r in self.reasons if r is not None)
        parts = (len(self), counts[AUTO], counts[REVIEW], why, list[str]())
        return CodingSummary(*parts, counts[PARTLY], sum(self.drawn))


def code_answers(
    model: CodingModel,
    answers: Answers,
    given: Sequence[Codes | None],
    options: CodingOptions,
    *,
    k: int = N_NEXT + 1,
    watch: Watch = no_progress,
) -> CodedAnswers:
    """Code answers by a model; those with `given` codes keep them, as do its training answers.

    Of the `k` most probable labelsets, those behind the first are found too.
    """
    known, n = model.codes(model.Y), len(answers)
    each = zip(given, model.find_places(answers), strict=True)
    kept = [own if own is not None or i is None else frozenset(known[i]) for own, i in each]
    used = options.model_in_use(model)
    reasons, nothing = Reasons(used), np.array([], dtype=np.intp)
    if not n:  # arrays of the right widths, without a row
        return _code_block(used.answers[np.array([0])], [None], options, k, reasons)[nothing]
    blocks = [np.arange(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]
    steps = watch(blocks, len(blocks), "coding")
    parts = ((answers[rows], [kept[i] for i in rows]) for rows in steps)
    return CodedAnswers.join([_code_block(*some, options, k, reasons) for some in parts])


def _code_block(
    answers: Answers, given: list[Codes | None], options: CodingOptions, k: int, reasons: Reasons
) -> CodedAnswers:
    model = reasons.model
    X = model.features.transform(answers)
    found, empty = model.code(answers, X, k), model.is_blank(answers)
    Y, doubt, n = found.Y.copy(), found.doubt(options.rank_by), len(answers)
    sure, settled = options.sure(model, answers, doubt) & ~empty, np.zeros(n, dtype=bool)
    asked = np.zeros(Y.shape, dtype=bool)
    if options.code_selection is not None:
        known = model.knows_words(answers)
        set_codes, asked = options.code_selection.settle(found.P, model.Y, empty, known)
        sure, settled = (np.asarray(~some) for some in (asked.any(axis=1), asked.all(axis=1)))
        Y[settled] = set_codes[settled]
    # Answers that people have coded are left alone.
    by_people = [codes is not None for codes in given]
    statuses = np.select([by_people, sure, settled], [BY_PEOPLE, AUTO, PARTLY], REVIEW)
    for i in np.flatnonzero(by_people).tolist():
        Y[i] = [name in (given[i] or ()) for name in model.labels]
    asked &= (statuses == PARTLY)[:, np.newaxis]
    why: list[Reason | None] = [None] * n
    for i, names in enumerate(model.codes(asked)):
        if names:
            why[i] = Reason(PART, f"to be decided: {wording.join_names(list(map(quote, names)))}")
        elif statuses[i] == REVIEW:
            why[i] = Reason(EMPTY, EMPTY)
    unsure = np.flatnonzero((statuses == REVIEW) & ~empty)
    for i, reason in zip(unsure.tolist(), reasons.find(found, X, unsure), strict=True):
        why[i] = reason
    said = (settled, asked, statuses.tolist(), why, [False] * n)
    return CodedAnswers(answers, given, found, Y, doubt, empty, *said)


def next_labelsets(model: CodingModel, coded: CodedAnswers) -> list[list[tuple[str, ...]]]:
    """The codes that each answer may have beside its suggestion, the likeliest first.

    Codes that are likely one by one come before all, if that combination was never given; behind
    them are the next of the posterior, of which small models have fewer. If codes were settled one
    by one, the most probable labelset is one of those.
    """
    found = coded.found
    assert found.others is not None
    seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
    likely = found.P > 0.5
    columns = [likely, found.Y, *found.others.swapaxes(0, 1)]
    rows = zip(*(model.codes(Y) for Y in columns), strict=True)
    nexts = []
    for own, settled, (first, best, *others) in zip(likely, coded.settled, rows, strict=True):
        known = own.tobytes() in seen or not own.any()
        behind = [best, *others[:-1]] if settled else others
        nexts.append(behind if known else [first, *behind])
    return nexts
