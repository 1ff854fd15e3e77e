"""What a person names: data sets and methods."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer

from bench.runner.trials import songs, trial, write_arff, write_csv
from nldd.bench.runner.benchmark import check_datasets, choose_datasets, run_benchmark, run_notes
from nldd.bench.runner.protocol_file import PROTOCOLS, choose_methods, load_protocol
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the songs in two formats, and no data sets of the catalogue."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "nowhere"))
    write_csv(songs(), tmp_path / "songs.csv")
    write_arff(songs(), tmp_path / "tunes.arff")
    return tmp_path


def test_catalogue_names_and_files_side_by_side(folder):
    (folder / "tags.svm").write_text("0,1 0:1.5\n1 1:2\n")
    names = ["yeast", "songs.csv", "tunes.arff", "tags.svm"]
    chosen = choose_datasets(names, labels="label_*")
    assert list(chosen) == ["yeast", "songs", "tunes", "tags"]
    assert chosen["yeast"].X.shape == (2417, 103)
    assert_array_equal(chosen["songs"].X, songs().X)
    for name in ("songs", "tunes"):
        assert_array_equal(chosen[name].Y, songs().Y)
    assert_array_equal(chosen["tags"].Y, [[1, 1], [0, 1]])


@pytest.mark.parametrize("labels", ["-4", "label_sad, label_calm,label_loud,label_fast"])
def test_labels_of_files_in_every_form(folder, labels):
    assert_array_equal(choose_datasets(["songs.csv"], labels=labels)["songs"].Y, songs().Y)


def test_columns_go_by_the_name_of_the_data_set(folder, own):
    for name in ("talk-train.csv", "talk-test.csv"):
        (folder / name).write_text("speaker,tempo,label_sad,label_calm\nAnn,90,1,0\nBob,80,0,1\n")
    (folder / "answers.csv").write_text("answer,code_a,code_b\nyes,1,0\nno,0,1\n")
    protocol = own(
        """
        [datasets]
        talk.split = { kind = "leave-one-group-out", groups = "speaker" }
        answers = { labels = "code_*", text = "answer" }
        tunes.labels = "sad,calm"
        """
    )
    names = ["talk-train.csv", "answers.csv", "songs.csv", "tunes.arff"]
    chosen = choose_datasets(names, labels="label_*", columns_of=protocol.columns_of)
    assert chosen["talk"].groups.tolist() == ["Ann", "Bob", "Ann", "Bob"]
    assert chosen["talk"].feature_names == ["tempo"]
    assert chosen["answers"].X.tolist() == ["yes", "no"]
    assert chosen["answers"].label_names == ["code_a", "code_b"]
    assert (chosen["songs"].n_labels, chosen["songs"].groups) == (4, None)
    assert chosen["tunes"].label_names == ["sad", "calm"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["songs.csv"], r"songs\.csv"),  # whose labels nobody names
        (["yaest"], "'yaest'.*'yeast'"),
        (["emotions"], "nldd datasets fetch emotions"),
        ([], "fetch emotions"),  # the whole catalogue, of which this is the first
        (["tunes.arff", "other/tunes.arff"], "Two data sets are called 'tunes'"),
        (["yeast", "yeast"], "Two data sets are called 'yeast'"),
    ],
)
def test_data_sets_that_cannot_be_taken_are_refused(folder, names, message):
    (folder / "other").mkdir()
    write_arff(songs(), folder / "other" / "tunes.arff")
    with pytest.raises(InputError, match=message):
        choose_datasets(names)


def test_methods_in_any_case_come_in_the_order_of_the_registry():
    assert choose_methods(["nldd", "Br", "BR"], trial()) == trial(methods=("BR", "NLDD"))
    assert choose_methods(list(METHODS)[::-1], trial()).methods == tuple(METHODS)
    assert choose_methods([], trial(methods=("NLDD", "BR"))).methods == ("NLDD", "BR")


@pytest.mark.parametrize(
    "text",
    [
        "[datasets.song.parameters.BR]\ndecision = 'probability'",
        "[shares]\ndataset = 'song'\nmethod = 'BR'\nsteps = [1.0]",
    ],
)
def test_protocol_that_speaks_of_a_misspelt_data_set_is_refused(own, tmp_path, text):
    with pytest.raises(InputError, match=r"'song', .*'songs'"):
        run_benchmark(own(text), {"songs": songs()}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("datasets", "methods"), [(["songs", "Songs"], ["BR"]), (["songs"], ["KNN", "BR", "knn"])]
)
def test_names_that_differ_in_capitals_only_are_refused(tmp_path, datasets, methods):
    chosen = dict.fromkeys(datasets, songs())
    with pytest.raises(InputError, match=r"'(songs|KNN)' and '(Songs|knn)'"):
        run_benchmark(trial(), chosen, tmp_path / "out", methods=methods)


def test_notes_are_of_names_that_are_not_there_and_splits_that_are_not_used(own):
    protocol = own("folds = 4\n[datasets.birds]\nsplit = 'given'")
    check_datasets(protocol, {"songs": songs()})
    first, second = run_notes(protocol, {"songs": replace(songs(), n_train=45)})
    assert "'birds'" in first
    assert "songs: all its rows are split anew, 4-fold" in second
    assert not list(run_notes(own("split = 'given'"), {"songs": replace(songs(), n_train=45)}))
    for name in PROTOCOLS:
        check_datasets(load_protocol(name), {"songs": songs()})


def test_missing_values_are_noted_unless_they_are_filled_in():
    whole, holed = songs(), songs(sparse=True)
    holed.X.data[0] = np.nan
    data = {"songs": replace(whole, notes=("Odd.",)), "holed": holed}
    first, second = run_notes(trial(), data)
    assert first == "songs: Odd."
    assert "holed: some values are missing" in second
    assert list(run_notes(trial(prepare=(SimpleImputer(),)), data)) == [first]
