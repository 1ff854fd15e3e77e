"""Stores of reviews with made-up answers, suggestions and decisions, without any model."""

import random
from itertools import count

from coding_tables import PHRASES, answers
from nldd.coding.review.records import Item, LogEntry, Position, Study, Suggestion
from nldd.coding.review.store import Store

CODES = tuple(sorted(PHRASES))
HEADER = ("id", "answer", "age", "region")
NOW = "2026-01-02T03:04:05.678Z"
STATES = {"code": "done", "settle": "done", "skip": "skipped"}
NUMBERS = count(1)


def make_review(path, n=40, *, codes=CODES, n_drawn=0, share=0.5, seed=0, texts=None, **study):
    """A store of n answers, of which about that share is for the machine; `texts` come first.

    Suggestions are right three times in four where they are sure; returned are the right codes.
    A code may come with its name and description.
    """
    rng = random.Random(seed)
    rows = answers(n, seed)
    right = {}
    listed = [c if isinstance(c, tuple) else (c, "", f"what belongs to {c}") for c in codes]
    codes = [code for code, *_ in listed]
    usual = {"table": "new.csv", "table_sha256": "ab" * 32, "header": HEADER, "n_audit": n_drawn}
    usual |= {"model": "model.nldd", "model_sha256": "1" * 64, "text": ("answer",)}
    about = Study(**usual | {"codes": tuple(listed)} | study)
    drawn = set(rng.sample(range(1, n + 1), n_drawn))
    items, said = [], []
    for number, (name, text, age, region, own) in enumerate(rows, 1):
        given = [code for code in own.split(";") if code in codes] or [rng.choice(codes)]
        right[number] = set(given)
        if texts and number <= len(texts):
            text = texts[number - 1]
        items.append(Item(number, (name, text, age, region), text, number in drawn, None))
        doubt = round(rng.random(), 6)
        found = given if rng.random() < 0.75 else [rng.choice(codes)]
        likely = bytes(200 if code in found else rng.randrange(60) for code in codes)
        details = {
            "theta": doubt / 4,
            "chance": 1 - doubt,
            "why": f"not sure enough of '{found[0]}' (60 % likely)",
            "next": [[code] for code in codes if code not in found][:3],
            "nearest": [{"text": PHRASES[code][0], "codes": [code]} for code in CODES[:3]],
            "empty": not text.strip(),
        }
        status = "auto" if doubt < share and text.strip() else "review"
        said.append(Suggestion(number, tuple(found), status, doubt, likely, details))
    n_auto = sum(s.status == "auto" for s in said)
    facts = {"codes": codes, "n_auto": n_auto, "n_review": n - n_auto, "n_decided": 0}
    with Store.create(path, about) as store:
        store.add_items(items)
        store.add_suggestions(0, said)
        store.finish_round(0, about.model_sha256, facts)
    return right


def entry(item, codes, coder="Ann", action="code", *, state=None, flag=False, note="", **more):
    """An entry that is not in a store yet."""
    codes = None if codes is None else frozenset(codes)
    after = Position(state or STATES.get(action, "open"), codes, flag, note)
    own = {"uid": f"e{next(NUMBERS)}", "time": NOW, **more}
    return LogEntry(id=0, item=item, coder=coder, action=action, after=after, **own)


def decide(path, decisions, coder="Ann", action="code", **more):
    """Let a coder decide items; or do something else with them."""
    with Store.open(path) as store:
        return store.add([entry(i, codes, coder, action, **more) for i, codes in decisions.items()])


def end_round(path, number, suggestions=(), **facts):
    """Let another process finish a round; its model is known by the number."""
    with Store.open(path) as store:
        store.add_suggestions(number, suggestions)
        store.finish_round(number, str(number) * 64, {"codes": list(CODES), **facts})


def log_of(path):
    with Store.open(path, write=False) as store:
        return store.entries()


def said_in(path, number=0):
    """The suggestions of a round, by item."""
    with Store.open(path, write=False) as store:
        return {said.item: said for said in store.suggestions(number)}


def drawn_in(path):
    with Store.open(path, write=False) as store:
        return [item.item for item in store.items() if item.drawn]


def latest(entries):
    """The last entry for each item by each coder; entries come in their order."""
    return {(entry.item, entry.coder): entry for entry in entries}
