"""What people decided in reviews: as answers and decisions, in one file of several, and agreement.

The rows of the table stand in the review file as they were. So its answers are read as those of any
table; decisions come from the log, not from cells.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate, chain, combinations, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from nldd._wording import quote, quote_first
from nldd.coding import columns as own
from nldd.coding.agreement import Agreement, SharedAnswer, compare_coders
from nldd.coding.answers import Answers, Decisions
from nldd.coding.code_slips import notes_on_codes
from nldd.coding.coded_table import check_paths_differ
from nldd.coding.columns import AUTO, BY_PEOPLE, CodeColumns, Columns
from nldd.coding.review import records
from nldd.coding.review.desk import random_order
from nldd.coding.review.records import Codes, Item, ItemOutcome, LogEntry, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.rows import read_answers
from nldd.coding.tables import spreadsheet as sheets
from nldd.coding.tables.reading import TableOptions, distinct_names
from nldd.exceptions import InputError
from nldd.present.text import count_noun

REVIEW_FILE = "review file"


def read_review(
    path: Path, columns: Columns, options: TableOptions, known: Collection[str] = ()
) -> tuple[Answers, Decisions]:
    """Read the answers of a review that are for people or decided, and what people decided.

    Codes are named by their columns, if the model has one for each. The `known` ones are no slips.
    """
    with Store.open(path, write=False) as store, store.snapshot():
        agreed = AgreedCodes.of(store, columns.codes)
        items = list(store.items(_for_people(store, agreed)))
        table, decisions = stored_table(store, items, options), _decisions(store, items, agreed)
    if not agreed.codes:
        message = f"{path.name}: people have not agreed yet on the codes of any answer."
        raise InputError(message, hint="decide some on the page that nldd review opens")
    if columns.codes.listed:
        slips = notes_on_codes([], list(agreed.codes.values()), columns.codes, known)
        decisions.notes.extend(slips)
    answers, rows = read_answers(table, columns, decisions.decided), [item.item for item in items]
    names = (f"review:{table.sha256}:{row}" for row in rows)
    keys = [(name, *others) for name, others in zip(names, answers.keys, strict=True)]
    return replace(answers, keys=keys, rows=rows), decisions


def review_as_table(
    path: Path, columns: Columns, options: TableOptions
) -> tuple[sheets.Spreadsheet, Decisions]:
    """The whole table of a review as it was first coded, and what people decided since or before.

    Codes stand there as JSON, to be read alike whatever they look like.
    """
    names = (own.CODES, own.STATUS, own.CHANCE, own.THETA, own.DRAWN)
    with Store.open(path, write=False) as store, store.snapshot():
        agreed = AgreedCodes.of(store, columns.codes)
        said, items = {s.item: s for s in store.suggestions(0)}, list(store.items())
        rows = [_first_cells(item, said.get(item.item)) for item in items]
        table = stored_table(store, items, options, names, rows)
        decisions = _decisions(store, items, agreed)
    given = [agreed.codes.get(item.item, item.given) for item in items]
    return table, replace(decisions, codes=given)


def _first_cells(item: Item, said: Suggestion | None) -> tuple[sheets.Cell, ...]:
    drawn = "yes" if item.drawn else "no"
    if said is None:
        return ("", BY_PEOPLE * (item.given is not None), "", "", drawn)
    # Without apostrophes: these might be taken for some that escape a formula.
    codes = (records.codes_text(said.codes) or "").replace("'", r"\u0027") if said.codes else ""
    return (codes, said.status, said.details.get("chance"), said.details.get("theta"), drawn)


@dataclass(frozen=True)
class AgreedCodes:
    """What people decided in a review: all outcomes, and codes on which they agree, by item.

    Codes for which there is no column are `unknown`.
    """

    outcomes: Mapping[int, ItemOutcome]
    codes: Mapping[int, Codes]
    unknown: Mapping[int, Codes]

    @classmethod
    def of(cls, store: Store, columns: CodeColumns) -> "AgreedCodes":
        """Those of a review; where columns are codes, named by these."""
        found = records.outcomes(store.entries())
        agreed = {item: each.codes for item, each in found.items() if each.codes is not None}
        if columns.listed:
            return cls(found, agreed, {})
        # The model of the last round may have other names for some.
        renamed = [each.facts.get("columns", {}) for each in store.rounds()[-1:]]
        marks = chain(store.study.marks.items(), *(names.items() for names in renamed))
        known = {code: name for code, name in marks if name in columns.names}
        lacking = {item: codes - known.keys() for item, codes in agreed.items()}
        unknown = {item: codes for item, codes in lacking.items() if codes}
        taken = {item: codes for item, codes in agreed.items() if item not in unknown}
        named = {item: frozenset(map(known.__getitem__, codes)) for item, codes in taken.items()}
        return cls(found, named, unknown)


def _for_people(store: Store, agreed: AgreedCodes) -> list[int]:
    """Items whose codes are agreed on, and others that people decide, or have begun to."""
    auto = {item for item, _, status, _ in store.suggestion_rows(0) if status == AUTO}
    return [
        item
        for item, drawn, has_codes, _ in store.outlines()
        if item in agreed.codes
        or (not has_codes and (drawn or item not in auto or item in agreed.outcomes))
    ]


def stored_table(
    store: Store,
    items: Sequence[Item],
    options: TableOptions = TableOptions(),
    added: Sequence[str] = (),
    cells: Sequence[Sequence[sheets.Cell]] = (),
) -> sheets.Spreadsheet:
    """Rows of the table that a review was made from, with cells of `added` columns.

    If there are numbers beside the table, rows have theirs, by which they are found again.
    """
    study, names = store.study, distinct_names(store.study.header)
    numbers = None if options.numbers is None else sheets.NumberFile(options.numbers)
    rows = [[*item.cells, *more] for item, more in zip(items, cells or repeat(()))]  # noqa: B905
    if numbers is not None and own.ROW not in names:
        added = [*added, own.ROW]
        rows = [[*row, item.item] for row, item in zip(rows, items, strict=True)]
    new = sheets.unique_column_names(added, {*study.header, *names})
    frame = pd.DataFrame(rows, columns=[*names, *new], dtype=object)
    known = {name: study.table_format[name] for name in study.table_format.keys() & records.WRITTEN}
    format, header = sheets.TableFormat(**{"kind": "csv", **known}), (*study.header, *new)
    return sheets.Spreadsheet(store.path, frame, header, format, [], study.table_sha256, numbers)


def _decisions(store: Store, items: Sequence[Item], agreed: AgreedCodes) -> Decisions:
    """What people decided on some items; the checksum is that of all decisions, not of the file."""
    study, found = store.study, sorted(agreed.outcomes.items())
    decided = [(item, sorted(each.codes)) for item, each in found if each.codes is not None]
    content = records.pack([study.table_sha256, study.header, decided])
    last = [agreed.outcomes[i.item].deciding if i.item in agreed.codes else [] for i in items]
    return Decisions(
        [agreed.codes.get(item.item) for item in items],
        drawn=[item.drawn for item in items],
        coders=[", ".join(entry.coder for entry in entries) for entries in last],
        times=[entries[-1].time if entries else "" for entries in last],
        source=store.path.name,
        sha256=sha256(content.encode()).hexdigest(),
        kind=REVIEW_FILE,
        notes=_notes(store, agreed),
    )


def _notes(store: Store, agreed: AgreedCodes) -> list[str]:
    found, unknown, notes = agreed.outcomes.values(), agreed.unknown, []
    if n_apart := sum(each.disagree for each in found):
        which = count_noun(n_apart, "answer")
        notes.append(f"{which} on which coders disagree: not taken; settle them on the page.")
    if n_avoided := _count_avoided(store, agreed.outcomes):
        how = "skipped, passed over or in dispute"
        which = f"{count_noun(n_avoided, 'answer')} drawn at random, {how}"
        why = "the others drawn are easier than new ones, and the promise a little too good"
        notes.append(f"{which}: not taken. Until they are decided, {why}.")
    taken = (agreed.outcomes[item] for item in agreed.codes)
    if n_flagged := sum(any(entry.after.flag for entry in each.by.values()) for each in taken):
        notes.append(f"{count_noun(n_flagged, 'answer')} with a flag: taken as they are coded.")
    if unknown:
        codes = quote_first(sorted(frozenset().union(*unknown.values())))
        why = "the model has no columns for these codes"
        which = f"{count_noun(len(unknown), 'answer')} with {codes}"
        notes.append(f"{which}: not taken, as {why}; to use them, export and fit anew.")
    return notes


def _count_avoided(store: Store, found: Mapping[int, ItemOutcome]) -> int:
    """How many drawn items people have left, in the order in which these come to them.

    They were skipped, are in dispute, or open before one that is decided; those that come after
    all that are decided, nobody has seen.
    """
    outlines = store.outlines()
    ranks = random_order(len(outlines), store.study.seed).tolist()
    drawn = [line[0] for _, line in sorted(zip(ranks, outlines, strict=True)) if line[1]]
    seen = {
        item
        for item, each in found.items()
        if each.disagree or any(e.after.state == records.SKIPPED for e in each.entries)
    }
    agreed = {item for item, each in found.items() if each.codes is not None}
    n_seen = max((i for i, item in enumerate(drawn, 1) if item in agreed), default=0)
    return len((seen.intersection(drawn) | {*drawn[:n_seen]}) - agreed)


def is_of_table(store: Store, table: sheets.Spreadsheet) -> bool:
    """True if a review holds the rows of a table as they are now, however its file was saved."""
    both = (item.cells for item in store.items()), table.frame.itertuples(index=False, name=None)
    ours, rows = ([tuple(map(sheets.cell_text, row)) for row in part] for part in both)
    return table.header == store.study.header and ours == rows


@dataclass(frozen=True)
class MergeResult:
    """What several reviews hold together; made by :func:`merge_stores`.

    Attributes
    ----------
    n_entries : int
        Lines of the log.
    n_items : int
        Answers that somebody has decided.
    coders : tuple of str
        Who did.
    notes : list of str
        What a person should know.
    agreement : Agreement or None
        How far they agree; see :func:`agreement_of`.

    Examples
    --------
    >>> from nldd.coding.review.decisions import MergeResult
    >>> print(MergeResult(n_entries=12, n_items=10, coders=("Ann", "Ben"), notes=[]))
    10 answers decided by Ann and Ben; the log has 12 entries.
    """

    n_entries: int
    n_items: int
    coders: tuple[str, ...]
    notes: list[str]
    agreement: Agreement | None = None

    def __str__(self) -> str:
        who = " and ".join(filter(None, (", ".join(self.coders[:-1]), *self.coders[-1:])))
        decided = f"{count_noun(self.n_items, 'answer')} decided by {who or 'nobody'}"
        text = f"{decided}; the log has {self.n_entries:,} entries."
        shown = self.agreement is not None and self.agreement.n_answers
        return f"{text}\n\n{self.agreement}" if shown else text

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "agreement": self.agreement and self.agreement.to_dict()}


def merge_stores(paths: Sequence[Path], out: Path) -> MergeResult:
    r"""Write a review with the decisions of several, which must be of the same table.

    Each entry is there once, in the order of the clocks, but never before what came before it in
    its own review. Suggestions are those of the first; settings of coders stay where they are.

    Parameters
    ----------
    paths : sequence of Path
        Two reviews or more, such as copies of one.
    out : Path
        File for the new one, which must not be there.

    Returns
    -------
    MergeResult
        How many entries and answers it has, and whose.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.records import LogEntry, Position
    >>> from nldd.coding.review.decisions import merge_stores
    >>> from nldd.coding.review.store import Store
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> copy, both = Path(folder.name, "ben.review.db"), Path(folder.name, "both.review.db")
    >>> _ = copy.write_bytes(store.read_bytes())
    >>> after = Position("done", frozenset({"safety"}))
    >>> for path, coder in ((store, "Ann"), (copy, "Ben")):
    ...     with Store.open(path) as opened:
    ...         _ = opened.add([LogEntry(0, coder, 3, coder, "code", after, "2026-01-02")])
    >>> merged = merge_stores([store, copy], both)
    >>> merged.n_entries, merged.n_items, merged.coders, merged.agreement.n_same
    (2, 1, ('Ann', 'Ben'), 1)
    >>> folder.cleanup()
    """
    if len(paths) < 2:
        hint = "nldd review merge ann.review.db bob.review.db -o both.review.db"
        raise InputError("At least two reviews are needed to merge.", hint=hint)
    check_paths_differ(*paths, out, hint="name each review once, and a new file")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.open(path, write=False)) for path in paths]
        for store in stores:
            stack.enter_context(store.snapshot())
        _check_same_study(stores)
        logs, first = [store.entries() for store in stores], stores[0]
        entries = _join_logs(logs)
        notes = list(_notes_on_names(paths, logs))
        if len({store.study.model_sha256 for store in stores}) > 1:
            notes.append("The reviews are by other models; suggestions are those of the first.")
        with Store.create(out, first.study) as new:
            new.add_items(first.items())
            for found in first.rounds():
                new.add_suggestions(found.round, first.suggestions(found.round))
                new.finish_round(found.round, found.model, found.facts, found.time)
            for store in stores:
                new.keep_more("codes", store.setting("codes") or ())
            new.add(entries)
            agreement = agreement_of(new)
    coders = tuple(sorted({entry.coder for entry in entries}))
    n_decided = sum(bool(outcome.by) for outcome in records.outcomes(entries).values())
    return MergeResult(len(entries), n_decided, coders, notes, agreement)


def _check_same_study(stores: Sequence[Store]) -> None:
    """Refuse stores whose items are not the same answers."""
    first, *others = stores
    study, drawn = first.study, _drawn(first)
    for store in others:
        other, what = store.study, ""
        if other.table_sha256 != study.table_sha256:
            what = f"the tables {study.table} and {other.table} have other contents"
        elif other.header != study.header or other.text != study.text:
            what = "the columns of their tables differ"
        elif n_other := len(drawn ^ _drawn(store)):
            what = f"{count_noun(n_other, 'answer')} drawn at random in one of them only"
        if what:
            pair = f"{first.path.name} and {store.path.name}"
            hint = "let all coders start with the same file, model and --audit; or copy one review"
            raise InputError(f"{pair} are not of the same study: {what}.", hint=hint)


def _drawn(store: Store) -> set[int]:
    return {item for item, drawn, *_ in store.outlines() if drawn}


def _join_logs(logs: Sequence[Sequence[LogEntry]]) -> list[LogEntry]:
    """The entries of all logs, each once, with new ids from 1 on.

    They are in the order of the clocks, and of their log even if a clock was moved back.
    """
    timed = [
        (time, place, entry.id, entry)
        for place, log in enumerate(logs)
        for time, entry in zip(accumulate((e.time for e in log), max), log, strict=True)
    ]
    first: dict[str, tuple[int, LogEntry]] = {}
    for _, place, _, entry in sorted(timed, key=itemgetter(0, 1, 2)):
        _, known = first.setdefault(entry.uid, (place, entry))
        if replace(known, id=0, undoes=None) != replace(entry, id=0, undoes=None):
            message = f"The name {quote(entry.uid)} stands for two decisions in these reviews."
            raise InputError(message, hint="use the files as nldd review made them")
    number = {uid: i for i, uid in enumerate(first, 1)}
    uids = [{entry.id: entry.uid for entry in log} for log in logs]
    return [
        replace(entry, id=i, undoes=number.get(uids[place].get(entry.undoes or 0, "")))
        for i, (place, entry) in enumerate(first.values(), 1)
    ]


def _notes_on_names(paths: Sequence[Path], logs: Sequence[Sequence[LogEntry]]) -> Iterator[str]:
    """Coders who said different things of the same answer in two stores, neither of them later."""
    for (path, log), (other_path, other_log) in combinations(zip(paths, logs, strict=True), 2):
        mine, others = ({(e.item, e.coder): e for e in each} for each in (log, other_log))
        shared = {entry.uid for entry in log} & {entry.uid for entry in other_log}
        both = [(mine[key], others[key]) for key in mine.keys() & others.keys()]
        counts = Counter(
            a.coder
            for a, b in both
            if not {a.uid, b.uid} & shared
            and (a.after.state, a.after.codes) != (b.after.state, b.after.codes)
        )
        for coder, n in sorted(counts.items()):
            pair = f"{path.name} and {other_path.name}"
            which = f"{coder} decided {count_noun(n, 'answer')} differently in {pair}"
            yield f"{which}: the later decision counts. Two people need two names (--coder)."


def agreement_of(store: Store) -> Agreement | None:
    r"""Tell how far coders agree on the answers that two or more have decided, each by themselves.

    Parameters
    ----------
    store : Store
        An open review. Codes by which somebody has settled a disagreement do not count.

    Returns
    -------
    nldd.coding.agreement.Agreement or None
        None if there is one coder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.records import LogEntry, Position
    >>> from nldd.coding.review.decisions import agreement_of
    >>> from nldd.coding.review.store import Store
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> given = [(2, "Ann", "cycling"), (2, "Ben", "cycling"), (3, "Ann", "safety"), (3, "Ben", "")]
    >>> with Store.open(store) as opened:
    ...     for i, (item, coder, code) in enumerate(given):
    ...         after = Position("done", frozenset(filter(None, [code])))
    ...         time = f"2026-01-02T03:04:0{i}Z"
    ...         _ = opened.add([LogEntry(0, str(i), item, coder, "code", after, time)])
    ...     found = agreement_of(opened)
    >>> found.coders, found.n_answers, found.n_same
    (('Ann', 'Ben'), 2, 1)
    >>> folder.cleanup()
    """
    done = {
        item: {coder: own for coder, s in found.standings.items() if (own := s.own) is not None}
        for item, found in records.outcomes(store.entries()).items()
    }
    coders = tuple(sorted({coder for by in done.values() for coder in by}))
    if len(coders) < 2:
        return None
    items = store.items(sorted(item for item, by in done.items() if by))
    return compare_coders(
        [SharedAnswer(str(i.item), i.text, tuple(map(done[i.item].get, coders))) for i in items],
        coders,
    )
