"""Files that are whole or not there, whatever happens while they are written."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place first, then move it there in one step.

    Until the move the old file stays as it is, and nobody ever reads half of the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder, where the system can wait for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
