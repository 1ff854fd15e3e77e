"""What people and the machine decided, as a table: every row, and what became of it."""

import shutil

import pytest
from hypothesis import given, settings, strategies as st

from coding.review.made_review import CODES, NOW, decide, entry, make_review, rows_of, said_in
from nldd.coding.audit import draw_sample
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.decisions import read_coded
from nldd.coding.review.exchange import write_export
from nldd.coding.review.records import Suggestion
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import TableOptions

COLUMNS = Columns(("answer",), CodeColumns(("codes",)))


def exported(store, path, **more):
    with Store.open(store) as opened:
        write_export(opened, path, **more)
    return rows_of(path)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "new.review.db"


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_an_export_is_of_one_moment(store, tmp_path, monkeypatch, ending):
    make_review(store, 12)
    read = Store.rounds

    def meanwhile(opened):
        """A round ends and somebody decides, while the entries have been read."""
        with Store.open(store) as other:
            said = [s._replace(codes=("food", "rooms")) for s in other.suggestions(0)]
            other.add_suggestions(other.begin_round("2" * 64), said)
            other.finish_round(1, "2" * 64, {"codes": list(CODES)})
            other.add([entry(1, {"food", "rooms"})])
        return read(opened)

    with Store.open(store, write=False) as opened:
        write_export(opened, before := tmp_path / f"before.{ending}")
        monkeypatch.setattr(Store, "rounds", meanwhile)
        write_export(opened, since := tmp_path / f"since.{ending}")
    assert since.read_bytes() == before.read_bytes()


def test_every_row_tells_what_became_of_it(store, tmp_path):
    make_review(store, 12, n_drawn=3)
    said = said_in(store)
    with Store.open(store) as opened:
        items, model = list(opened.items()), opened.study.model_sha256
    auto = next(i for i, s in said.items() if s.status == "auto")
    a, b, c, d, e, f = [i for i in said if i != auto][:6]
    decide(store, {a: {"pay"}, b: {"food", "pay"}, c: {"food"}, d: set()}, seconds=2.5)
    decide(store, {b: {"pay"}, c: {"rooms"}}, "Bob")
    decide(store, {c: {"rooms"}}, "Cleo", action="settle")
    decide(store, {e: None}, action="skip")
    decide(store, {a: {"pay"}}, flag=True, note="is that so?")
    rows = exported(store, tmp_path / "coded.csv")
    added = "codes status machine chance theta why coder time flag note drawn model people"
    names = [f"nldd_{name}" for name in (*added.split(), "guarantee")]
    assert list(rows[0]) == ["id", "answer", "age", "region", *names]
    assert [row["id"] for row in rows] == [item.cells[0] for item in items]
    assert [row["nldd_drawn"] == "yes" for row in rows] == [item.drawn for item in items]
    assert {row["nldd_model"] for row in rows} == {model[:12]}
    machine, chance = ";".join(said[b].codes), f"{said[auto].details['chance']:.6g}"
    expected = {
        a: {"codes": "pay", "status": "people", "coder": "Ann", "time": NOW, "flag": "yes"},
        b: {"codes": machine, "machine": machine, "status": "disagree", "coder": "Ann, Bob"},
        c: {"codes": "rooms", "status": "people", "coder": "Cleo"},
        d: {"codes": "", "status": "people", "people": ""},
        e: {"status": "skipped", "coder": "Ann"},
        f: {"status": said[f].status, "coder": "", "flag": "no"},
        auto: {"status": "auto", "chance": chance},
    }
    expected[a] |= {"note": "is that so?"}
    expected[b] |= {"people": "Ann: food;pay\nBob: pay"}
    for item, cells in expected.items():
        assert {name: rows[item - 1][f"nldd_{name}"] for name in cells} == cells
    sample = draw_sample(tmp_path / "coded.csv", tmp_path / "sample.csv", 100)
    assert sample.n_auto == sum(row["nldd_status"] == "auto" for row in rows)


def test_the_last_round_counts_and_decided_answers_keep_the_first(store, tmp_path):
    make_review(store, 6, share=0)
    decide(store, {1: {"pay"}})
    with Store.open(store) as opened:
        again = [Suggestion(i, ("rooms",), "auto", 0.1, b"", {"chance": 0.9}) for i in range(2, 7)]
        opened.add_suggestions(2, again)
        opened.finish_round(2, "f" * 64, {"codes": list(CODES)})
        first = next(opened.suggestions(0, 1))
    rows = exported(store, tmp_path / "coded.jsonl")
    assert [row["nldd_status"] for row in rows] == ["people", *["auto"] * 5]
    assert rows[0]["nldd_machine"] == ";".join(first.codes)
    assert {(row["nldd_codes"], row["nldd_chance"]) for row in rows[1:]} == {("rooms", 0.9)}
    assert [row["nldd_model"] for row in rows[:2]][1] == "f" * 12


def test_codes_that_are_columns_get_their_marks(store, tmp_path):
    layout = {"names": ("q1", "q2"), "separator": "", "columns": {"food": "q1", "pay; more": "q2"}}
    make_review(store, 3, codes=("food", "pay; more"), table_format={"codes": layout})
    decide(store, {1: {"pay; more"}})
    (row, *_) = exported(store, tmp_path / "coded.csv")
    assert (row["nldd_food"], row["nldd_pay; more"]) == ("0", "1")


CODE_SETS = st.frozensets(st.sampled_from(CODES[:3]), max_size=2)
DEEDS = st.sampled_from(("code", "code", "skip", "settle", "undo", "flag"))
PEOPLE = st.sampled_from(("Ann", "Bob"))
ACTS = st.lists(st.tuples(st.integers(1, 3), PEOPLE, DEEDS, CODE_SETS), max_size=14)


def naive_replay(acts):
    """What each item is in the end, by going through the acts one by one."""
    history, log = {}, []
    for number, (item, coder, action, codes) in enumerate(acts, 1):
        lines = history.setdefault((item, coder), [(0, "", "open", None)])
        _, _, state, held = lines[-1]
        undoes = None
        if action == "undo":
            if len(lines) > 1:
                undoes = lines.pop()[0]
            _, _, state, held = lines[-1]
        elif action == "skip":
            state, held = "skipped", None
        elif action != "flag":
            state, held = "done", codes
        if action != "undo":
            lines.append((number, action, state, held))
        log.append((item, coder, action, state, held, undoes))
    outcomes = {}
    for item in {item for item, *_ in log}:
        own = [lines[1:] for (other, _), lines in history.items() if other == item]
        now = {i: lines[-1][2:] for i, lines in enumerate(own) if lines}
        sets = {held for state, held in now.values() if state == "done"}
        settled = max(
            (line for lines in own for line in lines if line[1] == "settle"), default=None
        )
        decided = [[line for line in lines if line[1] != "flag"][-1:] for lines in own]
        later = {held for lines in decided for n, _, _, held in lines if settled and n > settled[0]}
        if settled and later <= {settled[3], None}:
            outcomes[item] = ("people", settled[3])
        elif len(sets) > 1:
            outcomes[item] = ("disagree", None)
        elif sets:
            outcomes[item] = ("people", sets.pop())
        elif any(state == "skipped" for state, _ in now.values()):
            outcomes[item] = ("skipped", None)
    return log, outcomes


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "made.db"
    make_review(path, 3)
    return path


def agrees_with_a_naive_replay(made, folder, acts):
    shutil.copy(made, folder / "a.db")
    log, outcomes = naive_replay(acts)
    said = said_in(folder / "a.db")
    with Store.open(folder / "a.db") as store:
        store.add(
            entry(i, held, who, act, state=state, undoes=undoes)
            for i, who, act, state, held, undoes in log
        )
    rows = exported(folder / "a.db", folder / "a.jsonl")
    for number, row in enumerate(rows, 1):
        status, codes = outcomes.get(number, (said[number].status, None))
        final = said[number].codes if codes is None else codes
        assert (row["nldd_status"], row["nldd_codes"]) == (status, ";".join(sorted(final)))
    decided = {i: set(codes) for i, (_, codes) in outcomes.items() if codes is not None}
    if decided:
        answers, decisions = read_coded(folder / "a.db", COLUMNS, TableOptions())
        codes = dict(zip(answers.rows, decisions.codes, strict=True))
        assert {row: own for row, own in codes.items() if own is not None} == decided


@settings(max_examples=40, deadline=None)
@given(acts=ACTS)
def test_exports_and_tables_agree_with_a_naive_replay(made, tmp_path_factory, acts):
    agrees_with_a_naive_replay(made, tmp_path_factory.mktemp("fuzz"), acts)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(acts=ACTS)
def test_a_thousand_logs_agree_with_a_naive_replay(made, tmp_path_factory, acts):
    agrees_with_a_naive_replay(made, tmp_path_factory.mktemp("fuzz"), acts)
