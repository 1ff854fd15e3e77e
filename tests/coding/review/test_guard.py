"""The server lets in its own page and nobody else."""

import json
import socket
import time
from urllib.parse import quote

import pytest

from coding.review.made_review import log_of
from coding.review.serve_made import DECISION, GETS, JSON, POSTS, Client, serving
from nldd.coding.review import server as guard


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
    monkeypatch.setattr(guard, "WAIT_FOR_EACH", 0.0)
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
    door = guard.Door(8765, announce=lambda address: None)
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
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers


OUTSIDE = ["../_store.py", "..%2f_store.py", "%2e%2e/_store.py", "..%5c_store.py", "%", ".", ".."]
OUTSIDE += ["....//_store.py", "%2fetc%2fpasswd", "/etc/passwd", "..%252f_store.py", "a" * 5000]
OUTSIDE += ["%c0%ae%c0%ae/_store.py", "app.js/../x", "app.js%00.png", "index.html/", ""]
OUTSIDE += ["C:%5cwindows%5cwin.ini"]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:20])
def test_only_files_of_the_page_are_served(client, path):
    status, _, body = client.ask("GET", f"/static/{path}")
    assert (status, body) == (404, b"Not Found")
