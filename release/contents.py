"""What a wheel and a source distribution may hold, and how large they may be."""

import re
import subprocess
import tarfile
from collections.abc import Iterable
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from dependencies import ROOT

MOST_BYTES = {".whl": 2_000_000, ".gz": 4_000_000}
METADATA = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
NOTICES = ("LICENSE", "src/nldd/embedded/NOTICE", "src/nldd/bench/report/paper/NOTICE")
LICENCES = {f"licenses/{name}" for name in NOTICES}
# Folders of the repository that people who build nldd do without.
LEFT_OUT = {"results", "benchmarks", ".ci", ".github"}
# Links and pictures that only a reader of the repository could follow.
RELATIVE = re.compile(r"\]\((?!https?:|#)|(?:src|href)=[\"'](?!https?:|#)")


def check(wheel: Path, sdist: Path) -> None:
    """An error that names everything that is wrong with the two files."""
    problems = [*size_problems(wheel), *size_problems(sdist)]
    problems += [*wheel_problems(wheel), *sdist_problems(sdist), *readme_problems(metadata(wheel))]
    if problems:
        raise ValueError("\n".join(problems))


def size_problems(path: Path) -> Iterable[str]:
    """More bytes than allowed."""
    size, most = path.stat().st_size, MOST_BYTES[path.suffix]
    if size > most:
        yield f"{path.name} has {size:,} bytes, more than the {most:,} allowed."


def wheel_problems(wheel: Path) -> Iterable[str]:
    """Files that are missing from a wheel or should not be there."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    package = {name.removeprefix("src/") for name in tracked("src/nldd")}
    wanted = package | {f"{info}/{name}" for name in METADATA | LICENCES}
    yield from _differences(wheel.name, names, wanted)


def sdist_problems(sdist: Path) -> Iterable[str]:
    """Files that are missing from a source distribution or should not be there."""
    with tarfile.open(sdist) as archive:
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}
    kept = {name for name in tracked(".") if name.partition("/")[0] not in LEFT_OUT}
    kept -= {".pre-commit-config.yaml", ".gitattributes"}
    yield from _differences(sdist.name, set(map(str, names)), kept | {"PKG-INFO"})


def readme_problems(about: Message) -> Iterable[str]:
    """Links that lead nowhere on a package index, and code that the making of the page changed."""
    text = about.get_payload()
    for found in RELATIVE.finditer(text):
        around = text[max(0, found.start() - 40) : found.end() + 40]
        yield f"The long description has a relative link: {around!r}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    # What comes before takes a checkout, and is replaced.
    for code in re.findall(r"(?ms)^```.*?^```", readme[readme.index("## For engineers") :]):
        if code not in text:
            yield f"The long description lacks this code of the README: {code[:80]!r}"


def metadata(wheel: Path) -> Message:
    """The metadata of a wheel; its payload is the long description."""
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode("utf-8")
    return message_from_string(text)


def tracked(folder: str) -> set[str]:
    """The files of a folder that git knows, as paths from the root of the repository."""
    words = ["git", "ls-files", "-z", "--", folder]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    return set(filter(None, done.stdout.decode("utf-8").split("\0")))


def _differences(name: str, found: set[str], wanted: set[str]) -> Iterable[str]:
    if unwanted := sorted(found - wanted):
        yield f"{name} holds what it should not: {', '.join(unwanted[:10])}"
    if missing := sorted(wanted - found):
        yield f"{name} lacks: {', '.join(missing[:10])}"
