"""Files that are whole or not there."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from nldd._files import open_replacement, write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    """Else a crash could leave the new name with nothing behind it."""
    steps = []
    replace = os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: steps.append(os.fstat(descriptor).st_size))
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("moved"), replace(*paths)))
    write_atomically(tmp_path / "page.html", b"12345")
    assert steps[:2] == [5, "moved"]
    assert len(steps) == (3 if hasattr(os, "O_DIRECTORY") else 2)  # then the folder


def test_writers_at_work_are_left_alone(tmp_path):
    """Two processes at the same file: each ends with its whole content in the place."""
    path = tmp_path / "page.html"
    code = (
        "import sys; from pathlib import Path; from nldd._files import *;"
        "[write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 1000) for _ in range(300)]"
    )
    words = [sys.executable, "-c", code, str(path)]
    children = [subprocess.Popen([*words, letter]) for letter in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    assert path.read_bytes() in (b"a" * 1000, b"b" * 1000)
    assert names(tmp_path) == ["page.html"]


needs_modes = pytest.mark.skipif(os.name != "posix", reason="needs modes of files")


@needs_modes
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_replaced_file_keeps_its_mode_and_owner(tmp_path, mode):
    path = tmp_path / "model.nldd"
    path.write_bytes(b"old")
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 12, 34)
    before = path.stat()
    with open_replacement(path) as stream:
        (part,) = (name for name in names(tmp_path) if name.endswith(".part"))
        assert (tmp_path / part).stat().st_mode & 0o777 == mode  # not wider before the end either
        stream.write(b"new")
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


@needs_modes
def test_rights_of_a_group_are_not_given_to_another(tmp_path, monkeypatch):
    path = tmp_path / "model.nldd"
    path.write_bytes(b"old")
    path.chmod(0o660)
    os.chown(path, -1, 34) if os.geteuid() == 0 else pytest.skip("needs root")
    monkeypatch.setattr(os, "fchown", lambda *_: (_ for _ in ()).throw(PermissionError))
    write_atomically(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o600


@needs_modes
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_new_file_has_the_mode_of_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "model.nldd", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "model.nldd").stat().st_mode & 0o777 == mode


@needs_modes
def test_file_behind_a_link_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "O_DIRECTORY"), reason="folders are not synced")
@pytest.mark.parametrize(("code", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_folder_that_cannot_be_waited_for_is_no_failure(tmp_path, monkeypatch, code, fails):
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="error") if fails else nullcontext():
        write_atomically(tmp_path / "page.html", b"new")
    assert (tmp_path / "page.html").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_failure_leaves_the_old_file_and_names_it_as_people_know_it(tmp_path, monkeypatch, step):
    """Not by the name that it has while it is written."""
    path = tmp_path / "page.html"
    path.write_bytes(b"old")

    def fail(*paths, **_):
        named = [str(other) for other in paths if isinstance(other, str | Path)]
        raise OSError(errno.ENOSPC, "No space left on device", *named[:1])

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left") as caught, open_replacement(path) as stream:
        stream.write(b"new")
    assert str(caught.value) == f"[Errno {errno.ENOSPC}] No space left on device: '{path}'"
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_writer_leaves_the_old_file_and_a_part_that_goes_with_the_next_write(tmp_path):
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
    # As in a container, where each process is the first one: an old part with our own number.
    left = tmp_path / f".page.html.{os.getpid()}-1.part"
    left.touch()
    os.utime(left, (time.time() - 4000, time.time() - 4000))
    kept = [".page.html.part", ".other.html.12-34.part", "page.html.12-34.part"]
    kept += [f".page.html.{number}-2.part" for number in (os.getpid(), os.getppid())]  # at work
    for name in kept:
        (tmp_path / name).touch()
    write_atomically(path, b"newer")
    assert names(tmp_path) == sorted(["page.html", *kept])
