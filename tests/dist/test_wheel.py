"""The wheel, installed without extras into clean environments: what people get who only install it."""

import json
from pathlib import Path

import pytest

from dependencies import EXTRAS, pins, reached
from dist.environments import copy, install, pip
from nldd import __version__

BOTH = pytest.mark.parametrize("which", ["newest", "lowest"])
# No fewer run without an extra: those of the library.
N_DOCSTRINGS, N_EXAMPLES = 80, 250


@BOTH
def test_command_is_installed_and_is_that_of_the_wheel(which, plain):
    done = plain(which).command("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"nldd, version {__version__}")
    module = plain(which).run("-I", "-m", "nldd", "--version")
    assert module.stdout == done.stdout
    where = plain(which).run("-I", "-c", "import nldd; print(nldd.__file__)").stdout.strip()
    assert plain(which).packages in Path(where).parents


def test_only_declared_packages_are_installed(plain):
    assert plain("newest").names() == reached() | {"nldd"}


@BOTH
def test_lowest_and_newest_are_what_they_say(which, plain):
    code = "import sklearn, numpy, numba; print(sklearn.__version__, numpy.__version__, numba.__version__)"
    found = plain(which).run("-I", "-c", code).stdout.split()
    assert found == [pins(which)[name] for name in ("scikit-learn", "numpy", "numba")]


@BOTH
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("demo",), "bench"),
        (("demo", "survey"), "coding"),
        (("fit", "answers.csv", "--text", "answer", "--labels", "codes"), "coding"),
        (("datasets", "list"), "bench"),
    ],
)
def test_command_of_an_application_names_its_extra_in_a_sentence(which, plain, words, extra):
    done = plain(which).command(*words)
    assert done.returncode == 1
    assert f'pip install "nldd[{extra}]"' in done.stderr
    assert len(done.stderr.splitlines()) == 2  # what is wrong, and what to try
    assert plain(which).command("--help").returncode == 0


@BOTH
def test_examples_of_the_library_run(which, plain):
    done = plain(which).script("run_examples")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == []
    assert plain(which).packages in Path(found["file"]).parents
    assert set(found["left out"]) <= set(EXTRAS)
    assert found["docstrings"] >= N_DOCSTRINGS
    assert found["examples"] >= N_EXAMPLES


@BOTH
def test_model_predicts_the_same_in_another_process(which, plain, tmp_path):
    saved = plain(which).script("model_files", "save", tmp_path / "model.nldd")
    assert saved.returncode == 0, saved.stderr
    loaded = plain(which).script("model_files", "load", tmp_path / "model.nldd")
    assert loaded.stdout == saved.stdout
    assert len(json.loads(loaded.stdout)["theta"]) == 100


def test_nothing_stays_behind_when_it_is_uninstalled(plain, wheel, tmp_path):
    made = copy(plain("newest"), tmp_path / "to leave", tmp_path / "outside")
    install(made, "newest", "--no-deps", "--force-reinstall", wheel)
    assert made.command("--help").returncode == 0  # which leaves compiled modules
    assert sorted(made.packages.glob("nldd*"))
    pip(made, "uninstall", "--yes", "nldd")
    assert sorted(made.packages.glob("nldd*")) == []
    assert sorted(made.python.parent.glob("nldd*")) == []
