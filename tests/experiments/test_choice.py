"""Data sets and methods by name."""

import pytest
from numpy.testing import assert_array_equal

from experiments.trials import songs, trial, write_arff, write_csv
from nldd.estimators import METHODS
from nldd.exceptions import InputError
from nldd.experiments._choice import choose_datasets, choose_methods, read_labels


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


def test_table_without_labels_is_refused(folder):
    with pytest.raises(InputError, match=r"which columns of .*songs\.csv are labels"):
        choose_datasets([str(folder / "songs.csv")])


def test_misspelt_data_set_is_refused_with_a_hint(folder):
    with pytest.raises(InputError, match=r"No data set is called 'yaest'.*mean 'yeast'"):
        choose_datasets(["yaest"])


def test_missing_data_set_says_how_to_get_it(folder):
    with pytest.raises(InputError, match="nldd datasets fetch emotions"):
        choose_datasets(["emotions"])


def test_missing_file_is_named(folder):
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
    assert read_labels(None) is None
    assert read_labels("6") == 6
    assert read_labels("-6") == -6
    assert read_labels("a,b") == ["a", "b"]
    assert read_labels("label_*") == "label_*"
    assert read_labels("labels.xml") == "labels.xml"


def test_methods_in_any_case_come_in_the_order_of_the_registry():
    assert choose_methods(["nldd", "Br"], trial()) == ("BR", "NLDD")
    assert choose_methods(["BR", "BR"], trial()) == ("BR",)
    assert choose_methods(list(METHODS)[::-1], trial()) == tuple(METHODS)


def test_no_method_is_those_of_the_protocol():
    assert choose_methods([], trial(methods=("NLDD", "BR"))) == ("NLDD", "BR")


@pytest.mark.parametrize(
    ("name", "hint"), [("NLD", "Did you mean NLDD"), ("mlnn", "MLKNN"), ("x", "There are BR, SMBR")]
)
def test_misspelt_method_is_refused_with_a_hint(name, hint):
    with pytest.raises(InputError, match=rf"no method '{name.upper()}'\..*{hint}"):
        choose_methods(["BR", name], trial())
