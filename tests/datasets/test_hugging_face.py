"""Data sets of the Hugging Face hub, by a module in the place of its library."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.datasets import load_dataset
from nldd.exceptions import InputError, MissingExtraError, NLDDError

STRING, FLOAT, INT = (SimpleNamespace(dtype=kind) for kind in ("string", "float32", "int64"))
CLASSES = SimpleNamespace(feature=SimpleNamespace(names=["joy", "anger", "fear"]))
LISTS = SimpleNamespace(feature=STRING)


class Rows(dict):
    """A split as the library gives it: columns by name, and their types."""

    def __init__(self, features, **columns):
        super().__init__(columns)
        self.features, self.column_names = features, list(columns)

    def __len__(self):
        return len(next(iter(self.values())))


# The library's table is no mapping, but its collection of splits is.
Table = type("Table", (), {
    "__init__": lambda self, rows: setattr(self, "rows", rows),
    "__getitem__": lambda self, column: self.rows[column],
    "__len__": lambda self: len(self.rows),
    "features": property(lambda self: self.rows.features),
    "column_names": property(lambda self: self.rows.column_names),
})  # fmt: skip
EMOTIONS = {"text": STRING, "labels": CLASSES, "id": STRING}


def emotions(*rows):
    texts, labels, ids = zip(*rows, strict=True)
    return Table(Rows(EMOTIONS, text=list(texts), labels=list(labels), id=list(ids)))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub with one data set; how it was asked for is noted."""
    asked = []

    def offer(found):
        def load(path, configuration=None, *, cache_dir):
            asked.append((path, configuration, cache_dir))
            if isinstance(found, Exception):
                raise found
            return found

        library = ModuleType("datasets")
        library.load_dataset = load
        monkeypatch.setitem(sys.modules, "datasets", library)
        monkeypatch.setenv("NLDD_DATA", str(tmp_path))
        return asked

    return offer


def test_texts_with_lists_of_classes_and_given_splits(hub, tmp_path):
    asked = hub({
        "train": emotions(("I win", [0], "a1"), ("No", [1, 2], "a2")),
        "validation": emotions(("Hm", [], "b1")),
        "test": emotions((None, [2], "c1")),
    })  # fmt: skip
    dataset = load_dataset("hf:owner/emotions/simple", text="text")
    assert asked == [("owner/emotions", "simple", str(tmp_path / "huggingface"))]
    assert dataset.is_text
    assert dataset.X.tolist() == ["I win", "No", ""]
    assert dataset.label_names == ["joy", "anger", "fear"]
    assert_array_equal(dataset.Y, [[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    assert (dataset.n_train, dataset.feature_names) == (2, ["text"])
    assert dataset.name == "owner/emotions/simple"
    assert dataset.notes == (
        "Left out beside the text: 'id'.",
        "Splits that were left out: 'validation'.",
        "As the data set is split, the first 2 rows are to train on, the others to test on.",
    )


def test_numbers_and_columns_of_0_and_1(hub):
    kinds = {"tempo": FLOAT, "beats": INT, "sad": INT, "calm": SimpleNamespace(dtype="bool")}
    rows = Rows(kinds, tempo=[90.5, None], beats=[4, 3], sad=[1, 0], calm=[False, True])
    hub({"train": Table(rows)})
    dataset = load_dataset("hf:songs", labels=["calm", "sad"])
    assert_array_equal(dataset.X, [[90.5, 4], [np.nan, 3]])
    assert_array_equal(dataset.Y, [[1, 0], [0, 1]])
    assert dataset.label_names == ["sad", "calm"]
    assert (dataset.n_train, dataset.notes) == (None, ())
    rows["sad"][1] = 2
    with pytest.raises(InputError, match="hf:songs: row 1, column 'sad': a label must be 0 or 1"):
        load_dataset("hf:songs", labels=["calm", "sad"])


def test_lists_of_words_are_labels_by_name(hub):
    rows = Rows({"x": FLOAT, "tags": LISTS}, x=[1.0, 2.0], tags=[["b", "a"], None])
    hub(Table(rows))
    dataset = load_dataset("hf:tags", labels="tags")
    assert dataset.label_names == ["a", "b"]
    assert_array_equal(dataset.Y, [[1, 1], [0, 0]])


def test_a_row_id_is_left_out_and_a_text_is_not(hub):
    kinds = {"x": FLOAT, "id": STRING, "labels": CLASSES}
    columns = {"x": [0.5] * 30, "id": [f"r{i}" for i in range(30)], "labels": [[0]] * 30}
    hub(Table(Rows(kinds, **columns)))
    dataset = load_dataset("hf:rows")
    assert dataset.feature_names == ["x"]
    assert "'id' was left out" in dataset.notes[0]
    columns["id"] = [f"answer {i}" for i in range(30)]
    hub(Table(Rows(kinds, **columns)))
    with pytest.raises(InputError, match=r"'id' cannot be made features .* by text"):
        load_dataset("hf:rows")


def test_row_numbers_are_left_out_and_classes_become_columns(hub):
    kind, sex, flag = (
        SimpleNamespace(dtype="int64", names=names) for names in (["a", "b", "c"], "fm", "10")
    )
    kinds = {"id": INT, "x": FLOAT, "kind": kind, "sex": sex, "flag": flag, "labels": CLASSES}

    def split(n):
        columns = {"id": list(range(n)), "x": [0.5] * n}
        columns["kind"] = [[0, 2, -1, None][i % 4] for i in range(n)]
        columns |= {name: [i % 2 for i in range(n)] for name in ("sex", "flag")}
        return Table(Rows(kinds, **columns, labels=[[0]] * n))

    hub({"train": split(16), "test": split(8)})
    dataset = load_dataset("hf:rows")
    assert dataset.feature_names == ["x", "kind=a", "kind=b", "kind=c", "sex", "flag"]
    absent = [0.5, np.nan, np.nan, np.nan]
    rows = [[0.5, 1, 0, 0, 0, 1], [0.5, 0, 0, 1, 1, 0], [*absent, 0, 1], [*absent, 1, 0]]
    assert_array_equal(dataset.X, rows * 6)
    assert "'id' was left out of the features: it numbers the rows of each" in dataset.notes[0]
    assert load_dataset("hf:rows", keep_ids=True).feature_names[0] == "id"


@pytest.mark.parametrize(
    ("found", "options", "error", "message"),
    [
        (ConnectionError("no route."), {}, NLDDError, r"could not be loaded: no route\. Check"),
        (Table(Rows({"x": FLOAT}, x=[1.0])), {}, InputError, "no column has lists of classes"),
        (emotions(("a", [3], "i")), {"text": "text"}, InputError, "3 is none of the 3 classes"),
        (emotions(("a", [0], "i")), {}, InputError, "Say which column is the text by text"),
        (emotions(("a", [0], "i")), {"text": "txt"}, InputError, "Did you mean 'text'"),
        ({"a": None, "b": None}, {}, InputError, "splits 'a', 'b'; expected train and test"),
        ({}, {"test": "x"}, InputError, "says itself how it is split"),
    ],
)  # fmt: skip
def test_data_sets_that_are_refused(hub, found, options, error, message):
    hub(found)
    with pytest.raises(error, match=message):
        load_dataset("hf:owner/toy", **options)


@pytest.mark.parametrize("module", [None, ModuleType("datasets")], ids=["none", "a folder"])
def test_without_the_library_the_error_names_it(monkeypatch, module):
    monkeypatch.setitem(sys.modules, "datasets", module)
    with pytest.raises(MissingExtraError, match="needs the library datasets") as raised:
        load_dataset("hf:owner/toy")
    assert raised.value.hint == "pip install datasets"
