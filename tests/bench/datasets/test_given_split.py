"""Training and test files: found, joined in order, and the split remembered."""

import pytest
from numpy.testing import assert_array_equal

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError

HEAD = """@relation birds
@attribute wing real
@attribute colour {red,green,blue}
@attribute owl {0,1}
@data
"""
XML = "<labels><label name='owl'/></labels>"
TRAIN, TEST = HEAD + "1,red,0\n2,green,1\n", HEAD + "3,blue,1\n"


@pytest.fixture
def birds(tmp_path):
    """A file of training rows, one of test rows, and the labels beside them."""
    for name, content in {
        "birds-train.arff": TRAIN, "birds-test.arff": TEST, "birds.xml": XML
    }.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_test_file_beside_the_training_file_is_joined(birds):
    dataset = load_dataset(birds / "birds-train.arff")
    assert dataset.name == "birds"
    assert_array_equal(dataset.X, [[1, 1, 0, 0], [2, 0, 1, 0], [3, 0, 0, 1]])
    assert_array_equal(dataset.Y, [[0], [1], [1]])
    train, test = dataset.given_split
    assert_array_equal(train, [0, 1])
    assert_array_equal(test, [2])
    assert dataset.notes == (
        "As the files split it, the first 2 rows are those of birds-train.arff, the other 1 those "
        "of birds-test.arff.",
    )


@pytest.mark.parametrize(
    ("file", "options", "n_rows", "name"),
    [
        ("birds-train.arff", {"test": False}, 2, "birds-train"),
        ("birds-test.arff", {}, 1, "birds-test"),
    ],
)
def test_one_file_alone_finds_the_labels_too(birds, file, options, n_rows, name):
    dataset = load_dataset(birds / file, **options)
    assert (dataset.n_samples, dataset.name, dataset.label_names) == (n_rows, name, ["owl"])
    assert dataset.given_split is None
    assert dataset.notes == ()


@pytest.mark.parametrize(
    ("train", "test", "xml", "name"),
    [
        ("birds_train", "birds_test", "birds", "birds"),
        ("birds.training", "birds.testing", "birds", "birds"),
        ("birds-TRAIN", "birds-TEST", "birds", "birds"),
        ("Birds Train", "Birds Test", "Birds Train", "Birds"),
        ("train", "test", "train", "nest"),
        ("birds_tra", "birds_test", "birds", "birds"),
        # Mulan's cal500Train-4 and Corel5k-train-sparse.
        ("birdsTrain-4", "birdsTest-4", "birds", "birds-4"),
        ("birds-train-sparse", "birds-test-sparse", "birds-sparse", "birds-sparse"),
    ],
)
def test_ways_to_call_a_pair(tmp_path, train, test, xml, name):
    folder = tmp_path / "nest"
    folder.mkdir()
    for stem, content in ((train, TRAIN), (test, TEST)):
        (folder / f"{stem}.arff").write_text(content)
    (folder / f"{xml}.xml").write_text(XML)
    dataset = load_dataset(folder / f"{train}.arff")
    assert (dataset.name, dataset.n_samples, dataset.n_train) == (name, 3, 2)


@pytest.mark.parametrize("stem", ["constrain", "birds-trainer", "birds-train2", "BIRDSTRAIN"])
def test_names_that_only_look_like_a_pair(birds, stem):
    (birds / f"{stem}.arff").write_text(TRAIN.replace("@relation birds", "@relation 'b: -C -1'"))
    assert load_dataset(birds / f"{stem}.arff").n_train is None


def test_a_test_file_of_any_name_can_be_given(birds):
    (birds / "birds-test.arff").rename(birds / "later.arff")
    dataset = load_dataset(birds / "birds-train.arff", test=birds / "later.arff")
    assert (dataset.n_samples, dataset.n_train, dataset.name) == (3, 2, "birds")
    with pytest.raises(InputError, match=r"No test file lies beside .*birds-train.arff"):
        load_dataset(birds / "birds-train.arff", test=True)
    with pytest.raises(InputError, match="must be files of one format"):
        load_dataset(birds / "birds-train.arff", test="later.csv")


def test_nominal_values_that_differ_are_reported(birds):
    (birds / "birds-test.arff").write_text(TEST.replace("{red,green,blue}", "{red,blue}"))
    message = (
        r"birds-test\.arff, line 3: the header differs from that of .*birds-train\.arff: column "
        "'colour' is one of 'red', 'blue' here, one of 'red', 'green', 'blue' there"
    )
    with pytest.raises(InputError, match=message):
        load_dataset(birds / "birds-train.arff")


def test_pairs_of_tables(tmp_path):
    (tmp_path / "songs-train.csv").write_text("tempo,sad\n90,1\n")
    (tmp_path / "songs-test.csv").write_text("tempo,sad\n80,0\n70,1\n")
    dataset = load_dataset(tmp_path / "songs-train.csv", labels=["sad"])
    assert_array_equal(dataset.X, [[90], [80], [70]])
    assert (dataset.name, dataset.n_train) == ("songs", 1)
    (tmp_path / "songs-test.csv").write_text("speed,sad\n80,0\n")
    with pytest.raises(InputError, match="column 'speed' here, 'tempo' there"):
        load_dataset(tmp_path / "songs-train.csv", labels=["sad"])
