"""Fetching that is killed, run twice at once, or has no room to write."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
from dataclasses import asdict

import pytest

from file_server import CONTENTS, ONE, PIECE, ROWS, found, serve, slow
from nldd import _files as lock_module
from nldd.datasets import _fetch as fetch_module, fetch
from nldd.datasets._fetch import LOCK_FILE
from nldd.exceptions import NLDDError

pytestmark = pytest.mark.usefixtures("quick_fetch")

# A child process that fetches an entry: `fetch` of the same code as the command.
FETCH = """
import json, sys
from nldd.datasets import CatalogueFile, Entry, fetch
fields, folder, mirror = json.loads(sys.argv[1])
fields["files"] = tuple(CatalogueFile(**file) for file in fields["files"])
print(*(state.state for state in fetch(Entry(**fields), folder, mirror=mirror)))
"""


def held(folder):
    return lock_module.file_lock(folder / LOCK_FILE, f"fetching into {folder}")


def child(entry, folder, url):
    order = json.dumps([asdict(entry), str(folder), url])
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, order],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_fetch_finishes_after_having_been_killed_at_any_moment(tmp_path):
    """Killed when so many bytes have left the server, time after time, in the same folder."""
    chance = random.Random(3)
    running = []

    def kill_at(n_bytes):
        def after(n_sent):
            if n_sent >= n_bytes:
                running[0].send_signal(signal.SIGKILL)

        return slow(0.0005, after)

    kills = [chance.randrange(1, 40 * PIECE) for _ in range(6)] + [10**9, len(ROWS) // 8]
    with serve(CONTENTS) as server:
        for n_bytes in kills:
            server.tricks[:] = [kill_at(n_bytes)]
            running[:] = [child(ONE, tmp_path, server.url)]
            running[0].communicate()
            left = found(tmp_path)
            assert set(left) <= {"toy.arff", "toy.arff.part"}
            assert left.get("toy.arff", ROWS) == ROWS
            if "toy.arff" in left:
                (tmp_path / "toy.arff").unlink()
        server.tricks.clear()
        last = child(ONE, tmp_path, server.url)
        assert last.communicate() == ("fetched\n", "")
        killed = [asked for asked in server.ranges() if asked]
    assert killed  # or nothing was resumed, and nothing tested
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("stage", ["_check_sha256", "os.replace", "sync_folder"])
def test_fetch_finishes_after_having_been_killed_between_download_and_rename(stage, tmp_path):
    suicide = (
        "import os, signal\nfrom nldd.datasets import _fetch\n"
        f"_fetch.{stage} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with serve(CONTENTS) as server:
        order = json.dumps([asdict(ONE), str(tmp_path), server.url])
        done = subprocess.run([sys.executable, "-c", suicide + FETCH, order], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(found(tmp_path)) == 1
        fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 1  # everything had come already
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_two_processes_fetch_a_file_once(tmp_path):
    with serve(CONTENTS, [slow(0.001)]) as server:
        both = [child(ONE, tmp_path, server.url) for _ in range(2)]
        said = sorted(process.communicate()[0] for process in both)
        assert [process.returncode for process in both] == [0, 0]
        assert len(server.requests) == 1
    # The second waited for the first, and then found the file.
    assert said == ["fetched\n", "ok\n"]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_tells_that_it_waits(tmp_path, capsys):
    told = threading.Event()

    class Listening:
        def write(self, text):
            if "Waiting" in text:
                told.set()

    with serve(CONTENTS) as server:
        with held(tmp_path), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", Listening())
            thread = threading.Thread(
                target=fetch,
                args=(ONE, tmp_path),
                kwargs={"mirror": server.url, "verbose": True},
            )
            thread.start()
            assert told.wait(60)
            assert server.requests == []
        thread.join()
    assert found(tmp_path) == {"toy.arff": ROWS}
    assert "toy (KiB): 196 of 196" in capsys.readouterr().err


def test_lock_is_waited_for_only_so_long(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_module, "WAIT_SECONDS", 0.0)
    with (
        held(tmp_path),
        pytest.raises(NLDDError, match="Another process has been fetching into"),
        held(tmp_path),
    ):
        pytest.fail("two hold the lock")
    with held(tmp_path):
        pass  # free again


def test_fetch_reports_a_full_disk_and_goes_on_from_there(tmp_path, monkeypatch):
    room = 70_000

    class FullDisk:
        def __init__(self, handle):
            self.handle = handle

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.handle.close()

        def truncate(self, size):
            self.handle.truncate(size)

        def write(self, block):
            self.handle.write(block[: room - self.handle.tell()])
            if self.handle.tell() >= room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open_full(*arguments, **options):
        return FullDisk(open(*arguments, **options))

    monkeypatch.setattr(fetch_module, "open", open_full, raising=False)
    with serve(CONTENTS) as server:
        with pytest.raises(NLDDError) as error:
            fetch(ONE, tmp_path, mirror=server.url)
        assert str(error.value) == (
            f"Cannot write to the folder {tmp_path}: No space left on device. Free some space and "
            "run the same again: it goes on where it stopped. Or set NLDD_DATA or --data-dir to a "
            "folder elsewhere."
        )
        assert found(tmp_path) == {"toy.arff.part": ROWS[:room]}
        monkeypatch.undo()
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == [None, f"bytes={room}-"]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_says_when_the_folder_is_a_file(tmp_path):
    (tmp_path / "data").write_text("in the way")
    with serve(CONTENTS) as server:
        for folder in (tmp_path / "data", tmp_path / "data" / "below"):
            with pytest.raises(
                NLDDError, match=r"Cannot write to the folder .* Set NLDD_DATA or --data-dir"
            ):
                fetch(ONE, folder, mirror=server.url)
        assert server.requests == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_fetch_says_when_the_folder_is_read_only(tmp_path):
    tmp_path.chmod(0o500)
    with serve(CONTENTS) as server, pytest.raises(NLDDError, match="Permission denied"):
        fetch(ONE, tmp_path, mirror=server.url)
    tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


def test_fetch_says_when_the_file_system_is_read_only(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(lock_module.os, "open", refuse)
    with (
        serve(CONTENTS) as server,
        pytest.raises(NLDDError, match=r"Read-only file system\. Set NLDD_DATA or --data-dir to"),
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    assert server.requests == []
    assert list(tmp_path.iterdir()) == []


def test_fetch_needs_no_writing_when_all_is_there(tmp_path, monkeypatch):
    (tmp_path / "toy.arff").write_bytes(ROWS)
    monkeypatch.setattr(fetch_module, "file_lock", None)
    assert [state.state for state in fetch(ONE, tmp_path)] == ["ok"]
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW")
def test_fetch_does_not_write_through_a_link(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "toy.arff.part").symlink_to(outside)
    with serve(CONTENTS) as server, pytest.raises(NLDDError, match="Cannot write"):
        fetch(ONE, folder, mirror=server.url)
    assert outside.read_bytes() == b"mine"
