"""Odd tables through ``nldd fit``: each is read as a coder would, or refused with what to do."""

import pytest

from coding_tables import QUICK, nldd
from nldd.coding import answers
from nldd.exceptions import InputError
from odd_answers import FOLDER, ODD

REFUSED = {name: odd for name, odd in ODD.items() if odd.error}
READ = {name: odd for name, odd in ODD.items() if not odd.error}


@pytest.fixture
def learned(monkeypatch):
    """What a model would learn from, of which none is fitted here."""
    seen, leave_out = [], answers.drop_blank_answers

    def stop(answers, decisions, columns, *_):
        seen.append(leave_out(answers, decisions, columns))
        raise InputError("enough", hint="nothing")

    monkeypatch.setattr(answers, "drop_blank_answers", stop)
    return seen


@pytest.mark.parametrize("odd", READ.values(), ids=READ.keys())
def test_the_table_is_read_as_a_coder_would(odd, learned, tmp_path, capsys):
    path = odd.path(tmp_path)
    done = nldd(capsys, "fit", path, *odd.options, *QUICK, "-o", tmp_path / "model.nldd")
    assert learned, done.err
    ((answers, decisions),) = learned
    assert tuple(answers.texts) == odd.answers
    as_set = (c if isinstance(c, set) else set(c.split(";")) - {""} for c in odd.codes)
    assert decisions.codes == list(as_set)
    for note in odd.notes:
        assert any(note in said for said in decisions.notes), decisions.notes
    if not odd.notes:
        assert [said for said in decisions.notes if "blank" not in said] == []


@pytest.mark.parametrize("odd", REFUSED.values(), ids=REFUSED.keys())
def test_the_table_is_refused_with_what_to_do(odd, learned, tmp_path, capsys):
    path, model = odd.path(tmp_path), tmp_path / "model.nldd"
    done = nldd(capsys, "fit", path, *odd.options, *QUICK, "-o", model)
    error, _, hint = done.err.removeprefix("Error: ").rpartition("\nTry: ")
    assert (done.code, learned, model.exists()) == (1, [], False)
    assert odd.error in error
    assert odd.hint in hint


def test_all_files_of_the_folder_are_used():
    assert len(ODD) >= 25
    named = {odd.make for odd in ODD.values() if isinstance(odd.make, str)}
    assert named == {path.name for path in FOLDER.iterdir()}
