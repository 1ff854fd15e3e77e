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

from nldd._files import replacing
from nldd._wording import count_noun, quote, quote_first
from nldd.coding.coded_table import unique_column_names
from nldd.coding.review.export import CodedItem, coded_items
from nldd.coding.review.log import CODE, DONE, OPEN, SKIP, SKIPPED, LogEntry, Position, latest
from nldd.coding.review.records import Study, current_time
from nldd.coding.review.store import ChangedSinceError, Store
from nldd.coding.tables.cells import Cell, cell_text, is_text
from nldd.exceptions import InputError

TEXT, CODES = "text", "codes"
ITEM, TABLE = "nldd_item", "nldd_table"
# In annotations that come from here; Label Studio does not keep them.
UID, CODER = "nldd_uid", "nldd_coder"
# Of a checksum: enough to tell tables apart.
SHORT = 16
LONGEST_NAME, LONGEST_SECONDS = 100, 86_400.0


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
    known = [(code, ": ".join(filter(None, words))) for code, *words in study.codes]
    choices = [
        f"    <Choice value={quoteattr(code)}{f' hint={quoteattr(hint)}' if hint else ''}/>"
        for code, hint in (*known, *((code, "") for code in new_codes))
    ]
    head = f'  <Choices name="{CODES}" toName="{TEXT}" choice="multiple" showInline="true">'
    text = f'  <Text name="{TEXT}" value="${TEXT}"/>'
    return "\n".join(["<View>", text, head, *choices, "  </Choices>", "</View>", ""])


def write_tasks(store: Store, path: Path) -> int:
    """Write all answers as tasks; how many there are."""
    n = 0
    with store.snapshot(), replacing(path) as stream:
        study = store.study
        for n, found in enumerate(coded_items(store), 1):
            text = json.dumps(_task(study, found), ensure_ascii=False, default=cell_text)
            stream.write(f"{',' if n > 1 else '['}\n{text}".encode())
        stream.write(b"\n]\n" if n else b"[]\n")
    return n


def _task(study: Study, found: CodedItem) -> dict[str, Any]:
    item = found.item
    taken = {ITEM, TABLE} if study.text == (TEXT,) else {TEXT, ITEM, TABLE}
    own = zip(unique_column_names(study.header, taken), map(_value, item.cells), strict=True)
    data = {**dict(own), TEXT: item.text, ITEM: item.item, TABLE: study.table_sha256[:SHORT]}
    by = sorted(found.by.values(), key=lambda entry: entry.id)
    annotations = [_annotation(entry) for entry in by if entry.after.state != OPEN]
    task = {"id": item.item, "data": data, "annotations": annotations, "predictions": []}
    # Who is to decide without a suggestion must not see it there either.
    if found.said is not None and not (study.blind and item.drawn and not annotations):
        chance = found.said.details.get("chance")
        prediction = {
            "model_version": f"{study.model} {found.model}".strip(),
            "score": 1 - found.said.doubt if chance is None else chance,
            "result": _result(f"p{item.item}", found.said.codes),
        }
        task["predictions"] = [prediction]
    return task


def _value(cell: Cell) -> Any:
    """A cell for JSON, which has no number for what is not one."""
    return None if isinstance(cell, float) and not isfinite(cell) else cell


def _annotation(entry: LogEntry) -> dict[str, Any]:
    """An entry of the log; Label Studio knows people by number or address only."""
    coder, after = entry.coder, entry.after
    who: dict[str, Any] = {"completed_by": {"email": coder}} if "@" in coder else {}
    who = {"completed_by": int(coder)} if coder.isdecimal() else who
    return {
        "id": entry.id,
        **who,
        CODER: coder,
        UID: entry.uid,
        "result": _result(f"a{entry.id}", sorted(after.codes or ())),
        "was_cancelled": after.state == SKIPPED,
        "ground_truth": False,
        "created_at": entry.time,
        "updated_at": entry.time,
        "lead_time": entry.seconds,
        **({"nldd_flag": after.flag, "nldd_note": after.note} if after.flag else {}),
    }


def _result(name: str, codes: Sequence[str]) -> list[dict[str, Any]]:
    where = {"id": name, "from_name": CODES, "to_name": TEXT, "type": "choices"}
    return [{**where, "value": {"choices": list(codes)}}] if codes else []


def read_label_studio(
    store: Store, path: Path, coder: str = "", force: bool = False
) -> ImportResult:
    """Let annotations of Label Studio (exported as JSON) join a review, all of them or none.

    They are decisions of the `coder`, or of those who made them there. What came before does not
    come again, nor does what its coder has changed in the review since, if not by `force`.
    """
    tasks = _read_tasks(path)
    finder, entries = _Finder(store), store.entries()
    known, by_item = {entry.uid: entry.id for entry in entries}, latest(entries)
    codes = {code for code, *_ in store.study.codes} | set(store.setting("codes") or ())
    codes |= {code for found in store.rounds() for code in found.facts.get("codes", ())}
    found: list[LogEntry] = []
    n_all = n_left = n_since = 0
    for number, task in enumerate(tasks, 1):
        where = f"{path.name}, task {number}"
        given = task.get("annotations", [])
        item = finder.find(task, where) if given else 0
        n_left += not given
        n_all += len(given)
        for annotation in given:
            entry = _entry(annotation, item, coder, codes, where)
            before = by_item.get(item, {}).get(entry.coder)
            if entry.uid in known or (before and _same(before.after, entry.after)):
                continue
            if before and not force and _is_later(before, annotation, known):
                n_since += 1
                continue
            known[entry.uid] = 0
            found.append(entry)
    _check_people(path, found, coder)
    finder.refuse_lost(path)
    try:
        last = entries[-1].id if entries else 0
        store.add(sorted(found, key=lambda entry: entry.time), behind=last)
    except ChangedSinceError:  # somebody has decided meanwhile: look again
        return read_label_studio(store, path, coder, force)
    names = tuple(sorted({entry.coder for entry in found}))
    return ImportResult(len(found), n_all - len(found) - n_since, names, n_left, n_since)


def _is_later(own: LogEntry, annotation: Mapping[str, Any], known: Mapping[str, int]) -> bool:
    """Whether a coder's last entry came after an annotation.

    After the entry from which that was exported; or by the clocks, where Label Studio has not kept
    which one it was.
    """
    exported = annotation.get(UID)
    if isinstance(exported, str) and exported in known:
        return own.id > known[exported]
    return own.time > _time_of(annotation) > ""


def _same(before: Position, after: Position) -> bool:
    """Whether two positions say the same; what is skipped has no codes that count."""
    return before.state == after.state and (after.state != DONE or before.codes == after.codes)


def _read_tasks(path: Path) -> list[Mapping[str, Any]]:
    hint = "in Label Studio: Export, then JSON"
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is no JSON: {error}.", hint=hint) from None
    if not (isinstance(found, list) and all(isinstance(task, dict) for task in found)):
        raise InputError(f"{path.name} is no list of tasks.", hint=hint)
    if lost := next((n for n, task in enumerate(found, 1) if not _is_task(task)), None):
        what = "expected data and annotations, as in a file of the kind JSON, not JSON-MIN"
        raise InputError(f"{path.name}, task {lost}: {what}.", hint=hint)
    return found


def _is_task(task: Mapping[str, Any]) -> bool:
    given = task.get("annotations", [])
    kinds = isinstance(task.get("data"), dict) and isinstance(given, list)
    return kinds and all(isinstance(each, dict) for each in given)


class _Finder:
    """Finds the answers of tasks: by their number, or by a text that only one of them has."""

    def __init__(self, store: Store) -> None:
        self.store, self.study = store, store.study
        self._numbers = {item.item for item in store.items()}
        self._texts: defaultdict[str, list[int]] | None = None
        self._lost: list[str] = []
        self._several: list[str] = []

    def find(self, task: Mapping[str, Any], where: str) -> int:
        """The number of a task's answer; 0 for one that is not found, which is refused later."""
        meta = task.get("meta") if isinstance(task.get("meta"), dict) else {}
        known = {**(meta or {}), **task["data"]}
        if ITEM not in known:
            return self._by_text(known, where)
        table, item = known.get(TABLE), known[ITEM]
        own = self.study.table_sha256[:SHORT]
        if table not in (None, own):
            hint = f"give tasks that nldd review export made from {self.store.path.name}"
            raise InputError(f"{where}: it belongs to another table.", hint=hint)
        if type(item) is not int or item not in self._numbers:
            hint = f"leave {ITEM} in the data of a task as nldd wrote it"
            raise InputError(f"{where}: there is no answer {quote(str(item))}.", hint=hint)
        return item

    def _by_text(self, known: Mapping[str, Any], where: str) -> int:
        if self._texts is None:
            self._texts = defaultdict(list)
            for item in self.store.items():
                self._texts[item.text.strip()].append(item.item)
        own = "\n".join(str(known.get(name, "")) for name in self.study.text)
        texts = {str(known.get(TEXT, "")).strip(), own.strip()} - {""}
        found = {item for text in texts for item in self._texts.get(text, ())}
        if len(found) != 1:
            (self._several if found else self._lost).append(where)
            return 0
        return found.pop()

    def refuse_lost(self, path: Path) -> None:
        """Refuse the file where tasks are no answer of the review, or might be several."""
        hint = f"let tasks have their {ITEM}, as nldd review export writes them"
        for lost, what in (
            (self._lost, "no answer of the review has their text"),
            (self._several, "several answers have their text"),
        ):
            if lost:
                which = f"{count_noun(len(lost), 'task')} ({lost[0].rpartition(', ')[2]} first)"
                raise InputError(f"{path.name}: {which}: {what}.", hint=hint)


def _entry(
    annotation: Mapping[str, Any], item: int, coder: str, codes: set[str], where: str
) -> LogEntry:
    name = coder or str(annotation.get(CODER) or "") or _person(annotation.get("completed_by"))
    name, note = " ".join(name.split())[:LONGEST_NAME], str(annotation.get("nldd_note") or "")
    if not (is_text(name) and is_text(note)):
        hint = "take the broken character out of the file"
        raise InputError(f"{where}: a name or a note holds half of a character.", hint=hint)
    chosen = _choices(annotation, where)
    if unknown := chosen - codes:
        expected = f"expected {quote_first(sorted(codes))}"
        hint = "add the code on the page first, or correct it in Label Studio"
        message = f"{where}: {quote_first(sorted(unknown))} is no code of the review"
        raise InputError(f"{message}; {expected}.", hint=hint)
    skipped = annotation.get("was_cancelled") is True
    time = _time_of(annotation)
    after = Position(
        SKIPPED if skipped else DONE,
        None if skipped else frozenset(chosen),
        annotation.get("nldd_flag") is True,
        note,
    )
    # The same annotation has the same name whenever it comes, and another one once it is changed.
    own = [annotation.get(UID), annotation.get("id"), time]
    content = json.dumps([item, name, own, skipped, sorted(chosen)], default=str)
    uid = sha256(content.encode()).hexdigest()[:32]
    took = annotation.get("lead_time")
    is_time = isinstance(took, int | float) and 0 <= took <= LONGEST_SECONDS
    seconds = float(took) if is_time and took is not None else 0.0
    action, shown = SKIP if skipped else CODE, "Label Studio"
    return LogEntry(
        0, uid, item, name, action, after, time or current_time(), shown=shown, seconds=seconds
    )


def _time_of(annotation: Mapping[str, Any]) -> str:
    """When an annotation was last changed, as the log has it; empty if it does not say."""
    given = annotation.get("updated_at") or annotation.get("created_at")
    try:
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        return ""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _choices(annotation: Mapping[str, Any], where: str) -> set[str]:
    """What was chosen in the control of the codes, or in any, if there is none of that name."""
    result = annotation.get("result", [])
    hint = "use the labeling configuration that nldd review export --config writes"
    try:
        chosen = [each for each in result if each["type"] == "choices"]
        ours = [each for each in chosen if each["from_name"] == CODES] or chosen
        found = {str(name) for each in ours for name in each["value"]["choices"]}
    except (TypeError, KeyError):
        raise InputError(f"{where}: the result of an annotation is damaged.", hint=hint) from None
    if result and not chosen:
        kinds = quote_first(sorted({str(each["type"]) for each in result}))
        raise InputError(f"{where}: expected choices; got {kinds}.", hint=hint)
    return found


def _person(completed_by: Any) -> str:
    """Who made an annotation, as Label Studio tells it."""
    if isinstance(completed_by, dict):
        names = (completed_by.get("first_name"), completed_by.get("last_name"))
        named = " ".join(str(name) for name in names if name)
        return str(completed_by.get("email") or named or completed_by.get("id") or "Label Studio")
    return "Label Studio" if completed_by is None else str(completed_by)


def _check_people(path: Path, found: Sequence[LogEntry], coder: str) -> None:
    """Refuse to put annotations of several people under one name, where they would hide others."""
    items = [entry.item for entry in found if entry.item]
    if coder and len(set(items)) < len(items):
        message = f"{path.name}: some tasks have several annotations; {coder} can have made one."
        raise InputError(message, hint="leave out --coder, so that each keeps its own name")
