"""Files that only a foreign library can judge: another process reads them first, within limits.

A few bytes of a workbook or of a Parquet file can ask for a terabyte: cells far away, rows that
repeat, text that is there once and meant a million times. Then the process that reads them ends.
"""

import subprocess
import sys
from pathlib import Path

from nldd.exceptions import InputError

MAX_TRIAL_BYTES = 2**30
TRIAL_SECONDS = 300
_TOO_MUCH = 3
# How systems tell of a library in C that reached beyond its memory: SIGSEGV and SIGBUS, Windows.
_BROKEN = (-11, -7, -10, 0xC0000005)
_PROGRAM = """
import sys
sys.path[:] = {!r}
def read(path, *options):
    {}
try:
    import resource
    with open("/proc/self/statm") as stream:
        limit = {} + int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
except (ImportError, OSError, ValueError):
    pass
try:
    read(*sys.argv[1:])
except MemoryError:
    sys.exit({})
"""


def check_by_trial(path: Path, reading: str, *options: str, hint: str) -> None:
    """Let another process read a file by the lines `reading`, within limits of memory and time."""
    body = reading.strip().replace("\n", "\n    ")
    program = _PROGRAM.format(sys.path, body, MAX_TRIAL_BYTES, _TOO_MUCH)
    # What a library says may be in other letters than those of the system.
    words = [sys.executable, "-X", "utf8", "-c", program, str(path), *options]
    try:
        subprocess.run(
            words,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
            timeout=TRIAL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ValueError("it cannot be read in a reasonable time") from None
    except subprocess.CalledProcessError as error:
        if error.returncode == 1:  # an error of Python, in its last line
            raise ValueError(error.stderr.strip().rpartition(": ")[2]) from None
        if error.returncode in _BROKEN:
            raise ValueError("the library that reads such files breaks off at it") from None
        what = f"takes more memory than {MAX_TRIAL_BYTES:,} bytes"
        raise InputError(f"{path} {what}.", hint=hint) from None
