"""Data sets of OpenML: scikit-learn's fetcher, with the answers of a server that is not there."""

import hashlib
import json
from io import BytesIO
from urllib.error import HTTPError, URLError

import pytest
import sklearn.datasets._openml as fetcher
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError, NLDDError

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
