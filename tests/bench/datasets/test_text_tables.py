"""Tables that are no ARFF: CSV files, and sparse lines of LIBSVM and the XML repository."""

import random

import numpy as np
import pytest
from mutations import mutated
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

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


SIZED = "3 5 4\n0,2 0:1.5 3:-2\n 1:4\n2\n"


def test_first_line_says_how_many_there_are(load):
    # Rows without labels begin with a blank; the last feature and label never occur.
    dataset = load(SIZED, "toy.txt")
    assert isinstance(dataset.X, csr_array)
    assert_array_equal(dataset.X.toarray(), [[1.5, 0, 0, -2, 0], [0, 4, 0, 0, 0], [0] * 5])
    assert_array_equal(dataset.Y, [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    assert dataset.label_names == ["label_0", "label_1", "label_2", "label_3"]
    assert dataset.feature_names[-1] == "feature_4"
    assert dataset.name == "toy"


def test_numbers_from_1_on(load):
    dataset = load("# a comment\n1,3 1:1 3:2  # another\n\n3 2:5\n", "toy.svm")
    assert_array_equal(dataset.X.toarray(), [[1, 0, 2], [0, 5, 0]])
    assert_array_equal(dataset.Y, [[1, 0, 1], [0, 0, 1]])
    assert dataset.label_names == ["label_1", "label_2", "label_3"]
    assert dataset.feature_names == ["feature_1", "feature_2", "feature_3"]
    # With the sizes of the first line, numbers from 1 on show by the last one.
    same = load("2 3 3\n1,3 1:1 3:2\n3 2:5\n", "toy.svm")
    assert_array_equal(same.X.toarray(), dataset.X.toarray())
    assert_array_equal(same.Y, dataset.Y)
    shifted = load("2 4 4\n1,3 1:1 3:2\n3 2:5\n", "toy.svm")
    assert_array_equal(shifted.X.toarray(), [[0, 1, 0, 2], [0, 0, 5, 0]])


def test_training_and_test_files_have_the_same_columns(load):
    load("3 7:1\n", "toy_test.svm")
    dataset = load("0 1:1\n", "toy_train.svm")
    assert dataset.X.shape == (2, 7)
    assert_array_equal(dataset.Y, [[1, 0, 0, 0], [0, 0, 0, 1]])
    assert (dataset.name, dataset.n_train) == ("toy", 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("3 5 4\n", "toy.svm: no rows"),
        ("1 0:1\n" * 40 + "x 0:1\n" + "1 0:1\n" * 9, "lines of labels .* b'x'"),
        ("1 3:1\n1 5:1 3:2\n", "sorted and unique"),
        ("1 0:1\n1 0:nan\n", r"below 1\.8e308"),
        ("1\n-1 2:1\n", "0 or 1; got -1"),
        ("\n1.5 2:1\n", "0 or 1; got 1.5"),
        ("1 99999999999:1\n", "lines of labels"),
        ("1,2000000000 1:1\n", "would take 2000000001 values"),
        ("2 5 4\n1 1:1\n", "2 rows; 1 follow"),
        ("1 5 4\n1 6:1\n", "5 features; number 6"),
        ("1 5 4\n0,4 1:1\n", "4 labels; number 4"),
        (" 1:1\n 2:1\n", "toy.svm: no labels"),
    ],
)  # fmt: skip
def test_sparse_files_that_are_refused(load, content, message):
    with pytest.raises(InputError, match=message):
        load(content, "toy.svm")


@pytest.mark.parametrize("options", [{"labels": 3}, {"text": "a"}])
def test_labels_stand_in_the_lines(load, options):
    with pytest.raises(InputError, match="leave labels and text out"):
        load(SIZED, "toy.svm", **options)


def test_damaged_files_are_read_or_refused(load):
    rng = random.Random(0)
    for _ in range(50):
        try:
            dataset = load(mutated(rng, SIZED.encode()), "toy.svm")
        except InputError:
            continue
        assert np.isfinite(dataset.X.data).all()
        assert dataset.X.shape[0] == len(dataset.Y) > 0
