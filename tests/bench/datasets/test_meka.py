"""The number of labels that MEKA keeps in the name of a relation."""

import pytest

from nldd.bench.datasets.columns import meka_columns
from nldd.bench.datasets.load import load_dataset
from nldd.bench.datasets.source import DataError


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        ("Slashdot: -C 2 -split-number 1891", [0, 1]),
        ("OHSUMED: -I 0 -C 2 -split 6965", [0, 1]),
        ("name:-C 1", [0]),
        ("-C 4", [0, 1, 2, 3]),
        ("name: -C -1", [3]),
        ("name: -split 3 -C -3", [1, 2, 3]),
        ("name: -C   02", [0, 1]),
        ("name", None),
        ("", None),
        ("Vitamin-C 3", None),
        ("name: -c 3", None),
        ("name: -CC 3", None),
    ],
)
def test_columns(relation, columns):
    assert meka_columns(relation, 4) == columns


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("name: -C 5", "says -C 5: 5 label columns were asked for, but there are 4"),
        ("name: -C -5", "5 label columns were asked for, but there are 4"),
        ("name: -C 1000000000", "1000000000 label columns were asked for"),
        ("name: -C " + "9" * 5000, "expected the number of labels"),
        ("name: -C 0", "0 label columns were asked for"),
        ("name: -C", "expected the number of labels"),
        ("name: -C x", "says -C 'x'; expected the number of labels"),
        ("name: -C 1.5", "expected the number of labels"),
        ("name: -C \u0663", "expected the number of labels"),
        ("name: -C 5-weka.filters.Remove", "expected the number of labels"),
        ("a: -C 2-weka.filters.Remove-R1_a: -C 2", "says -C 2 times, .* a filter has moved"),
    ],
)
def test_relations_that_are_refused(relation, message):
    with pytest.raises(DataError, match=message):
        meka_columns(relation, 4)


@pytest.mark.parametrize(
    ("option", "Y", "X"), [("2", [[1, 0]], [[5, 0]]), ("-1", [[0]], [[1, 0, 5]])]
)
def test_labels_at_either_end_of_a_file(tmp_path, option, Y, X):
    path = tmp_path / "file.arff"
    attributes = "@attribute a {0,1}\n@attribute b {0,1}\n@attribute c real\n@attribute d {0,1}\n"
    path.write_text(f"@relation 'r: -C {option}'\n{attributes}@data\n{{0 1,2 5}}\n")
    dataset = load_dataset(path)
    assert dataset.X.toarray().tolist() == X
    assert dataset.Y.tolist() == Y
