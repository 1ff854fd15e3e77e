"""Suspected miscodings: planted ones are found, and identical answers with different codes."""

import numpy as np
import pytest

from coding.made_up import fitted, made_up
from coding_tables import answers
from nldd.coding.model import Settings
from nldd.coding.suspects import IDENTICAL, UNLIKE, find_suspects


def plant(codes, share, seed):
    """Codes of which some are those of another answer; and which."""
    rng = np.random.default_rng(seed)
    wrong = rng.choice(len(codes), int(share * len(codes)), replace=False).tolist()
    given = list(codes)
    for i in wrong:
        others = [other for other in codes if other != codes[i]]
        given[i] = others[rng.integers(len(others))]
    return given, set(wrong)


@pytest.fixture(scope="module")
def planted():
    rows = answers(300)
    truth = [set(row[-1].split(";")) for row in rows]
    given, wrong = plant(truth, 0.05, seed=0)
    texts = [row[1] for row in rows]
    return texts, truth, given, wrong, fitted(texts, given, settings=Settings(n_folds=3))


def test_planted_errors_are_found_and_little_else(planted):
    texts, truth, given, wrong, model = planted
    found = find_suspects(model).items
    places = {suspect.number - 1 for suspect in found}
    assert len(wrong) == 15
    assert len(places & wrong) >= 12  # recall: by chance, 5 % of as many would be
    assert len(places & wrong) >= 0.75 * len(places)
    for suspect in found:
        i = suspect.number - 1
        assert (suspect.text, set(suspect.codes)) == (texts[i], given[i])
        assert suspect.why
        near = suspect.nearest - 1
        assert near != i
        assert (suspect.nearest_text, set(suspect.nearest_codes)) == (texts[near], given[near])
    right = [set(s.likely) == truth[s.number - 1] for s in found if s.number - 1 in wrong]
    assert sum(right) >= 0.9 * len(right)


def test_unlike_are_those_that_a_sure_machine_codes_otherwise(planted):
    *_, model = planted
    differ = (model.evidence.Y != model.Y).sum(axis=1)
    sure = model.evidence.chance
    usual = np.mean(sure[differ == 0])
    expected = [i for i in range(300) if differ[i] and differ[i] * sure[i] >= usual]
    found = find_suspects(model).items
    assert sorted(s.number - 1 for s in found if UNLIKE in s.why) == expected
    assert expected
    scores = [s.expected_wrong for s in found]
    assert scores == sorted(scores, reverse=True)
    for s in found:
        assert s.expected_wrong == s.sure * len(set(s.codes) ^ set(s.likely))


@pytest.mark.filterwarnings("ignore::nldd.exceptions.ZeroWeightWarning")
def test_identical_answers_with_other_codes_are_found():
    texts, codes = made_up(40, seed=3)
    texts += ["Free WLAN!", "free  wlan", "FREE WLAN...", "a zoo", "A zoo.", "..", "?"]
    codes += [{"bus"}, {"bus"}, {"park"}, {"rent"}, {"bus"}, {"rent"}, {"bus"}]
    found = {s.number: s for s in find_suspects(fitted(texts, codes)).items if IDENTICAL in s.why}
    # Two of three say bus; of the zoo, nobody can tell; texts without words are not identical.
    assert {43, 44, 45} <= set(found)
    assert not {41, 42, 46, 47} & set(found)
    assert found[43].likely == ("bus",)
    assert found[43].differ_in == ("+bus", "-park")
    assert found[43].sure == pytest.approx(2 / 3)
    assert dict(found[43].same) == {("bus",): 2, ("park",): 1}
    assert dict(found[44].same) == {("rent",): 1, ("bus",): 1}


def test_frame_has_all_suspects_with_their_evidence(planted):
    found = find_suspects(planted[-1])
    frame = found.to_frame()
    assert list(frame.columns) == [
        *("number", "answer", "codes", "likely_codes", "differ_in", "expected_wrong", "sure"),
        *("why", "same_answer_coded", "nearest_answer", "nearest_codes"),
    ]
    for cells, suspect in zip(frame.to_dict("records"), found.items, strict=True):
        assert cells["number"] == suspect.number
        assert cells["codes"] == ";".join(suspect.codes)
        assert cells["likely_codes"] == ";".join(suspect.likely)
        assert cells["differ_in"] == "; ".join(suspect.differ_in)
        assert cells["sure"] == pytest.approx(suspect.sure, abs=1e-4)
        assert cells["nearest_answer"] == suspect.nearest_text
