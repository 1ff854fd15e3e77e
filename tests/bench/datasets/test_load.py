"""Data sets by name and by file: where labels come from, and the paper's nine."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

import paper_data
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.datasets import Dataset, load_yeast
from nldd.exceptions import InputError

ARFF = """@relation 'songs: -C 1'
@attribute 'it\\'s sad' {0,1}
@attribute tempo real
@attribute "calm" {0,1}
@data
1,90.5,0
0,120,1
"""
TEST = ARFF.replace("1,90.5,0\n0,120,1\n", "{0 1,1 3}\n{}\n")
SONGS = {"n_samples": 4, "n_features": 1, "n_labels": 2, "cardinality": 0.75, "n_labelsets": 3}
XML = "<labels><label name='calm'/><label name=\"it's sad\"/></labels>"


@pytest.fixture
def songs(tmp_path):
    path = tmp_path / "songs.arff"
    path.write_text(ARFF)
    return path


def in_folder(name):
    files = [file.file for file in CATALOGUE[name].files]
    if not all((paper_data.FOLDER / file).exists() for file in files):
        pytest.skip(f"needs {', '.join(files)}: put them in a folder and set NLDD_DATA")
    return load_dataset(name, data_dir=paper_data.FOLDER)


LARGE = ("bibtex", "ohsumed", "tmc2007")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in CATALOGUE],
)
def test_paper_data_sets_equal_a_plain_reading(name):
    dataset = in_folder(name)
    X, Y = paper_data.load(name)
    assert issparse(dataset.X) == issparse(X)
    assert_array_equal(dataset.Y, Y)
    if issparse(X):
        assert isinstance(dataset.X, csr_array)
        assert dataset.X.has_canonical_format
        assert (dataset.X != X).nnz == 0
    else:
        assert_array_equal(dataset.X, X)


def test_yeast_file_equals_the_embedded_one():
    from_file, embedded = in_folder("yeast"), load_yeast()
    assert_array_equal(from_file.X, embedded.X)
    assert_array_equal(from_file.Y, embedded.Y)
    assert from_file.label_names == embedded.label_names
    assert from_file.feature_names == embedded.feature_names
    assert from_file.name == embedded.name == "yeast"


def test_yeast_needs_no_folder(tmp_path):
    assert_array_equal(load_dataset("yeast", data_dir=tmp_path / "none").X, load_yeast().X)
    (tmp_path / "yeast.xml").write_text("alone")
    assert_array_equal(load_dataset("yeast", data_dir=tmp_path).X, load_yeast().X)


def test_damaged_yeast_files_are_not_passed_over(tmp_path):
    for file in CATALOGUE["yeast"].files:
        (tmp_path / file.file).write_text("short")
    with pytest.raises(InputError, match="is damaged: 5 bytes instead of"):
        load_dataset("yeast", data_dir=tmp_path)


@pytest.fixture
def load_songs(tmp_path, monkeypatch):
    """Load a data set of the catalogue in two ARFF files, of which the rows follow each other."""

    def load_songs(test=TEST, **facts):
        for file, content in [("train.arff", ARFF), ("test.arff", test), ("songs.xml", XML)]:
            (tmp_path / file).write_text(content)
        entry = replace(
            CATALOGUE["scene"],
            name="songs",
            files=tuple(
                replace(CATALOGUE["scene"].files[0], file=file, n_bytes=size(tmp_path / file))
                for file in ("train.arff", "test.arff", "songs.xml")
            ),
            **{**SONGS, **facts},
        )
        monkeypatch.setitem(CATALOGUE, "songs", entry)
        return load_dataset("songs", data_dir=tmp_path)

    return load_songs


def size(path):
    return path.stat().st_size


def test_rows_of_several_files_follow_each_other(load_songs):
    dataset = load_songs()
    # Sparse, since one of the files is.
    assert isinstance(dataset.X, csr_array)
    assert_array_equal(dataset.X.toarray(), [[90.5], [120], [3], [0]])
    assert_array_equal(dataset.Y, [[1, 0], [0, 1], [1, 0], [0, 0]])
    assert dataset.label_names == ["it's sad", "calm"]
    assert dataset.name == "songs"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("tempo real", "speed real", 3),
        ('"calm" {0,1}', '"calm" {1,0}', 4),
        ("@data", "@attribute b real\n@data", 5),
    ],
    ids=["name", "values", "number"],
)
def test_headers_of_several_files_must_agree(load_songs, old, new, line):
    message = rf"test\.arff, line {line}: the header differs from that of .*train\.arff"
    with pytest.raises(InputError, match=message):
        load_songs(TEST.replace(old, new))


@pytest.mark.parametrize(
    ("fact", "value", "message"),
    [
        ("n_samples", 5, "4 samples instead of 5"),
        ("n_features", 2, "1 features instead of 2"),
        ("n_labels", 3, "2 labels instead of 3"),
        ("n_labelsets", 4, "3 distinct labelsets instead of 4"),
        ("cardinality", 0.77, "0.75 labels a row instead of 0.77"),
    ],
)
def test_counts_of_the_catalogue_are_checked(load_songs, fact, value, message):
    with pytest.raises(InputError, match=message):
        load_songs(**{fact: value})


def test_xml_beside_an_arff_file_goes_before_its_relation(songs):
    assert load_dataset(songs).label_names == ["it's sad"]
    songs.with_suffix(".xml").write_text(XML)
    # The relation says one label, the XML two, in another order than the file's.
    dataset = load_dataset(str(songs))
    assert dataset.label_names == ["it's sad", "calm"]
    assert_array_equal(dataset.Y, [[1, 0], [0, 1]])
    assert_array_equal(dataset.X, [[90.5], [120]])
    assert dataset.feature_names == ["tempo"]
    assert dataset.name == "songs"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (-1, ["calm"]),
        (["calm"], ["calm"]),
        ("c*", ["calm"]),
        ("other.xml", ["it's sad", "calm"]),
    ],
)
def test_labels_of_an_arff_file_can_be_said(songs, monkeypatch, labels, names):
    songs.with_suffix(".xml").write_text("not read")
    monkeypatch.chdir(songs.parent)
    (songs.parent / "other.xml").write_text(XML)
    assert load_dataset(songs, labels=labels).label_names == names


def test_labels_in_a_path_object(songs):
    other = songs.parent / "other.labels"
    other.write_text(XML)
    assert load_dataset(songs, labels=other).n_labels == 2


def test_label_that_the_file_lacks_is_named(songs):
    songs.with_suffix(".xml").write_text(XML.replace("calm", "clam"))
    with pytest.raises(
        InputError,
        match=r"songs\.arff, line 5: none of the 3 columns is called 'clam', which .*songs\.xml "
        "names. Did you mean 'calm'",
    ):
        load_dataset(songs)


def test_file_that_does_not_say_its_labels(songs):
    songs.write_text(ARFF.replace("-C 1", ""))
    with pytest.raises(InputError, match=r"line 5: .*no songs\.xml lies beside .* no -C"):
        load_dataset(songs)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "CSV"])
def test_tables(tmp_path, suffix):
    path = tmp_path / f"songs.{suffix}"
    path.write_text("tempo\tsad\n90.5\t1\n")
    dataset = load_dataset(path, labels=["sad"])
    assert_array_equal(dataset.X, [[90.5]])
    assert_array_equal(dataset.Y, [[1]])
    with pytest.raises(InputError, match=rf"songs\.{suffix}, line 1: Say which columns are labels"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("yest", {}, "No data set is called 'yest'. Did you mean 'yeast'"),
        ("Bibtex", {}, "Did you mean 'bibtex'"),
        ("yeast", {"labels": 3}, "The labels of 'yeast' are known"),
        (None, {}, "name must be a name of the catalogue or a path; got None"),
        (
            "songs.doc",
            {},
            r"songs\.doc is neither a data set of the catalogue nor a file that ends in",
        ),
        (os.path.join("folder", "songs"), {}, "neither a data set of the catalogue nor"),
        ("none.arff", {}, r"none\.arff cannot be read: No such file"),
        ("none.csv", {"labels": 1}, r"none\.csv cannot be read: No such file"),
    ],
)
def test_names_that_are_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        load_dataset(name, **options)


def test_dataset_facts():
    dataset = Dataset(
        np.zeros((3, 2)), np.array([[1, 0], [1, 0], [1, 1]]), ["a", "b"], ["x", "z"], "tiny"
    )
    X, Y, label_names = dataset
    assert X is dataset.X
    assert Y is dataset.Y
    assert label_names == ["a", "b"]
    assert (dataset.n_samples, dataset.n_features, dataset.n_labels) == (3, 2, 2)
    assert dataset.cardinality == 4 / 3
    assert dataset.n_labelsets == 2
    assert repr(dataset) == "Dataset('tiny', 3 samples, 2 features, 2 labels)"
    with pytest.raises(AttributeError):
        dataset.name = "other"


def test_distinct_labelsets_beyond_one_byte():
    # Rows that differ in the ninth label only, which is in the second byte.
    Y = np.zeros((3, 9), dtype=np.int64)
    Y[1, 8] = 1
    assert Dataset(np.zeros((3, 1)), Y, list("abcdefghi")).n_labelsets == 2


@pytest.mark.slow
def test_scene_remembers_its_training_and_test_files():
    dataset = in_folder("scene")
    assert (dataset.n_train, dataset.n_samples) == (1211, 2407)
    assert dataset.notes == (
        "As the files split it, the first 1,211 rows are those of scene-train.arff, the other "
        "1,196 those of scene-test.arff.",
    )
