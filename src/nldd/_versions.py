"""What a result was computed with, in one list for records, model files and reports."""

import platform
from functools import cache
from importlib.metadata import version

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def library_versions() -> dict[str, str]:
    """Versions of Python, nldd and the libraries that its numbers depend on."""
    from nldd import __version__

    return {
        "python": platform.python_version(),
        "nldd": __version__,
        **{name: version(name) for name in LIBRARIES},
    }
