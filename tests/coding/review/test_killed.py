"""A server that is killed loses no decision that it has acknowledged, nor does a failing disk."""

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from coding.review.desk_acts import act
from coding.review.made_review import CODES, log_of, make_review
from coding.review.serve_made import Client
from nldd.coding.review.desk import Desk
from nldd.coding.review.store import Store
from nldd.exceptions import NLDDError

# `NLDD_KILLS=1000` is the bar; it takes half an hour.
N_KILLS = int(os.environ.get("NLDD_KILLS", "25"))
TESTS = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "coding.review.serve_made", "--store"]
ITEMS = ",".join(map(str, range(1, 31)))


def start(path):
    """A server in a process of its own, and a client that has come in."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*SERVER, str(path)], cwd=TESTS, **pipes)
    address = re.search(rb"http\S+", process.stdout.readline())
    assert address, "the server did not start"
    return process, Client(address[0].decode(), timeout=10)


def decide_until_killed(client, known, name, acknowledged):
    """Decide without end; what the server acknowledged is put down with its codes."""
    rng = random.Random(name)
    with suppress(OSError, HTTPException, ValueError, AssertionError):
        for number in range(10_000):
            item, uid = rng.randrange(1, 31), f"k{name}-{number}"
            codes = sorted(rng.sample(CODES, rng.randrange(1, 3)))
            sent = {"uid": uid, "item": item, "seen": known.get(item, 0), "action": "code"}
            status, answer = client.send("/api/decide", {**sent, "codes": codes})
            if status == 200:
                acknowledged[uid] = (item, codes)
            known[item] = answer["item"]["seen"]


def check_file(path):
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("n", [2, pytest.param(N_KILLS, marks=pytest.mark.slow)])
def test_no_acknowledged_decision_is_lost_by_a_kill(tmp_path, n):
    path, rng, acknowledged, opening = tmp_path / "new.review.db", random.Random(n), {}, []
    make_review(path, 30)
    for number in range(n):
        process, client = start(path)
        known = {v["item"]: v["seen"] for v in client.get(f"/api/items?ids={ITEMS}")["items"]}
        work = (client, known, f"{n}-{number}", acknowledged)
        thread = threading.Thread(target=decide_until_killed, args=work)
        thread.start()
        time.sleep(rng.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        thread.join()
        process.stdout.close()
        client.close()
        begin = time.perf_counter()
        with Store.open(path) as store:
            Desk(store, "Ann")
        opening.append(time.perf_counter() - begin)
    written = {entry.uid: (entry.item, sorted(entry.after.codes)) for entry in log_of(path)}
    lost = [uid for uid, what in acknowledged.items() if written.get(uid) != what]
    print(f"{n} kills, {len(acknowledged)} acknowledged, {len(lost)} lost, ", end="")
    print(f"opened in at most {max(opening):.3f} s")
    check_file(path)
    assert len(acknowledged) > (n if n > 2 else 0)
    assert lost == []
    assert max(opening) <= 2


def decision(number):
    return {"uid": f"d{number}", "item": number, "seen": 0, "action": "code", "codes": ["pay"]}


def send_all(client, numbers):
    """The numbers of the decisions that were acknowledged; of the others the disk is full."""
    answers = [(n, *client.send("/api/decide", decision(n))) for n in numbers]
    full = {(status, answer["error"]) for _, status, answer in answers if status != 200}
    assert full <= {(503, f"{client.running.review.desk.store.path}: the disk is full.")}
    return [number for number, status, _ in answers if status == 200]


def test_a_full_disk_is_told_and_nothing_is_lost(serve):
    client = serve(60)
    store = client.running.review.desk.store
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    # SQLite's own limit fails as a full disk does, at the same places.
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    kept = send_all(client, range(1, 61))
    assert 0 < len(kept) < 60
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert len(send_all(client, range(1, 61))) == 60
    log = [entry.item for entry in log_of(store.path)]
    assert (log[: len(kept)], len(log)) == (kept, 60)


def test_a_locked_store_is_told_and_the_decision_is_taken_later(serve, monkeypatch):
    monkeypatch.setattr("nldd.coding.review.store.WAIT_SECONDS", 0.05)
    client = serve(10)
    path = client.running.review.desk.store.path
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    status, answer = client.send("/api/decide", decision(1))
    assert (status, answer["error"]) == (503, f"{path}: another process has held it too long.")
    assert client.get("/api/items?ids=1")["items"][0]["state"] == "open"
    other.execute("ROLLBACK")
    other.close()
    assert client.send("/api/decide", decision(1))[0] == 200


def test_a_store_that_cannot_be_written_is_told_of(tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 10)
    with Store.open(path, write=False) as store:
        desk = Desk(store, "Ann")
        with pytest.raises(NLDDError, match="it cannot be written"):
            desk.decide(act(1))
        assert desk.own(1).after.state == "open"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of four megabytes; skips the test where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_cannot_be_written_is_told_of(small_disk):
    path = small_disk / "new.review.db"
    make_review(path, 10)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(NLDDError, match="it cannot be written"), Store.open(path) as store:
        Desk(store, "Ann").decide(act(1))


@pytest.mark.slow
def test_a_disk_that_is_really_full_loses_nothing(small_disk, serve):
    filler, client = small_disk / "filler", serve(100, folder=small_disk)
    kept = send_all(client, range(1, 40))
    with suppress(OSError), filler.open("wb", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass
    kept += send_all(client, range(40, 80))
    assert {*range(1, 40)} <= {*kept} < {*range(1, 80)}
    filler.unlink()
    kept += send_all(client, range(80, 101))
    assert {*range(80, 101)} <= {*kept}
    path = client.running.review.desk.store.path
    assert [entry.item for entry in log_of(path)] == kept
    check_file(path)
