"""Coded tables: every row and column kept, and the added ones agree with the model."""

from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import (
    COLUMNS,
    REVIEWED,
    SETTINGS,
    answers_of,
    fitted,
    made_up,
    read_csv,
    take_codes,
    write_csv,
)
from nldd.coding import coded_answers
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.coded_table import code_table
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.model import fit_coding_model
from nldd.coding.predictions import EMPTY, Reasons
from nldd.coding.tables.reading import read_table
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(90, 0)
ADDED = [f"nldd_{k}" for k in ("codes", "status", "chance", "theta", "nearest", "why", "guarantee")]
SOURCES = ("distance", "probabilities", "frequency", "size")
EXPLAINED = ["nldd_probability", "nldd_Dx", *(f"nldd_by_{source}" for source in SOURCES)]
EXPLAINED += ["nldd_next_codes", "nldd_next_probability"]


@pytest.fixture(scope="module")
def model():
    """With enough wrong predictions among its own to learn chances from."""
    return fitted(TEXTS, [{"bus"} if i % 5 == 0 else codes for i, codes in enumerate(CODES)])


@pytest.fixture(scope="module")
def new():
    """Some like the coded ones, some strange, some empty."""
    texts, _ = made_up(37, 4)
    return [*texts, "quite another matter", "", "the park, the bus, the rent", "  "]


@pytest.fixture
def table(tmp_path, new):
    rows = [[f"r{i}", text, i] for i, text in enumerate(new)]
    return write_csv(tmp_path / "new.csv", ["id", "answer", "n"], rows)


def threshold_of(model, new, rank_by="theta"):
    """One that lets about half of the answers through."""
    return float(np.median(model.code(answers_of(new)).doubt(rank_by)))


def expected_cells(model, texts, policy):
    """The added cells by their definition; numbers as Python writes them with six digits."""
    X = model.features.transform(answers_of(texts))
    found = model.code(answers_of(texts), X)
    threshold, doubt = policy.threshold, found.doubt(policy.rank_by)
    why = [reason.words for reason in Reasons(model).find(found, X, np.arange(len(texts)))]
    rows = []
    for i, text in enumerate(texts):
        auto = bool(text.strip()) and threshold is not None and doubt[i] <= threshold
        codes = [name for name, has in zip(model.labels, found.Y[i], strict=True) if has]
        numbers = [float(f"{value:.6g}") for value in (found.chance[i], found.theta[i])]
        status, nearest = "auto" if auto else "review", model.answers.texts[found.row[i]]
        reason = "" if auto else why[i] if text.strip() else EMPTY
        rows.append((";".join(codes), status, *numbers, nearest, reason, ""))
    return rows


def as_read(rows):
    """Cells of a CSV file: chance and theta as numbers again."""
    return [(*row[:-5], float(row[-5]), float(row[-4]), *row[-3:]) for row in rows]


@pytest.mark.parametrize("rank_by", ["chance", "theta"])
@pytest.mark.parametrize(
    ("threshold", "block_rows"),
    [("half", 7), ("half", 41), (None, 2000), (0.0, 41), (1.0, 41), (float("nan"), 41)],
)
def test_rows_and_columns_are_kept_and_cells_are_the_models(
    model, table, new, tmp_path, monkeypatch, threshold, block_rows, rank_by
):
    monkeypatch.setattr(coded_answers, "BLOCK_ROWS", block_rows)
    threshold = threshold_of(model, new, rank_by) if threshold == "half" else threshold
    policy = CodingOptions(threshold, rank_by=rank_by)
    counts = code_table(model, table, tmp_path / "coded.csv", policy)
    header, rows = read_csv(tmp_path / "coded.csv")
    assert header == ["id", "answer", "n", *ADDED]
    expected = expected_cells(model, new, policy)
    each = enumerate(zip(new, expected, strict=True))
    assert as_read(rows) == [(f"r{i}", text, str(i), *cells) for i, (text, cells) in each]
    n_auto = sum(cells[1] == "auto" for cells in expected)
    assert n_auto == {None: 0, 0.0: 0, 1.0: 39}.get(threshold, n_auto)
    assert (counts.n_rows, counts.n_auto, counts.n_review) == (41, n_auto, 41 - n_auto)
    assert sum(counts.why.values()) == 41 - n_auto
    assert (counts.why[EMPTY], counts.n_coded) == (2, 0)
    assert model.code(answers_of([" "])).chance.tolist() == [0.0]
    assert counts.notes == []


def test_column_to_fill_is_not_that_of_the_predictions(tmp_path):
    """Else predictions would join the model as what people said."""
    model = fitted(TEXTS[:40], CODES[:40], Columns(("answer",), CodeColumns(("nldd_codes",))))
    table = write_csv(tmp_path / "new.csv", ["answer"], [["more buses"]])
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(0.0), tmp_path / "review.csv")
    cells = read_table(tmp_path / "review.csv").frame.iloc[0]
    assert cells["nldd_codes"] == cells["nldd_codes (2)"] == "bus"
    header, _ = read_csv(tmp_path / "review.csv")
    assert len(set(header)) == len(header)
    assert "nldd_codes" not in read_csv(tmp_path / "coded.csv")[0]
    # What people fill in is told from what they saw.
    assert take_codes(model, tmp_path / "review.csv") == ([None], 1)


def test_added_names_differ_from_those_that_are_there(model, tmp_path):
    header = ["nldd_codes", "answer", " nldd_status", "nldd_theta", "nldd_theta", "nldd_why (2)"]
    row = ["old", "more buses", "auto", "1", "2", "because"]
    table = write_csv(tmp_path / "new.csv", header, [row])
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(1.0))
    found, (cells,) = read_csv(tmp_path / "coded.csv")
    assert found[:6] == header
    assert cells[:6] == row
    names = ["codes (2)", "status (2)", "chance", "theta (3)", "nearest", "why", "guarantee"]
    assert found[6:] == [f"nldd_{name}" for name in names]


def test_explanations_are_the_classifiers(model, table, new, tmp_path):
    code_table(model, table, tmp_path / "coded.csv", CodingOptions(0.05, explain=True))
    header, rows = read_csv(tmp_path / "coded.csv")
    assert header == ["id", "answer", "n", *ADDED, *EXPLAINED]
    explained = model.classifier.explain(model.features.transform(answers_of(new)))
    for row, expected in zip(rows, explained, strict=True):
        cells, second = dict(zip(header, row, strict=True)), expected.runner_up
        assert cells["nldd_codes"] == ";".join(model.labels[j] for j in expected.labels)
        assert cells["nldd_next_codes"] == ";".join(model.labels[j] for j in second.labels)
        assert cells["nldd_nearest"] == model.answers.texts[expected.row]
        ahead = np.subtract(expected.parts, second.parts)
        numbers = {f"by_{name}": by for name, by in zip(SOURCES, ahead, strict=True)}
        said = bool(cells["answer"].strip())
        numbers |= {"Dx": expected.Dx, "theta": expected.theta if said else 1.0}
        numbers |= {"probability": expected.probability if said else 0.0}
        numbers["next_probability"] = second.probability
        for name, value in numbers.items():
            assert float(cells[f"nldd_{name}"]) == pytest.approx(value, rel=1e-5)


def test_empty_answers_are_coded_if_the_model_knows_such(table, new, tmp_path):
    model = fitted([*TEXTS, *5 * [""]], [*CODES, *5 * [set()]])
    assert code_table(model, table, tmp_path / "coded.csv", CodingOptions(1.0)).n_auto == len(new)
    _, rows = read_csv(tmp_path / "coded.csv")
    assert [row[3] for row in rows if not row[1].strip()] == ["", ""]


def test_table_without_rows(model, tmp_path):
    table = write_csv(tmp_path / "new.csv", ["answer", "id"], [])
    places = tmp_path / "coded.csv", CodingOptions(0.1), tmp_path / "review.csv"
    counts = code_table(model, table, *places)
    assert (counts.n_rows, counts.n_auto, counts.n_review) == (0, 0, 0)
    assert read_csv(tmp_path / "coded.csv") == (["answer", "id", *ADDED], [])
    assert read_csv(tmp_path / "review.csv") == (["answer", "id", "codes", *REVIEWED], [])


def test_error_in_a_late_row_leaves_no_file(tmp_path):
    columns = replace(COLUMNS, numeric=("age",))
    answers = answers_of(TEXTS[:40], np.arange(40.0)[:, np.newaxis])
    model = fit_coding_model(answers, CODES[:40], columns, SETTINGS)
    rows = [["more buses", i] for i in range(4100)]
    rows[4050][1] = "old"
    table = write_csv(tmp_path / "new.csv", ["answer", "age"], rows)
    (tmp_path / "coded.csv").write_text("old content")
    with pytest.raises(InputError, match="row 4051, column 'age'"):
        places = tmp_path / "coded.csv", CodingOptions(1.0), tmp_path / "review.csv"
        code_table(model, table, *places)
    assert (tmp_path / "coded.csv").read_text() == "old content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coded.csv", "new.csv"]


@pytest.mark.parametrize("slip", ["a cell too many,x,y\n", 'a stray "quote,"bus\n'])
def test_file_with_a_slip_is_kept(model, tmp_path, slip):
    """It cannot be read, but two hundred codes may stand in it."""
    new = write_csv(tmp_path / "new.csv", ["answer"], [["more buses"]])
    review = write_csv(tmp_path / "review.csv", ["answer", "codes"], [["a park", "park"]])
    review.write_text(review.read_text() + slip)
    before = review.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        code_table(model, new, tmp_path / "coded.csv", CodingOptions(None), review)
    assert review.read_bytes() == before
