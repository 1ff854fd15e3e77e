"""A column that says which rows belong together is no feature."""

import pytest

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError

TABLE = "speaker,tempo,label_sad,label_calm\nAnn,90,1,0\nBob,80,0,1\nAnn,70,1,1\n"
ARFF = """@relation 'songs: -C 2'
@attribute sad {0,1}
@attribute calm {0,1}
@attribute speaker {Ann,Bob,Eve}
@attribute day numeric
@attribute tempo numeric
@data
1,0,Ann,3,90
0,1,Bob,4,80
1,1,Ann,3,70
"""


@pytest.mark.parametrize(
    ("name", "text", "column", "groups"),
    [
        ("songs.csv", TABLE, "speaker", ["Ann", "Bob", "Ann"]),
        ("songs.arff", ARFF, "speaker", ["Ann", "Bob", "Ann"]),
        ("songs.arff", ARFF, "day", [3, 4, 3]),
    ],
    ids=["CSV", "nominal", "number"],
)
def test_groups_of_files(tmp_path, name, text, column, groups):
    (tmp_path / name).write_text(text)
    labels = "label_*" if name.endswith(".csv") else None
    dataset = load_dataset(tmp_path / name, labels=labels, groups=column)
    assert dataset.groups.tolist() == groups
    assert not [feature for feature in dataset.feature_names if feature.startswith(column)]
    assert dataset.X[:, -1].tolist() == [90, 80, 70]


def test_groups_of_training_and_test_files_follow_each_other(tmp_path):
    (tmp_path / "songs-train.csv").write_text(TABLE)
    (tmp_path / "songs-test.csv").write_text(TABLE.replace("Ann", "Eve"))
    dataset = load_dataset(tmp_path / "songs-train.csv", labels="label_*", groups="speaker")
    assert dataset.groups.tolist() == ["Ann", "Bob", "Ann", "Eve", "Bob", "Eve"]
    assert dataset.n_train == 3


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        (
            "songs.csv",
            "speakers",
            "which should be the groups.*mean 'speaker'",
        ),
        ("songs.csv", "label_sad", "'label_sad' is a label"),
        ("songs.arff", "calm", "'calm' is a label"),
        ("yeast", "speaker", "yeast has no column of groups"),
    ],
)
def test_column_that_cannot_be_groups_is_refused(tmp_path, name, column, message):
    (tmp_path / "songs.csv").write_text(TABLE)
    (tmp_path / "songs.arff").write_text(ARFF)
    path = name if name == "yeast" else tmp_path / name
    labels = "label_*" if name.endswith(".csv") else None
    with pytest.raises(InputError, match=message):
        load_dataset(path, labels=labels, groups=column)


@pytest.mark.parametrize(
    ("name", "text", "column", "message"),
    [
        (
            "songs.csv",
            TABLE.replace("Bob", " "),
            "speaker",
            "line 3: there is no 'speaker'",
        ),
        ("songs.arff", ARFF.replace("Bob,4", "?,4"), "speaker", "line 9: there is no 'speaker'"),
        ("songs.arff", ARFF.replace("Bob,4", "Bob,?"), "day", "line 9: there is no 'day'"),
    ],
    ids=["CSV", "nominal", "number"],
)
def test_row_without_a_group_is_refused(tmp_path, name, text, column, message):
    (tmp_path / name).write_text(text)
    labels = "label_*" if name.endswith(".csv") else None
    with pytest.raises(InputError, match=message):
        load_dataset(tmp_path / name, labels=labels, groups=column)
