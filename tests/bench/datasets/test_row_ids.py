"""Columns that name or number the rows are left out, and it is said."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError

RNG = np.random.default_rng(0)


def arff(path, kind, cells, name="protein", relation="genes: -C 1"):
    """A file with a label, a column in question, and a number."""
    head = f"@relation '{relation}'\n@attribute a {{0,1}}\n@attribute {name} {kind}\n"
    rows = [f"{i % 2},{cell},{i / 7}" for i, cell in enumerate(cells)]
    path.write_text("\n".join([head + "@attribute x real\n@data", *rows]))
    return path


@pytest.mark.parametrize("kind", ["nominal", "string"])
def test_a_column_that_names_the_rows_is_left_out(tmp_path, kind):
    names = [f"PS{i:05}" for i in RNG.permutation(40)]
    values = "string" if kind == "string" else f"{{{','.join(sorted(names))}}}"
    dataset = load_dataset(arff(tmp_path / "genbase.arff", values, names))
    assert dataset.feature_names == ["x"]
    assert_array_equal(dataset.X[:, 0], np.arange(40) / 7)
    assert dataset.notes == (
        "The column 'protein' was left out of the features: its 40 values tell the 40 rows apart, "
        "as a row id does.",
    )


def test_names_that_nearly_tell_rows_apart(tmp_path):
    names = [f"PS{max(i, 1)}" for i in range(40)]
    dataset = load_dataset(arff(tmp_path / "genbase.arff", "string", names))
    assert "its 39 values nearly tell the 40 rows apart" in dataset.notes[0]


def test_a_name_in_two_files_is_judged_on_all_rows(tmp_path):
    # Each value occurs once in either file: it says something about the row after all.
    names = [f"p{i}" for i in range(25)]
    for part in ("train", "test"):
        arff(tmp_path / f"genes-{part}.arff", f"{{{','.join(names)}}}", names)
    dataset = load_dataset(tmp_path / "genes-train.arff")
    assert dataset.n_features == 26
    alone = load_dataset(tmp_path / "genes-train.arff", test=False)
    assert alone.feature_names == ["x"]


def test_ids_can_be_kept(tmp_path):
    names = [f"p{i}" for i in range(25)]
    path = arff(tmp_path / "genes.arff", f"{{{','.join(names)}}}", names)
    assert load_dataset(path, keep_ids=True).n_features == 26


@pytest.mark.parametrize(
    "cells",
    [["some words"] * 30, [f"w{i}" for i in range(15)] * 2, [f"answer {i}" for i in range(30)]],
    ids=["one", "twice", "sentences"],
)
def test_other_texts_are_refused(tmp_path, cells):
    path = arff(tmp_path / "texts.arff", "string", [f"'{cell}'" for cell in cells])
    with pytest.raises(InputError, match=r"line 3: attribute 'protein' is of type 'string'"):
        load_dataset(path)


def test_few_rows_may_differ_by_chance(tmp_path):
    path = arff(tmp_path / "few.arff", "{r,g,b,y}", ["b", "g", "r"])
    assert load_dataset(path).n_features == 5


@pytest.mark.parametrize(
    ("name", "cells", "is_left_out"),
    [
        ("id", range(1, 31), True),
        ("row_id", range(30), True),
        ("CaseNo", RNG.permutation(30), True),
        ("id", range(5, 35), False),
        ("id", [*range(29), 40], False),
        ("id", [*range(29), 0], False),
        ("tempo", range(30), False),
        ("idle", range(30), False),
        ("id", range(19), False),
        ("index", RNG.normal(size=30), False),
    ],
)
@pytest.mark.parametrize("format", ["arff", "csv"])
def test_a_column_that_numbers_the_rows_is_left_out(tmp_path, name, cells, is_left_out, format):
    path = tmp_path / f"rows.{format}"
    if format == "arff":
        dataset = load_dataset(arff(path, "numeric", cells, name=name))
    else:
        rows = [f"{i % 2},{cell},{i / 7}" for i, cell in enumerate(cells)]
        path.write_text("\n".join([f"a,{name},x", *rows]))
        dataset = load_dataset(path, labels=1)
    assert dataset.feature_names == (["x"] if is_left_out else [name, "x"])
    assert bool(dataset.notes) == is_left_out


def test_numbers_may_begin_anew_in_the_test_file(tmp_path):
    for part in ("train", "test"):
        arff(tmp_path / f"rows-{part}.arff", "numeric", range(1, 13), name="id")
    dataset = load_dataset(tmp_path / "rows-train.arff")
    assert dataset.feature_names == ["x"]
    assert dataset.notes[0].endswith(": it numbers the rows of each part, as a row id does.")
