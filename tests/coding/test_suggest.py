"""Groups of answers without codes: words that occur together, in any script, and what is none."""

import random

import numpy as np
import pytest

from coding_tables import QUICK, answers, read_csv, refuse, succeed, write_csv
from nldd.coding.answers import Answers
from nldd.coding.suggestions import suggest_codes
from nldd.datasets import load_survey
from nldd.exceptions import InputError

BUS = ("the bus is late", "late bus again", "a bus every hour", "night bus please", "bus too late")
RENT = ("rent is high", "high rent", "lower the rent", "rent control now", "the rent is too high")


def suggest(texts, **options):
    return suggest_codes(Answers(list(texts)), **options)


def test_answers_about_two_things_are_two_groups():
    found = suggest([*BUS * 2, *RENT * 3, "late bus, high rent", "", "zebra"], n_groups=2)
    assert [group.code for group in found.groups] == ["g1", "g2"]
    rent, bus = found.groups
    assert "rent" in rent.words[:2] and "bus" in bus.words[:2]
    assert set(rent.examples) <= set(RENT) and set(bus.examples) <= set(BUS)
    assert len(set(rent.examples)) == 3
    rows = list(found.rows)
    assert rows[:10] == [(1,)] * 10
    assert rows[10:25] == [(0,)] * 15
    assert rows[25:] == [(0, 1), (), ()]
    assert (rent.n_answers, bus.n_answers) == (16, 11)
    assert (len(found.rows), found.n_answers, found.n_left) == (28, 27, 1)


def test_more_answers_than_are_learned_from_all_get_their_group(monkeypatch):
    monkeypatch.setattr("nldd.coding.suggestions.LEARNED", 20)
    found = suggest([*BUS * 8, *RENT * 8], n_groups=2)
    shared = [set.intersection(*map(set, rows)) for rows in (found.rows[:40], found.rows[40:])]
    assert sorted(map(sorted, shared)) == [[0], [1]]


def test_scripts_without_spaces_and_emoji_are_grouped():
    bus = ["公交车太晚", "公交车太少", "晚上没有公交车", "公交车票贵"]
    rent = ["房租太高", "房租贵", "降低房租", "房租一直涨"]
    texts = [*bus * 3, *rent * 3]
    found = suggest(texts, n_groups=2)
    assert {found.rows[:12], found.rows[12:]} == {((0,),) * 12, ((1,),) * 12}
    assert "房租" in {word for group in found.groups for word in group.words}
    smiles = suggest(["🙂", "🙂", "🙁", "🙁", "🚲", "🚲", "🚲"], n_groups=3)
    assert smiles.groups[0].words == ("🚲",)
    assert {group.words for group in smiles.groups} == {("🚲",), ("🙂",), ("🙁",)}
    assert smiles.rows[4:] == ((0,), (0,), (0,))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["", " ", ""], "answers are all empty"),
        (["Bus.", "bus.", " BUS. "], "answers are all the same"),
        (["one", "two", "three"], "answers share no words"),
    ],
)
def test_what_cannot_be_grouped_is_said(texts, message):
    with pytest.raises(InputError, match=message) as caught:
        suggest(texts)
    assert caught.value.hint


def test_the_survey_is_grouped_about_as_it_was_coded():
    """Compared by the mean over codes of the F-measure with the group that fits best."""
    survey = load_survey()
    rows = survey.rows[:700]
    found = suggest([row[1] for row in rows], n_groups=12)
    G = np.array([[g in row for g in range(12)] for row in found.rows])
    coded = [row[-1].split(";") for row in rows]
    Y = np.array([[code in codes for code in survey.codes] for codes in coded])
    assert best_f(Y, G) > 0.38
    assert best_f(Y, G[random.Random(0).sample(range(len(G)), len(G))]) < 0.25


def best_f(Y, G):
    """Mean over codes of the F-measure with the group that fits best."""
    both = Y.T.astype(float) @ G
    return (2 * both / (Y.sum(axis=0)[:, None] + G.sum(axis=0))).max(axis=1).mean()


def test_a_draft_is_written_corrected_and_learned_from(tmp_path, capsys):
    rows = [row[:-1] for row in answers(50)]
    path = write_csv(tmp_path / "answers.csv", rows, ("id", "answer", "age", "region"))
    book, draft = tmp_path / "codebook.csv", tmp_path / "draft.csv"
    words = ("suggest", path, "--text", "answer", "--groups", "5", "-o", book, "--assign", draft)
    assert "This is a draft" in succeed(capsys, *words).out
    header, groups = read_csv(book)
    assert header[:5] == ("code", "name", "description", "merged_into", "order")
    assert header[5:] == ("words", "answers", "example_1", "example_2", "example_3")
    assert [(group[0], group[4]) for group in groups] == [(f"g{k}", str(k)) for k in range(1, 6)]
    names, drafted = read_csv(draft)
    assert names == ("id", "answer", "age", "region", "nldd_draft_codes")
    assert [row[:4] for row in drafted] == rows
    counts = [sum(f"g{k}" in row[4].split(";") for row in drafted) for k in range(1, 6)]
    assert counts == [int(group[6]) for group in groups]
    fitted = ("fit", draft, "--text", "answer", "--labels", "nldd_draft_codes", *QUICK)
    done = succeed(capsys, *fitted, "-o", tmp_path / "model.nldd", "--json")
    assert len(done.json["labels"]) == 5
    before = book.read_bytes(), draft.read_bytes()
    assert "already exists" in refuse(capsys, *words)[0]
    again = succeed(capsys, *words, "--force", "--json").json
    assert (book.read_bytes(), draft.read_bytes()) == before
    assert [group["n_answers"] for group in again["groups"]] == counts


def test_the_column_must_be_named(tmp_path, capsys):
    path = write_csv(tmp_path / "answers.csv", answers(5))
    _, hint = refuse(capsys, "suggest", path, "-o", tmp_path / "book.csv")
    assert "--text NAME" in hint and "'id', 'answer'" in hint
