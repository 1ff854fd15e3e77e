"""What a server sends that is not the file, and addresses that are not asked at all."""

import random
import threading
from urllib.request import Request

import pytest
from nldd.datasets._http import HttpsRedirectHandler, check_address

from file_server import (
    CONTENTS,
    ONE,
    ROWS,
    cut,
    entry_of,
    found,
    honest,
    reset,
    serve,
    status,
    whole,
)
from nldd.datasets import _fetch as fetch_module, _http as http_module, fetch
from nldd.exceptions import InputError, NLDDError

pytestmark = pytest.mark.usefixtures("quick_fetch")


@pytest.mark.parametrize("announced", [len(ROWS) - 1, len(ROWS) + 1, 10**15])
def test_fetch_refuses_another_length_before_reading(announced, tmp_path):
    def lie(handler, body):
        handler.head(200, Content_Length=announced)
        handler.wfile.write(body)

    with (
        serve(CONTENTS, [lie]) as server,
        pytest.raises(NLDDError, match=f"offers {announced} bytes where the catalogue has 200003"),
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path) == {}
    assert len(server.requests) == 1


def endless(handler, body):
    handler.head(200)
    while True:
        handler.wfile.write(b"0" * 4096)


def endless_chunks(handler, body):
    handler.protocol_version = "HTTP/1.1"
    handler.head(200, Transfer_Encoding="chunked")
    while True:
        handler.wfile.write(b"1000\r\n" + b"0" * 4096 + b"\r\n")


@pytest.mark.parametrize("stream", [endless, endless_chunks], ids=["plain", "chunked"])
def test_fetch_refuses_the_first_byte_too_many(stream, tmp_path, monkeypatch):
    written = []
    keep = fetch_module._append

    def watched(part, start, blocks):
        for position in keep(part, start, blocks):
            written.append(position)
            yield position

    monkeypatch.setattr(fetch_module, "_append", watched)
    with (
        serve(CONTENTS, [stream]) as server,
        pytest.raises(NLDDError, match="sends more bytes than the catalogue has"),
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    assert max(written) <= len(ROWS)
    assert found(tmp_path) == {}
    assert len(server.requests) == 1


def test_fetch_refuses_other_content_and_says_both_checksums(tmp_path):
    wrong = bytes([ROWS[0] ^ 1]) + ROWS[1:]
    with (
        serve({"toy.arff": wrong}) as server,
        pytest.raises(NLDDError, match="its sha256 is") as error,
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    expected = ONE.files[0].sha256
    other = entry_of({"toy.arff": wrong}).files[0].sha256
    assert f"its sha256 is {other} instead of {expected}; it was deleted" in str(error.value)
    assert found(tmp_path) == {}
    assert len(server.requests) == 1  # the same server would send the same again


def test_fetch_replaces_a_damaged_file_only_by_a_right_one(tmp_path):
    (tmp_path / "toy.arff").write_bytes(b"old")
    with serve({"toy.arff": b"x" * len(ROWS)}) as server, pytest.raises(NLDDError, match="sha256"):
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path) == {"toy.arff": b"old"}


@pytest.mark.parametrize(("code", "words"), [(404, "404 Not Found"), (403, "403"), (204, "204")])
def test_fetch_takes_a_refusal_at_its_word(code, words, tmp_path):
    with (
        serve(CONTENTS, [status(code)]) as server,
        pytest.raises(NLDDError, match=f"the server answers {words}") as error,
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    assert f"toy.arff was not fetched from {server.url}/toy.arff" in str(error.value)
    assert f"put the file into {tmp_path} yourself." in str(error.value)
    assert len(server.requests) == 1


def test_fetch_keeps_what_it_has_of_a_file_that_a_mirror_lacks(tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(ROWS[:5000])
    with serve({}) as server, pytest.raises(NLDDError, match="404"):
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path) == {"toy.arff.part": ROWS[:5000]}


def test_fetch_goes_on_with_other_data_sets_after_a_refusal(tmp_path):
    lost = [entry_of({f"{name}.arff": b"?"}, name) for name in ("lost", "gone")]
    with (
        serve(CONTENTS) as server,
        pytest.raises(NLDDError, match=r"(?s)lost\.arff was not .*\ngone\.arff was not"),
    ):
        fetch([lost[0], ONE, lost[1]], tmp_path, mirror=server.url)
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_stops_at_a_server_that_is_not_there(tmp_path):
    with serve({}) as server:
        url = server.url
    with pytest.raises(NLDDError, match=r"toy\.arff could not be fetched from .* refused"):
        fetch([ONE, entry_of({"other.arff": b"?"}, "other")], tmp_path, mirror=url)
    assert found(tmp_path) == {}


def test_fetch_does_not_wait_for_a_silent_server_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(http_module, "TIMEOUT_SECONDS", 0.05)
    done = threading.Event()
    with serve(CONTENTS, [lambda *_: done.wait(60)] * 3) as server:
        with pytest.raises(NLDDError, match="timed out"):
            fetch(ONE, tmp_path, mirror=server.url)
        done.set()
    assert len(server.requests) == 3


def test_fetch_does_not_pass_on_what_a_server_writes_to_the_terminal(tmp_path):
    def escape(handler, body):
        handler.wfile.write(b"\x1b[2J not http\r\n\r\n")

    with serve(CONTENTS, [escape] * 3) as server, pytest.raises(NLDDError) as error:
        fetch(ONE, tmp_path, mirror=server.url)
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize(
    "target", ["http://example.org/x", "file:///etc/passwd", "ftp://example.org/x", "/toy.xml"]
)
def test_fetch_does_not_follow_to_another_scheme(target, tmp_path):
    with (
        serve(CONTENTS, [status(302, Location=target)]) as server,
        pytest.raises(NLDDError, match="the server redirects to"),
    ):
        fetch(ONE, tmp_path, mirror=server.url)
    assert len(server.requests) == 1
    assert found(tmp_path) == {}


def test_redirections_to_https_keep_the_range():
    request = Request("https://example.org/x", headers={"Range": "bytes=5-"})
    moved = HttpsRedirectHandler().redirect_request(
        request, None, 302, "Found", {}, "https://elsewhere.example.org/x"
    )
    assert moved.full_url == "https://elsewhere.example.org/x"
    assert moved.get_header("Range") == "bytes=5-"


@pytest.mark.parametrize("encoding", ["gzip", "br", "GZIP, identity"])
def test_fetch_refuses_packed_answers(encoding, tmp_path):
    def packed(handler, body):
        handler.head(200, Content_Encoding=encoding, Content_Length=len(body))
        handler.wfile.write(body)

    with serve(CONTENTS, [packed]) as server, pytest.raises(NLDDError, match="packed by"):
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path) == {}


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ("http://example.org/data", "over https only"),
        ("http://127.0.0.1.example.org/data", "over https only"),
        ("ftp://example.org", "over https only"),
        ("file:///data", "over https only"),
        ("data", "is no web address"),
        ("//example.org/data", "is no web address"),
        ("https://example.org:0", "is no web address"),
        ("https://", "is no web address"),
        ("https://exa mple.org", "is no web address"),
        ("https://example.org/\n", "is no web address"),
        ("https://[::1", "is no web address"),
        ("https://example.org:port", "is no web address"),
        ("https://example.org/?file=", "without '\\?' and '#'"),
    ],
)
def test_fetch_refuses_addresses_that_are_not_https(mirror, message, tmp_path):
    with pytest.raises(InputError, match=message):
        fetch(ONE, tmp_path / "data", mirror=mirror)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["example.org", "example.org:port"])
def test_passwords_in_addresses_are_refused_and_not_repeated(host):
    with pytest.raises(InputError, match="user name or password") as error:
        check_address(f"https://me:secret@{host}/data")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "[::1]", "localhost"])
def test_plain_http_is_for_this_machine(host):
    check_address(f"http://{host}:8000/data")


@pytest.mark.parametrize("seed", range(40))
def test_fetch_never_shows_a_wrong_file_whatever_the_server_does(seed, tmp_path):
    chance = random.Random(seed)
    body = bytearray(ROWS)
    body[chance.randrange(len(ROWS))] ^= 1

    def swap(handler, _):
        honest(handler, bytes(body))

    def swap_and_cut(handler, _):
        cut(chance.randrange(len(ROWS)))(handler, bytes(body))

    tricks = [
        swap,
        swap_and_cut,
        whole,
        cut(chance.randrange(len(ROWS))),
        reset(chance.randrange(len(ROWS))),
        status(503),
        status(416),
        status(206, Content_Range="bytes 0-0/1"),
        endless,
    ]
    (tmp_path / "toy.arff.part").write_bytes(ROWS[: chance.randrange(len(ROWS))])
    with serve(CONTENTS, chance.choices(tricks, k=6)) as server:
        for _ in range(8):
            try:
                fetch(ONE, tmp_path, mirror=server.url)
            except NLDDError:
                assert set(found(tmp_path)) <= {"toy.arff.part"}
    assert found(tmp_path) == {"toy.arff": ROWS}
