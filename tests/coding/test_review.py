"""The file in which people decide: what it shows, and what comes back of it."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from coding.made_up import REVIEWED, answers_of, fitted, made_up, read_csv, take_codes, write_csv
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table, draw_at_random
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.decisions import read_coded
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(90, 0)
MARKS = ("rent", "bus", "park")
NEW = [*made_up(30, 4)[0], "the park, the bus, the rent", " "]
HEADER = ["id", "answer"]


@pytest.fixture(scope="module")
def model():
    return fitted(TEXTS, CODES)


@pytest.fixture(scope="module")
def marked():
    return fitted(TEXTS, CODES, Columns(("answer",), CodeColumns(MARKS, "")))


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "new.csv", HEADER, [[f"r{i}", text] for i, text in enumerate(NEW)])


def code(model, table, policy, name="review.csv"):
    """The review of a table as dicts, and its coded rows by their ids."""
    review = table.with_name(name)
    code_table(model, table, table.with_name("coded.csv"), policy, review)
    found = read_table(review).frame.to_dict("records")
    header, coded = read_csv(table.with_name("coded.csv"))
    return found, {row[0]: dict(zip(header, row, strict=True)) for row in coded}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_review_suggests_and_stands_in_groups(model, table, ending):
    half = float(np.median(model.code(answers_of(NEW)).theta))
    rows, coded = code(model, table, CodingOptions(half), f"review.{ending}")
    assert list(rows[0]) == [*HEADER, "codes", *REVIEWED]
    unsure = {key for key, row in coded.items() if row["nldd_status"] == "review"}
    assert {row["id"] for row in rows} == unsure
    assert 0 < len(unsure) < len(NEW)
    *full, empty = rows
    assert (empty["id"], empty["codes"] or "") == (f"r{len(NEW) - 1}", "")
    for row in full:
        own = coded[row["id"]]
        assert row["codes"] == row["nldd_codes"] == own["nldd_codes"]
        assert (row["nldd_ok"] or "", row["nldd_drawn"]) == ("", "no")
        assert (row["nldd_why"], row["nldd_nearest"]) == (own["nldd_why"], own["nldd_nearest"])
        assert len({*[row[f"nldd_next_{rank}"] for rank in (1, 2, 3)], row["codes"]}) == 4
    # Each suggestion in one piece, in the order of the codes, and the surest first.
    Y = [[-(name in row["codes"].split(";")) for name in model.labels] for row in full]
    keys = [(own, float(row["nldd_theta"])) for own, row in zip(Y, full, strict=True)]
    assert keys == sorted(keys)
    assert len({tuple(own) for own in Y}) > 2


def test_next_best_are_the_classifiers_but_for_likely_codes_that_never_met(table):
    pairs = zip(TEXTS, CODES, strict=True)
    apart = [(t, c) for t, c in pairs if t.count(",") < 2 and c != {"bus", "park"}]
    model = fitted(*zip(*apart, strict=True))
    (*rows, _), _ = code(model, table, CodingOptions(None))  # the empty answer stands last
    X = model.features.transform(answers_of([row["answer"] for row in rows]))
    near = model.classifier.labelset_posterior(X, k=4).labelsets
    P = model.classifier.label_probabilities(X)
    seen = {tuple(y) for y in model.Y.tolist()}
    n_new = 0
    for i, row in enumerate(rows):
        likely = (P[i] > 0.5).astype(int)
        others = [";".join(names) for names in model.codes(near[i, 1:])]
        if tuple(likely.tolist()) not in seen and likely.any():
            others = [";".join(model.codes(likely[np.newaxis])[0]), *others]
            n_new += 1
        assert [row[f"nldd_next_{rank}"] for rank in (1, 2, 3)] == others[:3]
    assert n_new


def test_marks_are_suggested_as_0_and_1(marked, table):
    rows, coded = code(marked, table, CodingOptions(None))
    assert list(rows[0]) == [*HEADER, *MARKS, *REVIEWED]
    for row in rows:
        own = [coded[row["id"]][f"nldd_{name}"] for name in MARKS]
        assert [row[name] for name in MARKS] == (["", "", ""] if not row["answer"].strip() else own)
    assert take_codes(marked, table.with_name("review.csv")) == ([None] * len(rows), len(rows))


def test_only_changed_and_marked_rows_are_decided(model, table):
    code(model, table, CodingOptions(None))
    review = table.with_name("review.csv")
    header, rows = read_csv(review)
    codes, ok = header.index("codes"), header.index("nldd_ok")
    rows[0][codes] = "a new code"
    rows[1][ok] = " X "
    rows[2][codes] = ";".join(reversed(rows[2][codes].split(";")))  # the same codes
    rows[3][ok] = "nein"
    rows[4][codes], rows[4][ok] = "", "x"  # and which codes?
    write_csv(review, header, rows)
    known = set(rows[1][codes].split(";"))
    assert take_codes(model, review)[0][:5] == [{"a new code"}, known, None, None, None]
    _, found = read_coded(review, model.columns, TableOptions())
    assert [codes for codes in found.codes if codes is not None] == [{"a new code"}, known]
    (note,) = [note for note in found.notes if "nldd_ok" in note]
    assert note.startswith(f"{len(rows) - 4} rows with the suggestion unchanged and no mark")
    _, everything = read_coded(review, model.columns, TableOptions(), accept=True)
    assert len(everything.decided) == len(rows) - 2
    assert not [note for note in everything.notes if "nldd_ok" in note]


def test_a_review_that_nobody_has_touched_is_refused_and_may_be_replaced(model, table):
    review = table.with_name("review.csv")
    code(model, table, CodingOptions(None))
    with pytest.raises(InputError, match=r"31 rows with the suggestion unchanged") as refused:
        read_coded(review, model.columns, TableOptions())
    assert refused.value.hint == "x in nldd_ok"
    code(model, table, CodingOptions(0.0))  # nothing is lost
    header, rows = read_csv(review)
    rows[7][header.index("nldd_ok")] = "ok"
    write_csv(review, header, rows)
    with pytest.raises(InputError, match="holds what people filled in"):
        code(model, table, CodingOptions(0.0))


def test_marks_that_nobody_understands_are_refused_with_their_place(model, table):
    code(model, table, CodingOptions(None))
    header, rows = read_csv(table.with_name("review.csv"))
    rows[2][header.index("nldd_ok")] = "maybe"
    write_csv(table.with_name("review.csv"), header, rows)
    with pytest.raises(InputError, match=r"row 3, column 'nldd_ok': expected x, or nothing"):
        take_codes(model, table.with_name("review.csv"))


def test_drawn_rows_are_told_in_both_files_and_come_without_suggestion(model, table):
    rows, coded = code(model, table, CodingOptions(1.0, n_random=6, seed=2))
    ids = [f"r{place}" for place in sorted(draw_at_random(range(len(NEW)), 6, 2))]
    assert [row["id"] for row in rows[:6]] == ids
    assert {key for key, row in coded.items() if row["nldd_drawn"] == "yes"} == set(ids)
    # All but the empty answer are sure; drawn ones keep that, and the others are not in the review.
    assert {row["nldd_status"] for key, row in coded.items() if key in ids} == {"auto"}
    assert [row["id"] for row in rows[6:]] == [f"r{len(NEW) - 1}"]
    for row in rows[:6]:
        shown = {key: value for key, value in row.items() if value}
        assert shown.keys() == {"id", "answer", "nldd_why", "nldd_drawn"}
        assert shown["nldd_why"].startswith("drawn at random")
    header, cells = read_csv(table.with_name("review.csv"))
    for row in cells[:4]:
        row[header.index("codes")] = "bus"
    write_csv(table.with_name("review.csv"), header, cells)
    _, found = read_coded(table.with_name("review.csv"), model.columns, TableOptions())
    found = found[found.decided]
    assert (found.codes, found.drawn) == ([{"bus"}] * 4, [True] * 4)


def test_no_code_at_all_is_a_decision_where_nothing_was_suggested(marked, table):
    """A blank suggestion and an answer to which no code applies look the same."""
    code(marked, table, CodingOptions(None, n_random=3))
    review = table.with_name("review.csv")
    header, rows = read_csv(review)
    first = header.index(MARKS[0])
    for row in (*rows[:2], rows[-1]):
        row[first : first + 3] = ["0", "0", "0"]
    assert [row[header.index("nldd_drawn")] for row in rows[:4]] == ["yes"] * 3 + ["no"]
    write_csv(review, header, rows)
    taken, n_open = take_codes(marked, review)
    assert (taken[:3], taken[-1]) == ([set(), set(), None], set())
    assert n_open == len(rows) - 3


def test_rows_with_codes_are_not_drawn(model, tmp_path):
    rows = [[f"text {i}", "bus" if i % 2 else ""] for i in range(12)]
    table = write_csv(tmp_path / "new.csv", ["answer", "codes"], rows)
    coded = tmp_path / "coded.csv"
    assert code_table(model, table, coded, CodingOptions(None, n_random=99)).n_drawn == 6
    _, found = read_csv(coded)
    assert [row[1] == "" for row in found] == [row[-1] == "yes" for row in found]


def test_each_set_of_items_is_equally_likely():
    sets = list(combinations(range(6), 2))
    counts = Counter(tuple(sorted(draw_at_random(iter(range(6)), 2, seed))) for seed in range(1500))
    assert set(counts) == set(sets)
    assert sum((counts[own] - 100) ** 2 / 100 for own in sets) < chi2.isf(0.001, len(sets) - 1)
    assert draw_at_random(iter("abc"), 5, 0) == ["a", "b", "c"]


def test_a_table_with_a_column_of_codes_is_filled_in_there(model, tmp_path):
    rows = [["more buses", "", "a"], ["greener parks", "park", "b"], ["lower the rent", "", "c"]]
    table = write_csv(tmp_path / "new.csv", ["answer", "codes", "id"], rows)
    review = tmp_path / "review.csv"
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(None), review)
    header, found = read_csv(review)
    assert header == ["answer", "codes", "id", *REVIEWED]
    expected = [["lower the rent", "rent", "c"], ["more buses", "bus", "a"]]
    assert sorted(row[:3] for row in found) == expected


def test_a_table_coded_again_is_read_by_its_latest_columns(model, table):
    code(model, table, CodingOptions(None))
    again = table.with_name("review.csv").rename(table.with_name("again.csv"))
    header, rows = read_csv(again)
    codes = header.index("codes")
    write_csv(again, header, [[*row[:codes], "", *row[codes + 1 :]] for row in rows])
    review = table.with_name("review.csv")
    code_table(model, again, table.with_name("coded.csv"), CodingOptions(None), review)
    header, rows = read_csv(review)
    assert {"nldd_ok", "nldd_ok (2)"} <= set(header)
    assert take_codes(model, review)[1] == len(rows)
    rows[0][header.index("nldd_ok (2)")] = "x"
    write_csv(review, header, rows)
    assert take_codes(model, review)[1] == len(rows) - 1
    rows[0][header.index("nldd_drawn (2)")] = "yes"
    write_csv(review, header, rows)
    _, found = read_coded(review, model.columns, TableOptions())
    assert found[found.decided].drawn == [True]


def test_a_review_without_its_columns_is_no_table_of_decisions(model, table, tmp_path):
    review = tmp_path / "review.csv"
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(None), review)
    header, rows = read_csv(review)
    for lost in ("nldd_ok", "nldd_codes", "nldd_status"):
        j = header.index(lost)
        write_csv(review, header[:j] + header[j + 1 :], [row[:j] + row[j + 1 :] for row in rows])
        with pytest.raises(InputError, match=f"a review without its column '{lost}'"):
            read_coded(review, model.columns, TableOptions())
        _, accepted = read_coded(review, model.columns, TableOptions(), accept=True)
        assert len(accepted.decided) > 0


def test_rows_where_somebody_looked_and_left_no_code_are_told(model, table, tmp_path):
    review = tmp_path / "review.csv"
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(None), review)
    header, rows = read_csv(review)
    codes, ok = header.index("codes"), header.index("nldd_ok")
    rows[0][codes], rows[1][codes], rows[1][ok], rows[2][ok] = "", "", "x", "x"
    _, found = read_coded(write_csv(review, header, rows), model.columns, TableOptions())
    assert len(found.decided) == 1
    assert "rows with the suggestion unchanged and no mark in nldd_ok: not taken" in found.notes[0]
    assert "2 rows where somebody looked and left no code: not taken." in found.notes[1]
