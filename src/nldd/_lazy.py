"""Names of a package: listed once, in the stub beside its file, and imported on first use."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import lazy_loader

Attached = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def attach(package: str, file: str) -> Attached:
    """``__getattr__``, ``__dir__`` and ``__all__`` of the package whose ``__init__.py`` is `file`.

    Every name that the stub imports can be had. Public are those in the stub's own ``__all__``:
    they are listed, have a page in the reference and change only as the policy of deprecation says.
    The others serve the packages of nldd. A stub without ``__all__`` has public names only.
    """
    get, _, names = lazy_loader.attach_stub(package, file)
    public = sorted(public_names(Path(file).with_suffix(".pyi").read_text("utf-8")) or names)

    # Packages within it, so that `import nldd` is enough for nldd.metrics.
    packages = sorted(path.parent.name for path in Path(file).parent.glob("*/__init__.pyi"))

    def get_or_find(name: str) -> Any:
        return import_module(f"{package}.{name}") if name in packages else get(name)

    return get_or_find, [*public, *packages].copy, public


def public_names(stub: str) -> list[str]:
    """What the text of a stub lists in its ``__all__``: nothing where it has none."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []
