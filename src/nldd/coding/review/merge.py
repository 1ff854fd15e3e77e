"""Stores of the same study in one, and how far the people agree who worked in it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from heapq import merge
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from nldd.coding.agreement import Agreement, SharedAnswer, compare_coders
from nldd.coding.review.log import DONE, LogEntry, latest, standings
from nldd.coding.review.records import Study
from nldd.coding.review.store import Store
from nldd.exceptions import InputError
from nldd.present.text import count_noun


class MergeResult(NamedTuple):
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

    Examples
    --------
    >>> from nldd.coding.review.merge import MergeResult
    >>> MergeResult(n_entries=12, n_items=10, coders=("Ann", "Ben"), notes=[]).coders
    ('Ann', 'Ben')
    """

    n_entries: int
    n_items: int
    coders: tuple[str, ...]
    notes: list[str]


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
    >>> from nldd.coding.review.log import LogEntry, Position
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
    >>> merge_stores([store, copy], both)
    MergeResult(n_entries=2, n_items=1, coders=('Ann', 'Ben'), notes=[])
    >>> folder.cleanup()
    """
    _check_names(paths, out)
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.open(path, write=False)) for path in paths]
        for store in stores:
            stack.enter_context(store.snapshot())
        _check_same_study(stores)
        logs = [store.entries() for store in stores]
        entries, notes = _joined(logs), [*_notes_on_models(stores), *_notes_on_names(stores, logs)]
        with Store.create(out, stores[0].study) as new:
            new.add_items(stores[0].items())
            _copy_rounds(stores[0], new)
            added = [code for store in stores for code in store.setting("codes") or ()]
            if added:
                new.keep("codes", list(dict.fromkeys(added)))
            new.add(entries)
    coders = tuple(sorted({entry.coder for entry in entries}))
    decided = {e.item for by in latest(entries).values() for e in by.values() if _is_done(e)}
    return MergeResult(len(entries), len(decided), coders, notes)


def _is_done(entry: LogEntry) -> bool:
    return entry.after.state == DONE


def _check_names(paths: Sequence[Path], out: Path) -> None:
    if len(paths) < 2:
        hint = "nldd review merge ann.review.db bob.review.db -o both.review.db"
        raise InputError("At least two reviews are needed to merge.", hint=hint)
    places = [path.resolve() for path in paths]
    if twice := next((p for p in paths if places.count(p.resolve()) > 1), None):
        raise InputError(f"{twice} is named twice.", hint="name each review once")
    if out.exists():
        hint = "-o with another name; reviews are never replaced"
        raise InputError(f"{out} already exists.", hint=hint)


def _check_same_study(stores: Sequence[Store]) -> None:
    """Refuse stores whose items are not the same answers."""
    first, *others = stores
    study, drawn = first.study, _drawn(first)
    for store in others:
        other = store.study
        pair = f"{first.path.name} and {store.path.name}"
        if other.table_sha256 != study.table_sha256:
            what = f"the tables {study.table} and {other.table} have other contents"
        elif other.header != study.header or other.text != study.text:
            what = "the columns of their tables differ"
        elif (n_other := len(drawn ^ _drawn(store))) > 0:
            what = f"{count_noun(n_other, 'answer')} drawn at random in one of them only"
        else:
            continue
        hint = "let all coders start with the same file, model and --audit; or copy one review"
        raise InputError(f"{pair} are not of the same study: {what}.", hint=hint)


def _drawn(store: Store) -> set[int]:
    return {item.item for item in store.items() if item.drawn}


def _copy_rounds(source: Store, target: Store) -> None:
    for found in source.rounds():
        target.add_suggestions(found.round, source.suggestions(found.round))
        target.finish_round(found.round, found.model, found.facts, found.time)


def _joined(logs: Sequence[Sequence[LogEntry]]) -> list[LogEntry]:
    """The entries of all logs, each once, with new ids from 1 on."""
    number: dict[str, int] = {}
    found: list[tuple[int, LogEntry]] = []
    for _, place, _, entry in merge(*(_in_order(log, i) for i, log in enumerate(logs))):
        if entry.uid not in number:
            number[entry.uid] = len(number) + 1
            found.append((place, entry))
    uids = [{entry.id: entry.uid for entry in log} for log in logs]
    return [
        replace(
            entry,
            id=number[entry.uid],
            undoes=None if entry.undoes is None else number.get(uids[place].get(entry.undoes, "")),
        )
        for place, entry in found
    ]


def _in_order(log: Sequence[LogEntry], place: int) -> Iterator[tuple[str, int, int, LogEntry]]:
    """Entries with what puts them in order, even if a clock was moved back between them."""
    latest_time = ""
    for entry in log:
        latest_time = max(latest_time, entry.time)
        yield latest_time, place, entry.id, entry


def _notes_on_models(stores: Sequence[Store]) -> Iterator[str]:
    first: Study = stores[0].study
    for store in stores[1:]:
        if store.study.model_sha256 != first.model_sha256:
            names = f"{stores[0].path.name} and {store.path.name}"
            yield f"{names} were coded by other models; suggestions are those of the first."


def _notes_on_names(stores: Sequence[Store], logs: Sequence[Sequence[LogEntry]]) -> Iterator[str]:
    """Coders who said different things of the same answer in two stores, neither of them later."""
    positions = [latest(log) for log in logs]
    known = [{entry.uid for entry in log} for log in logs]
    for i, j in combinations(range(len(stores)), 2):
        counts: dict[str, int] = {}
        for item in positions[i].keys() & positions[j].keys():
            for coder in positions[i][item].keys() & positions[j][item].keys():
                a, b = positions[i][item][coder], positions[j][item][coder]
                apart = a.uid not in known[j] and b.uid not in known[i]
                if apart and (a.after.state, a.after.codes) != (b.after.state, b.after.codes):
                    counts[coder] = counts.get(coder, 0) + 1
        for coder, n in sorted(counts.items()):
            pair = f"{stores[i].path.name} and {stores[j].path.name}"
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
    >>> from nldd.coding.review.log import LogEntry, Position
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
        item: {coder: found.own for coder, found in by.items() if found.own is not None}
        for item, by in standings(store.entries()).items()
    }
    coders = tuple(sorted({coder for by in done.values() for coder in by}))
    if len(coders) < 2:
        return None
    answers = [
        SharedAnswer(
            str(item.item),
            item.text,
            tuple(done[item.item].get(coder) for coder in coders),
        )
        for item in store.items(sorted(item for item, by in done.items() if by))
    ]
    return compare_coders(answers, coders)
