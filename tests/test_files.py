"""Files that are whole or not there."""

import os
import signal
import subprocess
import sys

import pytest

from nldd._files import sync_folder, write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_file_is_written_into_a_new_folder(tmp_path):
    path = tmp_path / "new" / "folder" / "page.html"
    write_atomically(path, b"content")
    assert path.read_bytes() == b"content"
    assert names(path.parent) == ["page.html"]


def test_file_is_replaced(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"a longer content than the new one")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["page.html"]


def test_empty_file(tmp_path):
    write_atomically(tmp_path / "empty", b"")
    assert (tmp_path / "empty").read_bytes() == b""


def test_open_file_keeps_its_old_content(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write_atomically(path, b"new")
        assert reader.read() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


def test_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    """Else a crash could leave the new name with nothing behind it."""
    steps = []
    replace = os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: steps.append(os.fstat(descriptor).st_size))
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("moved"), replace(*paths)))
    write_atomically(tmp_path / "page.html", b"12345")
    assert steps[:2] == [5, "moved"]
    assert len(steps) == (3 if hasattr(os, "O_DIRECTORY") else 2)  # then the folder


def test_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    code = (
        "import os, signal, sys; from pathlib import Path; from nldd._files import *;"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL);"
        "write_atomically(Path(sys.argv[1]), b'new')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    write_atomically(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_folder_in_the_place_of_the_file_is_an_error(tmp_path):
    (tmp_path / "page.html").mkdir()
    with pytest.raises(OSError, match=r"page\.html"):
        write_atomically(tmp_path / "page.html", b"new")
    assert names(tmp_path) == ["page.html"]


def test_sync_folder_closes_what_it_opens(tmp_path, monkeypatch):
    opened, closed = [], []
    real_open, real_close = os.open, os.close

    def open_it(*arguments):
        opened.append(real_open(*arguments))
        return opened[-1]

    monkeypatch.setattr(os, "open", open_it)
    monkeypatch.setattr(os, "close", lambda file: (closed.append(file), real_close(file)))
    sync_folder(tmp_path)
    assert opened == closed
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "nowhere")
