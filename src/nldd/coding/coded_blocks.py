"""What becomes of each row of a table: its codes, how sure they are, and why people must look."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.coding.answers import Answers, Row, digest_rows, find_column, own_columns, row_identity
from nldd.coding.decisions import read_decisions
from nldd.coding.guarantee import CodeLimits, CodeSelection, Guarantee, threshold_text
from nldd.coding.model import CodingModel
from nldd.coding.predictions import PER_CODE, Predictions
from nldd.coding.reasons import EMPTY, PART, Reason, Reasons, join_names
from nldd.coding.respondents import normalize_text
from nldd.coding.selective import Selection
from nldd.coding.tables.cells import TableBlock
from nldd.coding.tables.reader import TableReader
from nldd.present.formulas import escape_formula

AUTO, REVIEW, PARTLY, BY_PEOPLE = "auto", "review", "part", "coded"
BLOCK_ROWS = 2000
FloatArray = NDArray[np.float64]
# Labelsets beside the suggestion that people can choose from in a review.
N_NEXT = 3

# Passes the blocks of a table through; the second argument tells how far the file is read.
BlockWatch = Callable[[Iterable[TableBlock], Callable[[], float]], Iterable[TableBlock]]


@dataclass
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

    Examples
    --------
    >>> from nldd.coding.coded_blocks import CodingSummary
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

    @property
    def n_people(self) -> int:
        """Rows sent to review, with all of their codes open or some."""
        return self.n_review + self.n_part

    @property
    def n_coded(self) -> int:
        """Rows that had codes already."""
        return self.n_rows - self.n_auto - self.n_people

    def add(self, block: "CodedBlock", reasons: Iterable[Reason | None]) -> None:
        """Count the rows of a block, and the reasons of those that are for people."""
        self.n_rows += len(block.statuses)
        self.n_auto += block.statuses.count(AUTO)
        self.n_review += block.statuses.count(REVIEW)
        self.n_part += block.statuses.count(PARTLY)
        self.n_drawn += sum(block.drawn)
        self.why.update(reason.kind for reason in reasons if reason is not None)


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

    def follow(self, model: CodingModel, *guarantee: Any) -> tuple[Self, Selection]:
        """The policy that keeps a guarantee with the fit that is in use, and its threshold."""
        used, found = model.in_use(*guarantee)
        return replace(self.apply(found), by_fallback=used is not model), found

    def apply(self, found: Selection) -> Self:
        """The policy with the thresholds that were found."""
        limit, repeated = found.limits
        again = repeated if found.repeated else "same"
        texts = [threshold_text(found.rank_by, each) for each in dict.fromkeys(found.limits)]
        own = Guarantee(found.target, found.confidence, found.measure, found.rank_by, *texts)
        return replace(self, threshold=limit, repeated=again, rank_by=own.rank_by, guarantee=own)

    def follow_codes(self, found: CodeSelection) -> Self:
        """The policy that settles codes one by one as far as was found to be right."""
        again = None if found.repeated is None else found.repeated.limits
        both = (limits for limits in (found.limits, again) if limits is not None)
        texts = [threshold_text("probability", each.yes, each.no) for each in both]
        own = Guarantee(found.target, found.confidence, PER_CODE, "probability", *texts)
        return replace(self, per_code=found.limits, per_code_repeated=again, guarantee=own)

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
class CodedBlock:
    """Rows of a table, the first of which has the number `first`, with what was found for each.

    `texts` are what was coded, and `given` the codes that people gave before, if any. `ask` says
    which codes of an answer are to be decided, if others are `settled` one by one.
    """

    first: int
    rows: Sequence[Row]
    texts: list[str]
    given: list[set[str] | None]
    X: Any
    found: Predictions
    doubt: NDArray[np.float64]
    empty: NDArray[np.bool_]
    statuses: list[str]
    why: list[str]
    drawn: list[bool]
    ask: list[NDArray[np.bool_] | None]
    settled: NDArray[np.bool_]

    @property
    def for_people(self) -> list[int]:
        """Places of the rows that a review has: all but those that are sure, or coded."""
        each = enumerate(zip(self.statuses, self.drawn, strict=True))
        return [i for i, (status, drawn) in each if drawn or status in (REVIEW, PARTLY)]


def code_blocks(
    model: CodingModel,
    table: TableReader,
    policy: CodingOptions,
    counts: CodingSummary,
    k: int = N_NEXT + 1,
    drawn: frozenset[int] = frozenset(),
    watch: BlockWatch = lambda blocks, fraction: blocks,
) -> Iterator[CodedBlock]:
    """The rows of a table with what was found for each, a block at a time; all are counted.

    Of the `k` nearest labelsets, those behind the first are told too. `drawn` are numbers of rows,
    and `watch` passes the blocks through, for a progress bar.
    """
    for name in model.columns.inputs:  # even where there are no rows
        find_column(table, name, model.columns.inputs)
    coder = _BlockCoder(policy.model_in_use(model), policy, k, drawn, TrainingAnswers(model, table))
    blocks = watch(table.blocks(BLOCK_ROWS), table.fraction_read)
    return (coder.code(table, block, counts) for block in blocks)


class _BlockCoder:
    """Codes blocks by a model, and finds reasons by what it has seen."""

    def __init__(
        self,
        model: CodingModel,
        policy: CodingOptions,
        k: int,
        drawn: frozenset[int],
        trained: "TrainingAnswers",
    ) -> None:
        self.model, self.policy, self.k, self.drawn = model, policy, k, drawn
        self.reasons, self.trained = Reasons(model), trained

    def code(self, table: TableReader, block: TableBlock, counts: CodingSummary) -> CodedBlock:
        """What a block of rows says, and what becomes of it."""
        answers = self.model.columns.read(table, block)
        X = self.model.features.transform(answers)
        found = self.model.code(answers, X, self.k)
        empty = self.model.is_blank(answers)
        limits = self.policy.limits(self.model, answers)
        doubt = found.doubt(self.policy.rank_by)
        # Not "doubt > limit": a limit that is not a number lets nothing through.
        statuses: list[str] = np.where((doubt <= limits) & ~empty, AUTO, REVIEW).tolist()
        ask: list[NDArray[np.bool_] | None] = [None] * len(found)
        settled = np.zeros(len(found), dtype=bool)
        if self.policy.per_code is not None:
            assert found.P is not None
            given, asked = self._settle_codes(found.P, answers, empty)
            n_asked, settled = asked.sum(axis=1), np.asarray(~asked.all(axis=1))
            statuses = np.select([n_asked == 0, settled], [AUTO, PARTLY], REVIEW).tolist()
            ask = [own if s == PARTLY else None for s, own in zip(statuses, asked, strict=True)]
            found = _with_settled(found, given, settled)
        # These answers are left alone.
        there = self.trained.add_codes(block, answers, existing_codes(self.model, table, block))
        statuses = [s if c is None else BY_PEOPLE for s, c in zip(statuses, there, strict=True)]
        drawn = [block.first + i in self.drawn for i in range(len(block.rows))]
        why = self._reasons(found, X, empty, statuses, ask)
        words = ["" if reason is None else reason.words for reason in why]
        found = replace(found, Y=_with_given(found.Y, there, self.model.labels))
        rest = (doubt, empty, statuses, words, drawn, ask, settled)
        coded = CodedBlock(block.first, block.rows, answers.texts, there, X, found, *rest)
        counts.add(coded, why)
        return coded

    def _settle_codes(
        self, P: NDArray[Any], answers: Answers, empty: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Codes that are set, and those that are asked about."""
        limits, again = self.policy.per_code, self.policy.per_code_repeated
        assert limits is not None
        given, asked = limits.settle(P, self.model.Y, empty)
        if again is None:
            return given, asked
        known = self.model.knows_words(answers)[:, np.newaxis]
        set_again, asked_again = again.settle(P, self.model.Y, empty)
        return np.where(known, set_again, given), np.where(known, asked_again, asked)

    def _reasons(
        self,
        found: Predictions,
        X: Any,
        empty: NDArray[np.bool_],
        statuses: list[str],
        ask: list[NDArray[np.bool_] | None],
    ) -> list[Reason | None]:
        """Why each row is left to people; None for those that are not."""
        reasons: list[Reason | None] = [None] * len(statuses)
        unsure = [i for i, s in enumerate(statuses) if s == REVIEW and not empty[i]]
        rows = np.array(unsure, dtype=np.intp)
        for i, reason in zip(unsure, self.reasons.find(found, X, rows), strict=True):
            reasons[i] = reason
        for i, (status, codes) in enumerate(zip(statuses, ask, strict=True)):
            if status == REVIEW and empty[i]:
                reasons[i] = Reason(EMPTY, EMPTY)
            elif status == PARTLY and codes is not None:
                asked = self.model.codes(codes[np.newaxis])[0]
                reasons[i] = Reason(PART, f"to be decided: {join_names(list(map(quote, asked)))}")
        return reasons


class TrainingAnswers:
    """Answers of a table that a model was trained on: they have the codes that people gave.

    They are known by id and words; or, without ids, by what tells the rows of its tables apart.
    """

    def __init__(self, model: CodingModel, table: TableReader) -> None:
        own, columns = own_columns(table), model.identity_columns
        self.codes: dict[tuple[str, str] | str, tuple[str, ...]] = {}
        self.by_id = model.columns.id in own
        self.places = {name: own[name] for name in columns if name in own}
        coded = zip(model.answers.texts, model.answers.ids, model.codes(model.Y), strict=True)
        if self.by_id:
            known = (((id, normalize_text(text)), codes) for text, id, codes in coded if id)
            self.codes = dict(known)
        elif model.has_ids and len(self.places) == len(columns):
            self.codes = dict(zip(model.identities, model.codes(model.Y), strict=True))

    def add_codes(
        self, block: TableBlock, answers: Answers, given: list[set[str] | None]
    ) -> list[set[str] | None]:
        """The codes that people gave in the table, and else to answers of the model."""
        if not self.codes:
            return given
        keys: Iterable[tuple[str, str] | str] = (
            zip(answers.ids, map(normalize_text, answers.texts), strict=True)
            if self.by_id
            else digest_rows(
                (row_identity(r, self.places.values()) for r in block.rows), self.places
            )
        )
        found = (self.codes.get(key) for key in keys)
        pairs = zip(given, found, strict=True)
        return [set(c) if own is None and c is not None else own for own, c in pairs]


def existing_codes(
    model: CodingModel, table: TableReader, block: TableBlock
) -> list[set[str] | None]:
    """The codes that people have given already, if the table has columns for them."""
    codes = model.columns.codes
    if set(map(escape_formula, codes.names)) <= set(map(escape_formula, table.names)):
        return read_decisions(table, block, codes, model.codebook).codes
    return [None] * len(block.rows)


def _with_settled(
    found: Predictions, given: NDArray[np.bool_], settled: NDArray[np.bool_]
) -> Predictions:
    """Predictions with the codes that are settled one by one; the whole labelset comes next."""
    assert found.others is not None
    whole = found.Y[:, np.newaxis]
    behind = np.concatenate([whole, found.others[:, :-1]], axis=1)
    return replace(
        found,
        Y=np.where(settled[:, np.newaxis], given, found.Y).astype(np.int8),
        others=np.where(settled[:, np.newaxis, np.newaxis], behind, found.others),
    )


def _with_given(
    Y: NDArray[np.int8], given: list[set[str] | None], labels: Sequence[str]
) -> NDArray[np.int8]:
    """Predicted labelsets, but where people gave codes, these; others than the labels are not."""
    rows = [(i, codes) for i, codes in enumerate(given) if codes is not None]
    if rows:
        Y = Y.copy()
        Y[[i for i, _ in rows]] = [[name in codes for name in labels] for _, codes in rows]
    return Y


def next_labelsets(model: CodingModel, block: CodedBlock) -> list[list[tuple[str, ...]]]:
    """The codes that each row may have beside its suggestion, the likeliest first.

    Codes that are likely one by one come before all, if that combination was never given; behind
    them are the next best labelsets, of which small models have fewer.
    """
    found = block.found
    assert found.others is not None
    assert found.P is not None
    seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
    likely = found.P > 0.5
    columns = [likely, *found.others.swapaxes(0, 1)]
    rows = zip(*(model.codes(Y) for Y in columns), strict=True)
    nexts = []
    for own, (first, *others) in zip(likely, rows, strict=True):
        known = own.tobytes() in seen or not own.any()
        nexts.append(others if known else [first, *others])
    return nexts
