"""The wheel, and the environments that it is installed into."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dist.environments import ODD, ROOT, Environment, copy, create, install, once

# Programs for the environments. `make test-dist` names this folder; else pytest passes over what is
# called dist, so that `make test-slow` takes no longer.
collect_ignore_glob = ["scripts/*"]


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One folder for all processes of a run; xdist gives each process a folder within it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "dist"


@pytest.fixture(scope="session")
def built(shared):
    """The folder that `make dist` fills."""
    pytest.importorskip("build", reason="make dist needs the dev extra")
    pytest.importorskip("cyclonedx", reason="make dist needs the dev extra")
    words = [sys.executable, ROOT / "release" / "make_dist.py", shared / "built"]

    def make():
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    once(shared / "built", make)
    return shared / "built"


@pytest.fixture(scope="session")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def plain(shared, wheel):
    """The environment of the wheel without extras."""
    made = Environment(shared / ODD, shared / "outside")
    once(made.folder, lambda: install(create(made.folder, made.outside), wheel))
    return made


@pytest.fixture(scope="session")
def with_extra(shared, wheel, plain):
    """Makes the environment of the wheel with an extra; without one it is the plain one."""

    def make(extra):
        made = Environment(shared / f"with-{extra}", shared / f"outside-{extra}")

        def fill():
            install(copy(plain, made.folder, made.outside), f"{wheel}[{extra}]")

        if extra:
            once(made.folder, fill)
        return made if extra else plain

    return make
