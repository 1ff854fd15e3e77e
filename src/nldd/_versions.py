"""Versions that a result depends on, for records, model files and reports."""

import platform
from functools import cache
from importlib.metadata import version

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of Python, nldd and the libraries that its numbers depend on."""
    from nldd import __version__

    found = {"python": platform.python_version(), "nldd": __version__}
    return found | {name: version(name) for name in LIBRARIES}
