"""What a person names: data sets and methods."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer

from bench.runner.trials import songs, trial, write_arff, write_csv
from nldd.bench.datasets.columns import parse_labels
from nldd.bench.runner.benchmark import (
    check_datasets,
    choose_datasets,
    run_benchmark,
    run_notes,
)
from nldd.bench.runner.protocol_file import PROTOCOLS, choose_methods, load_protocol
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the songs in two formats, and no data sets of the catalogue."""
    write_csv(songs(), tmp_path / "songs.csv")
    write_arff(songs(), tmp_path / "tunes.arff")
    monkeypatch.setenv("NLDD_DATA", str(tmp_path / "nowhere"))
    return tmp_path


def test_catalogue_name_and_files_side_by_side(folder):
    names = ["yeast", str(folder / "songs.csv")]
    chosen = choose_datasets(names, labels="label_*")
    assert list(chosen) == ["yeast", "songs"]
    assert chosen["yeast"].X.shape == (2417, 103)
    assert_array_equal(chosen["songs"].X, songs().X)
    assert_array_equal(chosen["songs"].Y, songs().Y)


def test_arff_file_knows_its_labels(folder):
    chosen = choose_datasets([str(folder / "tunes.arff")])
    assert_array_equal(chosen["tunes"].Y, songs().Y)
    assert chosen["tunes"].label_names == songs().label_names


@pytest.mark.parametrize("labels", ["-4", "label_sad,label_calm,label_loud,label_fast", "label_*"])
def test_labels_of_files_in_every_form(folder, labels):
    chosen = choose_datasets([str(folder / "songs.csv")], labels=labels)
    assert_array_equal(chosen["songs"].Y, songs().Y)


def test_sparse_file_beside_a_table(folder):
    (folder / "tags.svm").write_text("0,1 0:1.5\n1 1:2\n")
    names = [str(folder / name) for name in ("songs.csv", "tags.svm")]
    chosen = choose_datasets(names, labels="label_*")
    assert_array_equal(chosen["tags"].Y, [[1, 1], [0, 1]])


def test_groups_of_a_training_and_a_test_file_go_by_the_name_of_both(folder, own):
    table = "speaker,tempo,label_sad,label_calm\nAnn,90,1,0\nBob,80,0,1\n"
    for name in ("talk-train.csv", "talk-test.csv"):
        (folder / name).write_text(table)
    text = "[datasets.talk.split]\nkind = 'leave-one-group-out'\ngroups = 'speaker'"
    columns_of = own(text).columns_of
    names = [str(folder / "talk-train.csv"), str(folder / "songs.csv")]
    chosen = choose_datasets(names, labels="label_*", columns_of=columns_of)
    assert chosen["talk"].groups.tolist() == ["Ann", "Bob", "Ann", "Bob"]
    assert chosen["songs"].groups is None


def test_each_file_may_have_columns_of_its_own(folder, own):
    (folder / "answers.csv").write_text("answer,code_a,code_b\nyes,1,0\nno,0,1\n")
    text = "[datasets.answers]\nlabels = 'code_*'\ntext = 'answer'\n"
    text += "[datasets.tunes]\nlabels = 'sad,calm'"
    names = [str(folder / name) for name in ("answers.csv", "songs.csv", "tunes.arff")]
    chosen = choose_datasets(names, labels="label_*", columns_of=own(text).columns_of)
    assert chosen["answers"].X.tolist() == ["yes", "no"]
    assert chosen["answers"].label_names == ["code_a", "code_b"]
    assert chosen["songs"].n_labels == 4
    assert chosen["tunes"].label_names == ["sad", "calm"]
    with pytest.raises(InputError, match=r"datasets.answers.text must be the name of a column"):
        own("[datasets.answers]\ntext = 3")


def test_table_without_labels_is_refused(folder):
    with pytest.raises(InputError, match=r"which columns of .*songs\.csv are labels"):
        choose_datasets([str(folder / "songs.csv")])


def test_misspelt_data_set_is_refused_with_a_hint(folder):
    with pytest.raises(InputError, match=r"No data set is called 'yaest'.*mean 'yeast'"):
        choose_datasets(["yaest"])


def test_missing_data_set_says_how_to_get_it(folder):
    with pytest.raises(InputError, match="nldd datasets fetch emotions"):
        choose_datasets(["emotions"])


def test_missing_data_file_is_named(folder):
    with pytest.raises((InputError, OSError), match=r"nowhere\.csv"):
        choose_datasets([str(folder / "nowhere.csv")], labels="-1")


def test_no_name_is_the_whole_catalogue(folder):
    # The first one that is not there is what is asked for.
    with pytest.raises(InputError, match="fetch emotions"):
        choose_datasets([])


def test_two_of_one_name_are_refused(folder):
    other = folder / "other"
    other.mkdir()
    write_csv(songs(), other / "songs.csv")
    names = [str(folder / "songs.csv"), str(other / "songs.csv")]
    with pytest.raises(InputError, match="Two data sets are called 'songs'"):
        choose_datasets(names, labels="label_*")
    with pytest.raises(InputError, match="Two data sets are called 'yeast'"):
        choose_datasets(["yeast", "yeast"])


def test_read_labels_of_every_form():
    assert parse_labels(None) is None
    assert parse_labels("6") == 6
    assert parse_labels("-6") == -6
    assert parse_labels("a, b") == ["a", "b"]
    assert parse_labels("label_*") == "label_*"
    assert parse_labels("labels.xml") == "labels.xml"


def test_methods_in_any_case_come_in_the_order_of_the_registry():
    assert choose_methods(["nldd", "Br"], trial()) == trial(methods=("BR", "NLDD"))
    assert choose_methods(["BR", "BR"], trial()).methods == ("BR",)
    assert choose_methods(list(METHODS)[::-1], trial()).methods == tuple(METHODS)


def test_no_method_is_those_of_the_protocol():
    assert choose_methods([], trial(methods=("NLDD", "BR"))).methods == ("NLDD", "BR")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("NLD", "did you mean 'NLDD'"), ("mlnn", "'MLKNN'"), ("x", "there are BR, SMBR")],
)
def test_misspelt_method_is_refused_with_a_hint(name, hint):
    with pytest.raises(InputError, match=rf"no method '{name}'.*{hint}"):
        choose_methods(["BR", name], trial())


@pytest.mark.parametrize(
    "text",
    [
        "[datasets.song.parameters.BR]\ndecision = 'probability'",
        "[datasets.song]\nsplit = 'given'",
        "[shares]\ndataset = 'song'\nmethod = 'BR'\nsteps = [1.0]",
    ],
    ids=["parameters", "split", "shares"],
)
def test_protocol_that_speaks_of_a_data_set_that_is_nowhere_is_refused(own, tmp_path, text):
    with pytest.raises(InputError, match=r"data set 'song', .*Did you mean 'songs'\?"):
        run_benchmark(own(text), {"songs": songs()}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("datasets", "methods"), [(["songs", "Songs"], ["BR"]), (["songs"], ["KNN", "BR", "knn"])]
)
def test_names_that_differ_in_capitals_only_are_refused(tmp_path, datasets, methods):
    chosen = dict.fromkeys(datasets, songs())
    with pytest.raises(InputError, match=r"'(songs|KNN)' and '(Songs|knn)' differ in capitals"):
        run_benchmark(trial(), chosen, tmp_path / "out", methods=methods)


def test_protocol_may_speak_of_other_files_than_those_of_the_run(own):
    """It may be run on one data set after the other."""
    protocol = own("[datasets.birds]\nsplit = 'given'")
    check_datasets(protocol, {"songs": songs()})
    (note,) = run_notes(protocol, {"songs": songs()})
    assert note == "The protocol names a data set 'birds', which is not in this run."


def test_split_of_files_that_is_not_used_is_noted(own):
    dataset = {"songs": replace(songs(), n_train=45)}
    assert not list(run_notes(own("split = 'given'"), dataset))
    (note,) = run_notes(own("folds = 4"), dataset)
    assert note.startswith("songs: all its rows are split anew, 4-fold cross-validation.")


def test_protocol_may_speak_of_data_sets_of_the_catalogue_that_are_not_in_the_run():
    for name in PROTOCOLS:
        check_datasets(load_protocol(name), {"songs": songs()})


def test_missing_values_are_noted_unless_they_are_filled_in():
    whole, holed = songs(), songs(sparse=True)
    holed.X.data[0] = np.nan
    data = {"songs": replace(whole, notes=("Odd.",)), "holed": holed}
    first, second = run_notes(trial(), data)
    assert first == "songs: Odd."
    assert second.startswith("holed: some values are missing")
    assert list(run_notes(trial(prepare=(SimpleImputer(),)), data)) == [first]
