"""The package as a whole: lazy names, and extras that are not installed."""

import pickle
import subprocess
import sys

import pytest

import nldd
from nldd.exceptions import MissingExtraError


@pytest.mark.parametrize("package", [nldd, nldd.bench, nldd.coding], ids=lambda p: p.__name__)
def test_lazy_names_are_listed_and_others_are_attribute_errors(package):
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="'NLDD'"):
        package.NLDD  # noqa: B018 - the access itself is what is tested


@pytest.mark.parametrize(
    ("extra", "library", "words"),
    [("coding", "xlsxwriter", ["fit", "a.csv"]), ("bench", "pooch", ["datasets", "list"])],
)
def test_a_missing_extra_is_named_with_the_command(extra, library, words):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "import nldd; nldd.NLDDClassifier; nldd.load_model\n"
        f"from nldd.cli import run; sys.exit(run({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert f"nldd.{extra}" in error
    assert library in error
    assert hint == f'Try: pip install "nldd[{extra}]"'


def test_an_error_about_an_extra_survives_its_way_from_a_worker():
    error = MissingExtraError("Pictures need matplotlib.", extra="bench")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.extra, copied.hint) == (str(error), "bench", error.hint)
    assert "nldd[bench]" in str(error)
