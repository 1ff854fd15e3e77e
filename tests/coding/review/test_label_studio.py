"""Tasks for Label Studio, and annotations that come from there."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coding.review.made_review import CODES, decide, latest, log_of, make_review
from nldd.coding.review.exchange import labeling_config, read_tasks, write_export
from nldd.coding.review.store import Store
from nldd.exceptions import InputError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "new.review.db"
    make_review(path, 8, n_drawn=2)
    return path


@pytest.fixture
def review(made, tmp_path):
    return Path(shutil.copy(made, tmp_path))


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
    return {key: entry.after.codes for key, entry in latest(log_of(store)).items()}


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
