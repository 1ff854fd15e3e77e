"""Stores of the same study in one, and how far the people agree who worked in it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from operator import itemgetter
from pathlib import Path
from typing import Any

from nldd._wording import quote
from nldd.coding.agreement import Agreement, SharedAnswer, compare_coders
from nldd.coding.coded_table import check_paths_differ
from nldd.coding.review.records import LogEntry, outcomes
from nldd.coding.review.store import Store
from nldd.exceptions import InputError
from nldd.present.text import count_noun


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
    >>> from nldd.coding.review.merge import MergeResult
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
    >>> from nldd.coding.review.merge import merge_stores
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
    n_decided = sum(bool(outcome.by) for outcome in outcomes(entries).values())
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
    >>> from nldd.coding.review.merge import agreement_of
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
        for item, found in outcomes(store.entries()).items()
    }
    coders = tuple(sorted({coder for by in done.values() for coder in by}))
    if len(coders) < 2:
        return None
    items = store.items(sorted(item for item, by in done.items() if by))
    return compare_coders(
        [SharedAnswer(str(i.item), i.text, tuple(map(done[i.item].get, coders))) for i in items],
        coders,
    )
