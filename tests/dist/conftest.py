"""The wheel, the environments that it is installed into, and what one of them has left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dist.environments import ODD, ROOT, Environment, copy, create, install, once

# Programs for the environments. pytest finds this folder by its name only, as `make test-dist` does:
# one that is called dist it passes over, so that `make test-slow` is none the longer.
collect_ignore_glob = ["scripts/*"]
DEPENDENCIES = {"newest": ODD, "lowest": "lowest"}


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
    """Makes the environment without extras of the newest or the lowest dependencies."""

    def make(which):
        made = Environment(shared / DEPENDENCIES[which], shared / f"outside-{which}")

        def fill():
            install(create(made.folder, made.outside), which, wheel)

        once(made.folder, fill)
        return made

    return make


@pytest.fixture(scope="session")
def with_extra(shared, wheel, plain):
    """Makes the environment of the newest dependencies with one extra, or with several."""

    def make(extra):
        made = Environment(shared / f"with-{extra}", shared / f"outside-{extra}")

        def fill():
            install(copy(plain("newest"), made.folder, made.outside), "newest", f"{wheel}[{extra}]")

        once(made.folder, fill)
        return made

    return make
