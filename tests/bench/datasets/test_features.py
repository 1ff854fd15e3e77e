"""What nominal attributes become, in dense and in sparse files alike."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError

NAN = np.nan


@pytest.fixture
def load(tmp_path):
    def load(attributes, rows, labels=1):
        """The first attribute is a label {0,1}, and 0 in all rows."""
        path = tmp_path / "file.arff"
        header = "".join(f"@attribute {attribute}\n" for attribute in attributes)
        path.write_text(f"@attribute y {{0,1}}\n{header}@data\n{rows}\n")
        return load_dataset(path, labels=labels)

    return load


def values(X):
    return X.toarray() if issparse(X) else X


@pytest.mark.parametrize(
    ("attribute", "names", "expected"),
    [
        ("{0,1}", ["f"], {"0": [0], "1": [1], "?": [NAN]}),
        ("{1,0}", ["f"], {"0": [0], "1": [1], "?": [NAN]}),
        ("{1.0,0.0}", ["f"], {"0.0": [0], "1.0": [1], "?": [NAN]}),
        ("{TRUE,FALSE}", ["f"], {"TRUE": [1], "FALSE": [0], "?": [NAN]}),
        ("{0,1,1.0}", ["f"], {"0": [0], "1": [1], "1.0": [1], "?": [NAN]}),
        ("{no,yes}", ["f"], {"no": [0], "yes": [1], "?": [NAN]}),
        ("{2,1}", ["f"], {"2": [0], "1": [1], "?": [NAN]}),
        ("{1}", ["f"], {"1": [1], "?": [NAN]}),
        ("{a}", ["f"], {"a": [0], "?": [NAN]}),
        (
            "{a,'b c',2}",
            ["f=a", "f=b c", "f=2"],
            {"a": [1, 0, 0], "'b c'": [0, 1, 0], "2": [0, 0, 1], "?": [NAN, NAN, NAN]},
        ),
        ("numeric", ["f"], {"0": [0], "-2.5": [-2.5], "?": [NAN]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_values_become_numbers(load, attribute, names, expected, sparse):
    # Columns on both sides show that nothing is shifted.
    row = "{{1 7,2 {},3 9}}" if sparse else "0,7,{},9"
    rows = "\n".join(row.format(cell) for cell in expected)
    dataset = load(["before real", f"f {attribute}", "after real"], rows)
    assert issparse(dataset.X) == sparse
    assert dataset.feature_names == ["before", *names, "after"]
    assert_array_equal(values(dataset.X), [[7, *cells, 9] for cells in expected.values()])


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [("{0,1}", [0]), ("{1,0}", [1]), ("{no,yes}", [0]), ("{a,b,c}", [1, 0, 0]), ("real", [0])],
)
def test_sparse_rows_omit_the_first_value(load, attribute, expected):
    dataset = load(["before real", f"f {attribute}", "g {1,0}"], "{1 2}\n{}\n{2 ?,3 0}")
    missing = [NAN] * len(expected)
    assert isinstance(dataset.X, csr_array)
    assert_array_equal(
        dataset.X.toarray(), [[2, *expected, 1], [0, *expected, 1], [0, *missing, 0]]
    )
    assert dataset.X.has_canonical_format
    assert np.all(dataset.X.data != 0)
    assert dataset.X.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("attribute", "rows", "expected"),
    [
        ("{0,1}", "0,1\n0,0", [1, 0]),
        ("{1,0}", "0,1\n0,0", [1, 0]),
        ("{1,0}", "{0 1}\n{1 0}", [1, 0]),
        ("{0,1}", "{0 1}\n{1 1}", [0, 1]),
        ("{false,TRUE}", "0,TRUE\n0,false", [1, 0]),
        ("{0}", "0,0\n0,0", [0, 0]),
        ("{0,1,1.0}", "0,1.0\n0,0", [1, 0]),
        ("real", "0,1.0\n0,0", [1, 0]),
        ("real", "{1 1.0}\n{}", [1, 0]),
    ],
)
def test_labels_are_0_and_1(load, attribute, rows, expected):
    dataset = load([f"z {attribute}"], rows, labels=["z"])
    assert_array_equal(dataset.Y[:, 0], expected)
    assert dataset.Y.dtype == np.int64
    assert dataset.feature_names == ["y"]


@pytest.mark.parametrize(
    ("attribute", "rows", "message"),
    [
        ("{a,b}", "0,a", r"line 2: label 'z' must take the values \{0,1\}; it takes 'a', 'b'"),
        ("{0,1,2}", "0,1", "line 2: label 'z' must take the values"),
        ("{0,1}", "0,1\n\n0,?", "line 6: label 'z' must be 0 or 1; it is missing"),
        ("{1,0}", "{}\n{1 ?}", "line 5: label 'z' must be 0 or 1; it is missing"),
        ("real", "0,0\n0,2\n0,3", "line 5: label 'z' must be 0 or 1; it is 2"),
        ("real", "{1 -1}", "line 4: label 'z' must be 0 or 1; it is -1"),
        ("real", "{1 0.5}", "line 4: label 'z' must be 0 or 1; it is 0.5"),
    ],
)
def test_labels_that_are_refused(load, attribute, rows, message):
    with pytest.raises(InputError, match=rf"file\.arff, {message}"):
        load([f"z {attribute}"], rows, labels=["z"])


def test_names_of_features_must_differ(load):
    with pytest.raises(InputError, match="line 4: two features would be called 'f=a'"):
        load(["f {a,b,c}", "f=a real"], "0,a,1")


def test_file_without_features_is_refused(load):
    with pytest.raises(InputError, match="line 3: all 2 columns are labels"):
        load(["z {0,1}"], "0,1", labels=2)
