"""CSV files: separators, label columns, cells, and errors with their row and column."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError

NAN = np.nan


@pytest.fixture
def read(tmp_path):
    def read(content, labels=1, **options):
        path = tmp_path / "file.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_dataset(path, labels=labels, **options)

    return read


@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_separators_and_line_ends(read, separator, end):
    rows = [["tempo", "label_a", "size", "label_b"], ["1.5", "1", "-2", "0"], ["", "0", "3e2", "1"]]
    dataset = read(end.join(separator.join(row) for row in rows), "label_*")
    assert_array_equal(dataset.X, [[1.5, -2], [NAN, 300]])
    assert_array_equal(dataset.Y, [[1, 0], [0, 1]])
    assert dataset.label_names == ["label_a", "label_b"]
    assert dataset.feature_names == ["tempo", "size"]
    assert dataset.name == "file"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["b", "a"], ["a", "b"]),
        (("c",), ["c"]),
        (iter(["c"]), ["c"]),
        ("a", ["a"]),
        ("[ab]", ["a", "b"]),
        ("x[1]", ["x[1]"]),
        ("?", ["a", "b", "c"]),
        (2, ["a", "b"]),
        (-2, ["c", "x[1]"]),
    ],
    ids=["names", "tuple", "iterator", "name", "pattern", "exact", "any", "first", "last"],
)
def test_label_columns(read, labels, names):
    dataset = read("a,b,c,x[1]\n0,1,1,0\n", labels)
    values = {"a": 0, "b": 1, "c": 1, "x[1]": 0}
    assert dataset.label_names == names
    assert_array_equal(dataset.Y, [[values[name] for name in names]])
    assert dataset.feature_names == [name for name in values if name not in names]


def test_cells(read):
    content = 'y,a,b\n1,"15",2\n0.0, 3 ,NA\nTRUE,?,.5\nfalse,,1e-3\n1.0,+1,-0\n\n true ,7,8\n'
    dataset = read(content)
    assert_array_equal(dataset.Y[:, 0], [1, 0, 1, 0, 1, 1])
    assert_array_equal(dataset.X, [[15, 2], [3, NAN], [NAN, 0.5], [NAN, 0.001], [1, 0], [7, 8]])


def test_quotes_and_byte_order_mark(read):
    dataset = read('\ufeff"y;1", "a ""b""",c\n"2","3","1"\n', -1)
    assert dataset.feature_names == ["y;1", 'a "b"']
    assert dataset.label_names == ["c"]
    assert_array_equal(dataset.X, [[2, 3]])


def test_latin_1(read):
    assert read("y,größe\n1,2\n".encode("latin-1")).feature_names == ["größe"]


def test_bars_separate(read):
    assert_array_equal(read("y|a\n1|2\n").X, [[2]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is empty"),
        ("\n\n", " is empty"),
        ("y,a\n", ", line 1: no rows follow the header"),
        ("y\n1\n", ", line 1: only one column, 'y'"),
        ("y,a,y\n", ", line 1: two columns are called 'y'"),
        ("\ny,,a\n", ", line 2: column 2 has no name"),
        ("y,a\n1,2,3\n", ", line 2: the row has 3 cells, the header 2"),
        ("y,a\n1,2\n\n1\n", ", line 4: the row has 1 cell, the header 2"),
        ('y,a\n1,"2\n', ", line 2: the row that begins here: unexpected end of data"),
        ('y,a\n1,"2"3\n', ", line 2: the row that begins here: ',' expected after '\"'"),
    ],
)
def test_tables_that_are_refused(read, content, message):
    with pytest.raises(InputError, match=rf"file\.csv{message}"):
        read(content)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("y,a\n1,x\n", 2, "'a': expected a number .* got 'x'"),
        ("y;a\n1;2,5\n", 2, "'a': .* got '2,5'. Write decimals with a point"),
        ("y,a\n1,nan\n", 2, "'a': .* got 'nan'"),
        ("y,a\n1,inf\n", 2, "'a': .* got 'inf'"),
        ("y,a\n1,1_0\n", 2, "'a': .* got '1_0'"),
        ("y,a\n1,\u0663\n", 2, "'a': .* got '\u0663'"),
        ("y,a\n1,\xa02\n", 2, "'a': .* got '.xa02'"),
        ("y,a\n1,1e999\n", 2, "'a': .* a number below 1.8e308"),
        ("y,a\n1," + "9" * 200_000, 2, "'a': .* a number below 1.8e308"),
        ('y,a\n1,"2\n\n"\n1,x\n', 2, "'a': .* got '2.n.n'"),
        ('y,a\n1," 2 "\n1,\n1,"\n\n"\n1,x\n', 4, "'a': .* got '.n.n'"),
        ("y,a\n2,1\n", 2, "'y': a label must be 0 or 1, false or true; got '2'"),
        ("y,a\n1,1\n,1\n", 3, "'y': a label must be 0 or 1, false or true; got ''"),
        ("y,a\n?,1\n", 2, r"'y': a label must be 0 or 1, false or true; got '\?'"),
        ("y,a\nyes,1\n", 2, "'y': a label must be .* got 'yes'"),
    ],
)
def test_cells_that_are_refused(read, content, line, message):
    with pytest.raises(InputError, match=rf"file\.csv, line {line}: column {message}"):
        read(content)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["hapy", "z"], "csv, line 1: none .* 'hapy', 'z', which .* Did you mean 'happy'"),
        (["z"], "Names must agree exactly"),
        ("z*", r"csv, line 1: no column matches 'z\*'; the columns are 'age', 'happy', 'sad'"),
        (4, "csv, line 1: 4 label columns were asked for, but there are 3"),
        (0, "csv, line 1: 0 label columns were asked for"),
        ("*", "csv, line 1: all 3 columns are labels"),
        (["sad", "sad"], "labels names 'sad' more than once"),
        ([], "labels is a list of names, a pattern"),
        ([1], r"labels is a list of names, a pattern .* got \[1\]"),
        (True, "labels is a list of names, a pattern .* got True"),
        (1.5, "labels is a list of names, a pattern .* got 1.5"),
    ],
)
def test_labels_that_are_refused(read, labels, message):
    with pytest.raises(InputError, match=message):
        read("age,happy,sad\n1,0,1\n", labels)
