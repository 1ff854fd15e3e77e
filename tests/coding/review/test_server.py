"""The server lets in its own page and nobody else; no request makes it fail; its page works."""

import json
import random
import socket
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from urllib.parse import quote

import pytest

from coding.review.browsing import on, play
from coding.review.made_review import CODES, decide, log_of
from coding.review.serve_made import DECISION, GETS, JSON, POSTS, Client, serving
from nldd.coding.review import server
from nldd.exceptions import InputError


@pytest.fixture
def stranger(running):
    """Who knows the port, but no token."""
    found = Client(f"http://127.0.0.1:{running.port}")
    yield found
    found.close()


def test_a_token_opens_the_page_once_and_becomes_a_cookie(make):
    told = []
    with serving(make(), announce=told.append) as running:
        address = running.address
        visitor = Client(f"http://127.0.0.1:{running.port}")
        status, headers, _ = visitor.ask("GET", "/?" + address.partition("?")[2])
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"].lower()
        assert cookie.startswith(f"nldd_review_{running.port}=")
        assert {"httponly", "path=/", "samesite=strict"} == set(cookie.split("; ")[1:])
        assert told == [running.address] != [address]
        status, _, body = visitor.ask("GET", "/?" + address.partition("?")[2])
        assert (status, b"address" in body) == (401, True)
        visitor.close()
        other = Client(told[0])
        assert other.get("/api/study")["coder"] == "Ann"
        other.close()


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "%00", "%ff%fe", "é", "a&token=b"])
def test_a_wrong_token_opens_nothing(stranger, token, monkeypatch):
    monkeypatch.setattr(server, "WAIT_FOR_EACH", 0.0)
    status, headers, _ = stranger.ask("GET", f"/?token={quote(token, safe='%&=')}")
    assert (status, "set-cookie" in headers) == (401, False)


def test_who_guesses_tokens_waits_and_who_has_the_right_one_does_not(running, stranger):
    running.door.n_wrong, begin = 5, time.monotonic()
    assert stranger.ask("GET", "/?token=wrong")[0] == 401
    assert time.monotonic() - begin > 0.25
    Client(running.address).close()


def test_without_a_cookie_nothing_is_told_or_done(running, stranger):
    ways = [("GET", f"/api/{name}", {}) for name in GETS] + [("GET", "/", {})]
    ways += [("POST", f"/api/{name}", JSON) for name in POSTS] + [("PATCH", "/api/settings", JSON)]
    for cookies in ({}, {"Cookie": f"nldd_review_{running.port}=x"}, {"Cookie": '"; ;=\x7f'}):
        for way, path, headers in ways:
            status, _, body = stranger.ask(way, path, "{}", cookies | headers)
            assert (status, path == "/" or "error" in json.loads(body)) == (401, True)


OTHERS = ['prefs={"a":1,"b":2}', "name=Jörg", "k[0]=1", "x=a b", "flag", '"', "=", "a@b=1"]


@pytest.mark.parametrize("other", OTHERS)
def test_cookies_of_other_programs_on_this_machine_do_no_harm(other):
    door = server.Door(8765, announce=[].append)
    own = f"nldd_review_8765={door.enter(door.address.partition('=')[2])}"
    assert all(door.knows(c) for c in ([f"{other}; {own}"], [f"{own}; {other}"], [other, own]))
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
    foreign = [{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "none")]
    origins = ("null", "http://127.0.0.1:1", f"{own}.evil.example", "https://evil.example")
    foreign += [{"Sec-Fetch-Site": "same-origin", "Origin": origin} for origin in origins]
    foreign += [{"Origin": origin} for origin in origins]
    for headers in foreign:
        for method, path in (("POST", "decide"), ("POST", "undo"), ("PATCH", "settings")):
            status, _, _ = client.ask(method, f"/api/{path}", "{}", JSON | headers)
            assert status == 403, headers
    head = f"POST /api/undo HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nContent-Length: 2\r\n"
    head += f"Cookie: {client.headers['Cookie']}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as twice:
        twice.sendall(f"{head}Origin: https://evil.example\r\nOrigin: {own}\r\n\r\n{{}}".encode())
        assert b" 403 " in twice.recv(1000)
    assert client.ask("GET", "/api/export", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
    forms = ("x-www-form-urlencoded", "", "json-patch+json")
    for kind in ("text/plain", "", *(f"application/{form}" for form in forms)):
        body = json.dumps(DECISION)
        assert client.ask("POST", "/api/decide", body, {"Content-Type": kind})[0] == 415
    assert log_of(store_path) == []
    headers = JSON | {"Origin": own, "Sec-Fetch-Site": "same-origin"}
    assert client.ask("PATCH", "/api/settings", "{}", headers)[0] == 200


@pytest.mark.parametrize("path", ["/", "/api/study", "/nothing", "/static/none.js"])
def test_every_answer_has_the_headers_that_keep_others_out(client, path):
    _, headers, _ = client.ask("GET", path)
    assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    expected = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
    expected |= {"referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin"}
    expected |= {"cross-origin-resource-policy": "same-origin"}
    assert expected.items() <= headers.items()
    assert "server" not in headers


OUTSIDE = ["../_store.py", "..%2f_store.py", "%2e%2e/_store.py", "..%5c_store.py", "%", ".", ".."]
OUTSIDE += ["....//_store.py", "%2fetc%2fpasswd", "/etc/passwd", "..%252f_store.py", "a" * 5000]
OUTSIDE += ["%c0%ae%c0%ae/_store.py", "app.js/../x", "app.js%00.png", "index.html/", ""]
OUTSIDE += ["C:%5cwindows%5cwin.ini"]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:20])
def test_only_files_of_the_page_are_served(client, path):
    status, _, body = client.ask("GET", f"/static/{path}")
    assert (status, body) == (404, b"Not Found")


ODD = [None, True, 0, -1, 2**70, 1.5, 1e300, "", "x", "\x00", "é" * 300, [], [1], {}, {"item": 1}]
ODD += [[[]], ["pay"], ["pay", 3], [{"item": 1, "seen": 0}], [{"item": "1"}], "code", "settle"]


def test_a_body_that_is_too_long_is_refused_plain_or_in_chunks(client):
    body = b'{"uid": "' + b"x" * 2_000_000 + b'"}'
    assert client.ask("POST", "/api/decide", body, JSON)[0] == 413
    assert client.ask("POST", "/api/decide", iter([body[:9], body[9:]]), JSON)[0] == 413
    assert client.get("/api/status")["seq"] == 0


def test_a_body_that_does_not_come_keeps_nobody_waiting(client, running, monkeypatch):
    monkeypatch.setattr(server, "BODY_SECONDS", 0.1)
    head = f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n"
    head += f"Cookie: {client.headers['Cookie']}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=5) as slow:
        slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        answer = b""
        while more := slow.recv(1000):  # until it is closed
            answer += more
    assert b" 408 " in answer


BROKEN = [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"{}{}", b"\x00", b"1" * 10_000]
BROKEN += [b'{"uid": NaN}', b'{"a": "\\ud800"}', b'{"uid": 1e999999}']
BROKEN += [b"[" * 100_000, b'{"a":' * 50_000]


@pytest.mark.parametrize("body", BROKEN, ids=lambda body: repr(body[:12]))
def test_bad_json_is_refused(client, body):
    for way, name in (*(("POST", name) for name in POSTS), ("PATCH", "settings")):
        status, _, answer = client.ask(way, f"/api/{name}", body, JSON)
        assert status == 400
        assert set(json.loads(answer)) == {"error", "hint"}


KEYS = ("order", "after", "n", "ids", "item", "state", "code", "search", "offset", "limit", "kind")
NAMES = ("uid", "item", "seen", "action", "codes", "note", "round", "seconds", "items", "sure")


@pytest.mark.parametrize("n", [600, pytest.param(20_000, marks=pytest.mark.slow)])
def test_no_field_of_any_request_is_a_mistake_of_the_server(serve, n):
    """Requests of random fields to all endpoints are answered in JSON, and none by 5xx."""
    client, rng, seen = serve(n_drawn=5), random.Random(n), set()
    ways = [("PATCH", "settings"), *(("POST", name) for name in POSTS)]
    for number in range(n):
        if rng.random() < 0.5:
            fields = DECISION | {"uid": f"f{number}", "code": "new", "items": []}
            for name in rng.sample((*NAMES, "code"), rng.randrange(1, 4)):
                fields[name] = rng.choice(ODD)
            way, path = rng.choice(ways)
            status, answer = client.send(f"/api/{path}", fields, way)
        else:
            query = (f"{key}={quote(str(rng.choice(ODD)))}" for key in rng.sample(KEYS, 3))
            path = rng.choice([name for name in GETS if name not in ("export", "agreement")])
            status, _, body = client.ask("GET", f"/api/{path}?{'&'.join(query)}")
            answer = json.loads(body)
        assert status < 500, (path, answer)
        assert status == 200 or answer["error"], (path, answer)
        seen.add(status)
    assert {200, 400, 404, 422} <= seen


@pytest.mark.parametrize("uid", ["m:5", "m 5", "é", ""])
def test_the_name_of_an_act_is_none_that_the_log_makes_of_others(client, uid):
    for way in ("decide", "decide_many", "undo"):
        status, answer = client.send(f"/api/{way}", DECISION | {"items": [], "uid": uid})
        assert (status, "uid" in answer["error"]) == (400, True)


def test_a_conflict_comes_with_what_is_there_now(serve):
    client = serve(share=0)
    status, answer = client.send("/api/decide", DECISION)
    assert (status, answer["item"]["codes"]) == (200, ["pay"])
    status, answer = client.send("/api/decide", DECISION | {"uid": "u2"})
    assert (status, answer["item"]["codes"], answer["row"]) == (409, ["pay"], None)
    decide(client.running.review.desk.store.path, {1: {"food"}}, "Bob")
    settling = {"uid": "u3", "action": "settle", "seen": 1}
    status, answer = client.send("/api/decide", DECISION | settling)
    assert (status, answer["row"]["item"], len(answer["row"]["by"])) == (409, 1, 2)
    status, answer = client.send("/api/codes", {"code": "manegers"})
    assert (status, answer["like"]) == (409, ["managers"])


@pytest.mark.parametrize(
    ("kind", "begin"), [("csv", b"id,answer"), ("xlsx", b"PK"), ("jsonl", b"{"), ("exe", None)]
)
def test_the_coded_table_is_handed_out(client, kind, begin):
    status, headers, body = client.ask("GET", f"/api/export?kind={kind}")
    assert status == (400 if begin is None else 200)
    if begin is not None:
        assert body.lstrip(b"\xef\xbb\xbf").startswith(begin)
        disposition = headers["content-disposition"]
        assert disposition == f"attachment; filename*=UTF-8''new.coded.{kind}"


def test_coders_who_decided_nothing_have_no_agreement(client):
    assert client.get("/api/agreement") is None


def test_a_mistake_of_ours_is_told_and_printed(serve, monkeypatch, capsys):
    client = serve()
    monkeypatch.setattr(client.running.review.desk, "add_code", None)
    status, answer = client.send("/api/codes", {"code": "noise"})
    assert (status, "mistake in nldd: TypeError" in answer["error"]) == (500, True)
    assert "TypeError" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_of(store_path):
    with server.listen() as taken, pytest.raises(InputError, match="cannot be used") as error:
        server.listen(taken.getsockname()[1])
    assert "--port" in error.value.hint


def test_one_program_at_a_time_opens_a_review_and_the_next_has_its_port(make):
    """Decisions that a browser could not send are kept for one address: for no other port."""
    path = make()
    with serving(path) as first:
        said = f"^new.review.db is open at http://127.0.0.1:{first.port}/ already.$"
        with pytest.raises(InputError, match=said), serving(path, "Ben"):
            raise AssertionError("two servers on one file")
    with serving(path) as again:
        assert again.port == first.port


@pytest.mark.slow
def test_slow_connections_below_the_limit_starve_nobody(serve):
    client, times = serve(), []
    place = ("127.0.0.1", client.running.port)
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(place, timeout=5)) for _ in range(400)]
        for one in slow:
            one.sendall(b"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        for number in range(300):
            for one in slow[number % 8 :: 8]:
                one.send(b"x")
            begin = time.perf_counter()
            client.get("/api/next?order=alike&n=10")
            times.append(time.perf_counter() - begin)
        fresh = stack.enter_context(closing(HTTPConnection(*place, timeout=5)))
        fresh.request("GET", "/", headers=client.headers)
        assert fresh.getresponse().status == 200
    p95 = sorted(times)[int(0.95 * len(times))]
    print(f"p95 {1000 * p95:.1f} ms of {len(times)}")
    assert p95 < 0.1


def test_the_whole_loop_by_keyboard_alone(coding):
    tab, page = coding()
    said = tab.suggested
    others = sorted(set(CODES) - set(said[2]))
    play(page, "@1")
    assert on(page) == said[1]
    play(page, "Enter @2 1 2 3 4 5")
    assert on(page) == others
    play(page, "Enter @3 s @4 f", ">ask Ben / 2nd", "Enter")
    page.wait_for_selector(".tag-flag:text-is('⚑ flagged: ask Ben / 2nd')")
    play(page, "n")
    (runner_up,) = on(page)
    assert [runner_up] != said[4]
    play(page, "Enter @5 u @4 ArrowLeft ArrowLeft @2")
    assert on(page) == others
    play(page, "1 Enter @4 saved")
    assert tab.entries[3].after.note == "ask Ben / 2nd"
    assert tab.decisions == [
        (1, "code", "done", said[1]),
        (2, "code", "done", others),
        (3, "skip", "skipped", []),
        (4, "flag", "open", []),
        (4, "code", "done", [runner_up]),
        (4, "undo", "open", []),
        (2, "code", "done", sorted({*others} ^ {CODES[0]})),
    ]
    assert tab.complaints == []
