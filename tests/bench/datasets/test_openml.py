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

    def serve(arff, target="sad,calm", ignored=("row",)):
        names = [line.split()[1:3] for line in arff.splitlines() if line.startswith("@attribute")]
        features = [
            {"index": str(j), "name": name, "is_target": "false", "is_row_identifier": "false",
             "data_type": "numeric" if kind == "numeric" else "nominal",
             "is_ignore": str(name in ignored).lower()}
            for j, (name, kind) in enumerate(names)
        ]  # fmt: skip
        n_rows = len(arff.partition("@data\n")[2].splitlines())
        description = {
            "id": str(NUMBER), "name": "songs", "version": "1", "status": "deactivated",
            "format": "Sparse_ARFF" if "{0 90" in arff else "ARFF", "description": "Songs.",
            "file_id": "7", "url": "https://www.openml.org/data/v1/download/7/songs.arff",
            "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
            "default_target_attribute": target,
        }  # fmt: skip
        quality = [{"name": "NumberOfInstances", "value": f"{n_rows}.0"}]
        answers = {
            "/data/features/": {"data_features": {"feature": features}},
            "/data/qualities/": {"data_qualities": {"quality": quality}},
            f"/json/data/{NUMBER}": {"data_set_description": description},
        }

        def answer(request, *_, **__):
            url = request.full_url
            requests.append(url)
            if url.endswith("songs.arff") or "/download/" in url:
                return Answer(arff.encode())
            return Answer(next(json.dumps(a) for k, a in answers.items() if k in url).encode())

        monkeypatch.setattr(fetcher, "urlopen", answer)

    def load(**options):
        return load_dataset(f"openml:{NUMBER}", data_dir=tmp_path, **options)

    load.serve, load.requests, load.folder = serve, requests, tmp_path
    return load


def test_targets_are_labels_and_nominal_columns_numbers(openml):
    openml.serve(DENSE)
    dataset = openml()
    assert dataset.name == "songs"
    assert dataset.label_names == ["sad", "calm"]
    assert_array_equal(dataset.Y, [[1, 0], [0, 1], [0, 0]])
    assert dataset.feature_names == ["tempo", "key=minor", "key=major", "key=none"]
    nan = float("nan")
    assert_array_equal(dataset.X, [[90.5, 0, 1, 0], [nan, 0, 0, 1], [80, 1, 0, 0]])


def test_files_are_kept_and_need_no_network(openml, monkeypatch):
    openml.serve(DENSE)
    openml()
    n_requests = len(openml.requests)
    assert_array_equal(openml().Y, [[1, 0], [0, 1], [0, 0]])
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
    with pytest.raises(InputError, match="OpenML states the target 'key' only for openml:41473"):
        openml()
    assert openml(labels=["calm"]).label_names == ["calm"]
    assert openml(labels=-2).label_names == ["sad", "calm"]


@pytest.mark.parametrize("error", [URLError("no route"), TimeoutError("no route")])
def test_without_a_network_the_error_says_what_to_do(openml, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(fetcher, "urlopen", fail)
    monkeypatch.setattr(fetcher.time, "sleep", lambda seconds: None)
    with pytest.raises(
        NLDDError, match=r"could not be fetched: no route\. Check .* copy the folder"
    ):
        openml()


def test_a_number_that_openml_does_not_know(openml, monkeypatch):
    def refuse(request, *_, **__):
        raise HTTPError(request.full_url, 412, "Unknown dataset", {}, BytesIO(b""))

    monkeypatch.setattr(fetcher, "urlopen", refuse)
    with pytest.raises(InputError, match="openml:41473 cannot be read: Dataset with data_id 41473"):
        openml()


@pytest.mark.parametrize("name", ["openml:", "openml:emotions", "openml:0", "openml:4_1"])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="Say openml: and the number of a data set"):
        load_dataset(name)


def test_rows_to_test_on_are_refused():
    with pytest.raises(InputError, match="openml:41473 is one table: leave test out"):
        load_dataset("openml:41473", test="x")
