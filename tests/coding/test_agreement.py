"""Agreement of coders: by hand, by published examples, from the equations, and of tables."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from coding.made_up import made_up, write_csv
from nldd.coding import agreement
from nldd.coding.columns import ColumnSpec
from nldd.exceptions import InputError

REQUEST = ColumnSpec(("answer",), "codes")
HEADER = ["id", "answer", "codes"]


@pytest.fixture
def coders(tmp_path):
    """Two tables in which the second coder differs in every fifth answer and skips every ninth."""
    texts, codes = made_up(45)
    cells = [";".join(sorted(c)) for c in codes]
    a = [[f"{i:03}", text, cell] for i, (text, cell) in enumerate(zip(texts, cells, strict=True))]
    b = [list(row) for row in a]
    for i in range(0, 45, 5):
        b[i][2] = cells[(i + 1) % 45]
    for i in range(0, 45, 9):
        b[i][2] = ""
    return write_csv(tmp_path / "ann.csv", HEADER, a), write_csv(tmp_path / "bob.csv", HEADER, b)


def rewrite(path, change):
    """The same table with other rows."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *change(lines[1:])]) + "\n")


def test_agreement_by_hand():
    codes = [("a", "a"), ("ab", "b"), ("b", "b"), ("a", None)]
    sets = [tuple(None if c is None else frozenset(c) for c in pair) for pair in codes]
    answers = [agreement.SharedAnswer(str(i), "", pair) for i, pair in enumerate(sets)]
    found = agreement.compare_coders(answers, ("Ann", "Bob"))
    assert (found.n_answers, found.n_same, found.n_single) == (3, 2, 1)
    # Observed: 2 * 2/3 over 6 values. Expected, of a a ab b b b: 2 * (2*1*2/3 + 2*3*1 + 1*3*2/3)
    # over 6 * 5.
    assert found.masi.value == pytest.approx(1 - (4 / 3 / 6) / (56 / 3 / 30))
    # Code a of the three answers: 110 and 100. They agree in 2/3, by chance in 2/9 + 2/9.
    by_code = {code.code: code for code in found.codes}
    assert by_code["a"].kappa == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert (by_code["a"].counts, by_code["b"].counts) == ((2, 1), (2, 2))
    assert by_code["b"].kappa == 1.0
    (differing,) = found.disagreements
    assert (differing.name, differing.distance) == ("1", pytest.approx(2 / 3))


def test_coders_of_one_table_are_compared_as_those_of_several(tmp_path):
    answers = [("p1", "more buses"), ("p2", "a raise"), ("p3", "late bus")]
    given = {"ann.csv": ["bus", "pay", "bus"], "bob.csv": ["bus", "bus", ""]}
    pairs = [(coder, zip(answers, codes, strict=True)) for coder, codes in given.items()]
    rows = {coder: [[*answer, code] for answer, code in own] for coder, own in pairs}
    paths = [write_csv(tmp_path / name, HEADER, own) for name, own in rows.items()]
    joined = [[*row, coder] for coder, own in rows.items() for row in own]
    one_table = write_csv(tmp_path / "all.csv", [*HEADER, "coder"], joined)
    several, one = (agreement.agreement_of_tables(p, REQUEST, "id") for p in (paths, [one_table]))
    for found in (several, one):
        assert (found.n_answers, found.n_same, found.n_single) == (2, 1, 1)
        assert [(d.name, d.codes) for d in found.disagreements] == [("p2", (("pay",), ("bus",)))]
    assert (one.codes, one.coders) == (several.codes, several.coders)


def test_codes_that_a_spreadsheet_took_for_numbers_are_the_same(tmp_path):
    texts = [f"text {i}" for i in range(12)]
    written = [("02", "2"), ("02;11", "2;11"), ("11", "11")] * 4
    columns = zip(*written, strict=True)
    paths = [
        write_csv(tmp_path / name, HEADER[1:], zip(texts, cells, strict=True))
        for name, cells in zip(("ann.csv", "bob.csv"), columns, strict=True)
    ]
    found = agreement.agreement_of_tables(paths, REQUEST)
    assert (found.n_same, found.masi.value) == (12, 1.0)
    assert {code.code: code.counts for code in found.codes} == {"02": (8, 8), "11": (8, 8)}
    assert found.notes == ("bob.csv: Numbers as codes: '2' taken as '02'.",)


def test_rows_are_matched_by_order_or_by_a_column(coders):
    by_order = agreement.agreement_of_tables(coders, REQUEST)
    assert (by_order.n_answers, by_order.n_single) == (40, 5)
    assert by_order.matched_by == "their order"
    rewrite(coders[1], lambda lines: [line.lstrip("0") for line in reversed(lines)])  # as Excel
    by_name = agreement.agreement_of_tables(coders, REQUEST, "id")
    assert by_name.matched_by == "column 'id'"
    for name in ("n_answers", "n_same", "n_single", "masi", "codes"):
        assert getattr(by_name, name) == getattr(by_order, name)
    assert {d.text for d in by_name.disagreements} == {d.text for d in by_order.disagreements}


def refuse(value, *arguments):
    with pytest.raises(InputError, match=value) as error:
        agreement.agreement_of_tables(*arguments)
    return error.value.hint


def test_rows_that_cannot_be_matched_are_refused(coders):
    a, b = coders
    refuse("who coded a row", [a], REQUEST)
    refuse("named twice", [a, b, a], REQUEST)
    rewrite(b, lambda lines: [lines[1], lines[0], *lines[2:]])
    assert "--id" in refuse("Row 1: ", coders, REQUEST)
    rewrite(b, lambda lines: lines[:-1])
    assert "--id" in refuse(r"ann.csv has 45 rows, bob.csv 44", coders, REQUEST)
    rewrite(b, lambda lines: [*lines, lines[3]])
    refuse("bob.csv, row 45: the id '3' is in row 4", coders, REQUEST, "id")
    rewrite(b, lambda lines: [f"x{line}" for line in lines[:-1]])
    refuse("No answer", coders, REQUEST, "id")


def units_of(*coders):
    """Sets of one value for each unit; a dot is none."""
    units = zip(*coders, strict=True)
    return [[None if value == "." else frozenset([value]) for value in unit] for unit in units]


def alpha(units):
    return agreement.krippendorff_alpha(units).value


def naive_alpha(units, distance):
    """1 - D_o / D_e, pair by pair."""
    pairable = [[v for v in unit if v is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    values = [v for unit in pairable for v in unit]
    n = len(values)
    within = [(len(unit) - 1, permutations(unit, 2)) for unit in pairable]
    observed = sum(distance(a, b) / others for others, pairs in within for a, b in pairs)
    expected = sum(distance(a, b) for a, b in permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ({"a", "b"}, {"b", "a"}, 0.0),
        (set(), set(), 0.0),
        ({"a"}, set(), 1.0),
        ({"a"}, {"b"}, 1.0),
        # One holds the other: 1 - 2/3 * 2/4. nltk, which rounds 2/3 to 0.67, documents 0.665.
        ({1, 2}, {1, 2, 3, 4}, 2 / 3),
        # Each has something of its own: 1 - 1/3 * 1/3.
        ({"a", "b"}, {"b", "c"}, 8 / 9),
    ],
)
def test_masi_distance_by_hand(one, other, distance):
    assert agreement.masi_distance(one, other) == pytest.approx(distance)
    assert agreement.masi_distance(other, one) == pytest.approx(distance)


def test_alpha_of_published_examples():
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability, A to C: two values, five
    # values, and four coders who left cells out.
    assert round(alpha(units_of("0100000010", "1110010000")), 3) == 0.095
    assert round(alpha(units_of("aabbdcccedda", "babbbccceddd")), 3) == 0.692
    four = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    assert round(alpha(units_of(*four)), 3) == 0.743


@pytest.mark.parametrize("block", [4, 1024])
def test_alpha_is_the_equation_pair_by_pair(monkeypatch, block):
    monkeypatch.setattr(agreement, "BLOCK", block)
    rng = np.random.default_rng(0)
    sets = [frozenset(np.flatnonzero(rng.random(5) < 0.4).tolist()) for _ in range(120)]
    units = [[None if rng.random() < 0.2 else v for v in sets[i : i + 3]] for i in range(0, 120, 3)]
    found = agreement.krippendorff_alpha(units)
    assert found.value == pytest.approx(naive_alpha(units, agreement.masi_distance))
    assert found.low < found.value < found.high
    whole = [[None if v is None else frozenset([v]) for v in unit] for unit in units]
    assert alpha(whole) == pytest.approx(naive_alpha(units, lambda one, other: one != other))


def test_alpha_of_what_cannot_be_told():
    assert alpha(units_of("aa", "aa")) is None
    assert agreement.krippendorff_alpha(units_of("a.", ".b")) == agreement.Alpha(None, None, None)
    assert alpha(units_of("ab", "ab")) == 1.0


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        # All agree, and so do they in any draw.
        (units_of("ab" * 20, "ab" * 20), 1.0),
        # Nine units: 2 of 18 values disagree; of all pairs, 2 * 9 * 9 do.
        (units_of("ab" * 4 + "a", "ab" * 4 + "b"), 1 - 17 * 2 / (2 * 9 * 9)),
    ],
)
def test_alpha_without_a_known_error_has_no_interval(units, expected):
    found = agreement.krippendorff_alpha(units)
    assert (found.value, found.low, found.high) == (pytest.approx(expected), None, None)


def test_interval_of_alpha_holds_that_of_the_population():
    """Coders who give the truth with probability 0.8: alpha of all, and intervals of samples."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 20_000)
    coded = [np.where(rng.random(20_000) < 0.8, truth, rng.integers(0, 3, 20_000)) for _ in "ab"]
    units = units_of(*(values.tolist() for values in coded))
    whole, n_held = alpha(units), 0
    for start in range(0, 3000, 100):
        found = agreement.krippendorff_alpha(units[start : start + 100])
        n_held += found.low <= whole <= found.high
    assert n_held >= 26  # of 30; 28.5 are expected


def test_kappa_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    A = rng.random((80, 5)) < [0.5, 0.3, 0.1, 0, 1]
    B = np.where(rng.random((80, 5)) < 0.2, ~A, A)
    B[:, 3:] = A[:, 3:]  # never, and always: nothing can be told
    found = agreement.cohen_kappa(A, B)
    np.testing.assert_allclose(found[:3], [cohen_kappa_score(A[:, j], B[:, j]) for j in range(3)])
    assert np.isnan(found[3:]).all()
    # One of them uses it: that is a disagreement like any other.
    assert agreement.cohen_kappa([[1], [0]], [[0], [0]]).tolist() == [0.0]
