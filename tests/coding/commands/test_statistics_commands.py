"""The commands on files of SPSS: what coders see on the way in, and what comes back."""

from pathlib import Path

import pytest

from coding_tables import NEW, PHRASES, QUICK, call, read_csv

pandas = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

CODES = sorted(PHRASES)
MARKS = [f"why_{k}" for k in range(1, 6)]
REGIONS = {1.0: "Bonn", 2.0: "Leeds", 3.0: "Lyon"}
# The same with codes as a set of marks, of which 2 is yes.
CODED = Path(__file__).parents[1] / "tables" / "files" / "response_set.sav"


def spss(path, rows):
    """Answers with regions as labelled numbers."""
    numbers = {name: value for value, name in REGIONS.items()}
    columns = {"answer": [row[1] for row in rows], "region": [numbers[row[3]] for row in rows]}
    labels = {"variable_value_labels": {"region": REGIONS}, "file_label": "Wave 2"}
    pyreadstat.write_sav(pandas.DataFrame(columns), str(path), **labels)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spss")
    spss(folder / "new.sav", NEW)
    columns = ("--text", "answer", "--labels", "$why", "--features", "region")
    assert call("fit", CODED, *columns, *QUICK, "-o", folder / "model.nldd") == 0
    return folder


def test_a_coded_file_has_all_that_the_file_of_answers_said(study, tmp_path, succeed):
    out, review = tmp_path / "coded.sav", tmp_path / "review.csv"
    words = ("predict", study / "model.nldd", study / "new.sav", "-o", out, "--review", review)
    succeed(*words, "--max-theta", "0.01")
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


def test_a_response_set_is_told_as_lost_and_its_variables_are_not(study, tmp_path, succeed):
    out = tmp_path / "coded.sav"
    done = succeed("predict", study / "model.nldd", CODED, "-o", out)
    assert "the multiple-response sets 'why' are lost" in done.err
    old, _ = pyreadstat.read_sav(CODED, output_format="dict")
    new, found = pyreadstat.read_sav(out, output_format="dict")
    assert {name: new[name] for name in old} == old
    assert [found.column_names_to_labels[mark] for mark in MARKS] == CODES
