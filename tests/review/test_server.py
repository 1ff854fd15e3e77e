"""The server lets in its own page and nobody else, and no request makes it fail."""

import json
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection
from urllib.parse import quote

import pytest

from nldd.exceptions import InputError, NLDDError
from nldd.review import Store, _guard as guard, _running as running_module
from nldd.review._running import listen
from review.made_review import make_review
from review.serve_made import Client, serving

JSON = {"Content-Type": "application/json"}
DECISION = {"uid": "u1", "item": 1, "seen": 0, "action": "code", "codes": ["pay"], "round": 0}
GETS = ("study", "status", "next", "before", "items", "alike", "list", "disagreements", "export")
POSTS = ("decide", "decide_many", "undo", "codes", "learn")
ODD = [None, True, 0, -1, 2**70, 1.5, 1e300, "", "x", "\x00", "é" * 300, [], [1], {}, {"item": 1}]
ODD += [[[]], ["pay"], ["pay", 3], [{"item": 1, "seen": 0}], [{"item": "1"}], "code", "settle"]


@pytest.fixture(scope="module")
def store_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("review") / "new.review.db"
    make_review(path, 40, n_drawn=5)
    return path


@pytest.fixture(scope="module")
def running(store_path):
    with serving(store_path, show=["age"], announce=lambda address: None) as found:
        yield found


@pytest.fixture
def client(running):
    found = Client(running.address)
    yield found
    found.close()


def stranger(running):
    return Client(f"http://127.0.0.1:{running.port}")


def test_a_token_opens_the_page_once_and_becomes_a_cookie(store_path):
    told = []
    with serving(store_path, announce=told.append) as running:
        address = running.address
        visitor = stranger(running)
        status, headers, _ = visitor.ask("GET", "/?" + address.partition("?")[2])
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"].lower()
        assert cookie.startswith(f"nldd_review_{running.port}=")
        assert {"httponly", "path=/", "samesite=strict"} == set(cookie.split("; ")[1:])
        assert told == [running.address] != [address]
        status, _, body = visitor.ask("GET", "/?" + address.partition("?")[2])
        assert (status, b"address" in body) == (401, True)
        other = Client(told[0])
        assert other.get("/api/study")["coder"] == "Ann"
        visitor.close()
        other.close()


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "%00", "%ff%fe", "é", "a&token=b"])
def test_a_wrong_token_opens_nothing(running, token, monkeypatch):
    monkeypatch.setattr(guard, "WAIT_FOR_EACH", 0.0)
    visitor = stranger(running)
    status, headers, _ = visitor.ask("GET", f"/?token={quote(token, safe='%&=')}")
    assert (status, "set-cookie" in headers) == (401, False)
    visitor.close()


def test_who_guesses_tokens_waits_and_who_has_the_right_one_does_not(store_path):
    with serving(store_path, announce=lambda address: None) as running:
        running.door.n_wrong = 5
        visitor, begin = stranger(running), time.monotonic()
        assert visitor.ask("GET", "/?token=wrong")[0] == 401
        assert time.monotonic() - begin > 0.25
        Client(running.address).close()
        visitor.close()


def test_without_a_cookie_nothing_is_told_or_done(running):
    visitor = stranger(running)
    for headers in ({}, {"Cookie": f"nldd_review_{running.port}=x"}, {"Cookie": '"; ;=\x7f'}):
        for name in GETS:
            status, _, body = visitor.ask("GET", f"/api/{name}", headers=headers)
            assert (status, "error" in json.loads(body)) == (401, True)
        for name in POSTS:
            assert visitor.ask("POST", f"/api/{name}", "{}", headers | JSON)[0] == 401
        assert visitor.ask("PUT", "/api/settings", "{}", headers | JSON)[0] == 401
        assert visitor.ask("GET", "/", headers=headers)[0] == 401
    visitor.close()


OTHERS = ['prefs={"a":1,"b":2}', "name=Jörg", "k[0]=1", "x=a b", "flag", '"', "=", "a@b=1"]


def test_cookies_of_other_programs_on_this_machine_do_no_harm():
    door = guard.Door(8765, announce=lambda address: None)
    own = f"nldd_review_8765={door.enter(door.address.partition('=')[2])}"
    for other in OTHERS:
        assert door.knows([f"{other}; {own}"])
        assert door.knows([f"{own}; {other}"])
        assert door.knows([other, own])
        assert not door.knows([f"{other}; x{own}; {own[:-1]}; nldd_review_8765=; {own}x"])


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80", ""]
)
def test_a_foreign_host_is_refused(client, host):
    for path in ("/", "/api/study", "/static/app.js"):
        assert client.ask("GET", path, headers={"Host": host})[0] == 403
    assert client.ask("POST", "/api/decide", json.dumps(DECISION), JSON | {"Host": host})[0] == 403


def test_only_its_own_page_changes_anything(client, running, store_path):
    own = f"http://127.0.0.1:{running.port}"
    foreign = [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"{own}.evil.example"},
    ]
    for headers in foreign:
        for method, path in (("POST", "decide"), ("POST", "undo"), ("PUT", "settings")):
            status, _, _ = client.ask(method, f"/api/{path}", "{}", JSON | headers)
            assert status == 403, headers
    assert client.ask("GET", "/api/export", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
    forms = (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    )
    for kind in forms:
        body = json.dumps(DECISION)
        assert client.ask("POST", "/api/decide", body, {"Content-Type": kind})[0] == 415
    with Store.open(store_path) as store:
        assert store.entries() == []
    headers = JSON | {"Origin": own, "Sec-Fetch-Site": "same-origin"}
    assert client.ask("PUT", "/api/settings", "{}", headers)[0] == 200


def test_every_answer_has_the_headers_that_keep_others_out(client):
    for path in ("/", "/api/study", "/nothing", "/static/none.js"):
        _, headers, _ = client.ask("GET", path)
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
    assert client.ask("GET", "/api/study")[1]["cache-control"] == "no-store"


OUTSIDE = [
    "../_store.py",
    "..%2f_store.py",
    "%2e%2e/_store.py",
    "..%5c_store.py",
    "....//_store.py",
]
OUTSIDE += [
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "..%252f_store.py",
    "%c0%ae%c0%ae/_store.py",
    "a" * 5000,
]
OUTSIDE += [
    "app.js/../x",
    "app.js%00.png",
    "%",
    "",
    ".",
    "..",
    "index.html/",
    "C:%5cwindows%5cwin.ini",
]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:20])
def test_only_files_of_the_page_are_served(client, path):
    status, _, body = client.ask("GET", f"/static/{path}")
    assert status == 404
    assert set(json.loads(body)) == {"error", "hint"}


def test_a_body_that_is_too_long_is_refused_plain_or_in_chunks(client):
    body = b'{"uid": "' + b"x" * 2_000_000 + b'"}'
    assert client.ask("POST", "/api/decide", body, JSON)[0] == 413
    assert client.ask("POST", "/api/decide", iter([body[:9], body[9:]]), JSON)[0] == 413
    assert client.get("/api/status")["seq"] == 0


def test_a_body_that_does_not_come_keeps_nobody_waiting(client, running, monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.1)
    head = f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n"
    head += f"Cookie: {client.headers['Cookie']}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as slow:
        slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert b" 408 " in slow.recv(1000)


def test_a_connection_that_says_nothing_is_closed(store_path, monkeypatch):
    monkeypatch.setattr(running_module, "HEAD_SECONDS", 0.1)
    with serving(store_path, announce=lambda address: None) as running:
        for said in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: "):
            with socket.create_connection(("127.0.0.1", running.port), timeout=5) as slow:
                slow.sendall(said)
                with suppress(ConnectionResetError):
                    assert slow.recv(100) == b""
        with socket.create_connection(("127.0.0.1", running.port), timeout=5) as slow:
            slow.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
            assert slow.recv(100).startswith(b"HTTP/1.1 401")
            slow.sendall(b"GET / HTTP/1.1\r\nHost: ")  # and then a second one, in part
            with suppress(ConnectionResetError):
                while slow.recv(10_000):
                    pass


BROKEN = [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"{}{}", b"\x00", b"1" * 10_000]
BROKEN += [b'{"uid": NaN}', b'{"a": "\\ud800"}', b'{"uid": 1e999999}']
BROKEN += [b"[" * 100_000, b'{"a":' * 50_000]


@pytest.mark.parametrize("body", BROKEN, ids=lambda body: repr(body[:12]))
def test_bad_json_is_refused(client, body):
    for name in POSTS:
        status, _, answer = client.ask("POST", f"/api/{name}", body, JSON)
        assert status == 400
        assert set(json.loads(answer)) == {"error", "hint"}
    assert client.ask("PUT", "/api/settings", body, JSON)[0] == 400


def fuzz(client, n, seed=0):
    """Requests of random fields to all endpoints; each is answered, in JSON, and none by 5xx."""
    rng = random.Random(seed)
    names = ("uid", "item", "seen", "action", "codes", "note", "round", "seconds", "items", "sure")
    seen = set()
    for number in range(n):
        if rng.random() < 0.5:
            fields = DECISION | {"uid": f"f{number}", "code": "new", "items": []}
            for name in rng.sample((*names, "code"), rng.randrange(1, 4)):
                fields[name] = rng.choice(ODD)
            way, path = rng.choice([("PUT", "settings"), *(("POST", name) for name in POSTS)])
            status, answer = client.send(f"/api/{path}", fields, way)
        else:
            keys = ("order", "after", "n", "ids", "item", "state", "code", "search", "offset")
            chosen = rng.sample((*keys, "limit", "kind"), 3)
            query = "&".join(f"{key}={quote(str(rng.choice(ODD)))}" for key in chosen)
            path = rng.choice([name for name in GETS if name not in ("export", "disagreements")])
            status, _, body = client.ask("GET", f"/api/{path}?{query}")
            answer = json.loads(body)
        assert status < 500, (path, answer)
        assert status == 200 or answer["error"], (path, answer)
        seen.add(status)
    return seen


def test_no_field_of_any_request_is_a_mistake_of_the_server(tmp_path):
    make_review(tmp_path / "new.review.db", 40, n_drawn=5)
    with serving(tmp_path / "new.review.db", announce=lambda address: None) as running:
        client = Client(running.address)
        assert {200, 400, 404, 422} <= fuzz(client, 600)
        client.close()


@pytest.mark.slow
def test_no_field_of_many_requests_is_a_mistake_of_the_server(tmp_path):
    make_review(tmp_path / "new.review.db", 40, n_drawn=5)
    with serving(tmp_path / "new.review.db", announce=lambda address: None) as running:
        client = Client(running.address)
        for seed in range(20):
            fuzz(client, 1000, seed)
        client.close()


def test_what_is_not_there_is_told_in_json(client):
    for method, path, expected in (
        ("GET", "/api/nothing", 404),
        ("GET", "/api/decide", 405),
        ("DELETE", "/api/study", 405),
        ("GET", "/api/items?ids=999", 404),
        ("OPTIONS", "/api/decide", 405),
    ):
        status, _, body = client.ask(method, path, "{}", JSON)
        assert (status, set(json.loads(body))) == (expected, {"error", "hint"})


def test_the_loop_of_the_page(tmp_path):
    right = make_review(tmp_path / "new.review.db", 40, n_drawn=3)
    with serving(tmp_path / "new.review.db", show=["age"], announce=lambda a: None) as running:
        client = Client(running.address)
        status, _ = client.send("/api/settings", {"order": "alike"}, "PUT")
        assert (status, client.get("/api/study")["settings"]) == (200, {"order": "alike"})
        assert client.send("/api/settings", {"at": 3}, "PATCH") == (200, {})
        assert client.get("/api/study")["settings"] == {"order": "alike", "at": 3}
        status, answer = client.send("/api/codes", {"code": " long  lunch ", "sure": True})
        assert (status, answer["code"]) == (200, "long lunch")
        view = client.get("/api/next?order=alike&n=5")["items"][4]
        sent = DECISION | {"item": view["item"], "codes": sorted(right[view["item"]])}
        status, answer = client.send("/api/decide", sent)
        assert (status, answer["item"]["state"], answer["status"]["seq"]) == (200, "done", 1)
        assert client.send("/api/decide", sent) == (status, answer)
        status, answer = client.send("/api/decide", sent | {"uid": "u2"})
        assert (status, answer["item"]["seen"]) == (409, 1)
        status, answer = client.send("/api/codes", {"code": "manegers"})
        assert (status, answer["like"]) == (409, ["managers"])
        alike = client.get(f"/api/alike?item={client.get('/api/next?n=9')['items'][8]['item']}")
        many = {"uid": "m", "items": alike["items"], "codes": alike["codes"], "round": 0}
        status, answer = client.send("/api/decide_many", many)
        assert (status, answer["n"], answer["conflicts"]) == (200, alike["n"], [])
        assert {i["state"] for i in answer["items"]} == {"done"}
        status, answer = client.send("/api/undo", {"uid": "u3", "undoes": sent["uid"]})
        assert (status, answer["item"]["item"], answer["item"]["seen"]) == (409, view["item"], 1)
        status, answer = client.send("/api/undo", {"uid": "u3", "undoes": "m"})
        assert sorted(i["item"] for i in answer["items"]) == [i["item"] for i in alike["items"]]
        assert client.send("/api/undo", {"uid": "u4"})[1]["items"][0]["item"] == view["item"]
        assert client.send("/api/undo", {"uid": "u5"})[1]["items"] == []
        client.close()


@pytest.mark.parametrize("uid", ["m:5", "m 5", "é", ""])
def test_the_name_of_an_act_is_none_that_the_log_makes_of_others(client, uid):
    for way, more in (
        ("decide", DECISION),
        ("decide_many", DECISION | {"items": []}),
        ("undo", {}),
    ):
        status, answer = client.send(f"/api/{way}", more | {"uid": uid})
        assert (status, answer["error"].startswith("uid must be")) == (400, True)


def test_the_coded_table_is_handed_out(client):
    for kind, begin in (
        ("csv", b"id,answer"),
        ("xlsx", b"PK"),
        ("jsonl", b"{"),
        ("label-studio", b"["),
    ):
        status, headers, body = client.ask("GET", f"/api/export?kind={kind}")
        assert (status, body.lstrip(b"\xef\xbb\xbf")[: len(begin)]) == (200, begin)
        assert headers["content-disposition"].startswith("attachment; filename*=UTF-8''new.coded.")
    status, _, body = client.ask("GET", "/api/export?kind=exe")
    assert (status, json.loads(body)["error"]) == (422, "There is no export 'exe'.")


def test_coders_that_disagree_are_shown_to_each_other(tmp_path):
    make_review(tmp_path / "new.review.db", 12, share=0)
    for coder in ("Ann", "Bob"):
        with serving(tmp_path / "new.review.db", coder, announce=lambda a: None) as running:
            client = Client(running.address)
            assert client.get("/api/disagreements") == {"agreement": None, "rows": []}
            for item in range(1, 11):
                codes = (
                    ["food"] if coder == "Bob" and item == 3 else ["pay"] if item < 6 else ["rooms"]
                )
                sent = DECISION | {"uid": f"{coder}{item}", "item": item, "codes": codes}
                assert client.send("/api/decide", sent)[0] == 200
            found = client.get("/api/disagreements")
            client.close()
    agreement, (row,) = found["agreement"], found["rows"]
    assert (agreement["coders"], agreement["n_answers"], agreement["n_same"]) == (
        ["Ann", "Bob"],
        10,
        9,
    )
    assert 0.5 < agreement["masi"]["value"] < 1
    assert {"code", "counts", "agreement", "kappa"} <= set(agreement["codes"][0])
    assert (row["item"], [by["codes"] for by in row["by"]]) == (3, [["pay"], ["food"]])


def test_an_error_of_the_disk_is_told_and_the_decision_can_be_sent_again(tmp_path, monkeypatch):
    make_review(tmp_path / "new.review.db", 40)
    with serving(tmp_path / "new.review.db", announce=lambda a: None) as running:
        client, store = Client(running.address), running.review.desk.store

        def full(entries, behind=None):
            raise NLDDError("new.review.db: the disk is full.", hint="make room")

        with monkeypatch.context() as patched:
            patched.setattr(store, "add", full)
            status, answer = client.send("/api/decide", DECISION)
            expected = {"error": "new.review.db: the disk is full.", "hint": "make room"}
            assert (status, answer) == (503, expected)
        status, answer = client.send("/api/decide", DECISION)
        assert (status, answer["status"]["seq"]) == (200, 1)
        client.close()


def test_a_port_that_is_taken_is_told_of(store_path):
    with listen() as taken, pytest.raises(InputError, match="cannot be used") as error:
        listen(taken.getsockname()[1])
    assert "--port" in error.value.hint


def test_a_server_starts_again_at_its_port(tmp_path):
    make_review(tmp_path / "new.review.db", 10)
    ports = []
    for _ in range(2):
        with serving(tmp_path / "new.review.db", announce=lambda a: None) as running:
            ports.append(running.port)
            Client(running.address).close()
    assert ports[0] == ports[1]


START = """
import sys
from pathlib import Path
from nldd.review import Desk, Learner, Review, Running, Store
path = Path(sys.argv[1])
running = Running(Review(Desk(Store.open(path), "Ann"), Learner(path, path)))
running.review.desk.next_items("alike", 0, 10)
print([name for name in ("sklearn", "scipy.stats", "numba", "pandas") if name in sys.modules])
"""


def test_the_server_starts_without_what_only_learning_needs(store_path):
    words = [sys.executable, "-W", "ignore", "-c", START, str(store_path)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_a_thousand_slow_connections_starve_nobody(store_path):
    with serving(store_path, announce=lambda address: None) as running:
        slow, stop = [], threading.Event()

        def drip():
            while not stop.is_set():
                for one in list(slow):
                    try:
                        one.send(b"x")
                    except OSError:
                        slow.remove(one)
                        one.close()
                stop.wait(0.5)

        dripping = threading.Thread(target=drip)
        dripping.start()
        client, times = Client(running.address), []
        try:
            for number in range(1000):
                one = socket.create_connection(("127.0.0.1", running.port), timeout=5)
                one.sendall(b"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
                slow.append(one)
                if number % 4 == 0:
                    times.append(seconds_of(lambda: client.get("/api/next?order=alike&n=10")))
            fresh = HTTPConnection("127.0.0.1", running.port, timeout=5)
            times += [
                seconds_of(lambda: client.get("/api/next?order=alike&n=10")) for _ in range(200)
            ]
            fresh.request("GET", "/", headers=client.headers)
            assert fresh.getresponse().status in (200, 404)
            fresh.close()
        finally:
            stop.set()
            dripping.join()
            for one in slow:
                one.close()
        client.close()
    times.sort()
    print(f"p95 {1000 * times[int(0.95 * len(times))]:.1f} ms of {len(times)}")
    assert times[int(0.95 * len(times))] < 0.1


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
