"""The package as a whole: what is loaded when, lazy names, and extras that are not installed."""

import os
import pickle
import subprocess
import sys

import pytest

import nldd
from nldd.exceptions import MissingExtraError

HEAVY = {"numba", "sklearn", "scipy", "numpy", "joblib", "dask", "distributed", "pandas"}
# Without what would measure coverage in the child, which costs more than nldd itself.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
EXTRAS = ["dask", "filelock", "jinja2", "matplotlib", "pandas", "platformdirs", "pooch", "requests"]
EXTRAS += ["tqdm"]
MAIN = "from nldd.cli import main; main()"


def loaded(code, *arguments):
    """Modules that a Python process has loaded at its end."""
    lines = "import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    words = [sys.executable, "-c", lines + code, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return set(done.stderr.splitlines()[-1].split())


METHODS = {"nldd.estimators._mlknn", "nldd.estimators._powersets"}
BEFORE_USE = {
    "import": ("import nldd; dir(nldd)", (), HEAVY),
    "help": (MAIN, ("--help",), HEAVY),
    "help of a command": (MAIN, ("fit", "--help"), {"sklearn"}),
    "one method": ("from nldd import NLDDClassifier, load_model", (), METHODS),
}


@pytest.mark.parametrize(("code", "words", "absent"), BEFORE_USE.values(), ids=BEFORE_USE)
def test_nothing_is_loaded_before_it_is_used(code, words, absent):
    found = loaded(code, *words)
    assert "nldd" in found  # or the next line would pass whatever happened
    assert not absent & found


def test_predict_loads_nothing_of_reports_and_benchmarks(made, tmp_path):
    words = ("predict", made / "model.nldd", made / "new.csv", "-o", tmp_path / "coded.csv")
    found = loaded(MAIN, *words)
    assert (tmp_path / "coded.csv").exists()
    assert not {"matplotlib", "nldd.bench"} & found


def test_library_needs_no_library_of_an_extra(tmp_path):
    code = f"""
class Missing:
    def find_spec(self, name, *where):
        if name in {EXTRAS}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from nldd import NLDDClassifier, load_model, load_yeast, save_model
X, Y, _ = load_yeast()
save_model(NLDDClassifier(random_state=0).fit(X[:200], Y[:200]), sys.argv[1])
assert load_model(sys.argv[1]).predict(X[:3]).shape == (3, 14)
"""
    loaded(code, tmp_path / "model.nldd")


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
