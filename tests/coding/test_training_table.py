"""The table that a model learns from: its columns, its coded rows, and slips in it."""

import numpy as np
import pytest

from coding.made_up import write_csv
from nldd.coding import CodeColumns, Columns, Request, find_columns, read_coded
from nldd.coding._code_slips import close_code, likely_separator, similar_groups
from nldd.coding._training_table import holds_numbers, match_columns
from nldd.exceptions import InputError
from nldd.tables import TableOptions

LISTED = CodeColumns(("codes",))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5", ""], True),
        ([1, 2.5, None], True),
        (["NA", ""], False),
        (["1", "one"], False),
        ([], False),
        (["7 "], True),
    ],
)
def test_numeric_columns_are_those_with_numbers_only(cells, expected):
    assert holds_numbers(cells) is expected


def test_features_are_told_apart_by_all_their_cells(tmp_path):
    rows = [["a", "bus", 30 + i, "N", i % 3, "", i] for i in range(2500)]
    rows.append(["b", "", "", "S", 1, "", "late"])  # a word in the last row of another block
    header = ["answer", "codes", "age", "region", "wave", "nothing", "seven"]
    path = write_csv(tmp_path / "a.csv", header, rows)
    features = ("seven", "age", "region", "nothing", "wave")
    request = Request(("answer",), "codes", features=features, categorical=("wave",))
    columns = find_columns(path, request, TableOptions())
    assert columns.text == ("answer",)
    assert columns.numeric == ("age",)
    assert columns.categorical == ("seven", "region", "nothing", "wave")
    assert columns.inputs == ("answer", "age", "seven", "region", "nothing", "wave")
    assert columns.codes == CodeColumns(("codes",), ";", "")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(("answer",)), "Name either"),
        (Request(("answer",), "codes", "q1_*"), "Name either"),
        (Request(("answr",), "codes"), "no column 'answr'"),
        (Request(("answer",), "code"), "no column 'code'"),
        (Request(("answer",), "codes", features=("ages",)), "no column 'ages'"),
        (Request(("answer",), "codes", categorical=("ages",)), "no column 'ages'"),
        (Request((), "codes"), "No column to code from"),
        (Request(("answer", "answer"), "codes"), "'answer' is named twice"),
        (Request(("answer",), "answer"), "'answer' is named twice"),
        (Request(("answer",), "codes", features=("answer",)), "'answer' is named twice"),
        (Request(("answer",), "codes", features=("age", "age")), "'age' is named twice"),
        (Request(("answer",), "", "a*"), "'answer' is named twice"),
        (Request(("answer",), "", "q9_*"), "No column matches 'q9_\\*'"),
    ],
)
def test_requests_that_make_no_sense(tmp_path, request_, message):
    path = write_csv(tmp_path / "a.csv", ["answer", "codes", "age"], [["a", "b", "1"]])
    with pytest.raises(InputError, match=message) as refused:
        find_columns(path, request_, TableOptions())
    assert refused.value.hint


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("q1_*", ("q1_bus", "q1_park")),
        ("q?_bus", ("q1_bus", "q2_bus")),
        ("q2_bus, q1_bus", ("q1_bus", "q2_bus")),
        ("q2_bus", ("q2_bus",)),
    ],
)
def test_columns_of_marks_by_pattern_or_name(pattern, expected):
    assert match_columns(pattern, ["id", "q1_bus", "q1_park", "Q1_bus", "q2_bus"]) == expected


def test_coded_rows_of_a_table(tmp_path):
    rows = [
        ["a", "bus", "1"],
        ["b", "", "x"],
        ["c", "bus;park", ""],
        ["d", " ", "2"],
        ["e", "", ""],
    ]
    path = write_csv(tmp_path / "a.csv", ["answer", "codes", "age"], rows)
    # The word "x" stands in a row without codes, which is not read.
    columns = Columns(("answer",), LISTED, numeric=("age",))
    found = read_coded(path, columns, TableOptions())
    assert found.answers.texts == ["a", "c"]
    np.testing.assert_array_equal(found.answers.numbers, [[1.0], [np.nan]])
    assert found.codes == [{"bus"}, {"bus", "park"}]
    assert found.rows == [1, 3]
    assert (found.n_rows, found.n_set_aside) == (5, 3)
    assert found.notes == []


@pytest.mark.parametrize(
    ("n_rows", "said"),
    [(0, "a.csv has no rows below its header."), (3, "none of the 3 rows has codes in 'codes'.")],
)
def test_table_without_codes_is_refused(tmp_path, n_rows, said):
    path = write_csv(tmp_path / "a.csv", ["answer", "codes"], [["a", ""]] * n_rows)
    with pytest.raises(InputError) as refused:
        read_coded(path, Columns(("answer",), LISTED), TableOptions())
    assert str(refused.value).endswith(said)
    assert "another file" in refused.value.hint


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a|b", "c|d"], "|"),
        (["a/b", "c"], None),  # one alone may be a name
        (["a,b", "c,d", "e;f"], None),
        (["a,b", "c,d"] + ["e"] * 38, ","),
        (["a,b", "c,d"] + ["e"] * 39, None),  # less than one in twenty
        ([], None),
    ],
)
def test_likely_separator(cells, expected):
    assert likely_separator(cells, ";") == expected


KNOWN = ["Service", "Öffnungszeiten", "Preis", "Sauberkeit", "q1_06"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("service", "Service"),
        ("SERVICE ", "Service"),
        ("Preise", "Preis"),
        ("Öffnungszeitene", "Öffnungszeiten"),
        ("O\u0308ffnungszeiten", "Öffnungszeiten"),
        ("sauberkiet", "Sauberkeit"),
        ("q1_07", None),
        ("q1_16", None),
        ("Q1_06", "q1_06"),
        ("Sitzplätze", None),
        ("Preis2", None),
        ("", None),
    ],
)
def test_known_code_that_is_meant(name, meant):
    assert close_code(name, KNOWN) == meant


def test_groups_that_differ_in_capitals_and_spaces():
    names = ["Service", "SERVICE", "a  b", "A b", "bus", "buses", "straße", "STRASSE"]
    assert similar_groups(names) == [["Service", "SERVICE"], ["a  b", "A b"], ["straße", "STRASSE"]]
