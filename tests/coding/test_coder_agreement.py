"""Tables of several coders: rows that belong together, and what they agree on."""

import pytest

from coding.made_up import made_up, write_csv
from nldd.coding.agreement import (
    SharedAnswer,
    agreement_of_tables,
    compare_coders,
)
from nldd.coding.agreement_measures import krippendorff_alpha
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
    answers = [
        SharedAnswer(str(i), "", tuple(None if c is None else frozenset(c) for c in pair))
        for i, pair in enumerate(codes)
    ]
    found = compare_coders(answers, ("Ann", "Bob"))
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


def test_three_coders_have_the_mean_of_their_pairs():
    sets = [("a", "a", "b"), ("b", "b", "b"), ("a", "b", None), ("", "a", "a")]
    answers = [
        SharedAnswer("", "", tuple(None if c is None else frozenset(c) for c in unit))
        for unit in sets
    ]
    found = compare_coders(answers, "xyz")
    pairs = [
        compare_coders([a._replace(codes=(a.codes[i], a.codes[j])) for a in answers], "xy")
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for code in found.codes:
        same = [own for pair in pairs for own in pair.codes if own.code == code.code]
        assert code.kappa == pytest.approx(sum(own.kappa for own in same) / 3)
        assert code.agreement == pytest.approx(sum(own.agreement for own in same) / 3)
    units = [answer.codes for answer in answers]
    assert found.masi.value == krippendorff_alpha(units)[0]
    assert (found.masi.low, found.masi.high) == (None, None)  # of four answers


def test_coders_of_one_table_are_compared_as_those_of_several(tmp_path):
    answers = [("p1", "more buses"), ("p2", "a raise"), ("p3", "late bus")]
    given = {"ann.csv": ["bus", "pay", "bus"], "bob.csv": ["bus", "bus", ""]}
    rows = {
        coder: [[*answer, code] for answer, code in zip(answers, codes, strict=True)]
        for coder, codes in given.items()
    }
    paths = [write_csv(tmp_path / name, HEADER, own) for name, own in rows.items()]
    joined = [[*row, coder] for coder, own in rows.items() for row in own]
    one_table = write_csv(tmp_path / "all.csv", [*HEADER, "coder"], joined)
    several, one = (agreement_of_tables(p, REQUEST, "id") for p in (paths, [one_table]))
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
    found = agreement_of_tables(paths, REQUEST)
    assert (found.n_same, found.masi.value) == (12, 1.0)
    assert {code.code: code.counts for code in found.codes} == {"02": (8, 8), "11": (8, 8)}
    assert found.notes == ("bob.csv: Numbers as codes: '2' taken as '02'.",)


def test_rows_are_matched_by_order_or_by_a_column(coders):
    by_order = agreement_of_tables(coders, REQUEST)
    assert (by_order.n_answers, by_order.n_single) == (40, 5)
    assert by_order.matched_by == "their order"
    rewrite(coders[1], lambda lines: [line.lstrip("0") for line in reversed(lines)])  # as Excel
    by_name = agreement_of_tables(coders, REQUEST, "id")
    assert by_name.matched_by == "column 'id'"
    for name in ("n_answers", "n_same", "n_single", "masi", "codes"):
        assert getattr(by_name, name) == getattr(by_order, name)
    assert {d.text for d in by_name.disagreements} == {d.text for d in by_order.disagreements}


def refuse(value, *arguments):
    with pytest.raises(InputError, match=value) as error:
        agreement_of_tables(*arguments)
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
