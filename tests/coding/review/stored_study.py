"""A table that a model has coded, both as a review file and as a store, and decisions for both."""

import math
import random
from uuid import UUID

from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.review.prepare import describe_study
from nldd.coding.review.records import Item, LogEntry, Position, Study, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import frame_of
from nldd.coding.tables.writing import write_table

NOW = "2026-01-02T03:04:05.678Z"


def rows_of(path):
    """The cells of a table by the names of its columns."""
    table = read_table(path)
    return table.names, table.frame.to_dict("records"), table.format


def store_of(model, path, store, n_random=0, threshold=0.005, options=TableOptions()):
    """Code a table into a store, and into the review file beside it."""
    coded, review = path.with_name("coded.csv"), path.with_name(f"review{path.suffix}")
    policy = CodingOptions(threshold, n_random=n_random)
    code_table(model, path, coded, policy, review, options)
    said = rows_of(coded)[1]
    table = read_table(path)
    about = Study(
        table=path.name,
        table_sha256=table.sha256,
        model="model.nldd",
        model_sha256="0" * 64,
        **describe_study(model, table),
    )
    cells = table.frame.itertuples(index=False, name=None)
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
    cells = {name: [row[name] for row in rows] for name in columns}
    write_table(review, frame_of(cells), like=form)
