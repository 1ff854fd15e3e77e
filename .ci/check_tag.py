"""Whether a tag, the version and the changelog say the same, before anything is published."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, source: str, changelog: str) -> Iterator[str]:
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


if __name__ == "__main__":
    texts = [ROOT / "src/nldd/__init__.py", ROOT / "CHANGELOG.md"]
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    found = list(problems(tag, *(path.read_text("utf-8") for path in texts)))
    sys.exit("\n".join(f"No release: {problem}." for problem in found) or 0)
