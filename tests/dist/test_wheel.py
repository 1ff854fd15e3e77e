"""The wheel, installed without extras into clean environments: what people get who only install it."""

import json
from pathlib import Path

import pytest

from dependencies import EXTRAS, pins, reached
from dist.environments import copy, install, pip
from nldd import __version__

BOTH = pytest.mark.parametrize("which", ["newest", "lowest"])
# No fewer run without an extra: what cannot be run is counted, but must stay the exception.
N_DOCSTRINGS, N_EXAMPLES, MOST_LEFT_OUT = 250, 1200, 0.1


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
def test_demo_runs_and_names_the_extra_of_its_picture(which, plain):
    done = plain(which).command("demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nGene ") == 5
    assert 'No picture: Pictures need matplotlib, which is not installed. Run: pip install "nldd[plot]"' in done.stderr


@BOTH
def test_survey_runs_to_its_end_and_names_the_extras_of_reports_and_of_the_page(which, survey):
    folder, said = survey(which)
    assert said.startswith("0\n"), said
    assert said.count('Note: no report: A report needs matplotlib, which is not installed. Run: pip install "nldd[report]"') == 2
    assert said.count('Note: no figure: Pictures need matplotlib, which is not installed. Run: pip install "nldd[plot]"') == 1
    assert f"Read {Path('nldd-survey') / 'coded.csv'} in a spreadsheet." in said
    assert '$ pip install "nldd[review]"\n$ nldd review' in said
    found = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert found == {
        *("answers.csv", "new.csv", "coded.csv", "review.csv", "corrected.csv", "shares.csv"),
        *("model.nldd", "model.nldd.bak1", "before.nldd"),
    }


@BOTH
def test_examples_of_all_docstrings_run(which, plain):
    done = plain(which).script("run_examples")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == []
    assert plain(which).packages in Path(found["file"]).parents
    assert set(found["left out"]) <= set(EXTRAS)
    assert 0 < sum(found["left out"].values()) <= MOST_LEFT_OUT * found["docstrings"]
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
    assert made.command("datasets", "list").returncode == 0  # which leaves compiled modules
    assert sorted(made.packages.glob("nldd*"))
    pip(made, "uninstall", "--yes", "nldd")
    assert sorted(made.packages.glob("nldd*")) == []
    assert sorted(made.python.parent.glob("nldd*")) == []
