"""What people decided in a review: what joins a model is what would join from a filled-in file."""

import datetime
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from made_review import make_review
from stored_study import decide, entry, fill_in, store_of

from coding_tables import answers, call, write_csv
from nldd.coding.audit import judge_checks
from nldd.coding.columns import LISTED, ColumnSpec
from nldd.coding.decisions import read_coded
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Settings
from nldd.coding.model_file import load_coding_model
from nldd.coding.review.desk import Desk
from nldd.coding.review.exchange import write_export
from nldd.coding.review.prepare import prepare_review
from nldd.coding.review.store import Store
from nldd.coding.review.views import audit_of
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import frame_of
from nldd.coding.tables.writing import write_table
from nldd.coding.training import fit_table, update_model
from nldd.exceptions import InputError

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


@cache
def fitted_file(layout, n, separator):
    """The bytes of a model, fitted once."""
    header, rows = spread(answers(n), layout)
    request = ColumnSpec(text=("answer",), features=("age",), **REQUESTS[layout])
    with TemporaryDirectory() as folder:
        path, out = Path(folder, "answers.csv"), Path(folder, "model.nldd")
        write_csv(path, rows, header, delimiter=separator)
        fit_table(path, out, request, FAST)
        return out.read_bytes()


def fitted(folder, layout="list", n=60, separator=","):
    (folder / "model.nldd").write_bytes(fitted_file(layout, n, separator))
    return load_coding_model(folder / "model.nldd")


def new_answers(folder, n=30, separator=","):
    rows = [row[:-1] for row in answers(n, seed=1)]
    path = folder / "new.csv"
    write_csv(path, rows, ("id", "answer", "age", "region"), delimiter=separator)
    return path, {number: row[0] for number, row in enumerate(rows, 1)}


def taken(path, columns, known=()):
    """The decided answers of a table or a review, and their codes."""
    found, decisions = read_coded(path, columns, TableOptions(), known=known)
    decided = decisions.decided
    return found[decided], decisions[decided], len(decisions) - len(decided)


def codes_by_row(path, columns):
    found, decisions, _ = taken(path, columns)
    return dict(zip(found.rows, decisions.codes, strict=True))


def notes_of(path):
    return taken(path, LISTED)[1].notes


def same_answers(a, b):
    (answers, decisions, n_left), (others, same, n) = a, b
    assert answers.contents() == others.contents()
    assert (answers.ids, n_left) == (others.ids, n)
    assert (decisions.codes, decisions.drawn) == (same.codes, same.drawn)
    # A row of a review is known by its number, too.
    assert [keys[1:] for keys in answers.keys] == others.keys


def same_model(a, b):
    assert a.labels == b.labels
    assert a.answers.contents() == b.answers.contents()
    assert np.array_equal(a.Y, b.Y)
    assert a.drawn.tolist() == b.drawn.tolist()
    assert (
        a.select(GuaranteeTarget(0.7, 0.5)).threshold
        == b.select(GuaranteeTarget(0.7, 0.5)).threshold
    )


@pytest.mark.parametrize(("layout", "separator"), [("list", ","), ("columns", ";"), ("marks", ",")])
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
    store = tmp_path / "new.review.db"
    by_store = taken(store, model.columns, model.labels)
    assert len(chosen) > 12
    assert by_store[1].codes == [decisions[item] for item in chosen]
    assert {*by_store[1].coders} == {"Ann"}
    same_answers(by_store, taken(review, model.columns, model.labels))
    if layout == "list":
        old = tmp_path / "model.nldd"
        by_file = update_model(old, review, tmp_path / "a.nldd", n_jobs=1)
        by_store = update_model(old, store, tmp_path / "b.nldd", n_jobs=1)
        same_model(by_file.model, by_store.model)
        assert by_store.model.drawn.sum() > 60
        assert len(by_store.model.answers) == 60 + len(chosen)


def test_more_decisions_join_later_and_the_same_ones_do_not_join_again(tmp_path):
    model, store = fitted(tmp_path), tmp_path / "new.review.db"
    path, _ = new_answers(tmp_path)
    store_of(model, path, store, n_random=6)
    with Store.open(store) as opened:
        drawn = [item.item for item in opened.items() if item.drawn]
        others = [item.item for item in opened.items() if not item.drawn]
    first = {item: RIGHT[item] for item in (*drawn[:4], *others[:3])}
    decide(store, first)
    step = update_model(tmp_path / "model.nldd", store, n_jobs=1)
    assert (len(step.model.answers), step.model.drawn.sum()) == (67, 64)
    assert step.model.history[-1].file == "new.review.db"
    with pytest.raises(InputError, match=r"has these answers already, since .*new.review.db"):
        update_model(tmp_path / "model.nldd", store, n_jobs=1)
    decide(store, {drawn[4]: None}, action="skip")
    (note,) = notes_of(store)
    n = 1 + (rank_of(store)[drawn[5]] < max(rank_of(store)[item] for item in drawn[:4]))
    how = "drawn at random, skipped, passed over or in dispute: not taken."
    assert note.startswith(f"{n} answer{'s' * (n > 1)} {how}")
    decide(store, {item: RIGHT[item] for item in drawn[4:]})
    decide(store, {others[0]: {"pay", "rooms"}})
    step = update_model(tmp_path / "model.nldd", store, n_jobs=1)
    assert (len(step.model.answers), step.model.drawn.sum(), step.n_corrected) == (69, 66, 1)
    place = step.model.answers.texts.index(answers(30, seed=1)[others[0] - 1][1])
    assert step.model.codes(step.model.Y)[place] == ("pay", "rooms")


def rank_of(store):
    """When the drawn answers of a store come to people."""
    with Store.open(store) as opened:
        desk = Desk(opened, "Ann")
        places = [place for place in desk.ranked("file") if desk.outlook.drawn[place]]
        return {int(desk.outlook.items[place]): i for i, place in enumerate(places)}


def test_drawn_answers_that_are_passed_over_are_told(tmp_path):
    store = tmp_path / "new.review.db"
    make_review(store, 60, n_drawn=20)
    order = list(rank_of(store))
    decide(store, {item: {"pay"} for item in order[:5]})
    assert notes_of(store) == []  # the others have not come yet
    decide(store, {item: {"pay"} for item in order[10:12]})
    assert notes_of(store)[0].startswith(
        "5 answers drawn at random, skipped, passed over or in dispute"
    )
    decide(store, dict.fromkeys(order[15:17]), action="skip")
    assert notes_of(store)[0].startswith("7 answers drawn at random")


def without_ids(folder):
    """A model, a review of thirty new answers, and the right codes; there is nothing but text."""
    rows = [row[1:] for row in answers(60)]
    write_csv(
        folder / "answers.csv", [(text, codes) for text, *_, codes in rows], ("answer", "codes")
    )
    fit_table(folder / "answers.csv", folder / "model.nldd", ColumnSpec(("answer",), "codes"), FAST)
    new = [(row[1],) for row in answers(30, seed=1)]
    write_csv(folder / "new.csv", [*new[:-1], new[0]], ("answer",))
    promise = GuaranteeTarget(0.7, 0.5, "subset", "theta")
    store = folder / "new.review.db"
    prepare_review(folder / "model.nldd", folder / "new.csv", store, promise, n_audit=20)
    return folder / "model.nldd", store


def test_without_ids_answers_of_a_review_are_known_by_their_rows(tmp_path):
    path, store = without_ids(tmp_path)
    how = {"n_jobs": 1}
    with Store.open(store) as opened:
        drawn = [item.item for item in opened.items() if item.drawn]
    old = load_coding_model(path)
    assert not any(old.answers.keys)
    assert set(old.answers.texts) & {answers(30, seed=1)[i - 1][1] for i in drawn}
    decide(store, {item: RIGHT[item] for item in drawn} | {1: {"pay"}, 30: {"pay"}})
    taken = {*drawn, 1, 30}
    # What equals an answer of the model in text and codes joins as well: it is another person's.
    model = update_model(path, store, **how).model
    assert len(model.answers) == 60 + len(taken)
    assert model.drawn.sum() == 60 + len(drawn)
    with pytest.raises(InputError, match="has these answers already"):
        update_model(path, store, **how)
    # A decision that is changed replaces the old one, of that answer alone.
    decide(store, {30: {"food"}})
    step = update_model(path, store, **how)
    assert (len(step.model.answers), step.n_corrected) == (60 + len(taken), 1)
    names = [keys[0].rpartition(":")[2] if keys else "" for keys in step.model.answers.keys]
    places = [names.index("1"), names.index("30")]
    assert step.model.codes(step.model.Y[places]) == [("pay",), ("food",)]
    assert len({step.model.answers.texts[place] for place in places}) == 1
    # One that is in dispute since stays as it is, and that is told.
    decide(store, {30: {"rooms"}}, "Bob")
    decide(store, {next(i for i in range(1, 31) if i not in taken): {"pay"}})
    again = update_model(path, store, **how)
    assert len(again.model.answers) == 61 + len(taken)
    assert "1 answer of the model undone, skipped or in dispute since: " in str(again.notes)
    assert load_coding_model(path).answers.keys == again.model.answers.keys
    # A table that is no store joins as before, and the others are known no less.
    rows = [(f"another answer {i}", "pay") for i in range(3)]
    write_csv(tmp_path / "more.csv", rows, ("answer", "codes"))
    last = update_model(path, tmp_path / "more.csv", n_jobs=1).model
    assert last.answers.keys == [*again.model.answers.keys, (), (), ()]


def test_a_checksum_is_of_the_decisions_not_of_the_file(tmp_path):
    store = tmp_path / "new.review.db"
    make_review(store, 5)
    decide(store, {1: {"pay"}})
    first = taken(store, LISTED)[1].sha256
    decide(store, {1: {"food"}})
    assert taken(store, LISTED)[1].sha256 != first
    decide(store, {1: {"pay"}})
    assert taken(store, LISTED)[1].sha256 == first


def test_any_code_travels_and_the_empty_set_does_too(tmp_path):
    model, store = fitted(tmp_path), tmp_path / "new.review.db"
    path, _ = new_answers(tmp_path)
    store_of(model, path, store)
    odd = ["NA", "a;b", "[x]", "'=1+1", "(no code)", "-", "2", "naïve", '"quoted"', "a,'=b"]
    given = {i: {code} for i, code in enumerate(odd, 1)} | {11: set(odd), 12: set(), 13: {"pay"}}
    decide(store, given)
    assert codes_by_row(store, model.columns) == given
    assert not [note for note in notes_of(store) if "--sep" in note]
    step = update_model(tmp_path / "model.nldd", store, n_jobs=1)
    Y = dict(zip(step.model.answers.texts[60:], step.model.codes(step.model.Y)[60:], strict=True))
    assert Y[answers(30, seed=1)[11][1]] == ()


def test_typed_cells_and_what_people_did_not_settle(tmp_path):
    header = ("id", "answer", "age", "day")
    day = datetime.date(2024, 2, 29)
    rows = [(int(name[1:]), text, float(age or 30), day) for name, text, age, *_ in answers(40)]
    for name, part in (("answers.xlsx", rows[:30]), ("new.xlsx", rows[30:])):
        codes = (";".join(sorted(RIGHT[row[0] % 30 + 1])) for row in part)
        cells = [code if name != "new.xlsx" else None for code in codes]
        columns = [*zip(*part, strict=True), cells]
        frame = frame_of(dict(zip((*header, "codes"), columns, strict=True)))
        write_table(tmp_path / name, frame)
    request = ColumnSpec(("answer",), "codes", features=("age",))
    model = fit_table(tmp_path / "answers.xlsx", tmp_path / "model.nldd", request, FAST).model
    store = tmp_path / "new.review.db"
    store_of(model, tmp_path / "new.xlsx", store)
    with Store.open(store) as opened:
        first = next(opened.items())
        assert opened.study.header == (*header, "codes")
        assert first.cells[:2] == (31, rows[30][1])
        assert isinstance(first.cells[3], datetime.date)
    decide(store, {1: {"pay"}, 2: {"food"}, 3: {"rooms"}, 4: {"pay"}})
    decide(store, {1: {"pay"}, 2: {"rooms"}, 3: {"food"}}, "Bob")
    decide(store, {3: {"food"}}, "Cleo", action="settle")
    decide(store, {4: {"pay"}}, action="code", flag=True, note="sure?")
    decide(store, {5: None}, action="skip")
    with Store.open(store) as opened:
        (last,) = opened.add([entry(6, {"food"})])
        opened.add([entry(6, None, action="undo", undoes=last.id)])
    found, decisions, n_left = taken(store, model.columns)
    assert codes_by_row(store, model.columns) == {1: {"pay"}, 3: {"food"}, 4: {"pay"}}
    assert (n_left, decisions.drawn) == (7, [False] * 3)
    assert decisions.coders == ["Ann, Bob", "Cleo", "Ann"]
    assert decisions.notes == [
        "1 answer on which coders disagree: not taken; settle them on the page.",
        "1 answer with a flag: taken as they are coded.",
    ]
    assert all(len(keys) == 2 for keys in found.keys)


def test_codes_without_a_column_of_their_own_are_not_taken(tmp_path):
    model, store = fitted(tmp_path, "marks"), tmp_path / "new.review.db"
    path, _ = new_answers(tmp_path)
    store_of(model, path, store)
    decide(store, {1: {"pay", "parking"}, 2: {"pay"}})
    decisions = taken(store, model.columns)[1]
    assert decisions.codes == [{"pay"}]
    assert decisions.notes[0].startswith("1 answer with 'parking': not taken, as the model has no")
    # A later model calls two of its columns by one name: the first gets the mark.
    columns = {"work": "managers", "pay": "pay", "parking": "parking"}
    with Store.open(store) as opened:
        opened.finish_round(1, "", {"codes": ["work", "pay"], "columns": columns})
    decide(store, {1: {"parking"}, 3: {"work", "pay"}})
    decisions = taken(store, model.columns)[1]
    assert decisions.codes == [{"pay"}, {"managers", "pay"}]
    assert decisions.notes[0].startswith("1 answer with 'parking'")


def test_commands_take_a_store(tmp_path, capsys):
    model, store = fitted(tmp_path), tmp_path / "new.review.db"
    path, _ = new_answers(tmp_path)
    coded, _ = store_of(model, path, store, n_random=10)
    with Store.open(store) as opened:
        drawn = [item.item for item in opened.items() if item.drawn]
    decide(store, {item: RIGHT[item] for item in drawn} | {drawn[0]: {"parkng"}})
    shares = []
    for words in ((coded, "--checked", store), (store,)):
        assert call("frequencies", tmp_path / "model.nldd", *words, "--json") == 0
        shares.append(json.loads(capsys.readouterr().out))
    assert shares[0] == shares[1]
    assert (shares[0]["n_answers"], shares[0]["n_people"]) == (30, 10)
    assert [code["n_people"] for code in shares[0]["codes"] if code["code"] == "parkng"] == [1]
    with Store.open(store) as opened:
        write_export(opened, tmp_path / "export.csv")
    assert call("frequencies", tmp_path / "model.nldd", tmp_path / "export.csv") == 1
    assert "export.csv is an export of a review" in capsys.readouterr().err
    words = ("update", tmp_path / "model.nldd", store, "--no-report", "--jobs", "1")
    assert call(*words, "--accept-suggestions") == 1
    assert "once it is decided" in capsys.readouterr().err
    assert call(*words) == 0
    assert "New codes: 'parkng'" in capsys.readouterr().err
    assert len(load_coding_model(tmp_path / "model.nldd").answers) == 70


def test_a_store_without_decisions_or_of_something_else_says_so(tmp_path):
    fitted(tmp_path)
    make_review(tmp_path / "a.review.db", 20)
    with pytest.raises(InputError, match="people have not agreed yet"):
        update_model(tmp_path / "model.nldd", tmp_path / "a.review.db")


def test_drawn_answers_tell_the_accuracy_as_an_audit_does(tmp_path, capsys):
    store = tmp_path / "new.review.db"
    right = make_review(store, 60, n_drawn=40, share=0.7, target=0.6)
    with Store.open(store) as opened, pytest.raises(InputError, match="has been decided yet"):
        audit_of(opened)
    with Store.open(store) as opened:
        drawn = [item.item for item in opened.items() if item.drawn]
        said = {s.item: s for s in opened.suggestions(0)}
    decide(store, {item: right[item] for item in drawn[:-4]})
    auto = [i for i in drawn if said[i].status == "auto"]
    checks = [right[i] == set(said[i].codes) for i in auto if i in drawn[:-4]]
    expected = judge_checks(checks, len(auto) - len(checks), 0.6)
    with Store.open(store) as opened:
        found = audit_of(opened).to_dict()
    told = ("n_checked", "n_right", "n_open", "accuracy", "low", "high", "target")
    assert {name: found[name] for name in told} == {n: getattr(expected, n) for n in told}
    assert 0 < expected.n_right < expected.n_checked > 20
    assert call("audit", store, "--json") == 0
    assert json.loads(capsys.readouterr().out) == found
    # The verdict waits for the last: who stops where it looks good would find it kept too often.
    assert (found["n_drawn"], found["n_left"], found["verdict"]) == (40, 4, None)
    assert call("audit", store, "--target-accuracy", "0.99") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "or to settle: 4 drawn answers. Whether the target of 99 % is kept is told" in said
    decide(store, {item: right[item] for item in drawn[-4:]})
    assert call("audit", store, "--target-accuracy", "0.99", "--json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "broken"
    assert call("audit", store, store) == 1
    with pytest.raises(InputError, match="a database, such as a review of nldd") as found:
        read_table(store)
    assert "nldd review export" in found.value.hint
