"""The facts that the package knows about the paper's data sets."""

import re

import pytest

from nldd.bench.datasets.catalogue import CATALOGUE, find_entry
from nldd.exceptions import InputError


def test_catalogue_has_the_table_of_the_paper_in_its_order():
    # Table 1 of the paper: labels, features, examples, label cardinality.
    table = {
        entry.name: (entry.n_labels, entry.n_features, entry.n_samples, entry.cardinality)
        for entry in CATALOGUE.values()
    }
    assert list(table.items()) == [
        ("emotions", (6, 72, 593, 1.87)),
        ("scene", (6, 294, 2407, 1.07)),
        ("yeast", (14, 103, 2417, 4.24)),
        ("medical", (45, 1449, 978, 1.25)),
        ("slashdot", (22, 1079, 3782, 1.18)),
        ("enron", (53, 1001, 1702, 3.37)),
        ("ohsumed", (23, 1002, 13929, 1.66)),
        ("tmc2007", (22, 500, 28596, 2.16)),
        ("bibtex", (159, 1836, 7395, 2.40)),
    ]


def test_catalogue_counts_distinct_labelsets():
    counts = [entry.n_labelsets for entry in CATALOGUE.values()]
    assert counts == [27, 15, 198, 94, 156, 753, 1147, 1341, 2856]


def test_catalogue_names_rows_first_and_the_label_file_last():
    names = {name: [file.file for file in entry.files] for name, entry in CATALOGUE.items()}
    assert names["scene"] == ["scene-train.arff", "scene-test.arff", "scene.xml"]
    assert names["slashdot"] == ["SLASHDOT-F.arff"]
    assert names["tmc2007"] == ["tmc2007-500.arff", "tmc2007-500.xml"]
    for name, entry in CATALOGUE.items():
        assert entry.format == ("meka" if name in ("slashdot", "ohsumed") else "mulan")
        assert [file for file in names[name] if file.endswith(".xml")] == (
            names[name][-1:] if entry.format == "mulan" else []
        )


def test_catalogue_addresses_are_https_and_end_in_the_name_of_the_file():
    listed = [file for entry in CATALOGUE.values() for file in entry.files]
    assert len(listed) == 17
    assert len({file.file for file in listed}) == 17
    assert len({file.sha256 for file in listed}) == 17
    for file in listed:
        assert file.url.startswith("https://")
        assert file.url.endswith(f"/{file.file}")
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", file.file)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.n_bytes > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("emotion", "No data set is called 'emotion'. Did you mean 'emotions'?"),
        ("Yeast", "Did you mean 'yeast'?"),
        ("mnist", "No data set is called 'mnist'. The catalogue has emotions, scene, yeast"),
    ],
)
def test_find_entry_suggests_the_nearest_name(name, message):
    with pytest.raises(InputError, match="called") as error:
        find_entry(name)
    assert message in str(error.value)
