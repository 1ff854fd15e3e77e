"""Answers, codes and suggestions as tasks of Label Studio, and annotations from there.

A task has the answer as ``text``, and its number as ``nldd_item``, by which it is known when it
comes back. Codes are the choices of one control, ``codes``; what the model said is a prediction.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from nldd._files import write_atomically
from nldd._wording import quote_first
from nldd.coding.coded_table import unique_column_names
from nldd.coding.review.export import CodedItem, coded_items
from nldd.coding.review.log import CODE, DONE, OPEN, SKIP, SKIPPED, LogEntry, Position, latest
from nldd.coding.review.records import Study, current_time
from nldd.coding.review.store import ChangedSinceError, Store
from nldd.coding.tables.cells import cell_text
from nldd.exceptions import InputError

TEXT, CODES, ITEM, TABLE = "text", "codes", "nldd_item", "nldd_table"
# In annotations that come from here; Label Studio does not keep them.
UID, CODER, FLAG, NOTE = "nldd_uid", "nldd_coder", "nldd_flag", "nldd_note"
# Of a checksum: enough to tell tables apart.
SHORT, LONGEST_NAME, LONGEST_SECONDS = 16, 100, 86_400.0
Fields = Mapping[str, Any]


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
        study = store.study
        tasks = (_task(study, found) for found in coded_items(store))
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
    by = sorted(found.by.values(), key=lambda entry: entry.id)
    made = [_annotation(entry) for entry in by if entry.after.state != OPEN]
    task = {"id": number, "data": data, "annotations": made, "predictions": []}
    # Who is to decide without a suggestion must not see it there either.
    if (said := found.said) is not None and (made or not (study.blind and drawn)):
        chance = said.details.get("chance")
        score = {"score": 1 - said.doubt if chance is None else chance}
        model = {"model_version": f"{study.model} {found.model}".strip()}
        task["predictions"] = [model | score | _result(f"p{number}", said.codes)]
    return task


def _annotation(entry: LogEntry) -> dict[str, Any]:
    """An entry of the log; Label Studio knows people by number or address only."""
    coder, after = entry.coder, entry.after
    who = int(coder) if coder.isdecimal() else {"email": coder} if "@" in coder else None
    found = {"id": entry.id, CODER: coder, UID: entry.uid, "lead_time": entry.seconds}
    found |= {"was_cancelled": after.state == SKIPPED, "updated_at": entry.time}
    found |= {"completed_by": who} if who is not None else {}
    found |= {FLAG: after.flag, NOTE: after.note} if after.flag else {}
    return found | _result(f"a{entry.id}", sorted(after.codes or ()))


def _result(name: str, codes: Sequence[str]) -> dict[str, Any]:
    where = {"id": name, "from_name": CODES, "to_name": TEXT, "type": "choices"}
    return {"result": [where | {"value": {"choices": list(codes)}}] if codes else []}


def read_label_studio(
    store: Store, path: Path, coder: str = "", force: bool = False
) -> ImportResult:
    """Let annotations of Label Studio (exported as JSON) join a review, all of them or none.

    They are decisions of the `coder`, or of those who made them there. What came before does not
    come again, nor does what its coder has changed in the review since, if not by `force`.
    """
    tasks, entries, added = _read_tasks(path, store), store.entries(), list[LogEntry]()
    known, by_item, n_known, n_since = {e.uid: e.id for e in entries}, latest(entries), 0, 0
    for item, given in tasks:
        for annotation, chosen in given:
            entry = _entry(item, annotation, chosen, coder)
            before, exported = by_item.get(item, {}).get(entry.coder), str(annotation.get(UID))
            if entry.uid in known or (before and _agree(before.after, entry.after)):
                n_known += 1
            elif before and not force and _is_later(before, entry, known.get(exported)):
                n_since += 1
            else:
                known[entry.uid] = 0
                added.append(entry)
    if coder and len({entry.item for entry in added}) < len(added):  # the last would hide others
        what = f"some tasks have several annotations; {coder} can have made one"
        raise _refusal(path.name, what, "leave out --coder, so that each keeps its own name")
    try:
        store.add(sorted(added, key=lambda e: e.time), behind=entries[-1].id if entries else 0)
    except ChangedSinceError:  # somebody has decided meanwhile: look again
        return read_label_studio(store, path, coder, force)
    coders, n_left = {entry.coder for entry in added}, sum(not given for _, given in tasks)
    return ImportResult(len(added), n_known, tuple(sorted(coders)), n_left, n_since)


def _is_later(before: LogEntry, entry: LogEntry, exported: int | None) -> bool:
    """Tell if an entry came after the one exported; by the clocks, if that is not known."""
    return before.time > entry.time if exported is None else before.id > exported


def _agree(before: Position, after: Position) -> bool:
    """Compare two positions; what is skipped has no codes that count."""
    return before.state == after.state and after.codes in (None, before.codes)


def _read_tasks(path: Path, store: Store) -> list[tuple[int, list[tuple[Fields, frozenset[str]]]]]:
    """The numbers of the answers of all tasks, and their annotations with what was chosen."""
    try:
        tasks = [_parts(task) for task in json.loads(path.read_bytes())]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        what = f"expected tasks with data, and annotations with choices; got {error!r}"
        hint = "in Label Studio: Export, then JSON, not JSON-MIN; choices as --config writes them"
        raise _refusal(path.name, what, hint) from None
    study, table, found = store.study, store.study.table_sha256[:SHORT], []
    numbers = defaultdict[Any, set[int]](set)
    for number, text in store.texts():
        numbers[number], numbers[text.strip()] = {number}, numbers[text.strip()] | {number}
    codes = {code for code, *_ in study.codes} | set(store.setting("codes") or ())
    codes |= {code for each in store.rounds() for code in each.facts.get("codes", ())}
    for place, (data, given) in enumerate(tasks, 1):
        own = "\n".join(str(data.get(name, "")) for name in study.text)
        keys = [data[ITEM]] if ITEM in data else [str(data.get(TEXT, "")).strip(), own.strip()]
        items = {n for key in keys if key and type(key) in (int, str) for n in numbers.get(key, ())}
        unknown = {code for _, chosen in given for code in chosen} - codes
        what = "several answers have its text" if items else "no answer has its number or text"
        what = "" if len(items) == 1 else what
        what = f"{quote_first(sorted(unknown))} is no code of the review" if unknown else what
        what = "it is of another table" if data.get(TABLE) not in (None, table) else what
        if given and what:
            hint = f"leave tasks as exported from {store.path.name}; add codes on the page"
            raise _refusal(f"{path.name}, task {place}", what, hint)
        found.append((min(items, default=0), given))
    return found


def _parts(task: Any) -> tuple[Fields, list[tuple[Fields, frozenset[str]]]]:
    """The data of a task, and its annotations with the choices in them.

    Those in the control of the codes count, or in any, if there is none of that name.
    """
    found = []
    for annotation in task.get("annotations", []):
        json.dumps(annotation, ensure_ascii=False).encode()  # refuses halves of characters
        result = annotation.get("result", [])
        chosen = [each for each in result if each["type"] == "choices"]
        if result and not chosen:
            raise ValueError(f"{quote_first(str(each['type']) for each in result)}")
        ours = [each for each in chosen if each["from_name"] == CODES] or chosen
        codes = frozenset(str(name) for each in ours for name in each["value"]["choices"])
        found.append((annotation, codes))
    return {**(task.get("meta") or {}), **task["data"]}, found


def _entry(item: int, annotation: Fields, chosen: frozenset[str], coder: str) -> LogEntry:
    who, took = annotation.get("completed_by"), annotation.get("lead_time")
    who = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
    name = " ".join(str(coder or annotation.get(CODER) or who or "Label Studio").split())
    name, note = name[:LONGEST_NAME], str(annotation.get(NOTE) or "")
    try:
        changed = str(annotation.get("updated_at") or annotation.get("created_at"))
        moment = datetime.fromisoformat(changed)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        time = ""
    skipped = annotation.get("was_cancelled") is True
    # The same annotation has the same name whenever it comes, and another one once it is changed.
    own = [item, name, annotation.get(UID), annotation.get("id"), time, skipped, sorted(chosen)]
    uid, flag = sha256(json.dumps(own).encode()).hexdigest()[:32], annotation.get(FLAG) is True
    after = Position(SKIPPED, None, flag, note) if skipped else Position(DONE, chosen, flag, note)
    is_time = isinstance(took, int | float) and 0 <= took <= LONGEST_SECONDS
    how = (0, "", "Label Studio", float(took) if is_time and took else 0.0)
    what, when = SKIP if skipped else CODE, time or current_time()
    return LogEntry(0, uid, item, name, what, after, when, *how)


def _refusal(where: str, what: str, hint: str) -> InputError:
    return InputError(f"{where}: {what}.", hint=hint)
