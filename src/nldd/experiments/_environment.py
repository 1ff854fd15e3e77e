"""What a result was computed with and on."""

import os
import platform
from functools import cache
from importlib.metadata import version
from typing import Any

import nldd

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def versions() -> dict[str, str]:
    """Versions of Python, nldd and the libraries that its numbers depend on."""
    return {
        "python": platform.python_version(),
        "nldd": nldd.__version__,
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def machine() -> dict[str, Any]:
    """Processor and cores, without anything that names the machine or its owner."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }
