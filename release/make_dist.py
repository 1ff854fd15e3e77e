"""``make dist``: sdist, wheel and bill of materials, the same bytes for the same commit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from contents import check
from dependencies import ROOT, run_time_dependencies
from licences import check_licences
from sbom import write_sbom


def main(out: Path) -> None:
    """Build, check, and say what is there."""
    shutil.rmtree(out, ignore_errors=True)
    epoch = commit_time()
    # The wheel is built from the sdist, so that the sdist is known to be complete.
    build(out, epoch)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    check(wheel, sdist)
    check_licences(run_time_dependencies())
    _run("twine", "check", "--strict", str(wheel), str(sdist))
    for path in (sdist, wheel, write_sbom(wheel, epoch)):
        print(f"{path.stat().st_size:>9,} bytes  {path}")


def commit_time() -> int:
    """Seconds since 1970 at the last commit, unless SOURCE_DATE_EPOCH says otherwise."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    words = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout)


def build(out: Path, epoch: int, *what: str, source: Path = ROOT) -> None:
    """Build with the pinned tools of this environment: their version stands in the wheel."""
    words = ["build", "--no-isolation", *what, "--outdir", str(out), str(source)]
    _run(*words, SOURCE_DATE_EPOCH=str(epoch))


def _run(*words: str, **variables: str) -> None:
    """Run a tool of this environment; what it prints is shown only if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout.decode(errors='replace')}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
