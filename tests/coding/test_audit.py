"""Samples of automatic codes: drawn evenly, read back as what they prove, at which guarantee."""

from warnings import catch_warnings, simplefilter

import pytest
from scipy.stats import binomtest

from coding.made_up import SETTINGS, made_up, read_csv, write_csv
from nldd.coding.answers import Answers
from nldd.coding.audit import Sample, checks_needed, draw_sample, read_audit
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.guarantee import Guarantee, GuaranteeTarget, select_codes
from nldd.coding.model import fit_coding_model
from nldd.coding.tables.reading import read_table
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError, ZeroWeightWarning

HEADER = ["id", "answer", "nldd_codes", "nldd_status"]


def coded_table(path, n_auto, n_review=0):
    """Automatic rows ``a0``, ``a1``, ... with rows for review between them."""
    rows = [[f"a{i}", f"text {i}", "bus", "auto"] for i in range(n_auto)]
    for i in range(n_review):
        rows.insert((3 * i + 1) % (len(rows) + 1), [f"r{i}", "?", "bus", "review"])
    return write_csv(path, HEADER, rows)


def test_tables_without_automatic_codes_are_refused(tmp_path):
    coded = coded_table(tmp_path / "coded.csv", 0, 4)
    other = write_csv(tmp_path / "other.csv", ["id", "answer"], [["1", "a"]])
    for path, value in ((coded, "none of the 4 rows"), (other, "no column 'nldd_status'")):
        with pytest.raises(InputError, match=value):
            draw_sample(path, tmp_path / "sample.csv", 5)
    assert not (tmp_path / "sample.csv").exists()


def checked_sample(path, marks):
    rows = [[f"a{i}", "text", "bus", "auto", mark] for i, mark in enumerate(marks)]
    return write_csv(path, [*HEADER, "nldd_check"], rows)


@pytest.mark.parametrize(("n_right", "n_wrong", "n_open"), [(18, 2, 0), (5, 0, 3), (0, 7, 1)])
def test_checked_sample_proves_an_exact_interval(tmp_path, n_right, n_wrong, n_open):
    marks = n_right * ["yes"] + n_open * [""] + n_wrong * ["no"]
    found = read_audit(checked_sample(tmp_path / "sample.csv", marks))
    n = n_right + n_wrong
    assert (found.n_checked, found.n_right, found.n_open) == (n, n_right, n_open)
    assert found.accuracy == n_right / n
    expected = binomtest(n_right, n).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


RIGHT = ["1", "Yes", " y ", "TRUE", "t", "right", "ok", "correct", "ja", "J", "oui", "si", "Sí"]
RIGHT += ["X", "x", "+", "1.0", "okay"]
WRONG = ["0", "NO", "n", "N", "false", "F", "wrong", "incorrect", "nein", "non", "-", "0.0"]


def test_marks_of_people(tmp_path):
    found = read_audit(checked_sample(tmp_path / "sample.csv", [*RIGHT, *WRONG, " "]))
    assert (found.n_checked, found.n_right, found.n_open, found.n_crosses) == (30, 18, 1, 2)


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "target", "verdict"),
    [
        # The exact interval of 97 of 100 is 91.5 to 99.4 %, that of 80 of 100 is 70.8 to 87.3 %.
        (97, 3, 0.9, "kept"),
        (97, 3, 0.92, "cannot tell yet"),
        (80, 20, 0.9, "broken"),
    ],
)
def test_verdict_is_the_intervals(tmp_path, n_right, n_wrong, target, verdict):
    path = checked_sample(tmp_path / "sample.csv", n_right * ["+"] + n_wrong * ["-"])
    found = read_audit(path, target=target)
    assert (found.verdict, found.target) == (verdict, target)
    assert (found.needed is None) == (verdict != "cannot tell yet")


def test_several_samples_prove_together_what_they_hold(tmp_path):
    """Rows that are in both count once, equal rows of one sample are several."""
    first = checked_sample(tmp_path / "first.csv", ["yes"] * 6 + ["no", "", ""])
    rows = [[f"a{i}", "text", "bus", "auto", mark] for i, mark in ((5, "1"), (7, "no"), (20, "x"))]
    header = [*HEADER, "nldd_check"]
    second = write_csv(tmp_path / "second.csv", header, [*rows, rows[-1]])
    found = read_audit(first, second)
    # Row a5 is in both, and a7 was open in the first; a20 is there twice.
    assert (found.n_checked, found.n_right, found.n_open, found.n_crosses) == (10, 8, 1, 2)
    write_csv(second, header, [[*rows[0][:-1], "no"]])
    with pytest.raises(InputError) as refused:
        read_audit(first, second)
    where = "second.csv, row 1, column 'nldd_check'"
    assert f"{where}: says 'no'" in str(refused.value)


def test_further_sample_has_none_of_the_earlier_rows(tmp_path):
    coded = coded_table(tmp_path / "coded.csv", 20, 5)
    samples = [tmp_path / f"{i}.csv" for i in range(3)]
    for i, size in enumerate((8, 7, 9)):
        drawn = draw_sample(coded, samples[i], size, besides=samples[:i])
    counts = {"n_rows": 25, "n_auto": 5, "n_sample": 5, "n_besides": 15}
    assert drawn == Sample(samples[2], **counts, earlier=(samples[0], samples[1]))
    ids = [[row[0] for row in read_csv(path)[1]] for path in samples]
    assert sorted(name for some in ids for name in some) == sorted(f"a{i}" for i in range(20))
    with pytest.raises(InputError, match="all 20 automatic codes"):
        draw_sample(coded, tmp_path / "more.csv", 4, besides=samples)
    other = coded_table(tmp_path / "other.csv", 3)
    with pytest.raises(InputError) as refused:
        draw_sample(other, tmp_path / "more.csv", 4, besides=samples[:1])
    n_lost = sum(name not in ("a0", "a1", "a2") for name in ids[0])
    assert str(refused.value).startswith(f"{n_lost} rows of 0.csv ")


def test_equal_answers_are_left_out_as_often_as_they_were_drawn(tmp_path):
    rows = [["text", "bus", "auto"]] * 5
    coded = write_csv(tmp_path / "coded.csv", HEADER[1:], rows)
    draw_sample(coded, tmp_path / "first.csv", 3)
    drawn = draw_sample(coded, tmp_path / "second.csv", 9, besides=[tmp_path / "first.csv"])
    assert (drawn.n_rows, drawn.n_auto, drawn.n_sample, drawn.n_besides) == (5, 2, 2, 3)


def told(n, n_right, target):
    interval = binomtest(n_right, n).proportion_ci(0.95, method="exact")
    return interval.low >= target or interval.high < target


@pytest.mark.parametrize(("n", "n_right", "target"), [(20, 19, 0.9), (100, 93, 0.9), (50, 43, 0.9)])
def test_so_many_checks_tell_if_the_share_stays(n, n_right, target):
    needed = checks_needed(n, n_right, target)
    assert told(needed, round(needed * n_right / n), target)
    # A tenth fewer would not, as far as rounding goes; and no number of an accuracy at the target.
    assert not told(int(0.9 * needed), round(int(0.9 * needed) * n_right / n), target)
    assert not told(n, n_right, target)
    assert checks_needed(100, 90, 0.9) is None


@pytest.mark.parametrize("mark", ["maybe", "2", "yes!", "0.5", "?", "xx"])
def test_other_marks_are_refused_with_their_place(tmp_path, mark):
    path = checked_sample(tmp_path / "sample.csv", ["yes", "", mark, "no"])
    with pytest.raises(InputError, match=r"sample\.csv, row 3, column 'nldd_check'"):
        read_audit(path)


def test_sample_that_nobody_has_looked_at_is_refused(tmp_path):
    with pytest.raises(InputError, match="nldd_check"):
        read_audit(checked_sample(tmp_path / "sample.csv", ["", " "]))
    with pytest.raises(InputError, match="nldd_check"):
        read_audit(coded_table(tmp_path / "coded.csv", 3))


def test_table_coded_twice_is_drawn_by_its_latest_status(tmp_path):
    rows = [["1", "auto", "review"], ["2", "review", "auto"], ["3", "review", "auto"]]
    header = ["id", "nldd_status", "nldd_status (2)"]
    coded = write_csv(tmp_path / "coded.csv", header, rows)
    draw_sample(coded, tmp_path / "sample.csv", 9)
    _, found = read_csv(tmp_path / "sample.csv")
    assert [row[0] for row in found] == ["2", "3"]
    # The latest is told by its number, wherever somebody moved it.
    write_csv(coded, ["id", *reversed(header[1:])], [[row[0], *row[:0:-1]] for row in rows])
    draw_sample(coded, tmp_path / "sample.csv", 9)
    assert [row[0] for row in read_csv(tmp_path / "sample.csv")[1]] == ["2", "3"]


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
    goal = GuaranteeTarget(0.7, rank_by="theta")
    policy, found = CodingOptions(None, n_random=3).follow(model, goal)
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


def test_a_threshold_of_the_users_own_has_no_guarantee(model, table, tmp_path):
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(0.2), tmp_path / "review.csv")
    assert {*cells(tmp_path / "coded.csv"), *cells(tmp_path / "review.csv")} == {""}
    draw_sample(tmp_path / "coded.csv", tmp_path / "sample.csv", 100)
    found = read_audit(check(tmp_path / "sample.csv", tmp_path / "checked.csv", 80))
    assert (found.target, found.verdict) == (0.9, "broken")


def stated_sample(path, *guarantees, column="nldd_guarantee"):
    rows = [[f"{path.stem}{i}", "yes", text] for i, text in enumerate(guarantees)]
    return write_csv(path, ["id", "nldd_check", column], rows)


def test_different_guarantees_are_refused(tmp_path):
    a = stated_sample(tmp_path / "a.csv", FIRST, FIRST)
    b = stated_sample(tmp_path / "b.csv", HAMMING)
    with pytest.raises(InputError) as refused:
        read_audit(a, b, target=0.9)
    assert f"a.csv, row 2: {FIRST}; b.csv, row 1: {HAMMING}" in str(refused.value)
    with pytest.raises(InputError, match=r"c\.csv, row 1: none; c\.csv, row 2: accuracy"):
        read_audit(stated_sample(tmp_path / "c.csv", "", FIRST))
    assert read_audit(a, stated_sample(tmp_path / "d.csv", FIRST)).n_checked == 3


@pytest.mark.parametrize("cell", ["0.7", "accuracy 7 (subset)", FIRST.replace("0.7", "70 %")])
def test_a_cell_that_states_no_guarantee_is_refused(tmp_path, cell):
    with pytest.raises(InputError, match=r"a\.csv, row 2, column 'nldd_guarantee'"):
        read_audit(stated_sample(tmp_path / "a.csv", FIRST, cell))


@pytest.mark.parametrize("text", [HAMMING, PER_CODE])
def test_checks_of_whole_answers_say_nothing_of_another_measure(tmp_path, text):
    path = stated_sample(tmp_path / "a.csv", *[text] * 100)
    found, whole = read_audit(path), read_audit(path, target=0.9)
    assert (found.accuracy, found.verdict, found.needed) == (1, None, None)
    assert (found.measure, found.target) == (TEXTS[text].measure, TEXTS[text].target)
    assert (whole.verdict, whole.measure, whole.low) == ("kept", "subset", found.low)
