"""What people decided on the review page, as answers and decisions, and the table that it is about.

The rows of the table stand in the review file as they were. So its answers are read as those of any
table; decisions come from the log, not from cells.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, repeat, zip_longest
from pathlib import Path

import pandas as pd

from nldd._wording import quote_first
from nldd.coding import columns as own
from nldd.coding.answers import Answers, Decisions
from nldd.coding.code_slips import notes_on_codes
from nldd.coding.columns import AUTO, BY_PEOPLE, CodeColumns, Columns
from nldd.coding.review import records
from nldd.coding.review.desk import random_order
from nldd.coding.review.records import Codes, Item, ItemOutcome, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.rows import read_answers
from nldd.coding.tables.reading import TableOptions, distinct_names
from nldd.coding.tables.spreadsheet import (
    Cell,
    NumberFile,
    Spreadsheet,
    TableFormat,
    cell_text,
    unique_column_names,
)
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
) -> tuple[Spreadsheet, Decisions]:
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


def _first_cells(item: Item, said: Suggestion | None) -> tuple[Cell, ...]:
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
    cells: Sequence[Sequence[Cell]] = (),
) -> Spreadsheet:
    """Rows of the table that a review was made from, with cells of `added` columns.

    If there are numbers beside the table, rows have theirs, by which they are found again.
    """
    study, names = store.study, distinct_names(store.study.header)
    numbers = None if options.numbers is None else NumberFile(options.numbers)
    rows = [[*item.cells, *more] for item, more in zip(items, cells or repeat(()))]  # noqa: B905
    if numbers is not None and own.ROW not in names:
        added = [*added, own.ROW]
        rows = [[*row, item.item] for row, item in zip(rows, items, strict=True)]
    new = unique_column_names(added, {*study.header, *names})
    frame = pd.DataFrame(rows, columns=[*names, *new], dtype=object)
    known = {
        name: study.table_format[name] for name in records.WRITTEN if name in study.table_format
    }
    format, header = TableFormat(**{"kind": "csv", **known}), (*study.header, *new)
    return Spreadsheet(store.path, frame, header, format, [], study.table_sha256, numbers)


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


def is_of_table(store: Store, table: Spreadsheet) -> bool:
    """True if a review holds the rows of a table as they are now, however its file was saved."""
    rows = table.frame.itertuples(index=False, name=None)
    if table.header != store.study.header:
        return False
    both = zip_longest((item.cells for item in store.items()), rows, fillvalue=())
    return all(list(map(cell_text, ours)) == list(map(cell_text, row)) for ours, row in both)
