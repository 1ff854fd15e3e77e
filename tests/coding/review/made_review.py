"""Stores of reviews with made-up answers and suggestions: no model is fitted for them."""

import random
from hashlib import sha256

from coding_tables import PHRASES, answers
from nldd.coding.review.records import Item, Study, Suggestion
from nldd.coding.review.store import Store

CODES = tuple(sorted(PHRASES))
HEADER = ("id", "answer", "age", "region")


def make_review(path, n=40, *, codes=CODES, n_drawn=0, share=0.5, seed=0, texts=None, **study):
    """A store of n answers, of which about that share is for the machine; `texts` come first.

    Suggestions are right three times in four where they are sure; returned are the right codes.
    """
    rng = random.Random(seed)
    rows = answers(n, seed)
    right = {}
    usual = {"table_sha256": sha256(b"new.csv").hexdigest(), "header": HEADER, "n_audit": n_drawn}
    about = Study(
        table="new.csv",
        model="model.nldd",
        model_sha256=sha256(b"model.nldd").hexdigest(),
        text=("answer",),
        codes=tuple((code, "", f"what belongs to {code}") for code in codes),
        **{**usual, **study},
    )
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
            "nearest": [
                {"text": PHRASES[CODES[i % 5]][0], "codes": [CODES[i % 5]]} for i in range(3)
            ],
            "empty": not text.strip(),
        }
        status = "auto" if doubt < share and text.strip() else "review"
        said.append(Suggestion(number, tuple(found), status, doubt, likely, details))
    n_auto = sum(s.status == "auto" for s in said)
    facts = {"codes": list(codes), "threshold": share, "rank_by": "chance", "n_auto": n_auto}
    facts |= {"n_review": n - n_auto, "n_known": 120, "n_drawn": 120, "n_decided": 0}
    with Store.create(path, about) as store:
        store.add_items(items)
        store.add_suggestions(0, said)
        store.finish_round(0, about.model_sha256, {**facts, "share": n_auto / n})
    return right
