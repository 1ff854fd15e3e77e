"""A table that a model has coded, both as a review file and as a store, and decisions for both."""

import math
import random
from uuid import UUID

from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.model import checksum
from nldd.coding.review.log import LogEntry, Position
from nldd.coding.review.records import Item, Study, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.review.store_tables import describe_table
from nldd.coding.tables.reading import TableOptions, open_table
from nldd.coding.tables.writer import create_table

NOW = "2026-01-02T03:04:05.678Z"


def rows_of(path):
    """The cells of a table by the names of its columns."""
    with open_table(path) as table:
        rows = [dict(zip(table.names, row, strict=True)) for b in table.blocks() for row in b.rows]
        return table.names, rows, table.format


def store_of(model, path, store, n_random=0, threshold=0.005, options=TableOptions()):
    """Code a table into a store, and into the review file beside it."""
    coded, review = path.with_name("coded.csv"), path.with_name(f"review{path.suffix}")
    policy = CodingOptions(threshold, n_random=n_random)
    code_table(model, path, coded, policy, review, options)
    said = rows_of(coded)[1]
    with open_table(path) as table:
        about = Study(
            table=path.name,
            table_sha256=checksum(path),
            model="model.nldd",
            model_sha256="0" * 64,
            header=table.header,
            text=model.columns.text,
            codes=tuple((code, "", "") for code in model.codes_in_order),
            separator=model.columns.codes.separator,
            none=model.columns.codes.none,
            table_format=describe_table(table, model),
        )
        cells = [row for block in table.blocks() for row in block.rows]
    items, suggestions = [], []
    for number, (row, found) in enumerate(zip(cells, said, strict=True), 1):
        drawn = found.get("nldd_drawn") == "yes"
        items.append(Item(number, row, str(row[1]), drawn, None))
        codes = tuple(model.columns.codes.gather([found["nldd_codes"]]) or ())
        doubts = {name: float(found[f"nldd_{name}"] or "nan") for name in ("theta", "chance")}
        doubts = {name: None if math.isnan(value) else value for name, value in doubts.items()}
        likely = bytes(len(model.labels))
        suggestions.append(Suggestion(number, codes, found["nldd_status"], 0.5, likely, doubts))
    with Store.create(store, about) as new:
        new.add_items(items)
        new.add_suggestions(0, suggestions)
        new.finish_round(0, "0" * 64, {"codes": list(model.labels)})
    return coded, review


def entry(item, codes, coder="Ann", action="code", **more):
    """An entry that is not in a store yet."""
    state = {"code": "done", "settle": "done", "skip": "skipped"}.get(action, "open")
    uid = str(UUID(int=random.getrandbits(128)))
    own = {name: more.pop(name) for name in ("flag", "note", "state") if name in more}
    after = Position(
        **{"state": state, "codes": None if codes is None else frozenset(codes), **own}
    )
    return LogEntry(0, more.pop("uid", uid), item, coder, action, after, NOW, **more)


def decide(store, decisions, coder="Ann", **more):
    """Let a coder decide items."""
    with Store.open(store) as opened:
        return opened.add([entry(i, codes, coder, **more) for i, codes in decisions.items()])


def fill_in(review, model, decisions, names):
    """Write decisions into a review file as a person would; `names` are ids of the items.

    Rows come in the order of the table.
    """
    columns, rows, form = rows_of(review)
    place = {name: item for item, name in names.items()}
    rows.sort(key=lambda row: place[row["id"]])
    codes = model.columns.codes
    for row in rows:
        chosen = decisions.get(place[row["id"]])
        cells = [""] * len(codes.names)
        if chosen is not None and codes.listed:
            cells = codes.spread(codes.join(sorted(chosen)))
        elif chosen is not None:
            cells = [int(name in chosen) for name in codes.names]
        row.update(zip(codes.names, cells, strict=True))
        row["nldd_ok"] = "" if chosen is None else "x"
        if chosen is None:
            row["nldd_codes"] = ""
    with create_table(review, columns, like=form) as writer:
        writer.write([row[name] for name in columns] for row in rows)


def to_undo(entries, coder):
    """The entries of a coder's last act that is not undone yet, by the log alone; last first."""
    own = [entry for entry in entries if entry.coder == coder]
    undone = {entry.undoes for entry in own}
    left = [entry for entry in own if entry.action != "undo" and entry.id not in undone]
    if not left:
        return []
    batch = left[-1].batch
    return [e for e in reversed(left) if e is left[-1] or (batch and e.batch == batch)]
