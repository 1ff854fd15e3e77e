"""The package: its public names on first use, the extras that it needs, and versions.

So `import nldd` takes no time, and a command loads only what it needs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from nldd.exceptions import MissingExtraError

Exports = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def export(
    package: str, names_by_module: Mapping[str, str], modules: Sequence[str] = ()
) -> Exports:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    `names_by_module` has the public names that each module defines, separated by spaces; `modules`
    are those of the package that can be reached without an import of their own.
    """
    homes = {name: module for module, names in names_by_module.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    public = sorted(homes)
    return get, lambda: sorted({*public, *modules}), public


def require_extra(extra: str, *libraries: str) -> None:
    """Refuse to import an application of which a library is missing.

    >>> require_extra("bench", "json")
    >>> require_extra("bench", "numpy", "pooch2")
    Traceback (most recent call last):
        ...
    nldd.exceptions.MissingExtraError: nldd.bench needs pooch2, which is not installed. Run: pip
    install "nldd[bench]"
    """
    for library in libraries:
        if find_spec(library) is None:
            message = f"nldd.{extra} needs {library}, which is not installed."
            raise MissingExtraError(message, extra=extra)


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of Python, nldd and the libraries that its numbers depend on."""
    import platform  # neither of these two is light
    from importlib.metadata import version

    from nldd import __version__

    found = {"python": platform.python_version(), "nldd": __version__}
    return found | {name: version(name) for name in LIBRARIES}
