"""The commands on files of SPSS: what coders see on the way in, and what comes back."""

import pytest

from coding_tables import NEW, PHRASES, QUICK, answers, call, counts_of, read_csv, succeed
from nldd.coding.tables.statistics_writer import add_response_sets
from nldd.coding.tables.typed_files import ResponseSet

pandas = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

CODES = sorted(PHRASES)
MARKS = [f"why_{k}" for k in range(1, 6)]
REGIONS = {1.0: "Bonn", 2.0: "Leeds", 3.0: "Lyon"}
SET = ResponseSet("why", "D", tuple(MARKS), "Why?", 2)


def spss(path, rows, coded=True):
    """Answers with regions as labelled numbers, and codes as a set of marks of 1 and 2."""
    numbers = {name: value for value, name in REGIONS.items()}
    columns = {"answer": [row[1] for row in rows], "region": [numbers[row[3]] for row in rows]}
    given = [row[4].split(";") for row in rows]
    if coded:
        columns |= {m: [1.0 + (c in g) for g in given] for m, c in zip(MARKS, CODES, strict=True)}
    labels = dict(zip(MARKS, CODES, strict=True))
    values = {"region": REGIONS} | {mark: {1.0: "no", 2.0: "yes"} for mark in MARKS}
    frame = pandas.DataFrame(columns)
    pyreadstat.write_sav(
        frame, str(path), column_labels=labels, variable_value_labels=values, file_label="Wave 2"
    )
    if coded:
        path.write_bytes(add_response_sets(path.read_bytes(), [SET]))
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spss")
    spss(folder / "answers.sav", answers(60))
    spss(folder / "new.sav", NEW, coded=False)
    columns = ("--text", "answer", "--labels", "$why", "--features", "region")
    words = (folder / "answers.sav", *columns, *QUICK, "-o", folder / "model.nldd")
    assert call("fit", *words) == 0
    return folder


def test_codes_are_the_variables_of_a_response_set(study, capsys):
    record = succeed(capsys, "inspect", study / "model.nldd", "--json").json
    counts = counts_of(answers(60))
    assert record["labels"] == {m: counts[c] for m, c in zip(MARKS, CODES, strict=True)}
    assert record["columns"]["categorical"] == ["region"]


def test_a_coded_file_has_all_that_the_file_of_answers_said(study, tmp_path, capsys):
    out, review = tmp_path / "coded.sav", tmp_path / "review.csv"
    words = ("predict", study / "model.nldd", study / "new.sav", "-o", out, "--review", review)
    succeed(capsys, *words, "--max-theta", "0.01")
    old, before = pyreadstat.read_sav(study / "new.sav", output_format="dict")
    new, after = pyreadstat.read_sav(out, output_format="dict")
    assert {name: new[name] for name in old} == old
    assert new["region"][:3] == [REGIONS_OF[row[3]] for row in NEW[:3]]
    assert after.variable_value_labels == before.variable_value_labels
    assert after.file_label == "Wave 2"
    assert set(new["nldd_status"]) == {"auto", "review"}
    assert new["nldd_why_1"] == [float("why_1" in c.split(";")) for c in new["nldd_codes"]]
    assert after.column_names_to_labels["nldd_codes"] == "Codes by nldd"
    # In other files people read the labels.
    header, rows = read_csv(review)
    regions = {row[header.index("region")] for row in rows}
    assert rows
    assert regions <= set(REGIONS.values())


REGIONS_OF = {name: value for value, name in REGIONS.items()}


def test_a_coded_table_has_its_response_set_still(study, tmp_path, capsys):
    out = tmp_path / "coded.sav"
    succeed(capsys, "predict", study / "model.nldd", study / "answers.sav", "-o", out)
    _, found = pyreadstat.read_sav(out, output_format="dict")
    assert found.mr_sets["why"]["variable_list"] == MARKS
    assert found.mr_sets["why"]["counted_value"] == 2
