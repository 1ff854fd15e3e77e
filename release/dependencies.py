"""What nldd needs at run time, with all of its extras: read from the metadata that is installed."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# What people install to use nldd; the other extras are for work on nldd itself.
EXTRAS = ("bench", "coding", "dask", "gee", "parquet", "spss")
# Of packages whose metadata have no SPDX expression: by the licence file that they bring.
READ = {
    "colorama": "BSD-3-Clause",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "PSF-2.0",
    "numba": "BSD-2-Clause",
    "partd": "BSD-3-Clause",
    "patsy": "BSD-2-Clause AND PSF-2.0",
    "scipy": "BSD-3-Clause",
    "skops": "MIT",
    "sortedcontainers": "Apache-2.0",
    "wcwidth": "MIT",
    "zict": "BSD-3-Clause",
}
# One word, as MPL-2.0, or several of them joined as SPDX does.
EXPRESSION = re.compile(r"[\w.+]+-[\w.+-]+|MIT|ISC|Zlib")
JOINED = re.compile(rf"(?:{EXPRESSION.pattern})(?: (?:AND|OR|WITH) (?:{EXPRESSION.pattern}))*")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package as it is installed: `needs` are the canonical names of those that it asks for.

    `parts` are the extras that bring it, or "nldd" alone for what is always installed.
    """

    name: str
    version: str
    licence: str
    summary: str
    needs: tuple[str, ...]
    parts: frozenset[str]


def run_time_dependencies() -> dict[str, Dependency]:
    """All packages that nldd and its extras bring, by canonical name.

    Requirements that are for another system or another Python are left out, as nothing here says
    which version they would be.
    """
    parts = dict.fromkeys(reached(), frozenset({"nldd"}))
    always = set(parts)
    for extra in EXTRAS:
        for name in reached(extra) - always:
            parts[name] = parts.get(name, frozenset()) | {extra}
    wanted = asked_for(*EXTRAS)
    return {name: _dependency(name, parts[name], wanted[name]) for name in sorted(parts)}


def reached(*extras: str) -> set[str]:
    """Names of all that nldd needs, and that needs in turn."""
    return set(asked_for(*extras))


def asked_for(*extras: str) -> dict[str, tuple[str, ...]]:
    """The same, with the extras of each that are asked for, such as those of dask."""
    found: set[tuple[str, tuple[str, ...]]] = set()
    waiting: list[tuple[str, tuple[str, ...]]] = [("nldd", extras)]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += requirements(*package)
    wanted: dict[str, set[str]] = {}
    for name, own in found:
        wanted.setdefault(name, set()).update(own)
    return {name: tuple(sorted(own)) for name, own in wanted.items() if name != "nldd"}


def requirements(name: str, extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a package asks for on this machine, each with the extras that it wants of it."""
    # An editable nldd keeps the metadata of the day on which it was installed.
    texts = declared(extras) if name == "nldd" else distribution(name).requires or []
    for needed in map(Requirement, texts):
        wanted = [{"extra": extra} for extra in ("", *extras)]
        if needed.marker is None or any(map(needed.marker.evaluate, wanted)):
            yield canonicalize_name(needed.name), tuple(sorted(needed.extras))


def declared(extras: tuple[str, ...]) -> list[str]:
    """The requirements of nldd itself, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    chosen = [project["optional-dependencies"][extra] for extra in extras]
    return sum(chosen, project["dependencies"])


def _dependency(name: str, parts: frozenset[str], wanted: tuple[str, ...]) -> Dependency:
    installed = distribution(name)
    return Dependency(
        installed.metadata["Name"],
        installed.version,
        licence(installed),
        installed.metadata["Summary"] or "",
        tuple(sorted({needed for needed, _ in requirements(name, wanted)})),
        parts,
    )


def pins(which: str = "newest") -> dict[str, str]:
    """The versions that nldd is tested with, newest or lowest, by canonical name."""
    lines = (ROOT / "constraints" / f"{which}.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(";")[0].split("==") for line in lines)
    return {canonicalize_name(name): version for name, version in pairs}


def licence(installed: Distribution) -> str:
    """The licence as an SPDX expression: as the package states it, or as its file was read."""
    metadata = installed.metadata
    stated = metadata.get("License-Expression") or (metadata.get("License") or "").strip()
    if metadata.get("License-Expression") or JOINED.fullmatch(stated):
        return stated
    name = canonicalize_name(metadata["Name"])
    if name not in READ:
        raise LookupError(
            f"The metadata of {name} have no SPDX expression of its licence, but {stated[:60]!r}. "
            "Read the licence file that it brings, and add it to READ in release/dependencies.py."
        )
    return READ[name]
