"""Coded tables: every row and column kept, and the added ones agree with the model."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import COLUMNS, SETTINGS, answers_of, fitted, made_up, read_csv, write_csv
from nldd.coding import (
    CodeColumns,
    Columns,
    Policy,
    Predictions,
    _output as coded_output,
    code_table,
    fit_coding_model,
    reasons,
)
from nldd.coding._output import EMPTY, FAR, NO_FIT, UNSURE, is_filled_in, typical_parts
from nldd.exceptions import InputError
from nldd.tables import open_table

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(90, 0)
ADDED = [f"nldd_{k}" for k in ("codes", "status", "chance", "theta", "nearest", "why")]
EXPLAINED = [f"nldd_{k}" for k in ("Dx", "Dy", "x_part", "y_part", "next_codes", "next_theta")]
MARKS = ("rent", "bus", "park")


@pytest.fixture(scope="module")
def model():
    """With enough wrong predictions among its own to learn chances from."""
    return fitted(TEXTS, [{"bus"} if i % 5 == 0 else codes for i, codes in enumerate(CODES)])


@pytest.fixture(scope="module")
def marked():
    return fitted(TEXTS, CODES, Columns(("answer",), CodeColumns(MARKS, "")))


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
    found = model.code(answers_of(texts))
    threshold, doubt = policy.threshold, found.doubt(policy.rank_by)
    why = reasons(found, typical_parts(model.evidence, policy))
    rows = []
    for i, text in enumerate(texts):
        auto = bool(text.strip()) and threshold is not None and doubt[i] <= threshold
        codes = [name for name, has in zip(model.labels, found.Y[i], strict=True) if has]
        rows.append(
            (
                ";".join(codes),
                "auto" if auto else "review",
                float(f"{found.chance[i]:.6g}"),
                float(f"{found.theta[i]:.6g}"),
                model.answers.texts[found.row[i]],
                "" if auto else why[i] if text.strip() else EMPTY,
            )
        )
    return rows


def as_read(rows):
    """Cells of a CSV file: chance and theta as numbers again."""
    return [(*row[:-4], float(row[-4]), float(row[-3]), *row[-2:]) for row in rows]


@pytest.mark.parametrize("rank_by", ["chance", "theta"])
@pytest.mark.parametrize(
    ("threshold", "block_rows"),
    [("half", 7), ("half", 41), (None, 2000), (0.0, 41), (1.0, 41), (float("nan"), 41)],
)
def test_rows_and_columns_are_kept_and_cells_are_the_models(
    model, table, new, tmp_path, monkeypatch, threshold, block_rows, rank_by
):
    monkeypatch.setattr(coded_output, "BLOCK_ROWS", block_rows)
    threshold = threshold_of(model, new, rank_by) if threshold == "half" else threshold
    policy = Policy(threshold, rank_by=rank_by)
    counts = code_table(model, table, tmp_path / "coded.csv", policy)
    header, rows = read_csv(tmp_path / "coded.csv")
    assert header == ["id", "answer", "n", *ADDED]
    expected = expected_cells(model, new, policy)
    assert as_read(rows) == [
        (f"r{i}", text, str(i), *cells)
        for i, (text, cells) in enumerate(zip(new, expected, strict=True))
    ]
    n_auto = sum(cells[1] == "auto" for cells in expected)
    assert n_auto == {None: 0, 0.0: 0, 1.0: 39}.get(threshold, n_auto)
    assert (counts.n_rows, counts.n_auto, counts.n_review) == (41, n_auto, 41 - n_auto)
    assert counts.why == Counter(cells[-1] for cells in expected if cells[-1])
    assert (counts.why[EMPTY], counts.n_coded) == (2, 0)
    assert counts.notes == []


def test_column_to_fill_is_not_that_of_the_predictions(tmp_path):
    """Else predictions would join the model as what people said."""
    model = fitted(TEXTS[:40], CODES[:40], Columns(("answer",), CodeColumns(("nldd_codes",))))
    table = write_csv(tmp_path / "new.csv", ["answer"], [["more buses"]])
    code_table(model, table, tmp_path / "coded.csv", Policy(0.0), tmp_path / "review.csv")
    with open_table(tmp_path / "review.csv") as review:
        (block,) = review.blocks()
        assert block.rows[0][review.column("nldd_codes")] == ""
    header, _ = read_csv(tmp_path / "review.csv")
    assert len(set(header)) == len(header)


def test_added_names_differ_from_those_that_are_there(model, tmp_path):
    header = ["nldd_codes", "answer", " nldd_status", "nldd_theta", "nldd_theta", "nldd_why (2)"]
    row = ["old", "more buses", "auto", "1", "2", "because"]
    table = write_csv(tmp_path / "new.csv", header, [row])
    code_table(model, table, tmp_path / "coded.csv", Policy(1.0))
    found, (cells,) = read_csv(tmp_path / "coded.csv")
    assert found[:6] == header
    assert cells[:6] == row
    names = ["codes (2)", "status (2)", "chance", "theta (3)", "nearest", "why"]
    assert found[6:] == [f"nldd_{name}" for name in names]


def test_explanations_are_the_classifiers(model, table, new, tmp_path):
    code_table(model, table, tmp_path / "coded.csv", Policy(0.05, explain=True))
    header, rows = read_csv(tmp_path / "coded.csv")
    assert header == ["id", "answer", "n", *ADDED, *EXPLAINED]
    explained = model.classifier.explain(model.features.transform(answers_of(new)))
    names = dict(enumerate(model.labels))
    for row, expected in zip(rows, explained, strict=True):
        cells = dict(zip(header, row, strict=True))
        assert cells["nldd_codes"] == ";".join(names[j] for j in expected.labels)
        assert cells["nldd_nearest"] == model.answers.texts[expected.row]
        empty = not cells["answer"].strip()
        theta = 1.0 if empty else expected.theta
        assert float(cells["nldd_theta"]) == pytest.approx(theta, rel=1e-5)
        for key in ("Dx", "Dy", "x_part", "y_part"):
            assert float(cells[f"nldd_{key}"]) == pytest.approx(getattr(expected, key), rel=1e-5)
        second = expected.runner_up
        assert cells["nldd_next_codes"] == ";".join(names[j] for j in second.labels)
        assert float(cells["nldd_next_theta"]) == pytest.approx(second.theta, rel=1e-5)
        assert second.labels != expected.labels
        assert empty or float(cells["nldd_next_theta"]) >= float(cells["nldd_theta"])


def test_models_of_marks_add_marks(marked, table, new, tmp_path):
    policy = Policy(threshold_of(marked, new), explain=True)
    code_table(marked, table, tmp_path / "coded.csv", policy, tmp_path / "review.csv")
    header, rows = read_csv(tmp_path / "coded.csv")
    marks = ["nldd_rent", "nldd_bus", "nldd_park"]
    assert header == ["id", "answer", "n", *ADDED, *marks, *EXPLAINED]
    found = marked.code(answers_of(new))
    for row, y in zip(rows, found.Y.tolist(), strict=True):
        cells = dict(zip(header, row, strict=True))
        assert [cells[name] for name in marks] == [str(value) for value in y]
        codes = [name for name, value in zip(MARKS, y, strict=True) if value]
        assert cells["nldd_codes"] == ";".join(codes)
    review_header, review = read_csv(tmp_path / "review.csv")
    assert review_header == [*header, *MARKS]
    status = header.index("nldd_status")
    assert review == [[*row, "", "", ""] for row in rows if row[status] == "review"]


def test_empty_answers_are_coded_if_the_model_knows_such(table, new, tmp_path):
    model = fitted([*TEXTS, *5 * [""]], [*CODES, *5 * [set()]])
    counts = code_table(model, table, tmp_path / "coded.csv", Policy(1.0))
    assert counts.n_auto == len(new)
    _, rows = read_csv(tmp_path / "coded.csv")
    assert [row[3] for row in rows if not row[1].strip()] == ["", ""]


def test_table_without_rows(model, tmp_path):
    table = write_csv(tmp_path / "new.csv", ["answer", "id"], [])
    counts = code_table(model, table, tmp_path / "coded.csv", Policy(0.1), tmp_path / "review.csv")
    assert (counts.n_rows, counts.n_auto, counts.n_review) == (0, 0, 0)
    assert read_csv(tmp_path / "coded.csv") == (["answer", "id", *ADDED], [])
    assert read_csv(tmp_path / "review.csv") == (["answer", "id", *ADDED, "codes"], [])


def test_error_in_a_late_row_leaves_no_file(tmp_path):
    columns = replace(COLUMNS, numeric=("age",))
    answers = answers_of(TEXTS[:40], np.arange(40.0)[:, np.newaxis])
    model = fit_coding_model(answers, CODES[:40], columns, SETTINGS)
    rows = [["more buses", i] for i in range(4100)]
    rows[4050][1] = "old"
    table = write_csv(tmp_path / "new.csv", ["answer", "age"], rows)
    (tmp_path / "coded.csv").write_text("old content")
    with pytest.raises(InputError, match="row 4051, column 'age'"):
        code_table(model, table, tmp_path / "coded.csv", Policy(1.0), tmp_path / "review.csv")
    assert (tmp_path / "coded.csv").read_text() == "old content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coded.csv", "new.csv"]


BOTH = f"{FAR}, and {NO_FIT}"


def parts(x_part, y_part, theta=None):
    x_part, y_part = np.asarray(x_part, dtype=float), np.asarray(y_part, dtype=float)
    ones = np.ones(len(x_part))
    theta = ones if theta is None else np.asarray(theta)
    return Predictions(ones[:, np.newaxis].astype(np.int8), theta, ones, ones, ones, x_part, y_part)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (4.0, 1.0, FAR),  # 4 of 4 above the usual 0 and 1
        (3.0, 2.0, FAR),  # 3 of 4 is just enough
        (2.98, 2.02, BOTH),
        (2.0, 3.0, BOTH),
        (1.0, 4.0, NO_FIT),  # 3 of 4
        (1.02, 3.98, BOTH),
        (-5.0, 1.5, NO_FIT),  # nearer than usual: no excess
        (0.5, -9.0, FAR),
        (0.0, 2.0, NO_FIT),
        (0.0, 1.0, UNSURE),
    ],
)
def test_reason_is_the_distance_that_exceeds_the_usual_one(x, y, expected):
    assert reasons(parts([x], [y]), (0.0, 1.0)) == [expected]


def test_usual_parts_are_medians_of_those_below_the_threshold():
    evidence = parts([1, 2, 9, 4, 5], [10, 60, 30, 20, 50], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert typical_parts(evidence, Policy(0.3)) == (2.0, 30.0)
    assert typical_parts(evidence, Policy(0.25)) == (1.5, 35.0)
    assert typical_parts(evidence, Policy(1.0)) == (4.0, 30.0)
    # Without a threshold the surer half, the one in the middle included.
    assert typical_parts(evidence, Policy(None)) == typical_parts(evidence, Policy(0.3))
    # None is that sure: all of them.
    assert typical_parts(evidence, Policy(0.01)) == (4.0, 30.0)
    # Other answers are the surest if the chance ranks.
    by_chance = replace(evidence, chance=np.array([0.1, 0.2, 0.3, 0.9, 0.95]))
    assert typical_parts(by_chance, Policy(0.2, rank_by="chance")) == (4.5, 35.0)


HEADER = ["answer", "codes"]


def test_empty_cells_are_not_filled_in(tmp_path):
    path = write_csv(tmp_path / "a.csv", HEADER, [["more buses", " "], ["a park", ""]])
    assert not is_filled_in(path, ("codes",))
    assert is_filled_in(path, ("answer",))
    assert not is_filled_in(tmp_path / "none.csv", ("codes",))
    (tmp_path / "empty.csv").touch()
    assert not is_filled_in(tmp_path / "empty.csv", ("codes",))


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


def test_coding_a_table_passes_few_modules():
    """And none that draws: people wait for the import whenever they run nldd predict."""
    code = (
        "import sys; from nldd.coding import Policy, code_table, load_coding_model; "
        "print(*(name for name in sys.modules if name.startswith(('nldd.', 'matplotlib'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert sum(name.startswith("nldd.coding") for name in loaded) <= 10
    assert not [name for name in loaded if name.startswith(("nldd.displays", "matplotlib"))]
