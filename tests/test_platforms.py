"""What differs between systems, with another system put in the place of this one.

Nobody has run these on Windows or macOS by writing them: they show that our side of it holds.
"""

import ctypes
import io
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import PureWindowsPath
from types import SimpleNamespace

import pytest
from filelock import FileLock

from coding_tables import call
from nldd import NLDDError, _files
from nldd.bench.runner import records, workers
from nldd.coding.review import rounds, server, store
from nldd.coding.tables.spreadsheet import frame_of
from nldd.coding.tables.writing import write_table
from nldd.present import console, text
from problems import some_quick

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "0"}
COMMAND = "from nldd.cli import main; main()"
EMOJI = "Stra\u00dfe \u2192 \U0001f600"


@pytest.fixture
def windows(monkeypatch):
    """Files as on Windows, with short turns of waiting."""
    monkeypatch.setattr(_files, "WINDOWS", True)
    monkeypatch.setattr(_files, "MOVE_SECONDS", 0.001, raising=False)


def refuse_to_move(monkeypatch, times):
    """Let the first moves fail as on Windows while somebody reads the file; the turns taken."""
    turns, replace = [], os.replace

    def move(*paths):
        turns.append(paths)
        if len(turns) <= times:
            raise PermissionError(13, "Access is denied", str(paths[0]), 5, str(paths[1]))
        replace(*paths)

    monkeypatch.setattr(os, "replace", move)
    return turns


# Files: moved while another program reads them, and what is left over.


def test_file_that_is_being_read_is_replaced_once_it_is_free(windows, tmp_path, monkeypatch):
    path = tmp_path / "coded.csv"
    path.write_bytes(b"old")
    turns = refuse_to_move(monkeypatch, 3)
    _files.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(turns) == 4
    assert os.listdir(tmp_path) == ["coded.csv"]


def test_file_that_stays_open_elsewhere_is_named_with_the_reason(windows, tmp_path, monkeypatch):
    path = tmp_path / "coded.csv"
    path.write_bytes(b"old")
    turns = refuse_to_move(monkeypatch, 1000)
    with pytest.raises(NLDDError, match=r"coded\.csv cannot be written: it is open in another"):
        write_table(path, frame_of({"answer": ["new"]}))
    assert len(turns) == _files.MOVE_TRIES + 1
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["coded.csv"]


@pytest.mark.skipif(_files.WINDOWS, reason="is about systems other than Windows")
def test_where_open_files_can_be_replaced_nobody_waits(tmp_path, monkeypatch):
    turns = refuse_to_move(monkeypatch, 1000)
    with pytest.raises(PermissionError, match="Access is denied"):
        _files.write_atomically(tmp_path / "coded.csv", b"new")
    assert len(turns) == 1


def test_part_of_a_writer_at_work_is_no_leftover_where_it_cannot_be_asked(windows, tmp_path):
    """It is closed before it is moved, so that being closed does not mean that nobody needs it."""
    young, old = tmp_path / ".a.csv.1-2.part", tmp_path / ".a.csv.3-4.part"
    young.touch()
    old.touch()
    os.utime(old, (time.time() - 4000, time.time() - 4000))
    _files.write_atomically(tmp_path / "a.csv", b"new")
    assert sorted(os.listdir(tmp_path)) == [young.name, "a.csv"]


def test_part_of_a_read_only_file_can_be_removed(windows, tmp_path, monkeypatch):
    """Windows removes no read-only file, so the part must not be one."""
    path, modes = tmp_path / "model.nldd", []
    path.write_bytes(b"old")
    path.chmod(0o444)
    real = os.open
    monkeypatch.setattr(os, "open", lambda *at, mode: modes.append(mode) or real(*at, mode=mode))
    refuse_to_move(monkeypatch, 1000)
    with pytest.raises(PermissionError):
        _files.write_atomically(path, b"new")
    assert modes == [0o666]
    assert os.listdir(tmp_path) == ["model.nldd"]


def test_folders_are_not_synced_where_they_cannot_be_opened(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_DIRECTORY", raising=False)
    monkeypatch.setattr(os, "fsync", None)
    assert _files.sync_folder(tmp_path) is None


# Names.


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        *(("aux", "%61ux"), ("CON", "%43ON"), ("nul.arff", "%6Eul.arff"), ("lpt1", "%6Cpt1")),
        *(("conin$", "conin%24"), ("mine. ", "mine.%20"), ("a.", "a%2E")),
        *(("C:\\data", "C%3A%5Cdata"), ('what?*<>|"', "what%3F%2A%3C%3E%7C%22")),
        ("auxiliary", "auxiliary"),
    ],
)
def test_names_of_folders_are_those_that_windows_allows(name, quoted):
    assert records._quoted(name) == quoted


@pytest.mark.parametrize(
    ("path", "address"),
    [
        (r"C:\My Data\a#1.review.db", "file:///C:/My%20Data/a%231.review.db"),
        (r"\\server\share\a.review.db", "file:////server/share/a.review.db"),
    ],
)
def test_sqlite_is_told_drives_and_shared_folders(path, address):
    assert store.file_address(PureWindowsPath(path)) == address


def test_commands_to_type_are_in_the_quotes_of_the_shell(monkeypatch):
    words = ("nldd", "report", PureWindowsPath(r"C:\My Data\out"))
    monkeypatch.setattr(text, "WINDOWS", True)
    assert text.command_line(*words) == r'nldd report "C:\My Data\out"'
    monkeypatch.setattr(text, "WINDOWS", False)
    assert text.command_line(*words) == r"nldd report 'C:\My Data\out'"


# Letters.


@pytest.mark.parametrize("encoding", some_quick(["cp1252", "cp437", "utf-8"], ["cp1252"]))
def test_letters_that_a_console_lacks_stop_no_command(encoding, tmp_path):
    """Also the words that were given, where standard output is no terminal."""
    name = "Stra\u00dfe-\u4f60-\U0001f600.csv"
    if sys.getfilesystemencoding() == "ascii":
        pytest.skip("no file has such a name here")
    words = [sys.executable, "-c", COMMAND, "inspect", str(tmp_path / name)]
    done = subprocess.run(
        words, capture_output=True, env={**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    )
    said = done.stderr.decode(encoding)
    assert done.returncode == 1
    letters = name.encode(encoding, "backslashreplace").decode(encoding)
    assert letters in "".join(said.split("\n"))
    assert "Traceback" not in said


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "utf-8", "UTF8"])
def test_json_is_json_in_every_encoding(encoding, monkeypatch):
    """In the letters of cp1252 it could not be read as UTF-8, and \\xff is no code of JSON."""
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    console.print_json({"code": EMOJI, "\u00ff": "\u00e9"})
    stream.flush()
    assert json.loads(out.getvalue().decode("utf-8")) == {"code": EMOJI, "\u00ff": "\u00e9"}
    assert (EMOJI.encode() in out.getvalue()) == encoding.lower().startswith("utf")


def test_tables_on_standard_output_keep_their_bytes(monkeypatch):
    """No letters of the console, and no other ends of lines."""
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="cp1252", newline="\r\n"))
    write_table("-", frame_of({"answer": [EMOJI]}))
    assert out.getvalue() == f"answer\n{EMOJI}\n".encode()


# Processes.


def test_worker_ends_with_its_parent_by_its_handle(monkeypatch):
    """Its number says nothing: Windows gives the number of a parent that is long gone."""
    steps = []
    monkeypatch.setattr(os, "_exit", steps.append)
    monkeypatch.setattr(os, "getppid", None)
    workers._follow(SimpleNamespace(join=lambda: steps.append("waited")))
    assert steps == ["waited", 1]


@pytest.mark.parametrize("flag", [0x200, None])
def test_learning_is_not_reached_by_ctrl_c(flag, tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(subprocess, "Popen", lambda words, **how: given.update(how, words=words))
    if flag is not None:
        monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", flag, raising=False)
    elif hasattr(subprocess, "CREATE_NEW_PROCESS_GROUP"):
        pytest.skip("this is Windows")
    assert rounds.Learner(tmp_path / "s.review.db", tmp_path / "m.nldd").start()
    assert (given["creationflags"], given["start_new_session"]) == (flag or 0, True)
    assert str(os.getpid()) in given["words"]


def test_learning_waits_for_its_parent_where_it_may_not_read(monkeypatch):
    """A thread that reads standard input on Windows holds up what is loaded meanwhile."""
    steps = []
    fake = SimpleNamespace(
        OpenProcess=lambda *words: steps.append(words) or 77,
        WaitForSingleObject=lambda *words: steps.append(words),
    )
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=fake), raising=False)
    monkeypatch.setattr(rounds.sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(os, "_exit", steps.append)
    rounds._end_with(4711)
    assert steps == [(0x100000, False, 4711), (77, -1), 1]


def test_port_is_ours_alone_where_it_could_be_shared(monkeypatch):
    options = []

    class Socket(socket.socket):
        def setsockopt(self, *words):
            options.append(words)

    monkeypatch.setattr(server.socket, "socket", Socket)
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    server.listen().close()
    monkeypatch.delattr(socket, "SO_EXCLUSIVEADDRUSE")
    server.listen().close()
    assert options == [(socket.SOL_SOCKET, -5, 1), (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)]


# Ctrl-C.


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "answers.csv", "--text", "answer", "--labels", "codes", "-o", "new.nldd"),
        ("predict", "model.nldd", "new.csv", "-o", "out.csv", "--review", "r.xlsx"),
        ("update", "model.nldd", "truth.csv"),
    ],
    ids=["fit", "predict", "update"],
)
def test_ctrl_c_while_a_file_gets_its_name_leaves_no_part_and_no_lock(
    words, made, tmp_path, monkeypatch, capsys
):
    """The latest moment: all is written, and nothing has its name yet."""
    for name in ("model.nldd", "new.csv", "answers.csv", "truth.csv"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupt(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    assert call(*words) == 130
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1]) == ("", "Interrupted.")
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    locks = {name for name in after if name.endswith(".lock")}
    assert {name: after[name] for name in after.keys() - locks} == before
    for lock in locks:
        with FileLock(lock).acquire(timeout=0):
            pass
