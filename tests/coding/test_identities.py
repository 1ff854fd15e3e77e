"""Which rows are the same answer, in tables with ids and without, and what becomes of them."""

import numpy as np
import pytest

from coding.made_up import REQUEST, SETTINGS, made_up, read_csv, write_csv
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.training import fit_table, update_model

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(80, 0)
HEADER = ["id", "answer", "codes"]


def rows_of(part):
    """Rows of some answers; ids with leading zeros, as Excel likes to drop them."""
    return [[f"{i + 1:04d}", TEXTS[i], ";".join(sorted(CODES[i]))] for i in range(80)[part]]


def fit(folder, rows, header=HEADER):
    table = write_csv(folder / "answers.csv", header, rows)
    return fit_table(table, folder / "model.nldd", REQUEST, SETTINGS)


def update(folder, rows, header=HEADER, **options):
    table = write_csv(folder / "more.csv", header, rows)
    return update_model(folder / "model.nldd", table, **options)


def test_rows_that_are_there_twice_count_once(tmp_path):
    rows = rows_of(slice(50))
    step = fit(tmp_path, [*rows, *rows[10:22], rows[10]])
    assert step.model.answers.texts == TEXTS[:50]
    assert "another row: 13 rows." in step.notes[0]
    assert (step.n_added, step.n_set_aside) == (50, 0)
    (tmp_path / "other").mkdir()
    alone = fit(tmp_path / "other", rows).model
    np.testing.assert_array_equal(alone.evidence.theta, step.model.evidence.theta)


def test_people_who_say_the_same_are_people_where_there_are_no_ids(tmp_path):
    rows = [row[1:] for row in rows_of(slice(50))]
    step = fit(tmp_path, [*rows, *rows[:3]], HEADER[1:])
    assert step.model.answers.texts == [*TEXTS[:50], *TEXTS[:3]]
    assert not any(step.model.answers.keys)
    assert step.notes == []
    assert len(update(tmp_path, rows[:5], HEADER[1:]).model.answers) == 58


def test_a_review_sheet_without_ids_may_come_back_as_it_grows(tmp_path):
    """A copy of an answer would be learned from when that is tested."""
    rows = [row[1:] for row in rows_of(slice(50))]
    model = fit(tmp_path, [*rows, *rows[:3]], HEADER[1:]).model
    new, review = tmp_path / "new.csv", tmp_path / "review.csv"
    write_csv(new, ["answer"], [[f"{text} {i}"] for i, text in enumerate(TEXTS[50:60])])
    code_table(model, new, tmp_path / "coded.csv", CodingOptions(0.0), review)
    header, sheet = read_csv(review)
    for n_decided in (4, 10):
        for row in sheet[:n_decided]:
            row[header.index("nldd_ok")] = "x"
        step = update(tmp_path, sheet, header)
    assert (len(step.model.answers), step.n_added) == (63, 6)
    assert step.notes[-1].startswith("4 coded answers: equal to answers of the model")


@pytest.mark.parametrize(
    "change",
    [lambda row: [row[0].lstrip("0"), *row[1:]], lambda row: [*row, "seen by Ann"]],
    ids=["zeros dropped", "column added"],
)
def test_answers_are_known_again_however_the_table_came_back(tmp_path, change):
    fit(tmp_path, rows_of(slice(50)))
    header = HEADER if len(change(["1", "", ""])) == 3 else [*HEADER, "remark"]
    step = update(tmp_path, [change(row) for row in rows_of(slice(40, 60))], header)
    assert step.model.answers.texts == TEXTS[:60]
    assert len(set(step.model.answers.keys)) == 60


def test_column_that_is_gone_leaves_nothing_to_compare(tmp_path):
    fit(tmp_path, rows_of(slice(50)))
    step = update(tmp_path, [row[1:] for row in rows_of(slice(45, 55))], HEADER[1:])
    assert len(step.model.answers) == 60


def test_other_codes_of_a_known_answer_replace_the_old_ones(tmp_path):
    fit(tmp_path, rows_of(slice(50)))
    wrong = rows_of(slice(50))
    wrong[3][2], wrong[7][2] = "rent", "bus;park;rent"
    step = update(tmp_path, [*wrong[:10], *rows_of(slice(50, 52))])
    pairs = zip(wrong[:10], CODES[:10], strict=True)
    assert step.n_corrected == sum({*row[2].split(";")} != codes for row, codes in pairs)
    codes = [set(names) for names in step.model.codes(step.model.Y)]
    assert (codes[3], codes[7]) == ({"rent"}, {"bus", "park", "rent"})
    assert [codes[i] for i in (0, 1, 2, 50, 51)] == [CODES[i] for i in (0, 1, 2, 50, 51)]
    assert len(codes) == 52
    assert f"{step.n_corrected} answers of the model: codes corrected." in step.notes
