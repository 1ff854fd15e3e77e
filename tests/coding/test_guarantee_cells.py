"""The accuracy guarantee as a column of coded tables, reviews and check samples."""

from warnings import catch_warnings, simplefilter

import pytest

from coding.made_up import SETTINGS, made_up, write_csv
from nldd.coding.answers import Answers
from nldd.coding.audit import draw_sample, read_audit
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.guarantee import Guarantee, GuaranteeTarget, select_codes
from nldd.coding.model import fit_coding_model
from nldd.coding.tables.reading import read_table
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError, ZeroWeightWarning

TEXTS = {
    "accuracy 0.7 (subset), confidence level 0.9, chance threshold 0.8312": Guarantee(
        0.7, 0.9, "subset", "chance", "0.8312"
    ),
    "accuracy 0.95 (hamming), confidence level 0.99, theta threshold 3.74e-05": Guarantee(
        0.95, 0.99, "hamming", "theta", "3.74e-05"
    ),
    "accuracy 0.9 (subset), confidence level 0.9, chance threshold none, repeated words 0.6": (
        Guarantee(0.9, 0.9, "subset", "chance", "none", "0.6")
    ),
    "accuracy 0.9 (per-code), confidence level 0.9, probability threshold 0.97 and none": (
        Guarantee(0.9, 0.9, "per-code", "probability", "0.97 and none")
    ),
}
FIRST, HAMMING, _, PER_CODE = TEXTS


@pytest.mark.parametrize("text", TEXTS)
def test_a_cell_states_the_guarantee_and_is_read_back(text):
    assert str(TEXTS[text]) == text
    assert Guarantee.parse(text) == TEXTS[text]


@pytest.fixture(scope="module")
def model():
    with catch_warnings():
        simplefilter("ignore", ZeroWeightWarning)
        texts, codes = made_up(150, seed=2)
        return fit_coding_model(Answers(texts), codes, settings=SETTINGS)  # nobody has an id


@pytest.fixture
def table(tmp_path):
    rows = [[f"r{i}", text] for i, text in enumerate(made_up(300, seed=1)[0])]
    return write_csv(tmp_path / "new.csv", ["id", "answer"], rows)


def cells(path, name="nldd_guarantee"):
    return read_table(path).cells(name)


def check(sample, checked, n_right):
    """Fill in a sample: the first `n_right` rows are right, the others wrong."""
    table = read_table(sample)
    marks = ["yes" if i < n_right else "no" for i in range(len(table))]
    write_table(checked, table.frame.assign(nldd_check=marks), like=table.format)
    return checked


@pytest.mark.parametrize("ending", ["csv", "xlsx", "jsonl"])
def test_a_table_coded_at_070_is_judged_at_070(model, table, tmp_path, ending):
    policy, found = CodingOptions(None, n_random=3).follow(
        model, GuaranteeTarget(0.7, rank_by="theta")
    )
    coded, review, sample = (tmp_path / f"{name}.{ending}" for name in ("coded", "review", "s"))
    code_table(model, table, coded, policy, review)
    first, again = (f"{limit:.6g}" for limit in found.limits)
    level = f"confidence level 0.9, theta threshold {first}, repeated words {again}"
    text = f"accuracy 0.7 (subset), {level}"
    assert cells(coded) == [text] * 300
    assert set(cells(review)) == {text}
    draw_sample(coded, sample, 100)
    assert cells(sample) == [text] * 100
    # The exact interval of 80 of 100 is 70.8 to 87.3 %.
    checked = check(sample, tmp_path / f"checked.{ending}", 80)
    found = read_audit(checked)
    assert (found.accuracy, found.target, found.verdict) == (0.8, 0.7, "kept")
    assert (read_audit(checked, target=0.9).verdict, found.measure) == ("broken", "subset")


def test_codes_settled_one_by_one_have_two_thresholds(model, table, tmp_path):
    found = select_codes(model, GuaranteeTarget(0.8))
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(None).apply(found))
    stated = Guarantee.parse(cells(tmp_path / "coded.csv")[0])
    assert (stated.target, stated.measure, stated.rank_by) == (0.8, "per-code", "probability")
    assert stated.threshold == f"none and {found.limits.no:.6g}"
    again = found.repeated.limits
    assert stated.repeated == f"{again.yes:.6g} and {again.no:.6g}"


def checked_sample(path, *guarantees, column="nldd_guarantee"):
    rows = [[f"{path.stem}{i}", "yes", text] for i, text in enumerate(guarantees)]
    return write_csv(path, ["id", "nldd_check", column], rows)


def test_different_guarantees_are_refused(tmp_path):
    a = checked_sample(tmp_path / "a.csv", FIRST, FIRST)
    b = checked_sample(tmp_path / "b.csv", HAMMING)
    with pytest.raises(InputError) as refused:
        read_audit(a, b, target=0.9)
    assert f"a.csv, row 2: {FIRST}; b.csv, row 1: {HAMMING}" in str(refused.value)
    with pytest.raises(InputError, match=r"c\.csv, row 1: none; c\.csv, row 2: accuracy"):
        read_audit(checked_sample(tmp_path / "c.csv", "", FIRST))
    assert read_audit(a, checked_sample(tmp_path / "d.csv", FIRST)).n_checked == 3


@pytest.mark.parametrize("cell", ["0.7", "accuracy 7 (subset)", FIRST.replace("0.7", "70 %")])
def test_a_cell_that_states_no_guarantee_is_refused(tmp_path, cell):
    with pytest.raises(InputError, match=r"a\.csv, row 2, column 'nldd_guarantee'"):
        read_audit(checked_sample(tmp_path / "a.csv", FIRST, cell))


@pytest.mark.parametrize("text", [HAMMING, PER_CODE])
def test_checks_of_whole_answers_say_nothing_of_another_measure(tmp_path, text):
    path = checked_sample(tmp_path / "a.csv", *[text] * 100)
    found, whole = read_audit(path), read_audit(path, target=0.9)
    assert (found.accuracy, found.verdict, found.needed) == (1, None, None)
    assert (found.measure, found.target) == (TEXTS[text].measure, TEXTS[text].target)
    assert (whole.verdict, whole.measure, whole.low) == ("kept", "subset", found.low)
