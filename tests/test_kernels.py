"""Where kernels are cached, what happens if they cannot be, and who hears of compilation."""

import gc
import os
import stat
import sys
from pathlib import Path

import pytest
from numba.core import config

from nldd import _kernels
from nldd.search._kernel import tell_compilation

NOTICE = "Compiling, once after installation: a few seconds."


def twice(x):
    return 2 * x


def copy_of(function):
    """The same function once more: a decorator may rename it."""
    return type(function)(function.__code__, function.__globals__, function.__name__)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Where kernels are cached, as if it were the user's cache folder."""
    monkeypatch.setattr(config, "CACHE_DIR", None)
    monkeypatch.setattr(_kernels, "user_cache_path", lambda *_, **__: tmp_path / "nldd")
    return tmp_path / "nldd" / "kernels"


@pytest.fixture
def told(monkeypatch):
    """The notices of compilation: one for each process in which the cache had no kernel."""
    lines = []
    tell_compilation(lines.append)
    yield lines
    tell_compilation()


def doubles():
    """Whether a kernel, made as in a new process, does what it should."""
    _kernels.Announcement.is_told = False
    return _kernels.cached_kernel(copy_of(twice))(21) == 42


def files(folder, ending):
    return sorted(folder.rglob(f"*.{ending}"))


@pytest.fixture
def without_cache(monkeypatch):
    def refuse():
        raise OSError("no folder")

    monkeypatch.setattr(_kernels, "private_folder", refuse)


def test_without_a_folder_to_write_to_kernels_are_compiled_all_the_same(without_cache):
    assert doubles()


@pytest.mark.skipif(os.name == "nt", reason="needs modes of folders")
def test_cache_lies_in_a_folder_of_the_user_alone(folder, told):
    assert doubles()
    assert doubles()
    assert told == [NOTICE]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [len(files(folder, ending)) for ending in ("nbi", "nbc")] == [1, 1]


def test_cache_may_lie_where_numba_is_told(folder, told, monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "elsewhere"))
    assert doubles()
    assert not folder.exists()
    assert len(files(tmp_path / "elsewhere", "nbc")) == 1


def writable(folder, monkeypatch):
    folder.chmod(0o770)


def of_somebody_else(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)


def a_link(folder, monkeypatch):
    folder.rename(folder.with_name("other"))
    folder.symlink_to("other")


def a_file(folder, monkeypatch):
    folder.rename(folder.with_name("other"))
    folder.touch()


def without_home(folder, monkeypatch):
    monkeypatch.setattr(_kernels, "user_cache_path", lambda *_, **__: Path("~/.cache/nldd"))


@pytest.mark.skipif(os.name == "nt", reason="needs modes of folders")
@pytest.mark.parametrize("how", [writable, of_somebody_else, a_link, a_file, without_home])
def test_nothing_is_run_from_a_folder_that_others_could_write_to(folder, told, monkeypatch, how):
    assert doubles()
    how(folder, monkeypatch)
    with pytest.raises(OSError, match=r"belongs to somebody else|no folder of a user"):
        _kernels.private_folder()
    assert doubles()
    assert told == [NOTICE, NOTICE]
    assert not Path("~").exists()


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file):
    file.write_bytes(b"")


def fill(file):
    file.write_bytes(bytes(range(256)) * 40)


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def remove(file):
    file.unlink()


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [cut, empty, fill, flip, remove])
def test_damaged_cache_is_done_without_and_made_anew(folder, told, damage, ending):
    assert doubles()
    damage(*files(folder, ending))
    assert doubles()
    assert told == [NOTICE, NOTICE]
    assert doubles()
    assert told == [NOTICE, NOTICE]


def test_code_that_was_compiled_for_other_types_is_not_run(folder, told):
    """As after a disk that was full between the list of files and the file."""
    kernel = _kernels.cached_kernel(copy_of(twice))
    assert (kernel(21), kernel(0.5)) == (42, 1.0)
    first, second = files(folder, "nbc")
    second.write_bytes(first.read_bytes())
    kernel = _kernels.cached_kernel(copy_of(twice))
    assert (kernel(0.5), kernel(21)) == (1.0, 42)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_full_disk_is_no_obstacle(folder, told, monkeypatch, ending):
    def open_on_full_disk(path, mode="r"):
        if f".{ending}.tmp" in str(path):
            raise OSError(28, "No space left on device")
        return open(path, mode)

    monkeypatch.setattr("numba.core.caching.open", open_on_full_disk, raising=False)
    assert doubles()
    assert files(folder, "nbi") == files(folder, "nbc") == []
    monkeypatch.undo()


def test_folder_that_cannot_be_written_to_is_no_obstacle(folder, told, monkeypatch):
    assert doubles()

    def refuse(*_, **__):
        raise PermissionError("read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert doubles()
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert doubles()


def test_kernels_that_check_indices_are_kept_apart(folder, told, monkeypatch):
    monkeypatch.setattr(config, "BOUNDSCHECK", None)
    assert doubles()
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert doubles()
    assert told == [NOTICE, NOTICE]


def test_cache_belongs_to_the_files_that_the_kernel_is_made_of(folder, monkeypatch, tmp_path):
    """Numba alone would open what another version left, and fail where a module is gone."""
    monkeypatch.setattr(_kernels, "__file__", str(tmp_path / "_kernels.py"))
    beside = tmp_path / "search"
    beside.mkdir()
    for file in (tmp_path / "_kernels.py", beside / "_scan.py", beside / "_distances.py"):
        file.write_text("first")

    def name():
        function = copy_of(twice)
        function.__code__ = twice.__code__.replace(co_filename=str(beside / "_scan.py"))
        return _kernels.cached_kernel(function)._cache._impl.filename_base

    first = name()
    for file in (tmp_path / "_kernels.py", beside / "_distances.py"):
        file.write_text("second")
        assert name() != first
        file.write_text("first")
        assert name() == first


# Who hears of compilation


@pytest.fixture
def compile_twice(without_cache, monkeypatch):
    """Calls of two kernels that are not compiled yet, one of them with two types."""
    monkeypatch.setattr(_kernels.Announcement, "is_told", False)

    def call():
        kernel = _kernels.cached_kernel(copy_of(twice))
        assert (kernel(21), kernel(4), kernel(0.5)) == (42, 8, 1.0)
        assert _kernels.cached_kernel(copy_of(twice))(21) == 42

    return call


@pytest.mark.parametrize("is_terminal", [True, False])
def test_terminal_hears_once_that_kernels_are_compiled(
    compile_twice, monkeypatch, capsys, is_terminal
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    compile_twice()
    assert capsys.readouterr() == ("", f"{NOTICE}\n" if is_terminal else "")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_garbage_is_collected_afterwards_as_before(compile_twice, is_enabled):
    was_enabled = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        compile_twice()
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_compilation_is_told_to_whoever_asks(compile_twice, told):
    compile_twice()
    assert told == [NOTICE]
