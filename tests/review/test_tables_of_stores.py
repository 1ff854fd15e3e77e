"""A store read as a table: what joins a model from it is what would join from a filled-in file."""


import numpy as np
import pytest
from stored_study import decide, fill_in, store_of

from coding_tables import answers, write_csv
from nldd.coding import Request, Settings, fit_table, update_model
from nldd.review import Store, StoreOptions

# With few answers, one of the distances may get no weight.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.ZeroWeightWarning")
CODES = ("food", "home office", "managers", "pay", "rooms")


def spread(rows, layout):
    """Coded rows as tables hold them: a list, several columns, or columns of 0 and 1."""
    *own, listed = zip(*rows, strict=True)
    sets = [cell.split(";") if cell else [] for cell in listed]
    if layout == "list":
        names, cells = ("codes",), [[cell] for cell in listed]
    elif layout == "columns":
        names, cells = ("code 1", "code 2"), [[*codes, "", ""][:2] for codes in sets]
    else:
        names, cells = CODES, [[int(name in codes) for name in CODES] for codes in sets]
    header = ("id", "answer", "age", "region", *names)
    return header, [(*row, *more) for row, more in zip(zip(*own, strict=True), cells, strict=True)]


REQUESTS = {
    "list": {"labels": "codes"},
    "columns": {"labels": "code 1,code 2"},
    "marks": {"label_columns": ",".join(CODES)},
}
RIGHT = {i: set(row[-1].split(";")) for i, row in enumerate(answers(30, seed=1), 1)}
FAST = Settings(n_folds=2, n_jobs=1)


def fitted(folder, layout="list", n=60, separator=",", **request):
    header, rows = spread(answers(n), layout)
    write_csv(folder / "answers.csv", rows, header, delimiter=separator)
    words = {"text": ("answer",), "features": ("age",), **REQUESTS[layout], **request}
    return fit_table(folder / "answers.csv", folder / "model.nldd", Request(**words), FAST).model


def new_answers(folder, n=30, separator=","):
    rows = [row[:-1] for row in answers(n, seed=1)]
    path = folder / "new.csv"
    write_csv(path, rows, ("id", "answer", "age", "region"), delimiter=separator)
    return path, {number: row[0] for number, row in enumerate(rows, 1)}


def same_model(a, b):
    assert a.labels == b.labels
    assert a.answers.texts == b.answers.texts
    assert np.array_equal(a.answers.numbers, b.answers.numbers, equal_nan=True)
    assert a.identities == b.identities
    assert np.array_equal(a.Y, b.Y)
    assert a.drawn.tolist() == b.drawn.tolist()
    assert a.select(0.7, 0.5).threshold == b.select(0.7, 0.5).threshold


@pytest.mark.parametrize(("layout", "separator"), [("list", ";"), ("columns", ","), ("marks", ",")])
def test_update_from_a_store_is_that_from_a_filled_in_review(layout, separator, tmp_path):
    model = fitted(tmp_path, layout, separator=separator)
    path, names = new_answers(tmp_path, separator=separator)
    _, review = store_of(model, path, tmp_path / "new.review.db", n_random=8)
    with Store.open(tmp_path / "new.review.db") as store:
        for_people = [i.item for i in store.items() if i.drawn]
        for_people += [s.item for s in store.suggestions(0) if s.status == "review"]
    chosen = sorted(set(for_people))[:20]
    decisions = {item: RIGHT[item] for item in chosen}
    if layout == "marks":
        decisions[chosen[0]] = set()
    decide(tmp_path / "new.review.db", decisions)
    fill_in(review, model, decisions, names)
    old = tmp_path / "model.nldd"
    by_file = update_model(old, review, tmp_path / "a.nldd", n_jobs=1)
    by_store = update_model(
        old, tmp_path / "new.review.db", tmp_path / "b.nldd", StoreOptions(), n_jobs=1
    )
    same_model(by_file.model, by_store.model)
    assert by_store.model.drawn.sum() > 60
    assert len(chosen) > 12
    assert len(by_store.model.answers) == 60 + len(chosen)
    assert by_store.table.n_set_aside == by_file.table.n_set_aside
