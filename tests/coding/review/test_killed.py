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
from pathlib import Path

import pytest

from coding.review.made_review import CODES, make_review
from coding.review.serve_made import Client, serving
from nldd.coding.review.desk import Act, Desk
from nldd.coding.review.store import Store
from nldd.exceptions import NLDDError

# `NLDD_KILLS=1000` is the bar; it takes half an hour.
N_KILLS = int(os.environ.get("NLDD_KILLS", "25"))
TESTS = Path(__file__).parents[2]


def start(path):
    """A server in a process of its own, and a client that has come in."""
    command = [sys.executable, "-m", "coding.review.serve_made", "--store", str(path), "--show", ""]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=TESTS
    )
    address = re.search(rb"http\S+", process.stdout.readline())
    assert address, "the server did not start"
    return process, Client(address[0].decode(), timeout=10)


def decide_until_killed(client, known, round_, acknowledged):
    """Decide without end; what the server acknowledged is put down with its codes."""
    from http.client import HTTPException

    rng = random.Random(round_)
    with suppress(OSError, HTTPException, ValueError, AssertionError):
        for number in range(10_000):
            item, uid = rng.randrange(1, 31), f"k{round_}-{number}"
            codes = sorted(rng.sample(CODES, rng.randrange(1, 3)))
            sent = {"uid": uid, "item": item, "seen": known.get(item, 0), "action": "code"}
            status, answer = client.send("/api/decide", {**sent, "codes": codes})
            if status == 200:
                acknowledged[uid] = (item, codes)
            known[item] = answer["item"]["seen"]


def kill_servers(path, n, seed=0):
    """Kill servers at random moments; decisions acknowledged, those lost, and seconds to open."""
    rng, acknowledged, opening = random.Random(seed), {}, []
    for round_ in range(n):
        process, client = start(path)
        known = {v["item"]: v["seen"] for v in client.get(f"/api/items?ids={ITEMS}")["items"]}
        work = (client, known, f"{seed}-{round_}", acknowledged)
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
    with Store.open(path) as store:
        written = {entry.uid: (entry.item, sorted(entry.after.codes)) for entry in store.entries()}
    lost = [uid for uid, what in acknowledged.items() if written.get(uid) != what]
    check_file(path)
    return acknowledged, lost, opening


ITEMS = ",".join(map(str, range(1, 31)))


def check_file(path):
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_no_acknowledged_decision_is_lost_by_a_kill(tmp_path):
    make_review(tmp_path / "new.review.db", 30)
    acknowledged, lost, _ = kill_servers(tmp_path / "new.review.db", 2)
    assert acknowledged
    assert lost == []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_no_acknowledged_decision_is_lost_by_many_kills(tmp_path):
    make_review(tmp_path / "new.review.db", 30)
    acknowledged, lost, opening = kill_servers(tmp_path / "new.review.db", N_KILLS, seed=1)
    print(f"{N_KILLS} kills, {len(acknowledged)} acknowledged, {len(lost)} lost, ", end="")
    print(f"opened in at most {max(opening):.3f} s")
    assert len(acknowledged) > N_KILLS
    assert lost == []
    assert max(opening) <= 2


def decision(number, **more):
    sent = {"uid": f"d{number}", "item": number, "seen": 0, "action": "code", "codes": ["pay"]}
    return {**sent, **more}


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 60)
    with serving(path, announce=lambda address: None) as running:
        client = Client(running.address)
        connection = running.review.desk.store._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        # SQLite's own limit fails as a full disk does, at the same places.
        connection.execute(f"PRAGMA max_page_count = {pages}")
        answers = [client.send("/api/decide", decision(n, note="")) for n in range(1, 61)]
        kept = [n for n, (status, _) in enumerate(answers, 1) if status == 200]
        full = [answer for status, answer in answers if status == 503]
        assert kept
        assert {answer["error"] for answer in full} == {f"{path}: the disk is full."}
        assert len(kept) + len(full) == 60
        connection.execute("PRAGMA max_page_count = 1000000")
        again = [client.send("/api/decide", decision(n))[0] for n in range(1, 61)]
        assert again == [200] * 60
        client.close()
    with Store.open(path) as store:
        assert [entry.item for entry in store.entries()][: len(kept)] == kept
        assert len(store.entries()) == 60


def test_a_locked_store_is_told_and_the_decision_is_taken_later(tmp_path, monkeypatch):
    path = tmp_path / "new.review.db"
    make_review(path, 10)
    monkeypatch.setattr("nldd.coding.review.store.WAIT_SECONDS", 0.05)
    with serving(path, announce=lambda address: None) as running:
        client, other = Client(running.address), sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        status, answer = client.send("/api/decide", decision(1))
        assert (status, answer["error"]) == (503, f"{path}: another process has held it too long.")
        assert client.get("/api/items?ids=1")["items"][0]["state"] == "open"
        other.execute("ROLLBACK")
        other.close()
        assert client.send("/api/decide", decision(1))[0] == 200
        client.close()


def test_a_store_that_cannot_be_written_is_told_of(tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 10)
    with Store.open(path, write=False) as store:
        desk = Desk(store, "Ann")
        with pytest.raises(NLDDError, match="it cannot be written"):
            desk.decide(Act("u", 1, 0, "code", frozenset({"pay"})))
        assert desk.own(1).after.state == "open"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told_of(tmp_path):
    path = tmp_path / "new.review.db"
    make_review(path, 10)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(NLDDError, match="it cannot be written"), Store.open(path) as store:
            store.keep("a", 1)
    finally:
        tmp_path.chmod(0o755)


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
        Desk(store, "Ann").decide(Act("u", 1, 0, "code", frozenset({"pay"})))


@pytest.mark.slow
def test_a_disk_that_is_really_full_loses_nothing(small_disk):
    path, filler = small_disk / "new.review.db", small_disk / "filler"
    make_review(path, 100)
    with serving(path, announce=lambda address: None) as running:
        client, answered = Client(running.address), {}
        for number in range(1, 101):
            if number == 40:
                with suppress(OSError), filler.open("wb", buffering=0) as stream:
                    while stream.write(bytes(4096)):
                        pass
            if number == 80:
                filler.unlink()
            answered[number] = client.send("/api/decide", decision(number))
        kept = [number for number, (status, _) in answered.items() if status == 200]
        full = {answer["error"] for status, answer in answered.values() if status == 503}
        assert full == {f"{path}: the disk is full."}
        assert {*range(1, 40), *range(80, 101)} <= set(kept)
        client.close()
    with Store.open(path) as store:
        assert [entry.item for entry in store.entries()] == kept
    check_file(path)
