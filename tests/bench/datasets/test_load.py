"""Data sets by name and by file, training files with their test files, and OpenML."""

import hashlib
import json
import os
from dataclasses import replace
from io import BytesIO
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import sklearn.datasets._openml as fetcher
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

import paper_data
from file_server import entry_of
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.datasets import load_yeast
from nldd.exceptions import InputError, NLDDError

HEAD = """@relation birds
@attribute wing real
@attribute colour {red,green,blue}
@attribute owl {0,1}
@data
"""
XML = "<labels><label name='owl'/></labels>"
TRAIN, TEST = HEAD + "1,red,0\n2,green,1\n", HEAD + "{0 3,1 blue,2 1}\n"


def in_folder(name):
    files = [file.file for file in CATALOGUE[name].files]
    if not all((paper_data.FOLDER / file).exists() for file in files):
        pytest.skip(f"needs {', '.join(files)}: put them in a folder and set NLDD_DATA")
    return load_dataset(name, data_dir=paper_data.FOLDER)


LARGE = ("bibtex", "ohsumed", "tmc2007")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in CATALOGUE]
)
def test_paper_data_sets_equal_a_plain_reading(name):
    dataset = in_folder(name)
    X, Y = paper_data.load(name)
    assert_array_equal(dataset.Y, Y)
    assert dataset.n_train == (paper_data.N_SCENE_TRAIN if name == "scene" else None)
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
    for fact in ("label_names", "feature_names", "name"):
        assert getattr(from_file, fact) == getattr(embedded, fact)


def test_yeast_needs_no_files_unless_all_are_there(tmp_path):
    (tmp_path / "yeast.xml").write_text("alone")
    assert_array_equal(load_dataset("yeast", data_dir=tmp_path).X, load_yeast().X)
    (tmp_path / "yeast.arff").write_text("short")
    with pytest.raises(InputError, match="is damaged: 5 bytes instead of"):
        load_dataset("yeast", data_dir=tmp_path)


@pytest.fixture
def load_entry(tmp_path, monkeypatch):
    """Load a data set of the catalogue in two ARFF files, of which the rows follow each other."""

    def load_entry(test=TEST, **facts):
        files = {"train.arff": TRAIN, "test.arff": test, "birds.xml": XML}
        for file, content in files.items():
            (tmp_path / file).write_text(content)
        expected = {"n_samples": 3, "n_features": 4, "n_labels": 1, "n_labelsets": 2}
        entry = entry_of({file: content.encode() for file, content in files.items()}, "birds")
        entry = replace(entry, **({"cardinality": 0.67} | expected | facts))
        monkeypatch.setitem(CATALOGUE, "birds", entry)
        return load_dataset("birds", data_dir=tmp_path)

    return load_entry


def test_rows_of_several_files_follow_each_other(load_entry):
    dataset = load_entry()
    # Sparse, since one of the files is.
    assert isinstance(dataset.X, csr_array)
    assert_array_equal(dataset.X.toarray(), [[1, 1, 0, 0], [2, 0, 1, 0], [3, 0, 0, 1]])
    assert_array_equal(dataset.Y, [[0], [1], [1]])
    assert (dataset.name, dataset.label_names) == ("birds", ["owl"])


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("wing real", "tail real", 2),
        ("wing real", "wing {0,1}", 2),
        ("wing real", "wing string", 2),
        ("green,blue", "blue", 3),
        ("red,green", "green,red", 3),
        ("@data", "@attribute b real\n@data", 5),
        ("@attribute owl {0,1}\n", "", 4),
    ],
)
def test_headers_of_several_files_must_agree(load_entry, old, new, line):
    test = HEAD.replace(old, new) + "{}\n"
    message = rf"test\.arff, line {line}: the header differs from that of .*train\.arff: .* here, "
    with pytest.raises(InputError, match=message):
        load_entry(test)


@pytest.mark.parametrize(
    ("fact", "value", "found"),
    [
        ("n_samples", 5, 3),
        ("n_features", 2, 4),
        ("n_labels", 3, 1),
        ("n_labelsets", 4, 2),
        ("cardinality", 0.69, 0.666667),
    ],
)
def test_counts_of_the_catalogue_are_checked(load_entry, fact, value, found):
    with pytest.raises(InputError, match=f"{fact} is {found} instead of {value}"):
        load_entry(**{fact: value})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("yest", {}, "'yest'. Did you mean 'yeast'"),
        ("Yeast", {}, "Did you mean 'yeast'"),
        ("mnist", {}, "'mnist'. The catalogue has emotions, scene"),
        ("yeast", {"labels": 3}, "The labels of 'yeast' are known"),
        ("yeast", {"groups": "a"}, "yeast has no column of groups"),
        (None, {}, "got None"),
        ("songs.doc", {}, r"songs\.doc is neither a data set .* \.arff, \.csv"),
        (os.path.join("folder", "songs"), {}, "neither a data set of the catalogue nor"),
        ("none.csv", {"labels": 1}, r"none\.csv cannot be read: No such file"),
    ],
)
def test_names_that_are_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        load_dataset(name, **options)


@pytest.fixture
def birds(tmp_path):
    """A file of training rows, one of test rows, and the labels beside them."""
    files = {"birds-train.arff": TRAIN, "birds-test.arff": TEST, "birds.xml": XML}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_test_file_beside_the_training_file_is_joined(birds):
    dataset = load_dataset(birds / "birds-train.arff")
    assert dataset.name == "birds"
    assert dataset.X.shape == (3, 4)
    assert [part.tolist() for part in dataset.given_split] == [[0, 1], [2]]
    (note,) = dataset.notes
    assert "the first 2 rows are those of birds-train.arff, the other 1 those" in note


@pytest.mark.parametrize(
    ("file", "options", "n_rows"), [("birds-train", {"test": False}, 2), ("birds-test", {}, 1)]
)
def test_one_file_alone_finds_the_labels_too(birds, file, options, n_rows):
    dataset = load_dataset(birds / f"{file}.arff", **options)
    assert (dataset.n_samples, dataset.name, dataset.label_names) == (n_rows, file, ["owl"])
    assert dataset.given_split is None
    assert dataset.notes == ()


@pytest.mark.parametrize(
    ("train", "test", "name"),
    [
        ("birds_train", "birds_test", "birds"),
        ("birds.training", "birds.testing", "birds"),
        ("birds-TRAIN", "birds-TEST", "birds"),
        ("Birds Train", "Birds Test", "Birds"),
        ("train", "test", "nest"),
        ("birds_tra", "birds_tst", "birds"),
        # Mulan's cal500Train-4 and Corel5k-train-sparse.
        ("birdsTrain-4", "birdsTest-4", "birds-4"),
        ("birds-train-sparse", "birds-test-sparse", "birds-sparse"),
    ],
)
def test_ways_to_call_a_pair(tmp_path, train, test, name):
    folder = tmp_path / "nest"
    folder.mkdir()
    for stem, content in ((train, TRAIN), (test, TEST)):
        (folder / f"{stem}.arff").write_text(content)
    dataset = load_dataset(folder / f"{train}.arff", labels=-1)
    assert (dataset.name, dataset.n_samples, dataset.n_train) == (name, 3, 2)


@pytest.mark.parametrize("stem", ["constrain", "birds-trainer", "birds-train2", "BIRDSTRAIN"])
def test_names_that_only_look_like_a_pair(birds, stem):
    (birds / f"{stem}.arff").write_text(TRAIN)
    assert load_dataset(birds / f"{stem}.arff", labels=-1).n_train is None


def test_a_test_file_of_any_name_can_be_given(birds):
    (birds / "birds-test.arff").rename(birds / "later.arff")
    dataset = load_dataset(birds / "birds-train.arff", test=birds / "later.arff")
    assert (dataset.n_samples, dataset.n_train, dataset.name) == (3, 2, "birds")
    with pytest.raises(InputError, match=r"No test file lies beside .*birds-train.arff"):
        load_dataset(birds / "birds-train.arff", test=True)
    with pytest.raises(InputError, match="files of one format"):
        load_dataset(birds / "birds-train.arff", test="later.csv")


def test_pairs_of_tables(load):
    load("tempo,sad\n80,0\n70,1\n", "songs-test.tsv", labels=["sad"])
    dataset = load("tempo\tsad\n90\t1\n", "songs-train.tsv", labels=["sad"])
    assert_array_equal(dataset.X, [[90], [80], [70]])
    assert (dataset.name, dataset.n_train) == ("songs", 1)
    assert np.issubdtype(dataset.Y.dtype, np.integer)
    # Cells may be spelt in another way, or missing.
    load("tempo,sad\n,FALSE\n", "songs-test.tsv", labels=["sad"])
    assert load("tempo,sad\n90,1\n", "songs-train.tsv", labels=["sad"]).Y.tolist() == [[1], [0]]
    with pytest.raises(InputError, match=r"songs-test.tsv, line 2: column 'tempo': .* 'x'"):
        (load.folder / "songs-test.tsv").write_text("tempo,sad\nx,0\n")
        load("tempo,sad\n90,1\n", "songs-train.tsv", labels=["sad"])
    load("speed,sad\n80,0\n", "songs-test.tsv", labels=["sad"])
    with pytest.raises(InputError, match=r"'speed' .* here, 'tempo' .* there"):
        load("tempo,sad\n90,1\n", "songs-train.tsv", labels=["sad"])


DENSE = """@relation songs
@attribute row numeric
@attribute tempo numeric
@attribute key {minor,major,none}
@attribute sad {FALSE,TRUE}
@attribute calm {TRUE,FALSE}
@data
0,90.5,major,TRUE,FALSE
1,?,none,FALSE,TRUE
2,80,minor,FALSE,FALSE
"""
SPARSE = """@relation songs
@attribute tempo numeric
@attribute sad {0,1}
@attribute calm {0,1}
@data
{0 90,1 1}
{1 1,2 1}
"""
NUMBER = 41473


class Answer(BytesIO):
    def info(self):
        return {}


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """Load the data set of an ARFF text as OpenML would give it; requests are counted."""
    requests = []

    def serve(arff, target="sad,calm"):
        names = [line.split()[1:3] for line in arff.splitlines() if line.startswith("@attribute")]
        features = [
            {"index": str(j), "name": name, "is_target": "false", "is_row_identifier": "false",
             "data_type": "numeric" if kind == "numeric" else "nominal",
             "is_ignore": str(name == "row").lower()}
            for j, (name, kind) in enumerate(names)
        ]  # fmt: skip
        description = {
            "id": str(NUMBER), "name": "songs", "version": "1", "status": "deactivated",
            "format": "Sparse_ARFF" if "{0 90" in arff else "ARFF", "description": "Songs.",
            "file_id": "7", "url": "https://www.openml.org/data/v1/download/7/songs.arff",
            "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
            "default_target_attribute": target,
        }  # fmt: skip
        n_rows = len(arff.partition("@data\n")[2].splitlines())
        quality = [{"name": "NumberOfInstances", "value": f"{n_rows}.0"}]
        answers = {
            "/data/features/": {"data_features": {"feature": features}},
            "/data/qualities/": {"data_qualities": {"quality": quality}},
            f"/json/data/{NUMBER}": {"data_set_description": description},
        }

        def answer(request, *_, **__):
            requests.append(request.full_url)
            known = (json.dumps(answers[part]) for part in answers if part in request.full_url)
            return Answer(next(known, arff).encode())

        monkeypatch.setattr(fetcher, "urlopen", answer)

    def load(**options):
        return load_dataset(f"openml:{NUMBER}", data_dir=tmp_path, **options)

    load.serve, load.requests, load.folder = serve, requests, tmp_path
    return load


def test_targets_are_labels_and_nominal_columns_numbers(openml):
    openml.serve(DENSE)
    dataset = openml()
    assert (dataset.name, dataset.label_names) == ("songs", ["sad", "calm"])
    assert_array_equal(dataset.Y, [[1, 0], [0, 1], [0, 0]])
    assert dataset.feature_names == ["tempo", "key=minor", "key=major", "key=none"]
    nan = float("nan")
    assert_array_equal(dataset.X, [[90.5, 0, 1, 0], [nan, 0, 0, 1], [80, 1, 0, 0]])
    # The files are kept and need no network.
    n_requests = len(openml.requests)
    assert_array_equal(openml().Y, dataset.Y)
    assert len(openml.requests) == n_requests == 4
    assert (openml.folder / "openml").is_dir()


def test_sparse_data_stay_sparse(openml):
    openml.serve(SPARSE)
    dataset = openml()
    assert isinstance(dataset.X, csr_array)
    assert dataset.X.toarray().tolist() == [[90], [0]]
    assert_array_equal(dataset.Y, [[1, 0], [1, 1]])


def test_labels_can_be_said(openml):
    openml.serve(DENSE, target="key")
    with pytest.raises(InputError, match="the target 'key' only for openml:41473"):
        openml()
    assert openml(labels=["calm"]).label_names == ["calm"]
    assert openml(labels=-2).label_names == ["sad", "calm"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError("no route"), "no route"),
        (TimeoutError("no route"), "no route"),
        (HTTPError("https://x", 412, "Unknown", {}, BytesIO(b"")), "41473 not found"),
    ],
)
def test_data_sets_that_do_not_come(openml, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(fetcher, "urlopen", fail)
    monkeypatch.setattr(fetcher.time, "sleep", lambda seconds: None)
    with pytest.raises(
        NLDDError, match=rf"openml:41473 .*: .*{message}\. Check .* copy the folder"
    ):
        openml()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("openml:", {}, "the number of a data set"),
        ("openml:emotions", {}, "the number of a data set"),
        ("openml:0", {}, "the number of a data set"),
        ("openml:7", {"test": "x"}, "leave test and text out"),
        ("openml:7", {"text": "x"}, "leave test and text out"),
    ],
)
def test_what_is_refused(name, options, message):
    with pytest.raises(InputError, match=message):
        load_dataset(name, **options)
