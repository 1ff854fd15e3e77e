"""Files that released versions wrote are read, and say what they said on the day of writing.

Each version has a folder in ``files``, which `make_stored_files.py` writes once; ``expected.json``
has the rows, and what that version itself said of them.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from make_stored_files import benchmark_said, features_for, review_said, types_in
from numpy.testing import assert_allclose, assert_array_equal
from packaging.version import Version
from sklearn import __version__ as sklearn_version

import nldd
from nldd.exceptions import InputError
from nldd.persistence._archive import FORMAT, read_manifest
from nldd.persistence._models import load_model, save_model
from nldd.persistence._schemas import SCHEMAS

FILES = Path(__file__).parent / "files"
FOLDERS = sorted(FILES.glob("v*"), key=lambda folder: Version(folder.name))
EXPECTED = {folder.name: json.loads((folder / "expected.json").read_text()) for folder in FOLDERS}
MODELS = [
    (version, name)
    for version, expected in EXPECTED.items()
    for name, said in expected.items()
    if isinstance(said, dict) and "predict" in said
]
LATER = [version for version in EXPECTED if "review" in EXPECTED[version]]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*saved with scikit-learn"),
    # Of a classifier that scikit-learn is going to take away.
    pytest.mark.filterwarnings("ignore:.*PassiveAggressiveClassifier:FutureWarning"),
]


def rows_for(version, name):
    """The rows of a version, in the form that the model was fitted to."""
    return features_for(name, np.array(EXPECTED[version]["X"]))


def assert_says(found, expected, message=""):
    """Labels and positions to the digit; sums may differ in their last ones."""
    found, expected = np.asarray(found), np.asarray(expected)
    if expected.dtype.kind in "iub":
        assert_array_equal(found, expected, err_msg=message)
    else:
        rtol = 1e-5 if found.dtype == np.float32 else 1e-9
        assert_allclose(found, expected, rtol=rtol, atol=1e-12, err_msg=message)


def is_too_new(version, name):
    least = EXPECTED[version].get("least scikit-learn", {}).get(name, "0")
    return Version(sklearn_version) < Version(least)


@pytest.mark.parametrize(("version", "name"), MODELS)
def test_stored_model_predicts_the_same(version, name, tmp_path):
    path, X = FILES / version / f"{name}.nldd", rows_for(version, name)
    if is_too_new(version, name):
        with pytest.raises(InputError, match=r"scikit-learn 1\.\d+"):
            load_model(path)
        return
    model = load_model(path)
    save_model(model, tmp_path / "new.nldd")
    assert read_manifest(tmp_path / "new.nldd")["format"] == FORMAT
    for each in (model, load_model(tmp_path / "new.nldd")):
        for ask, said in EXPECTED[version][name].items():
            assert_says(getattr(each, ask)(X), said, ask)


@pytest.mark.parametrize("version", LATER)
def test_stored_review_holds_the_same(version):
    assert review_said(FILES / version / "answers.review.db") == EXPECTED[version]["review"]


@pytest.mark.parametrize("version", LATER)
def test_stored_benchmark_says_the_same(version, tmp_path):
    folder = shutil.copytree(FILES / version / "benchmark", tmp_path / "benchmark")
    assert benchmark_said(folder) == EXPECTED[version]["benchmark"]


# That nothing is missing


def test_every_format_has_a_stored_file():
    formats = {
        folder.name: {read_manifest(path)["format"] for path in folder.glob("*.nldd")}
        for folder in FOLDERS
    }
    assert all(len(found) == 1 for found in formats.values())
    stored = set().union(*formats.values())
    assert set(range(1, FORMAT)) <= stored, "run make_stored_files.py before FORMAT rises"
    if (newest := f"v{nldd.__version__}") in formats:
        assert formats[newest] == {FORMAT}


def test_this_version_has_stored_files():
    is_released = not Version(nldd.__version__).is_prerelease
    assert not is_released or f"v{nldd.__version__}" in EXPECTED, "run make_stored_files.py"
    for folder in FOLDERS:
        written = {read_manifest(path)["versions"]["nldd"] for path in folder.glob("*.nldd")}
        assert written == {folder.name.removeprefix("v")}


def test_every_type_that_a_file_may_hold_is_stored():
    for folder in FOLDERS:
        types = EXPECTED[folder.name].get("types", [])
        assert set(types) <= types_in(folder)
        assert set(types) <= set(SCHEMAS), "a type of a released version is no longer read"
    assert len(EXPECTED["v0.2.0"]["types"]) == 53


def test_stored_files_stay_small():
    for folder in FOLDERS:
        assert sum(path.stat().st_size for path in folder.rglob("*.*")) < 300_000
