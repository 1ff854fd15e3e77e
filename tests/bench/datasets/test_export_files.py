"""Data sets written for MEKA: read again, they are the same."""

import random

import numpy as np
import pytest
from arff_text import NAMES
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from nldd.bench.datasets.arff import export_dataset
from nldd.bench.datasets.load import load_dataset
from nldd.datasets import Dataset
from nldd.exceptions import InputError


def assert_same(found, dataset):
    assert issparse(found.X) == issparse(dataset.X)
    found_X, X = (X.toarray() if issparse(X) else X for X in (found.X, dataset.X))
    assert_array_equal(found_X, X)
    assert_array_equal(found.Y, dataset.Y)
    assert found.label_names == dataset.label_names
    assert found.feature_names == dataset.feature_names
    assert found.n_train == dataset.n_train


def random_dataset(rng, container=np.asarray, n_train=None):
    n_rows, n_labels, n_features = rng.integers(2, 9), rng.integers(1, 4), rng.integers(1, 5)
    X = rng.choice([0, 0, 1, -3, 0.1, 1e-300, 2.0**60, np.nan, 1 / 3], (n_rows, n_features))
    Y = rng.integers(0, 2, (n_rows, n_labels))
    names = random.Random(int(rng.integers(1000))).sample(NAMES, n_labels + n_features)
    return Dataset(container(X), Y, names[:n_labels], names[n_labels:], "a: -C 9", n_train)


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_file_that_was_exported_is_the_same_data_set(tmp_path, container):
    rng = np.random.default_rng(0)
    for i in range(5):
        dataset = random_dataset(rng, container)
        (path,) = export_dataset(dataset, tmp_path / str(i) / "toy.arff")
        assert_same(load_dataset(path), dataset)
    ids = Dataset(np.arange(40.0).reshape(2, 20).T, np.ones((20, 1), int), ["a"], ["id", "x"])
    (path,) = export_dataset(ids, tmp_path / "ids.arff")
    assert_same(load_dataset(path, keep_ids=True), ids)


def test_a_given_split_is_two_files(tmp_path):
    dataset = random_dataset(np.random.default_rng(1), n_train=1)
    for name in ("birds", "birds-train"):
        paths = export_dataset(dataset, tmp_path / f"{name}.arff")
        assert [path.name for path in paths] == ["birds-train.arff", "birds-test.arff"]
    found = load_dataset(tmp_path / "birds-train.arff")
    assert_same(found, dataset)
    assert found.name == "birds"


def test_texts_are_strings(tmp_path):
    texts = np.array(["it's 5 %", "", 'two\nlines, "quoted"\\', "?", "\x1bé"], dtype=object)
    dataset = Dataset(texts, np.eye(5, 2, dtype=int), ["a b", "c"], ["the answer"], "said")
    export_dataset(dataset, tmp_path / "said.arff")
    assert_same(load_dataset(tmp_path / "said.arff", text="the answer"), dataset)


def test_what_meka_reads(tmp_path, snapshot):
    X, Y = csr_array([[0, 0.5], [3, 0]]), np.array([[1, 0], [0, 0]])
    dataset = Dataset(X, Y, ["sad", "it's calm"], ["tempo", "x 1"], "my/set")
    (path,) = export_dataset(dataset, tmp_path / "toy.arff")
    snapshot(path.read_text(), "datasets_meka_file")


@pytest.mark.parametrize(
    ("X", "names", "path", "message"),
    [
        ([[1.0]], ["a", "a"], "toy.arff", "a name of its own"),
        ([[1.0]], ["a"], "toy.arff", "a name of its own"),
        ([[1.0]], ["a", ""], "toy.arff", "a name of its own"),
        ([[1.0]], ["a", "b"], "toy.csv", "must end in .arff"),
        ([[-np.inf]], ["a", "b"], "toy.arff", "infinite"),
        (csr_array([[np.inf]]), ["a", "b"], "toy.arff", "infinite"),
    ],
)
def test_what_cannot_be_exported(tmp_path, X, names, path, message):
    X = X if issparse(X) else np.array(X)
    dataset = Dataset(X, np.ones((1, 1), dtype=int), names[:1], names[1:])
    with pytest.raises(InputError, match=message):
        export_dataset(dataset, tmp_path / path)
    assert list(tmp_path.iterdir()) == []
