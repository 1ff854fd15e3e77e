"""The wheel, installed without extras: what people get who only install it."""

import json
from pathlib import Path

from dependencies import pins, reached
from dist.environments import copy, install, pip
from nldd import __version__

# No fewer run without an extra: those of the library.
N_DOCSTRINGS, N_EXAMPLES = 80, 250


def test_the_command_is_installed_and_is_that_of_the_wheel(plain):
    done = plain.command("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"nldd, version {__version__}")
    where = plain.run("-I", "-c", "import nldd; print(nldd.__file__)").stdout.strip()
    assert plain.packages in Path(where).parents
    assert plain.command("--help").returncode == 0


def test_only_declared_packages_are_installed_in_their_pinned_versions(plain):
    assert plain.packages_by_name().keys() == reached() | {"nldd"}
    assert plain.packages_by_name() == {"nldd": __version__} | {n: pins()[n] for n in reached()}


def test_examples_of_the_library_run(plain):
    done = plain.script("run_examples")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == []
    assert plain.packages in Path(found["file"]).parents
    assert found["docstrings"] >= N_DOCSTRINGS
    assert found["examples"] >= N_EXAMPLES


def test_a_model_predicts_the_same_in_another_process(plain, tmp_path):
    saved = plain.script("model_files", "save", tmp_path / "model.nldd")
    assert saved.returncode == 0, saved.stderr
    loaded = plain.script("model_files", "load", tmp_path / "model.nldd")
    assert loaded.stdout == saved.stdout
    assert len(json.loads(loaded.stdout)["theta"]) == 100


def test_nothing_stays_behind_when_it_is_uninstalled(plain, wheel, tmp_path):
    made = copy(plain, tmp_path / "to leave", tmp_path / "outside")
    install(made, "--no-deps", "--force-reinstall", wheel)
    assert made.command("--help").returncode == 0  # which leaves compiled modules
    assert sorted(made.packages.glob("nldd*"))
    pip(made, "uninstall", "--yes", "nldd")
    assert sorted(made.packages.glob("nldd*")) == []
    assert sorted(made.python.parent.glob("nldd*")) == []
