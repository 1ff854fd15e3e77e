"""What people decided in a review: what joins a model is what would join from a coded table."""

import datetime
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from coding.review.made_review import decide, drawn_in, end_round, make_review, said_in
from coding_tables import HEADER, answers, call, write_csv
from nldd.coding.audit import judge_checks
from nldd.coding.columns import LISTED, ColumnSpec
from nldd.coding.decisions import read_coded
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Settings
from nldd.coding.model_file import load_coding_model
from nldd.coding.review.desk import Desk
from nldd.coding.review.rounds import prepare_review
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
REQUESTS = {
    "list": {"labels": "codes", "features": ("age",)},
    "columns": {"labels": "code 1,code 2", "features": ("age",)},
    "marks": {"label_columns": ",".join(CODES), "features": ("age",)},
    "text alone": {"labels": "codes"},
}
NEW = answers(30, seed=1)
RIGHT = {i: set(row[-1].split(";")) for i, row in enumerate(NEW, 1)}
PROMISE = GuaranteeTarget(0.93, 0.5, "subset", "theta")
FAST = Settings(n_folds=2, n_jobs=1)


def spread(rows, layout):
    """Coded rows as tables hold them: a list, several columns, or columns of 0 and 1."""
    sets = [row[-1].split(";") if row[-1] else [] for row in rows]
    if layout == "columns":
        names, cells = ("code 1", "code 2"), [[*codes, "", ""][:2] for codes in sets]
    elif layout == "marks":
        marks = [[int(name in codes) for name in CODES] for codes in sets]
        each = zip(marks, rows, strict=True)
        names, cells = CODES, [[""] * 5 if row[-1] is None else mark for mark, row in each]
    else:
        names, cells = ("codes",), [[row[-1] or ""] for row in rows]
    own = slice(1, 2) if layout == "text alone" else slice(0, 4)
    table = [(*row[own], *more) for row, more in zip(rows, cells, strict=True)]
    return (*HEADER[own], *names), table


@cache
def fitted_file(layout, separator):
    """The bytes of a model, fitted once."""
    header, rows = spread(answers(60), layout)
    with TemporaryDirectory() as folder:
        path, out = Path(folder, "answers.csv"), Path(folder, "model.nldd")
        write_csv(path, rows, header, delimiter=separator)
        fit_table(path, out, ColumnSpec(("answer",), **REQUESTS[layout]), FAST)
        return out.read_bytes()


@pytest.fixture
def begin(tmp_path):
    """Begin a review of thirty new answers, with a model of sixty."""

    def begun(layout="list", separator=",", rows=NEW, **how):
        places = [tmp_path / name for name in ("model.nldd", "new.csv", "new.review.db")]
        places[0].write_bytes(fitted_file(layout, separator))
        own = slice(1, 2) if layout == "text alone" else slice(0, 4)
        write_csv(places[1], [row[own] for row in rows], HEADER[own], delimiter=separator)
        prepare_review(*places, PROMISE, **how)
        return load_coding_model(places[0]), places[2]

    return begun


def update(store, **more):
    return update_model(store.with_name("model.nldd"), store, n_jobs=1, **more)


def taken(path, columns):
    """The decided answers of a table or a review, their codes, and how many are left."""
    found, decisions = read_coded(path, columns, TableOptions())
    decided = decisions.decided
    return found[decided], decisions[decided], len(decisions) - len(decided)


def codes_by_row(path, columns):
    found, decisions, _ = taken(path, columns)
    return dict(zip(found.rows, decisions.codes, strict=True))


def notes_of(path):
    return taken(path, LISTED)[1].notes


@pytest.mark.parametrize(("layout", "separator"), [("list", ","), ("columns", ";"), ("marks", ",")])
def test_a_review_joins_as_a_table_of_the_same_decisions_does(layout, separator, tmp_path, begin):
    model, store = begin(layout, separator, n_audit=8)
    sure = {item for item, said in said_in(store).items() if said.status == "auto"}
    drawn = drawn_in(store)
    # All but two of the drawn answers, and others that the machine would have coded.
    chosen = {i: RIGHT[i] for i in RIGHT if i not in drawn[:2] and (i in drawn or i < 20)}
    for_people = [i for i in RIGHT if i in drawn or i in chosen or i not in sure]
    if layout == "marks":
        chosen[drawn[-1]] = set()
    decide(store, chosen)
    cells = [";".join(sorted(chosen[i])) if i in chosen else None for i in for_people]
    rows = [(*NEW[i - 1][:4], c) for i, c in zip(for_people, cells, strict=True)]
    header, rows = spread(rows, layout)
    rows = [(*row, "yes" if i in drawn else "no") for i, row in zip(for_people, rows, strict=True)]
    table = write_csv(tmp_path / "t.csv", rows, (*header, "nldd_drawn"), delimiter=separator)
    (a, by_store, n_left), (b, by_table, n) = (taken(p, model.columns) for p in (store, table))
    assert (len(chosen) > 12, n_left > 2) == (True, True)
    assert by_store.codes == by_table.codes == list(chosen.values())
    assert {*by_store.coders} == {"Ann"}
    assert (a.ids, a.contents(), n_left) == (b.ids, b.contents(), n)
    assert by_store.drawn == by_table.drawn
    # A row of a review is known by its number, too.
    assert [keys[1:] for keys in a.keys] == b.keys
    if layout == "list":
        one, other = (
            update_model(tmp_path / "model.nldd", path, path.with_suffix(".nldd"), n_jobs=1).model
            for path in (store, table)
        )
        assert (one.labels, one.drawn.tolist()) == (other.labels, other.drawn.tolist())
        assert one.answers.contents() == other.answers.contents()
        assert np.array_equal(one.Y, other.Y)
        assert one.select(PROMISE).threshold == other.select(PROMISE).threshold
        assert len(one.answers) == 60 + len(chosen)
        assert one.drawn.sum() == 60 + len({*drawn} & {*chosen})
        assert one.history[-1].file == "new.review.db"


def test_drawn_answers_that_are_passed_over_are_told(tmp_path):
    store = tmp_path / "new.review.db"
    make_review(store, 60, n_drawn=20)
    with Store.open(store) as opened:
        desk = Desk(opened, "Ann")
        order = [item for item in desk.next_items("file", 0, 60) if item in drawn_in(store)]
    decide(store, {item: {"pay"} for item in order[:5]})
    assert notes_of(store) == []  # the others have not come yet
    decide(store, {item: {"pay"} for item in order[10:12]})
    assert notes_of(store)[0].startswith("5 answers drawn at random, skipped, passed over or in")
    decide(store, dict.fromkeys(order[15:17]), action="skip")
    assert notes_of(store)[0].startswith("7 answers drawn at random")


def test_without_ids_answers_of_a_review_are_known_by_their_rows(tmp_path, begin):
    old, store = begin("text alone", rows=[*NEW[:-1], NEW[0]], n_audit=20)
    drawn = drawn_in(store)
    assert not any(old.answers.keys)
    assert set(old.answers.texts) & {NEW[i - 1][1] for i in drawn}
    decide(store, {item: RIGHT[item] for item in drawn} | {1: {"pay"}, 30: {"pay"}})
    decided = {*drawn, 1, 30}
    # What equals an answer of the model in text and codes joins as well: it is another person's.
    model = update(store).model
    assert (len(model.answers), model.drawn.sum()) == (60 + len(decided), 60 + len(drawn))
    with pytest.raises(InputError, match=r"has these answers already, since .*new.review.db"):
        update(store)
    # A decision that is changed replaces the old one, of that answer alone.
    decide(store, {30: {"food"}})
    step = update(store)
    assert (len(step.model.answers), step.n_corrected) == (60 + len(decided), 1)
    names = [keys[0].rpartition(":")[2] if keys else "" for keys in step.model.answers.keys]
    places = [names.index("1"), names.index("30")]
    assert step.model.codes(step.model.Y[places]) == [("pay",), ("food",)]
    assert len({step.model.answers.texts[place] for place in places}) == 1
    # One that is in dispute since stays as it is, and that is told.
    decide(store, {30: {"rooms"}}, "Bob")
    decide(store, {next(i for i in RIGHT if i not in decided): {"pay"}})
    again = update(store)
    assert len(again.model.answers) == 61 + len(decided)
    assert "1 answer of the model undone, skipped or in dispute since: " in str(again.notes)
    # A table that is no store joins as before, and the others are known no less.
    rows = [(f"another answer {i}", "pay") for i in range(3)]
    write_csv(tmp_path / "more.csv", rows, ("answer", "codes"))
    last = update_model(tmp_path / "model.nldd", tmp_path / "more.csv", n_jobs=1).model
    assert last.answers.keys == [*again.model.answers.keys, (), (), ()]


def test_a_checksum_is_of_the_decisions_not_of_the_file(tmp_path):
    store = tmp_path / "new.review.db"
    make_review(store, 5)
    sums = []
    for code in ("pay", "food", "pay"):
        decide(store, {1: {code}})
        sums.append(taken(store, LISTED)[1].sha256)
    assert sums[0] == sums[2] != sums[1]


def test_any_code_travels_and_the_empty_set_does_too(begin):
    model, store = begin()
    odd = ["NA", "a;b", "[x]", "'=1+1", "(no code)", "-", "2", "naïve", '"quoted"', "a,'=b"]
    given = {i: {code} for i, code in enumerate(odd, 1)} | {11: set(odd), 12: set(), 13: {"pay"}}
    decide(store, given)
    assert codes_by_row(store, model.columns) == given
    assert not [note for note in notes_of(store) if "--sep" in note]
    model = update(store).model
    assert model.codes(model.Y)[model.answers.texts.index(NEW[11][1], 60)] == ()


def test_typed_cells_and_what_people_did_not_settle(tmp_path):
    day, path, store = datetime.date(2024, 2, 29), tmp_path / "new.xlsx", tmp_path / "new.review.db"
    rows = [(int(name[1:]), text, float(age or 30), day) for name, text, age, *_ in answers(40)]
    codes = [";".join(sorted(RIGHT[i % 30 + 1])) for i in range(1, 31)]
    for name, part, cells in (("answers", rows[:30], codes), ("new", rows[30:], [None] * 10)):
        columns = dict(zip(("id", "answer", "age", "day"), zip(*part, strict=True), strict=True))
        write_table(tmp_path / f"{name}.xlsx", frame_of({**columns, "codes": cells}))
    spec = ColumnSpec(("answer",), "codes", features=("age",))
    model = fit_table(tmp_path / "answers.xlsx", tmp_path / "model.nldd", spec, FAST).model
    prepare_review(tmp_path / "model.nldd", path, store, PROMISE)
    with Store.open(store) as opened:
        first = next(opened.items())
    assert first.cells[:2] == (31, rows[30][1])
    assert isinstance(first.cells[3], datetime.date)
    decide(store, {1: {"pay"}, 2: {"food"}, 3: {"rooms"}, 4: {"pay"}})
    decide(store, {1: {"pay"}, 2: {"rooms"}, 3: {"food"}}, "Bob")
    decide(store, {3: {"food"}}, "Cleo", "settle")
    decide(store, {4: {"pay"}}, flag=True, note="sure?")
    decide(store, {5: None}, action="skip")
    (last,) = decide(store, {6: {"food"}})
    decide(store, {6: None}, action="undo", undoes=last.id)
    found, decisions, _ = taken(store, model.columns)
    assert codes_by_row(store, model.columns) == {1: {"pay"}, 3: {"food"}, 4: {"pay"}}
    assert decisions.drawn == [False] * 3
    assert decisions.coders == ["Ann, Bob", "Cleo", "Ann"]
    assert decisions.notes == [
        "1 answer on which coders disagree: not taken; settle them on the page.",
        "1 answer with a flag: taken as they are coded.",
    ]
    assert all(len(keys) == 2 for keys in found.keys)


def test_codes_without_a_column_of_their_own_are_not_taken(begin):
    model, store = begin("marks")
    decide(store, {1: {"pay", "parking"}, 2: {"pay"}})
    decisions = taken(store, model.columns)[1]
    assert decisions.codes == [{"pay"}]
    assert decisions.notes[0].startswith("1 answer with 'parking': not taken, as the model has no")
    # A later model calls two of its columns by one name: the first gets the mark.
    columns = {"work": "managers", "pay": "pay", "parking": "parking"}
    end_round(store, 1, codes=["work", "pay"], columns=columns)
    decide(store, {1: {"parking"}, 3: {"work", "pay"}})
    decisions = taken(store, model.columns)[1]
    assert decisions.codes == [{"pay"}, {"managers", "pay"}]
    assert decisions.notes[0].startswith("1 answer with 'parking'")


def test_commands_take_a_store(tmp_path, begin, capsys):
    _, store = begin(n_audit=10)
    model, coded, drawn = tmp_path / "model.nldd", tmp_path / "coded.csv", drawn_in(store)
    decide(store, {item: RIGHT[item] for item in drawn} | {drawn[0]: {"parkng"}})
    promise = ("--target-accuracy", "0.93", "--confidence", "0.5", "--rank-by", "theta")
    assert call("predict", model, tmp_path / "new.csv", "-o", coded, *promise) == 0
    shares = []
    for words in ((coded, "--checked", store), (store,)):
        capsys.readouterr()
        assert call("frequencies", model, *words, "--json") == 0
        shares.append(json.loads(capsys.readouterr().out))
    assert shares[0] == shares[1]
    assert (shares[0]["n_answers"], shares[0]["n_people"]) == (30, len(drawn))
    assert [code["n_people"] for code in shares[0]["codes"] if code["code"] == "parkng"] == [1]
    assert call("review", "export", store, "-o", tmp_path / "export.csv") == 0
    assert call("frequencies", model, tmp_path / "export.csv") == 1
    assert "export.csv is an export of a review" in capsys.readouterr().err
    words = ("update", model, store, "--no-report", "--jobs", "1")
    assert call(*words, "--accept-suggestions") == 1
    assert "once it is decided" in capsys.readouterr().err
    assert call(*words) == 0
    assert "New codes: 'parkng'" in capsys.readouterr().err
    assert len(load_coding_model(model).answers) == 60 + len(drawn)


def test_a_store_without_decisions_says_so(begin):
    with pytest.raises(InputError, match="people have not agreed yet"):
        update(begin()[1])


def test_drawn_answers_tell_the_accuracy_as_an_audit_does(tmp_path, capsys):
    store = tmp_path / "new.review.db"
    right = make_review(store, 60, n_drawn=40, share=0.7, target=0.6)
    with Store.open(store) as opened, pytest.raises(InputError, match="has been decided yet"):
        audit_of(opened)
    said, drawn = said_in(store), drawn_in(store)
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
    text = " ".join(capsys.readouterr().out.split())
    assert "or to settle: 4 drawn answers. Whether the target of 99 % is kept is told" in text
    decide(store, {item: right[item] for item in drawn[-4:]})
    assert call("audit", store, "--target-accuracy", "0.99", "--json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "broken"
    assert call("audit", store, store) == 1
    with pytest.raises(InputError, match="a database, such as a review of nldd") as refused:
        read_table(store)
    assert "nldd review export" in refused.value.hint
