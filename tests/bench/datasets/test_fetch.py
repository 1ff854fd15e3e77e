"""Fetching from a server on this machine: honest, broken, slow, hostile, and killed midway."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import pooch
import pytest

from file_server import (
    CONTENTS,
    ONE,
    ROWS,
    TOY,
    cut,
    entry_of,
    found,
    honest,
    reset,
    serve,
    slow,
    status,
)
from nldd.bench.datasets import catalogue
from nldd.bench.datasets.catalogue import fetch, verify
from nldd.exceptions import InputError, NLDDError

pytestmark = pytest.mark.usefixtures("quick_fetch")

# A child process that fetches an entry: `fetch` of the same code as the command.
FETCH = """
import json, sys
from nldd.bench.datasets.catalogue import CatalogueEntry, CatalogueFile, fetch
fields, folder, mirror = json.loads(sys.argv[1])
fields["files"] = tuple(CatalogueFile(**file) for file in fields["files"])
print(*(state.state for state in fetch(CatalogueEntry(**fields), folder, mirror=mirror)))
"""


def child(entry, folder, url):
    order = json.dumps([asdict(entry), str(folder), url])
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", FETCH, order], text=True, **pipes)


def test_fetch_puts_whole_files_into_a_new_folder(tmp_path, capfd):
    folder, level = tmp_path / "new" / "data", pooch.get_logger().level
    with serve(CONTENTS) as server:
        states = fetch(TOY, folder, mirror=server.url)
        assert [name for name, _ in server.requests] == list(CONTENTS)
    assert [state.state for state in states] == ["fetched", "fetched"]
    assert found(folder) == CONTENTS
    assert [state.state for state in verify(TOY, folder)] == ["ok", "ok"]
    # Pooch says nothing, and is left as it was.
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_fetch_leaves_right_files_alone_and_replaces_damaged_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("NLDD_DATA", str(tmp_path))
    (tmp_path / "toy.xml").write_bytes(CONTENTS["toy.xml"])
    (tmp_path / "toy.arff").write_bytes(b"x" * len(ROWS))  # right size, wrong bytes
    with serve(CONTENTS) as server:
        monkeypatch.setenv("NLDD_MIRROR", server.url)
        assert [state.state for state in fetch([TOY])] == ["fetched", "ok"]
        assert found(tmp_path) == CONTENTS
        assert [state.state for state in fetch(TOY)] == ["ok", "ok"]
        assert [name for name, _ in server.requests] == ["toy.arff"]


def test_fetch_tries_one_mirror_after_the_other(tmp_path):
    with serve({"toy.xml": CONTENTS["toy.xml"]}) as first, serve(CONTENTS) as second:
        fetch(TOY, tmp_path, mirror=f"{first.url} {second.url}/")
        assert {name for name, _ in first.requests} == {"toy.arff", "toy.xml"}
        assert [name for name, _ in second.requests] == ["toy.arff"]
    assert found(tmp_path) == CONTENTS


def test_fetch_asks_the_addresses_of_the_catalogue_without_a_mirror(tmp_path, monkeypatch):
    def give(url, target, pooch, *, file, verbose):
        asked.append(url)
        Path(target).write_bytes(CONTENTS[file.file])

    asked = []
    monkeypatch.setattr(catalogue, "_download", give)
    fetch(TOY, tmp_path)
    assert asked == ["https://toy.test/toy.arff", "https://toy.test/toy.xml"]
    assert found(tmp_path) == CONTENTS


@pytest.mark.parametrize(
    "trick",
    [cut(1000), reset(50_000), status(500), status(503), status(429)],
    ids=["cut", "reset", "500", "503", "429"],
)
def test_fetch_tries_three_times(trick, tmp_path):
    with serve(CONTENTS, [trick] * 2) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 3
        assert found(tmp_path) == {"toy.arff": ROWS}
        (tmp_path / "toy.arff").unlink()
        server.tricks[:] = [trick] * 3
        with pytest.raises(NLDDError, match=r"toy\.arff could not be fetched"):
            fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 6
    assert found(tmp_path) == {}


def test_error_names_every_address_and_what_to_do(tmp_path):
    with (
        serve({}) as empty,
        serve(CONTENTS, [status(503)] * 3) as broken,
        pytest.raises(NLDDError) as error,
    ):
        fetch(ONE, tmp_path, mirror=f"{empty.url} {broken.url}")
    first, *tried, advice = str(error.value).splitlines()
    assert first == "toy.arff could not be fetched."
    assert tried[0].startswith(f"  {empty.url}/toy.arff: 404 ")
    assert tried[1].startswith(f"  {broken.url}/toy.arff: 503 ")
    assert len(tried) == 2
    assert "NLDD_MIRROR" in advice
    assert f"into {tmp_path} yourself" in advice


def test_fetch_goes_on_with_other_data_sets_after_a_refusal(tmp_path):
    lost = [entry_of({f"{name}.arff": b"?"}, name) for name in ("lost", "gone")]
    with (
        serve(CONTENTS) as server,
        pytest.raises(NLDDError, match=r"(?s)lost\.arff could not .*\ngone\.arff could not"),
    ):
        fetch([lost[0], ONE, lost[1]], tmp_path, mirror=server.url)
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_stops_at_a_server_that_is_not_there(tmp_path):
    with serve({}) as server:
        url = server.url
    with pytest.raises(NLDDError, match=r"(?s)toy\.arff could not .* refused") as error:
        fetch([ONE, entry_of({"other.arff": b"?"}, "other")], tmp_path, mirror=url)
    assert "other.arff" not in str(error.value)
    assert found(tmp_path) == {}


def test_fetch_does_not_wait_for_a_silent_server_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "TIMEOUT_SECONDS", 0.05)
    done = threading.Event()
    with serve(CONTENTS, [lambda *_: done.wait(60)] * 3) as server:
        with pytest.raises(NLDDError, match="timed out"):
            fetch(ONE, tmp_path, mirror=server.url)
        done.set()
    assert len(server.requests) == 3


def unannounced(n_pieces, chunked):
    """Send the file so many times without its length, as one stream or in chunks."""

    def answer(handler, body):
        if chunked:
            handler.protocol_version = "HTTP/1.1"
        handler.head(200, **({"Transfer_Encoding": "chunked"} if chunked else {}))
        for _ in range(n_pieces):
            size = b"%x\r\n" % len(body) if chunked else b""
            handler.wfile.write(size + body + b"\r\n" * chunked)
        handler.wfile.write(b"0\r\n\r\n" * chunked)

    return answer


@pytest.mark.parametrize("chunked", [False, True])
def test_fetch_needs_no_length_and_takes_no_more_than_is_known(chunked, tmp_path):
    with serve(CONTENTS, [unannounced(1, chunked), unannounced(10_000, chunked)]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 1
        assert found(tmp_path) == {"toy.arff": ROWS}
        (tmp_path / "toy.arff").unlink()
        with pytest.raises(NLDDError, match="more bytes"):
            fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 2
    assert found(tmp_path) == {}


def test_fetch_replaces_a_damaged_file_only_by_a_right_one(tmp_path):
    (tmp_path / "toy.arff").write_bytes(b"old")
    wrong = bytes([ROWS[0] ^ 1]) + ROWS[1:]
    with serve({"toy.arff": wrong}) as server, pytest.raises(NLDDError) as error:
        fetch(ONE, tmp_path, mirror=server.url)
    for contents in (CONTENTS, {"toy.arff": wrong}):
        assert entry_of(contents).files[0].sha256 in str(error.value)
    assert found(tmp_path) == {"toy.arff": b"old"}


@pytest.mark.parametrize(
    "mirror",
    [
        "http://example.org/data",
        "http://127.0.0.1.example.org/data",
        "ftp://example.org",
        "data",
        "https://",
        "https://me:secret@example.org/data",
        "https://example.org https://exa mple.org",
    ],
)
def test_fetch_refuses_addresses_that_are_not_https(mirror, tmp_path):
    with pytest.raises(InputError, match="over https only"):
        fetch(ONE, tmp_path / "data", mirror=mirror)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 25))]
)
def test_fetch_never_shows_a_wrong_file_whatever_the_server_does(seed, tmp_path):
    chance = random.Random(seed)
    body = bytearray(ROWS)
    body[chance.randrange(len(ROWS))] ^= 1
    tricks = [
        lambda handler, _: honest(handler, bytes(body)),
        lambda handler, _: cut(1000)(handler, bytes(body)),
        cut(chance.randrange(len(ROWS))),
        reset(chance.randrange(len(ROWS))),
        status(503),
        status(206),
        unannounced(10_000, False),
    ]
    with serve(CONTENTS, chance.choices(tricks, k=6)) as server:
        for _ in range(8):
            try:
                fetch(ONE, tmp_path, mirror=server.url)
            except NLDDError:
                assert found(tmp_path) == {}
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("n_bytes", [1, 100_000, len(ROWS)])
def test_fetch_that_is_killed_leaves_no_half_file(n_bytes, tmp_path):
    """Killed when so many bytes have left the server."""
    running = []

    def kill(n_sent):
        if n_sent >= n_bytes:
            running[0].send_signal(signal.SIGKILL)

    with serve(CONTENTS, [slow(0.0005, kill)]) as server:
        running.append(child(ONE, tmp_path, server.url))
        running[0].communicate()
        assert found(tmp_path).get("toy.arff", ROWS) == ROWS
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path)["toy.arff"] == ROWS


def test_two_processes_may_fetch_the_same_file(tmp_path):
    with serve(CONTENTS, [slow(0.001)]) as server:
        both = [child(ONE, tmp_path, server.url) for _ in range(2)]
        said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {*said} <= {"fetched\n", "ok\n"}
    assert found(tmp_path) == {"toy.arff": ROWS}
