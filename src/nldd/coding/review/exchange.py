"""What leaves a review, and what comes back: the coded table, and tasks of Label Studio.

The table has all rows with the codes of people, else the machine's. A task has the answer as
``text``, and its number as ``nldd_item``, by which it is known when it comes back. Codes are the
choices of one control, ``codes``; what the model said is a prediction.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from nldd._files import write_atomically
from nldd._wording import quote_first
from nldd.coding import columns as own
from nldd.coding.review import records
from nldd.coding.review.decisions import stored_table
from nldd.coding.review.records import Item, ItemOutcome, LogEntry, Study, Suggestion
from nldd.coding.review.store import ChangedSinceError, Store
from nldd.coding.tables.spreadsheet import Cell, cell_text, unique_column_names
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# What became of an answer; one that only the machine coded has the status that it got there.
PEOPLE, DISAGREE, PASSED_OVER, BEFORE, WAITING = "people", "disagree", "skipped", "coded", "review"
ADDED = (
    *(own.CODES, own.STATUS, own.MACHINE, own.CHANCE, own.THETA, own.WHY, own.CODER, own.TIME),
    *(own.FLAG, own.NOTE, own.DRAWN, own.MODEL, own.PEOPLE),
)


@dataclass(frozen=True)
class CodedItem:
    """An answer at the end of a review: its codes, and how it came to them.

    `said` is what the machine suggested last, in a round of the `model`; `told` are the entries
    that say what became of it.
    """

    item: Item
    codes: AbstractSet[str]
    status: str
    said: Suggestion | None
    model: str
    outcome: ItemOutcome
    told: Sequence[LogEntry]


def coded_items(store: Store) -> Iterator[CodedItem]:
    """All answers in the order of the table, with what people and the machine have made of them."""
    outcomes, rounds = records.outcomes(store.entries()), store.rounds()
    # What a later round has not suggested again was said by the first.
    told = {s.item: (s, r) for r in rounds[:1] + rounds[-1:] for s in store.suggestions(r.round)}
    for item in store.items():
        said, by = told.get(item.item, (None, None))
        outcome, model = outcomes.get(item.item, records.UNTOUCHED), by.model[:12] if by else ""
        yield _coded(item, said, model, outcome)


def _coded(item: Item, said: Suggestion | None, model: str, outcome: ItemOutcome) -> CodedItem:
    codes, status, told = frozenset[str](), WAITING, outcome.deciding
    if said is not None:
        codes, status = frozenset(said.codes), said.status
    skipped = [entry for entry in outcome.entries if entry.after.state == records.SKIPPED]
    if outcome.codes is not None:
        codes, status = outcome.codes, PEOPLE
    elif outcome.disagree:
        status = DISAGREE
    elif item.given is not None:
        codes, status = item.given, BEFORE
    elif skipped:
        told, status = sorted(skipped, key=lambda entry: entry.id), PASSED_OVER
    return CodedItem(item, codes, status, said, model, outcome, told)


def write_export(store: Store, path: Path, raw: bool = False) -> int:
    r"""Write all answers of a review with their codes: those of people, else the machine's.

    Parameters
    ----------
    store : Store
        An open review.
    path : Path
        File for the answers, in the format that its ending says; ``.json`` is for Label Studio.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.

    Returns
    -------
    int
        How many answers were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.exchange import write_export
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
    >>> from nldd.coding.tables.reading import read_table
    >>> coded = Path(folder.name, "coded.csv")
    >>> with Store.open(store, write=False) as opened:
    ...     n = write_export(opened, coded)
    >>> n, read_table(coded).frame.iloc[0, :3].tolist()
    (3, ['cheaper rents', 'housing costs', 'auto'])
    >>> folder.cleanup()
    """
    if path.suffix.lower() == ".json":
        return write_tasks(store, path)
    study = store.study
    with store.snapshot():
        codes = [code for code, *_ in study.codes] + (store.setting("codes") or [])
        order = {code: place for place, code in enumerate(dict.fromkeys(codes))}
        guarantee = "".join(last.facts.get("guarantee") or "" for last in store.rounds()[-1:])
        # Codes that are names of columns may hold the separator: each gets its mark besides.
        marks = [*order] if study.marks else []
        items, rows = [], []
        for found in coded_items(store):
            items.append(found.item)
            own_marks = (int(code in found.codes) for code in marks)
            rows.append((*_added_cells(found, study, order), guarantee, *own_marks))
    names = [*ADDED, own.GUARANTEE, *(own.PREFIX + code for code in marks)]
    table = stored_table(store, items, added=names, cells=rows)
    new = zip(table.header[len(study.header) :], names, strict=True)
    about = {n: own.EXPORT_DESCRIPTIONS[p] for n, p in new if p in own.EXPORT_DESCRIPTIONS}
    how: dict[str, Any] = {"like": table.format, "raw": raw, "descriptions": about}
    write_table(path, table.frame, header=table.header, **how)
    return len(items)


def _added_cells(found: CodedItem, study: Study, order: Mapping[str, int]) -> tuple[Cell, ...]:
    """What the review adds to the row of an answer; codes stand in the order of the codebook."""

    def join(given: Iterable[str]) -> str:
        known = sorted(given, key=lambda code: (order.get(code, len(order)), code))
        return study.separator.join(known) if known else study.none

    said, entries = found.said, found.outcome.entries
    details = {} if said is None else said.details
    notes = [(e.coder, e.after.note) for e in entries if e.after.note]
    people = [f"{e.coder}: {join(e.after.codes or ())}" for e in found.told]
    return (
        join(found.codes),
        found.status,
        "" if said is None else join(said.codes),
        _six_digits(details.get("chance")),
        _six_digits(details.get("theta")),
        str(details.get("why") or ""),
        ", ".join(entry.coder for entry in found.told),
        found.told[-1].time if found.told else "",
        "yes" if any(entry.after.flag for entry in entries) else "no",
        "\n".join(f"{who}: {note}" if len(entries) > 1 else note for who, note in notes),
        "yes" if found.item.drawn else "no",
        found.model,
        "\n".join(people) if len(people) > 1 else "",
    )


def _six_digits(value: float | None) -> Cell:
    return "" if value is None else float(f"{value:.6g}")


TEXT, CODES, ITEM, TABLE = "text", "codes", "nldd_item", "nldd_table"
# In annotations that come from here; Label Studio does not keep them.
UID, CODER, FLAG, NOTE = "nldd_uid", "nldd_coder", "nldd_flag", "nldd_note"
HINT = "export JSON, not JSON-MIN, of tasks that nldd wrote for this review; add codes on the page"
# Of a checksum, enough to tell tables apart; of a name; of the time for an answer.
SHORT, LONGEST_NAME, LONGEST_SECONDS = 16, 100, 86_400.0


class ImportResult(NamedTuple):
    """What came from Label Studio: new decisions, those that were there already, and their coders.

    `n_left` tasks had no annotation; `n_since` annotations were left out, as their coders have
    changed these answers in the review since.
    """

    n_added: int
    n_known: int
    coders: tuple[str, ...]
    n_left: int = 0
    n_since: int = 0

    def __str__(self) -> str:
        by = f" by {', '.join(self.coders)}" if self.coders else ""
        since = "left out, as their coders have changed these answers since; --force takes them"
        more = ((self.n_known, "had come before"), (self.n_since, since))
        parts = [f"{count_noun(self.n_added, 'new decision')}{by}."]
        parts += [f"{count_noun(n, 'annotation')} {what}." for n, what in more if n]
        return " ".join([*parts, f"{count_noun(self.n_left, 'task')} without annotation."])


def labeling_config(study: Study, new_codes: Sequence[str] = ()) -> str:
    """The labeling configuration of a project that takes the tasks of a review."""
    lines = ["<View>", f'  <Text name="{TEXT}" value="${TEXT}"/>']
    lines += [f'  <Choices name="{CODES}" toName="{TEXT}" choice="multiple" showInline="true">']
    for code, *words in (*study.codes, *((code,) for code in new_codes)):
        hint = f" hint={quoteattr(': '.join(filter(None, words)))}" if any(words) else ""
        lines.append(f"    <Choice value={quoteattr(code)}{hint}/>")
    return "\n".join([*lines, "  </Choices>", "</View>", ""])


def write_tasks(store: Store, path: Path) -> int:
    """Write all answers as tasks; how many there are."""
    with store.snapshot():
        tasks = (_task(store.study, found) for found in coded_items(store))
        lines = [json.dumps(task, ensure_ascii=False, default=cell_text) for task in tasks]
    write_atomically(path, ("[" + ",\n".join(lines) + "]\n").encode())
    return len(lines)


def _task(study: Study, found: CodedItem) -> dict[str, Any]:
    number, cells, text, drawn, _ = found.item
    taken = {ITEM, TABLE} if study.text == (TEXT,) else {TEXT, ITEM, TABLE}
    # JSON has no number for what is not one.
    plain = (None if isinstance(cell, float) and not isfinite(cell) else cell for cell in cells)
    data = dict(zip(unique_column_names(study.header, taken), plain, strict=True))
    data |= {TEXT: text, ITEM: number, TABLE: study.table_sha256[:SHORT]}
    entries = found.outcome.entries
    made = [_annotation(entry) for entry in entries if entry.after.state != records.OPEN]
    task = {"id": number, "data": data, "annotations": made, "predictions": []}
    # Who is to decide without a suggestion must not see it there either.
    if (said := found.said) is not None and (made or not (study.blind and drawn)):
        chance, model = said.details.get("chance"), f"{study.model} {found.model}".strip()
        shown = {"model_version": model, "score": 1 - said.doubt if chance is None else chance}
        task["predictions"] = [shown | _result(f"p{number}", said.codes)]
    return task


def _annotation(entry: LogEntry) -> dict[str, Any]:
    """An entry of the log; Label Studio knows people by number or address only."""
    coder, after = entry.coder, entry.after
    who = int(coder) if coder.isdecimal() else {"email": coder} if "@" in coder else None
    found = {"id": entry.id, "lead_time": entry.seconds, "updated_at": entry.time}
    found |= {"was_cancelled": after.state == records.SKIPPED, CODER: coder, UID: entry.uid}
    found |= {FLAG: after.flag, NOTE: after.note} | ({"completed_by": who} if who else {})
    return found | _result(f"a{entry.id}", sorted(after.codes or ()))


def _result(name: str, codes: Sequence[str]) -> dict[str, Any]:
    where = {"id": name, "from_name": CODES, "to_name": TEXT, "type": "choices"}
    return {"result": [where | {"value": {"choices": list(codes)}}] if codes else []}


def read_tasks(store: Store, path: Path, coder: str = "", force: bool = False) -> ImportResult:
    """Let annotations of Label Studio (exported as JSON) join a review, all of them or none.

    They are decisions of the `coder`, or of those who made them there. What came before does not
    come again, nor does what its coder has changed in the review since, if not by `force`.
    """
    (found, n_left), entries, added = _read_entries(store, path, coder), store.entries(), {}
    ids, outcomes = {e.uid: e.id for e in entries}, records.outcomes(entries)
    n_known = n_since = 0
    for entry, origin in found:
        last, after = outcomes.get(entry.item, records.UNTOUCHED).last(entry.coder), entry.after
        # What is skipped has no codes that count.
        same = last.after.state == after.state and after.codes in (None, last.after.codes)
        if same or entry.uid in ids or entry.uid in added:
            n_known += 1
        # Decided after the entry that was exported; by the clocks, if that is not known.
        elif not force and (last.id, last.time) > (ids.get(origin, last.id), entry.time):
            n_since += 1
        else:
            added[entry.uid] = entry
    new = sorted(added.values(), key=lambda entry: entry.time)
    try:
        store.add(new, behind=entries[-1].id if entries else 0)
    except ChangedSinceError:  # somebody has decided meanwhile: look again
        return read_tasks(store, path, coder, force)
    coders = sorted({entry.coder for entry in new})
    return ImportResult(len(new), n_known, tuple(coders), n_left, n_since)


def _read_entries(store: Store, path: Path, coder: str) -> tuple[list[tuple[LogEntry, str]], int]:
    """Decisions, with the uids of the entries that were exported; how many tasks have none."""
    study, numbers, found, where, n_left = store.study, dict[Any, set[int]](), [], path.name, 0
    for number, text in store.texts():
        numbers[number] = {number}
        numbers.setdefault(text.strip(), set()).add(number)
    codes = {code for code, *_ in study.codes} | set(store.setting("codes") or ())
    codes |= {code for each in store.rounds() for code in each.facts.get("codes", ())}
    try:
        for place, task in enumerate(json.loads(path.read_bytes()), 1):
            where = f"{path.name}, task {place}"
            given = task.get("annotations", [])
            items = _find_items(study, (task.get("meta") or {}) | task["data"], numbers)
            _check(len(items) == 1 or not given, f"{len(items)} answers of this table match it")
            _check(len(given) < 2 or not coder, f"{coder} can have made one; leave out --coder")
            n_left += not given
            found += [(_entry(min(items), a, coder, codes), str(a.get(UID))) for a in given]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as why:
        what = why if isinstance(why, ValueError) else "expected data, and choices of codes"
        raise InputError(f"{where}: {what}.", hint=HINT) from None
    return found, n_left


def _find_items(study: Study, data: dict[str, Any], numbers: dict[Any, set[int]]) -> set[int]:
    """The answers that a task may be of: by its number, or else by its text."""
    ours = data.get(TABLE) in (None, study.table_sha256[:SHORT])
    own = "\n".join(str(data.get(name, "")) for name in study.text)
    keys: set[Any] = {str(data.get(TEXT, "")).strip(), own.strip()} - {""}
    if ITEM in data or not ours:
        keys = {data[ITEM]} if ours and type(data[ITEM]) is int else set()
    return {number for key in keys for number in numbers.get(key, ())}


def _entry(item: int, annotation: dict[str, Any], coder: str, known: set[str]) -> LogEntry:
    get = annotation.get
    json.dumps(annotation, ensure_ascii=False).encode()  # refuses halves of characters
    results = [each for each in get("result", []) if each["type"] == "choices"]
    _check(results or not get("result"), "expected choices")
    # In the control of the codes, or in any, if there is none of that name.
    results = [each for each in results if each["from_name"] == CODES] or results
    chosen = frozenset(str(name) for each in results for name in each["value"]["choices"])
    _check(chosen <= known, f"{quote_first(sorted(chosen - known))} is no code of the review")
    who, took, changed = get("completed_by"), get("lead_time"), get("updated_at", get("created_at"))
    who = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
    name = " ".join(str(coder or get(CODER) or who or "Label Studio").split())[:LONGEST_NAME]
    skipped, more = get("was_cancelled") is True, (get(FLAG) is True, str(get(NOTE) or ""))
    state, codes = (records.SKIPPED, None) if skipped else (records.DONE, chosen)
    after = records.Position(state, codes, *more)
    # The same annotation has the same name whenever it comes, and another one once it is changed.
    own = [item, name, get(UID), get("id"), changed, skipped, sorted(chosen)]
    uid = sha256(json.dumps(own).encode()).hexdigest()[:32]
    action = records.SKIP if skipped else records.CODE
    when = datetime.fromisoformat(changed) if changed else datetime.now(UTC)
    seconds = float(took) if isinstance(took, int | float) and 0 <= took <= LONGEST_SECONDS else 0.0
    time, shown = records.utc_text(when), "Label Studio"
    return LogEntry(0, uid, item, name, action, after, time, shown=shown, seconds=seconds)


def _check(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)
