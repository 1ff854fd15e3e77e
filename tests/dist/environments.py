"""Clean environments with the wheel in them, made once for all tests of a run.

An environment of an extra starts as a copy of the one without extras, by hard links: so only what
the extra adds is installed, and yet each has all its files in its own folder.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
BIN = "Scripts" if os.name == "nt" else "bin"
# A folder as people have them: with a blank, and with letters that not every encoding has.
ODD = "Umgebung für Straßen 数据"


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and a folder outside of the checkout in which its programs run."""

    folder: Path
    outside: Path

    @property
    def python(self) -> Path:
        return self.folder / BIN / ("python.exe" if os.name == "nt" else "python")

    @property
    def packages(self) -> Path:
        (found,) = self.folder.glob("[Ll]ib/**/site-packages")
        return found

    def command(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run `nldd` by the script that pip made."""
        return self._run(self.folder / BIN / "nldd", *words)

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run Python, away from everything that could bring in the checkout."""
        return self._run(self.python, *words)

    def script(self, name: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a script of these tests."""
        return self.run("-I", SCRIPTS / f"{name}.py", *words)

    def _run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        self.outside.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            [str(word) for word in words],
            cwd=self.outside,
            env=_plain_environment(self.outside.parent),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def packages_by_name(self) -> dict[str, str]:
        """The packages that are installed, with their versions, by canonical name."""
        code = (
            "import json, re; from importlib.metadata import distributions as found\n"
            "name = lambda d: re.sub('[-_.]+', '-', d.metadata['Name']).lower()\n"
            "print(json.dumps({name(d): d.version for d in found()}))"
        )
        return json.loads(self.run("-I", "-c", code).stdout)


def create(folder: Path, outside: Path) -> Environment:
    """An environment of nothing but Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return Environment(folder, outside)


def install(environment: Environment, *words: str | Path) -> None:
    """Install packages at their pinned versions."""
    pins = ROOT / "constraints" / "newest.txt"
    pip(environment, "install", "--no-compile", "--constraint", pins, *words)


def pip(environment: Environment, *words: str | Path) -> None:
    """Let the pip of these tests work on an environment, which so does without one."""
    program = [sys.executable, "-m", "pip", "--python", environment.python, "--quiet"]
    done = subprocess.run(
        list(map(str, (*program, *words, "--disable-pip-version-check"))),
        cwd=environment.folder.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def copy(base: Environment, folder: Path, outside: Path) -> Environment:
    """An environment with the packages of another, as hard links to their files."""
    made = create(folder, outside)
    for place, _, files in os.walk(base.packages):
        target = made.packages / Path(place).relative_to(base.packages)
        target.mkdir(exist_ok=True)
        for name in files:
            os.link(Path(place) / name, target / name)
    return made


def once(folder: Path, make: Callable[[], object]) -> None:
    """Let one of the processes of a run make what is in a folder, and the others wait for it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = folder.with_name(f"{folder.name}.done")
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if not done.exists():
            make()
            done.touch()


def _plain_environment(shared: Path) -> dict[str, str]:
    """The variables of the system, without those that lead to other Pythons and other caches."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PY", "COV"))}
    # Kernels are compiled in here, once for each version of numba.
    cache = str(shared / "cache")
    return kept | {"XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": cache, "PYTHONUTF8": "1"}
