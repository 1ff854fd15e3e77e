"""Disks that are full or broken and folders that are read-only: a message, and nothing changed."""

import ctypes
import errno
import os
import shutil
import stat
from contextlib import contextmanager

import pytest

from bench.report.records import folds, write_records
from bench.runner.trials import n_lines, songs, work_at_home, write_csv
from coding_tables import COLUMNS, QUICK, call
from nldd.bench.runner.records import CELLS

# XlsxWriter leaves a file that the disk did not take to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
UPDATE = ("update", "model.nldd", "truth.csv")
COMMANDS = {
    "fit": ("fit", "answers.csv", *COLUMNS, *QUICK, "--force", "-o", "old.nldd"),
    "update": (*UPDATE, "--no-report", "--jobs", "1"),
    "update elsewhere": (*UPDATE, "--no-report", "--jobs", "1", "--force", "-o", "old.nldd"),
    "predict": (
        *("predict", "model.nldd", "new.csv", "-o", "old.csv", "--review", "old.jsonl"),
        "--force",
    ),
    "predict a workbook": ("predict", "model.nldd", "new.csv", "-o", "old.xlsx"),
    "audit": ("audit", "coded.csv", "-o", "old.csv", "--force"),
    "evaluate": ("evaluate", "model.nldd", "truth.csv", "--force", "--report", "old.html"),
    "report": ("report", "cells", "--out", "out"),
    "benchmark": (
        *("benchmark", "--protocol", "trial.toml", "--datasets", "songs.csv"),
        *("--labels", "label_*", "--out", "cells"),
    ),
}


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A folder in which every command has all that it needs, and old files to replace."""
    for name in ("answers.csv", "truth.csv", "new.csv", "model.nldd"):
        shutil.copy(made / name, tmp_path)
    (tmp_path / "old.nldd").write_bytes((made / "model.nldd").read_bytes())
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "old.csv").write_text("answer\nold\n")
    (tmp_path / "old.jsonl").write_text('{"answer": "old"}\n')
    (tmp_path / "coded.csv").write_text("answer,nldd_status\na,auto\n")
    write_csv(songs(), tmp_path / "songs.csv")
    (tmp_path / "trial.toml").write_text('folds = 2\nmethods = ["BR"]\n')
    write_records(tmp_path / "cells", folds("yeast", "BR", [0.5, 0.5]))
    monkeypatch.chdir(tmp_path)
    work_at_home(monkeypatch)
    return tmp_path


def contents(folder):
    """Names and contents of all files but locks, and of records what is whole."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.endswith(".lock"):
            content = path.read_bytes()
            found[str(path)] = content[: content.rfind(b"\n")] if path.name == CELLS else content
    return found


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    "code", [errno.ENOSPC, pytest.param(errno.EIO, marks=pytest.mark.slow)], ids=["full", "broken"]
)
def test_disk_that_does_not_take_a_file(words, code, here, capsys, monkeypatch):
    def fail(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))

    before = contents(here)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        check_refusal(capsys, words, os.strerror(code))
    if words[0] != "benchmark":  # its cell may be whole on a disk that says it is not
        assert contents(here) == before


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_disk_that_takes_a_part_of_a_file(words, here, capsys):
    """A limit on the size of files cuts a write short, as a full disk does."""
    resource = pytest.importorskip("resource")
    before = contents(here)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = (here / "cells" / CELLS).stat().st_size + 100 if words[0] == "benchmark" else 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        check_refusal(capsys, words, os.strerror(errno.EFBIG))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    after = contents(here)
    if words[0] != "benchmark":
        assert after == before
        return
    # Predictions come before their record, whole, and are written again with it.
    assert {path: after[path] for path in before} == before
    assert call(*words) == 0
    assert n_lines("cells") == 4


def check_refusal(capsys, words, reason):
    capsys.readouterr()
    code = call(*words)
    err = capsys.readouterr().err
    assert code == 1
    *_, error, hint = err.splitlines()
    assert error.startswith("Error: ")
    assert reason in error
    assert hint.startswith("Try: ")
    assert "mistake in nldd" not in err


def test_full_disk_without_a_name_advises_to_make_room(here, capsys, monkeypatch):
    """Such as that behind standard output; it said [Errno 28], and to try --help."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nldd.present.console.click.echo", full)
    monkeypatch.setattr("nldd.cli.say", print)
    assert call("triage", "model.nldd") == 1
    *_, error, hint = capsys.readouterr().out.splitlines()
    assert error == f"Error: {os.strerror(errno.ENOSPC)}"
    assert hint.endswith("and the space on the disk")


def test_report_without_room_does_not_hide_that_the_model_is_saved(here, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "new.report.html")

    monkeypatch.setattr("nldd.coding.report.FitReport.write", full)
    words = ("fit", "answers.csv", *COLUMNS, *QUICK[:-1], "-o", "new.nldd")
    assert call(*words) == 1
    said = capsys.readouterr().err
    assert f"new.report.html: {os.strerror(errno.ENOSPC)}" in said
    assert "saved: new.nldd" in said
    assert (here / "new.nldd").exists()


@contextmanager
def as_anybody():
    """Without the right to write anywhere, which root has; only this thread, until the end."""
    if not hasattr(os, "geteuid") or os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "capset"):
        pytest.skip("root can write anywhere")
    header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, rights) == 0
    old = rights[0]
    rights[0] = old & ~2  # CAP_DAC_OVERRIDE, of those in effect
    assert libc.capset(header, rights) == 0
    try:
        yield
    finally:
        rights[0] = old
        assert libc.capset(header, rights) == 0


@pytest.mark.skipif(os.name != "posix", reason="needs modes of folders")
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_folder_that_is_read_only(words, here, capsys):
    before = contents(here)
    for folder in (here, here / "cells"):
        folder.chmod(0o555)
    try:
        with as_anybody():
            check_refusal(capsys, words, "")
    finally:
        for folder in (here, here / "cells"):
            folder.chmod(0o755)
    assert contents(here) == before
    assert not list(here.rglob("*.lock"))
