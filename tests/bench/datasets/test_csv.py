"""CSV files: separators, cells, and errors with their row and column."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.exceptions import InputError

NAN = np.nan


@pytest.fixture
def read(load):
    return lambda content, labels=1: load(content, "file.csv", labels=labels)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_separators_and_line_ends(read, separator, end):
    rows = ["tempo,label_a,size,label_b", "1.5,1,-2,0", ",0,3e2,1", ""]
    dataset = read(end.join(rows).replace(",", separator), "label_*")
    assert_array_equal(dataset.X, [[1.5, -2], [NAN, 300]])
    assert_array_equal(dataset.Y, [[1, 0], [0, 1]])
    assert dataset.label_names == ["label_a", "label_b"]
    assert dataset.feature_names == ["tempo", "size"]
    assert dataset.name == "file"


def test_cells(read):
    dataset = read('y,a,b\n1,"15",2\n0.0, 3 ,NA\nTRUE,?,.5\nfalse,,1e-3\n1.0,+1,-0\n\n true ,7,8\n')
    assert_array_equal(dataset.Y[:, 0], [1, 0, 1, 0, 1, 1])
    assert_array_equal(dataset.X, [[15, 2], [3, NAN], [NAN, 0.5], [NAN, 0.001], [1, 0], [7, 8]])


def test_quotes_and_encodings(read):
    dataset = read('\ufeff"y;1", "a ""b""",größe\n"2","3","1"\n', -1)
    assert dataset.feature_names == ["y;1", 'a "b"']
    assert_array_equal(dataset.X, [[2, 3]])
    assert read("y,größe\n1,2\n".encode("latin-1")).feature_names == ["größe"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n\n", " is empty"),
        ("y,a\n", ", line 1: no rows"),
        ("y\n1\n", ", line 1: .* no column is left as a feature"),
        ("y,a,y\n", ", line 1: two columns are called 'y'"),
        ("\ny,,a\n", ", line 2: column 2 has no name"),
        ("y,a\n1,2\n\n1\n", ", line 4: the row has 1 cell, the header 2"),
        ('y,a\n1,"2\n', ", line 2: the row that begins here: unexpected end"),
        ("y,a\n1,x\n", ", line 2: column 'a': expected a number .* 'x'"),
        ("y;a\n1;2,5\n", ", line 2: column 'a': .* '2,5'. Write decimals with a point"),
        ("y,a\n1,\n1,nan\n", ", line 3: column 'a': .* 'nan'"),
        ("y,a\n1,1_0\n", ", line 2: column 'a': .* '1_0'"),
        ("y,a\n1,\u0663\n", ", line 2: column 'a': .* '\u0663'"),
        ("y,a\n1," + "9" * 200_000, ", line 2: column 'a': .* below 1.8e308"),
        ('y,a\n1," 2 "\n1,\n1,"\n\n"\n1,x\n', ", line 4: column 'a': .* '.n.n'"),
        ("y,a\n1,1\n2,1\n", ", line 3: label 'y' must be 0 or 1; it is 2"),
        ("y,a\n1,1\n?,1\n", ", line 3: label 'y' must be 0 or 1; it is missing"),
        ("y,a\n1,1\nyes,1\n", ", line 3: label 'y' must take .* '1', 'yes'"),
    ],
)
def test_tables_that_are_refused(read, content, message):
    with pytest.raises(InputError, match=rf"file\.csv{message}"):
        read(content)


def test_one_slip_does_not_make_numbers_a_row_id(read):
    rows = "".join(f"1,{i / 7}\n" for i in range(40))
    with pytest.raises(InputError, match=r"line 42: column 'a': .* '1,5'"):
        read(f"y;a\n{rows.replace(',', ';')}1;1,5\n")
