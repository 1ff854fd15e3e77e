"""What leaves a review and comes back: the coded table, tasks of Label Studio."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from coding.review.made_review import CODES, decide, end_round, entry, log_of, make_review, said_in
from nldd.coding.audit import draw_sample
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.decisions import read_coded
from nldd.coding.review.exchange import labeling_config, read_tasks, write_export
from nldd.coding.review.records import Suggestion
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.exceptions import InputError

COLUMNS = Columns(("answer",), CodeColumns(("codes",)))


def exported(store, path, **more):
    with Store.open(store) as opened:
        write_export(opened, path, **more)
    return read_table(path).frame.to_dict("records")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "new.review.db"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "new.review.db"
    make_review(path, 8, n_drawn=2)
    return path


@pytest.fixture
def review(made, tmp_path):
    return Path(shutil.copy(made, tmp_path))


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_an_export_is_of_one_moment(store, tmp_path, monkeypatch, ending):
    make_review(store, 12)
    read = Store.rounds

    def meanwhile(opened):
        """A round ends and somebody decides, while the entries have been read."""
        said = said_in(store).values()
        end_round(store, 1, [s._replace(codes=("food", "rooms")) for s in said])
        decide(store, {1: {"food", "rooms"}})
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
        a: {"codes": "pay", "status": "people", "coder": "Ann", "flag": "yes"},
        b: {"codes": machine, "machine": machine, "status": "disagree", "coder": "Ann, Bob"},
        c: {"codes": "rooms", "status": "people", "coder": "Cleo"},
        d: {"codes": "", "status": "people", "people": ""},
        e: {"status": "skipped", "coder": "Ann"},
        f: {"status": said[f].status, "coder": "", "flag": "no"},
        auto: {"status": "auto", "chance": chance},
    }
    expected[a] |= {"note": "is that so?", "time": "2026-01-02T03:04:05.678Z"}
    expected[b] |= {"people": "Ann: food;pay\nBob: pay"}
    for item, cells in expected.items():
        assert {name: rows[item - 1][f"nldd_{name}"] for name in cells} == cells
    sample = draw_sample(tmp_path / "coded.csv", tmp_path / "sample.csv", 100)
    assert sample.n_auto == sum(row["nldd_status"] == "auto" for row in rows)


def test_the_last_round_counts_and_decided_answers_keep_the_first(store, tmp_path):
    make_review(store, 6, share=0)
    decide(store, {1: {"pay"}})
    again = [Suggestion(i, ("rooms",), "auto", 0.1, b"", {"chance": 0.9}) for i in range(2, 7)]
    end_round(store, 2, again)
    rows = exported(store, tmp_path / "coded.jsonl")
    assert [row["nldd_status"] for row in rows] == ["people", *["auto"] * 5]
    assert rows[0]["nldd_machine"] == ";".join(said_in(store)[1].codes)
    assert {(row["nldd_codes"], row["nldd_chance"]) for row in rows[1:]} == {("rooms", 0.9)}
    assert [row["nldd_model"] for row in rows[:2]][1] == "2" * 12


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


@pytest.mark.parametrize("n", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_exports_and_tables_agree_with_a_naive_replay(made, tmp_path_factory, n):
    @settings(max_examples=n, deadline=None)
    @given(acts=ACTS)
    def agree(acts):
        folder = tmp_path_factory.mktemp("fuzz")
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

    agree()


def tasks_of(store):
    path = store.with_name("tasks.json")
    with Store.open(store) as opened:
        assert write_export(opened, path) == 8
    return json.loads(path.read_text())


def take(store, tasks, coder="", force=False):
    path = store.with_name("annotated.json")
    path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks))
    with Store.open(store) as opened:
        return read_tasks(opened, path, coder, force)


def by_people(store):
    """The codes that each coder gave each item; None where it is skipped."""
    return {(entry.item, entry.coder): entry.after.codes for entry in log_of(store)}


def annotated(task, *codes, **more):
    """A task as Label Studio exports it, where somebody has chosen codes."""
    value = {"choices": list(codes)}
    result = [{"from_name": "codes", "to_name": "text", "type": "choices", "value": value}]
    annotation = {"id": 1001, "completed_by": 10, "result": result if codes else []}
    annotation |= {"was_cancelled": False, "lead_time": 4.288}
    annotation |= {"updated_at": "2026-03-09T22:16:08.728378Z"}
    return {"id": 1, "data": task["data"], "annotations": [annotation | more]}


def test_tasks_have_answers_codes_and_suggestions(review):
    decide(review, {1: {"pay", "food"}, 2: set()}, seconds=3.5)
    decide(review, {1: {"pay"}, 3: None}, "bob@example.org", action="skip")
    with Store.open(review) as opened:
        said = {s.item: s for s in opened.suggestions(0)}
        items = list(opened.items())
        config = ElementTree.fromstring(labeling_config(opened.study, ['a "new" <code>']))
    tasks = tasks_of(review)
    assert [task["data"]["text"] for task in tasks] == [item.text for item in items]
    assert tasks[4]["data"]["id"] == "p005"
    ann, bob = tasks[0]["annotations"]
    assert ann["result"][0]["value"] == {"choices": ["food", "pay"]}
    assert (ann["lead_time"], "completed_by" in ann) == (3.5, False)
    assert bob["completed_by"] == {"email": "bob@example.org"}
    assert bob["was_cancelled"]
    assert (tasks[1]["annotations"][0]["result"], tasks[3]["annotations"]) == ([], [])
    for item, task in zip(items, tasks, strict=True):
        # Who is to decide unaided does not see what the model says.
        blind = item.drawn and not task["annotations"]
        assert len(task["predictions"]) == (not blind)
        for prediction in task["predictions"]:
            (result,) = prediction["result"]
            assert result["value"]["choices"] == list(said[item.item].codes)
            assert prediction["score"] == said[item.item].details["chance"]
            assert prediction["model_version"].startswith("model.nldd ")
    (choices,) = config.iter("Choices")
    assert choices.attrib["choice"] == "multiple"
    assert [c.attrib["value"] for c in choices] == [*CODES, 'a "new" <code>']
    assert (choices.attrib["toName"], config.find("Text").attrib["value"]) == ("text", "$text")


def test_annotations_join_once(review):
    tasks = tasks_of(review)
    given = [
        annotated(tasks[0], "pay", "rooms"),
        annotated(tasks[1]),
        annotated(tasks[2], was_cancelled=True, completed_by={"id": 3, "email": "cleo@x.org"}),
        tasks[3],
    ]
    assert take(review, given) == (3, 0, ("10", "cleo@x.org"), 1, 0)
    cleo = (3, "cleo@x.org")
    assert by_people(review) == {(1, "10"): {"pay", "rooms"}, (2, "10"): set(), cleo: None}
    entry, *_ = log_of(review)
    assert (entry.time, entry.seconds) == ("2026-03-09T22:16:08.728Z", 4.288)
    odd = annotated(tasks[0], "pay", lead_time=10**400, completed_by=" a\n b" + "c" * 200)
    assert [len(name) for name in take(review, [odd]).coders] == [100]
    assert take(review, given)[:2] == (0, 3)
    decide(review, {1: {"food"}}, "10")  # who has thought again is not taken back
    assert take(review, given)[:2] == (0, 3)
    given[0] = annotated(tasks[0], "managers", updated_at="2027-01-01T00:00:00Z")
    assert take(review, given).n_added == 1
    assert by_people(review)[1, "10"] == {"managers"}


def test_what_was_decided_since_the_export_is_not_overwritten(review):
    decide(review, {1: {"pay"}, 2: {"pay"}, 3: {"food"}, 4: {"food"}})
    tasks = tasks_of(review)
    decide(review, {1: {"rooms"}})  # on the page, meanwhile
    tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["managers"]
    # Label Studio does not keep from which entry an annotation came, but when it was made.
    for place, day in ((2, "2026-01-01"), (3, "2026-02-01")):
        made = {"completed_by": {"email": "Ann"}, "updated_at": f"{day}T00:00:00Z"}
        tasks[place] = annotated(tasks[place], "managers", **made)
    assert take(review, tasks) == (2, 0, ("Ann",), 4, 2)
    expected = {1: {"rooms"}, 2: {"managers"}, 3: {"food"}, 4: {"managers"}}
    assert by_people(review) == {(i, "Ann"): codes for i, codes in expected.items()}
    assert take(review, tasks) == (0, 2, (), 4, 2)
    assert take(review, tasks, force=True)[0] == 2
    assert by_people(review)[1, "Ann"] == {"pay"}


def test_what_was_exported_comes_back_elsewhere(review, made, tmp_path):
    decide(review, {1: {"pay"}, 2: set()})
    decide(review, {1: None, 4: None}, "Bob", action="skip")
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(made, tmp_path / "other"))
    tasks = tasks_of(review)
    assert take(review, tasks)[:2] == (0, 4)
    assert take(other, tasks)[:2] == (4, 0)
    assert by_people(other) == by_people(review)


def test_tasks_without_numbers_are_known_by_their_text(tmp_path):
    store = tmp_path / "new.review.db"
    make_review(store, 4, texts=["one", "two", "two", "four"])
    mine, twice, gone = ({"data": {"text": text}} for text in ("four ", "two", "five"))
    assert take(store, [annotated(mine, "pay")], "Ann").coders == ("Ann",)
    for task, words in ((twice, "task 2: 2 answers"), (gone, "task 2: 0 answers")):
        with pytest.raises(InputError, match=words):
            take(store, [annotated(mine, "food"), annotated(task, "food")])
    assert by_people(store) == {(4, "Ann"): {"pay"}}


def numbered(task, **data):
    return annotated({"data": {**task["data"], **data}})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: annotated(t, "salary"), "task 2: 'salary' is no code"),
        (lambda t: {"text": "x", "codes": {"choices": ["pay"]}}, "task 2: expected data"),
        (lambda t: numbered(t, nldd_table="0"), "task 2: .* table"),
        (lambda t: numbered(t, nldd_item=99), "task 2: 0 answers"),
        (lambda t: numbered(t, nldd_item=10**30), "task 2: 0 answers"),
        (lambda t: numbered(t, nldd_item=True), "task 2: 0 answers"),
        (lambda t: numbered(t, nldd_item=[1]), "task 2: 0 answers"),
        (lambda t: annotated(t, result=[{"type": "labels"}]), "task 2: expected choices"),
        (lambda t: annotated(t, result=[{"type": "choices"}]), "task 2: .* choices"),
        (lambda t: annotated(t, result=None), "task 2: .* choices"),
        (lambda t: annotated(t, "pay", completed_by={"email": "\ud800"}), "surrogates"),
        (lambda t: 5, "task 2: expected data"),
    ],
)
def test_nothing_joins_from_a_file_with_a_mistake(review, change, words):
    tasks = tasks_of(review)
    with pytest.raises(InputError, match=words):
        take(review, [annotated(tasks[0], "pay"), change(tasks[1])])
    with pytest.raises(InputError, match="line 1 column 11"):
        take(review, '[{"data": ')
    assert by_people(review) == {}


def test_one_name_is_not_put_on_the_work_of_several(review):
    task = annotated(tasks_of(review)[0], "pay")
    task["annotations"] += annotated(task, "food", id=1002, completed_by=11)["annotations"]
    with pytest.raises(InputError, match="Ann can have made one"):
        take(review, [task], "Ann")
    assert take(review, [task]).coders == ("10", "11")
