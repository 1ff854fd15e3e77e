"""Compare a tag with the version, the changelog and the citation before anything is published."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, source: str, changelog: str, citation: str) -> Iterator[str]:
    """What keeps a tag such as v0.2.0 from being a release."""
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    version = found[1] if found else ""
    if tag != f"v{version}":
        yield f"the tag is {tag!r}, but the version in src/nldd/__init__.py is {version!r}"
    heading = re.search(r"^## (\S+) \((.+)\)$", changelog, re.MULTILINE)
    if heading is None or heading[1] != version:
        yield f"the first entry of CHANGELOG.md is not that of {version}"
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]):
        yield f"the entry of {version} in CHANGELOG.md has no day, but says {heading[2]!r}"
    if f"\nversion: {version}\n" not in citation:
        yield f"CITATION.cff is not of version {version}"


if __name__ == "__main__":
    names = ("src/nldd/__init__.py", "CHANGELOG.md", "CITATION.cff")
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    found = list(problems(tag, *((ROOT / name).read_text("utf-8") for name in names)))
    sys.exit("\n".join(f"No release: {problem}." for problem in found) or 0)
