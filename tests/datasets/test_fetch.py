"""Fetching from a server on this machine, in one go and in several."""

import random
import threading

import pytest

from file_server import CONTENTS, ONE, ROWS, TOY, cut, found, honest, reset, serve, status, whole
from nldd.datasets import CATALOGUE, fetch, verify
from nldd.exceptions import InputError, NLDDError
from paper_data import FOLDER

pytestmark = pytest.mark.usefixtures("quick_fetch")


def test_fetch_puts_whole_files_into_a_new_folder(tmp_path):
    folder = tmp_path / "new" / "data"
    with serve(CONTENTS) as server:
        states = fetch(TOY, folder, mirror=server.url)
    assert [(state.path.name, state.state) for state in states] == [
        ("toy.arff", "fetched"),
        ("toy.xml", "fetched"),
    ]
    assert found(folder) == CONTENTS
    assert [state.state for state in verify(TOY, folder)] == ["ok", "ok"]


def test_fetch_asks_for_the_file_as_it_is(tmp_path):
    with serve(CONTENTS) as server:
        fetch(ONE, tmp_path, mirror=f"{server.url}/")
        (name, headers), *others = server.requests
    assert (name, others) == ("toy.arff", [])
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"].startswith("nldd/")
    assert headers["Range"] is None


def test_fetch_leaves_right_files_alone_and_replaces_damaged_ones(tmp_path):
    (tmp_path / "toy.xml").write_bytes(CONTENTS["toy.xml"])
    (tmp_path / "toy.arff").write_bytes(b"x" * len(ROWS))  # right size, wrong bytes
    with serve(CONTENTS) as server:
        states = fetch(TOY, tmp_path, mirror=server.url)
        assert [state.state for state in states] == ["fetched", "ok"]
        assert found(tmp_path) == CONTENTS
        assert [state.state for state in fetch(TOY, tmp_path, mirror=server.url)] == ["ok", "ok"]
        assert [name for name, _ in server.requests] == ["toy.arff"]


def test_fetch_uses_the_mirror_of_the_environment(tmp_path, monkeypatch):
    with serve(CONTENTS) as server:
        monkeypatch.setenv("NLDD_MIRROR", server.url)
        monkeypatch.setenv("NLDD_DATA", str(tmp_path))
        fetch([TOY])
    assert found(tmp_path) == CONTENTS


def test_fetch_takes_names_of_the_catalogue():
    with pytest.raises(InputError, match="Did you mean 'emotions'"):
        fetch(["yeast", "emotoins"])


@pytest.mark.parametrize("seed", range(5))
def test_fetch_resumes_where_the_connection_was_cut(seed, tmp_path):
    first, second = sorted(random.Random(seed).sample(range(1, len(ROWS)), 2))
    with serve(CONTENTS, [cut(first), cut(second - first)]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == [None, f"bytes={first}-", f"bytes={second}-"]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_resumes_after_a_reset(tmp_path):
    with serve(CONTENTS, [reset(50_000), reset(50_000)]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 3
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_gives_up_after_three_attempts_and_resumes_at_the_next_command(tmp_path):
    with serve(CONTENTS, [cut(1000), cut(1000), cut(1000)]) as server:
        with pytest.raises(NLDDError, match=r"early\. Check the connection and run the same again"):
            fetch(ONE, tmp_path, mirror=server.url)
        assert found(tmp_path) == {"toy.arff.part": ROWS[:3000]}
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges()[-1] == "bytes=3000-"
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_starts_over_when_the_server_ignores_the_range(tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(ROWS[:5000])
    with serve(CONTENTS, [whole]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == ["bytes=5000-"]
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.parametrize(
    "left", [b"x" * 5000, ROWS[:-1] + b"?", b"x" * len(ROWS)], ids=["begun", "last byte", "full"]
)
def test_fetch_starts_over_when_what_was_left_is_wrong(left, tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(left)
    with serve(CONTENTS) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges()[-1] is None
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_starts_over_when_more_was_left_than_the_file_has(tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(ROWS + b"more")
    with serve(CONTENTS) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == [None]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_needs_no_server_for_a_part_that_is_complete(tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(ROWS)
    fetch(ONE, tmp_path, mirror="http://127.0.0.1:9")
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.parametrize(
    "where",
    ["bytes 0-4/5", "bytes 4999-200002/200003", "bytes 5000-200002/200004", "lines 5000-", ""],
)
def test_fetch_starts_over_when_the_range_is_not_the_one_asked_for(where, tmp_path):
    def wrong_range(handler, body):
        handler.head(206, Content_Range=where, Content_Length=len(body) - 5000)
        handler.wfile.write(body[5000:])

    (tmp_path / "toy.arff.part").write_bytes(ROWS[:5000])
    with serve(CONTENTS, [wrong_range]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == ["bytes=5000-", None]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_starts_over_when_the_server_has_fewer_bytes_than_were_left(tmp_path):
    (tmp_path / "toy.arff.part").write_bytes(ROWS[:5000])
    with serve(CONTENTS, [status(416)]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert server.ranges() == ["bytes=5000-", None]
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_does_not_need_an_announced_length(tmp_path):
    def unannounced(handler, body):
        handler.head(200)
        handler.wfile.write(body)

    with serve(CONTENTS, [unannounced]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_does_not_wait_for_bytes_beyond_the_announced_length(tmp_path):
    def hold_the_line(handler, body):
        honest(handler, body)
        handler.wfile.flush()
        done.wait(60)

    done = threading.Event()
    with serve(CONTENTS, [hold_the_line]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        done.set()
    assert found(tmp_path) == {"toy.arff": ROWS}


@pytest.mark.parametrize("code", [500, 503, 429])
def test_fetch_tries_a_busy_server_again(code, tmp_path):
    with serve(CONTENTS, [status(code), status(code)]) as server:
        fetch(ONE, tmp_path, mirror=server.url)
        assert len(server.requests) == 3
    assert found(tmp_path) == {"toy.arff": ROWS}


def test_fetch_shows_how_far_it_is(tmp_path, capsys):
    with serve(CONTENTS) as server:
        fetch(TOY, tmp_path, mirror=server.url, verbose=True)
        # 200003 bytes are 196 KiB, the second file is one more.
        assert capsys.readouterr().err.startswith("toy (KiB): 197 of 197 in 0:0")
        fetch(TOY, tmp_path, mirror=server.url, verbose=True)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(
    not (FOLDER / "emotions.arff").exists(), reason="needs the paper's files: set NLDD_DATA"
)
def test_fetch_gets_the_nine_data_sets_of_the_paper(tmp_path):
    names = [file.file for entry in CATALOGUE.values() for file in entry.files]
    with serve({name: (FOLDER / name).read_bytes() for name in names}) as server:
        states = fetch("all", tmp_path, mirror=server.url)
    assert [state.path.name for state in states] == names
    assert {state.state for state in states} == {"fetched"}
    assert {state.state for state in verify(data_dir=tmp_path)} == {"ok"}
