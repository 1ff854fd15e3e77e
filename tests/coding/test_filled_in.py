"""Files that people have worked on are not replaced, whatever state they are in."""

import pytest

from coding.made_up import fitted, made_up, write_csv
from nldd.coding import Policy, code_table, draw_sample
from nldd.coding._write_guards import is_filled_in
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

HEADER = ["answer", "codes"]


def test_empty_cells_are_not_filled_in(tmp_path):
    path = write_csv(tmp_path / "a.csv", HEADER, [["more buses", " "], ["a park", ""]])
    assert not is_filled_in(path, ("codes",))
    assert is_filled_in(path, ("answer",))
    assert not is_filled_in(tmp_path / "none.csv", ("codes",))
    (tmp_path / "empty.csv").touch()
    assert not is_filled_in(tmp_path / "empty.csv", ("codes",))


def test_guarded_names_are_known(tmp_path):
    path = write_csv(tmp_path / "a.csv", ["answer", "'@codes"], [["more buses", "bus"]])
    assert is_filled_in(path, ("@codes",))


@pytest.mark.parametrize("slip", ["a cell too many,x,y\n", 'a stray "quote,"bus\n'])
def test_file_with_a_slip_is_kept(tmp_path, slip):
    """It cannot be read, but two hundred codes may stand in it."""
    model = fitted(*made_up(40))
    new = write_csv(tmp_path / "new.csv", ["answer"], [["more buses"]])
    review = write_csv(tmp_path / "review.csv", HEADER, [["a park", "park"]])
    review.write_text(review.read_text() + slip)
    before = review.read_bytes()
    with pytest.raises(InputError, match="is there already") as refused:
        code_table(model, new, tmp_path / "coded.csv", Policy(None), review)
    assert "another name" in refused.value.hint
    assert review.read_bytes() == before


def test_sample_with_a_slip_is_kept(tmp_path):
    header, rows = ["answer", "nldd_status"], [["a park", "auto"]]
    coded = write_csv(tmp_path / "coded.csv", header, rows)
    sample = write_csv(
        tmp_path / "s.csv", [*header, "nldd_check"], [["a park", "auto", "yes", "?"]]
    )
    before = sample.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        draw_sample(coded, sample, 1)
    assert sample.read_bytes() == before
