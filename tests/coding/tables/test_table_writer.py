"""Tables written as CSV and TSV, and files that are whole or not there."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from table_files import hint_of, load, put, quick_save, save

from nldd.coding.tables.spreadsheet import TableFormat
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError, NLDDError
from present.test_formulas import RUN_BY_A_SPREADSHEET


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.txt"])
@pytest.mark.parametrize("raw", [False, True], ids=["guarded", "raw"])
def test_text_that_a_spreadsheet_would_run(tmp_path, name, raw):
    path = save(tmp_path / name, ["=1+1", "b"], [(t, "x") for t in RUN_BY_A_SPREADSHEET], raw=raw)
    loaded = load(path, encoding="utf-8", separator="," if name == "out.csv" else "tab")
    texts = [*loaded.header[:1], *(row[0] for row in loaded.rows)]
    mark = "" if raw else "'"
    assert texts == [f"{mark}{text}" for text in ["=1+1", *RUN_BY_A_SPREADSHEET]]


def test_what_pandas_takes_for_missing_is_empty(tmp_path):
    frame = pd.DataFrame({"a": ["x", None], "n": [1.5, None], "k": pd.array([None, 3], "Int64")})
    write_table(tmp_path / "out.csv", frame)
    assert (tmp_path / "out.csv").read_text() == "a,n,k\nx,1.5,\n,,3\n"


LIKE = TableFormat("csv", separator=";", newline="\r\n", bom=True)


@pytest.mark.parametrize(
    ("name", "like", "content"),
    [
        ("o.csv", None, b"a,b\n1,2\n"),
        ("o.csv", LIKE, b"\xef\xbb\xbfa;b\r\n1;2\r\n"),
        ("o.csv", TableFormat("csv", encoding="cp1252"), b"\xef\xbb\xbfa,b\n1,2\n"),
        ("o.csv", TableFormat("csv", separator="\t"), b"a\tb\n1\t2\n"),
        ("o.csv", TableFormat("xlsx"), b"\xef\xbb\xbfa,b\n1,2\n"),
        ("o.tsv", LIKE, b"\xef\xbb\xbfa\tb\r\n1\t2\r\n"),
        ("o.txt", None, b"a\tb\n1\t2\n"),
        ("o.txt", TableFormat("csv", separator="|"), b"a|b\n1|2\n"),
    ],
)
def test_output_is_like_the_input(tmp_path, name, like, content):
    assert save(tmp_path / name, ["a", "b"], [(1, 2)], like=like).read_bytes() == content


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
ODD = st.sampled_from(["", " ", "\r", "\n", "\r\n", '"', "a\rb", "=x", "\x85"])


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(TEXT | ODD, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
@example([["", ""], ["\r", "x"]], ",", "\n", False)
@example([[""], [""]], ",", "\n", False)
def test_raw_csv_comes_back_as_it_was(table, separator, newline, bom):
    header, *rows = map(tuple, table)
    assume(len(header) > 1 or header == ("",) or header[0].strip(" \t\x1a\xa0"))
    like = TableFormat("csv", separator=separator, newline=newline, bom=bom)
    with tempfile.TemporaryDirectory() as folder:
        path = quick_save(Path(folder, "t.csv"), header, rows, like=like, raw=True)
        loaded = load(path, encoding="utf-8", separator=separator)
        told = load(path, separator=separator)
    assert (loaded.header, loaded.rows) == (header, rows)
    assert (told.header, told.rows) == (header, rows)


def test_standard_output_is_csv_without_mark(capsysbinary):
    save("-", ["a", "b"], [("ä", "=1")], like=LIKE)
    assert capsysbinary.readouterr().out == "a;b\r\nä;'=1\r\n".encode()


@pytest.mark.parametrize("name", ["out.xls", "out.parquet", "out", "out.csv.gz"])
def test_unknown_ending(tmp_path, name):
    hint = hint_of("is none of those that are written", save, tmp_path / name, ["a"], [])
    assert hint == "use one of .csv, .tsv, .txt, .xlsx, .jsonl, .sav, .dta, .xpt"


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx", "out.jsonl"])
def test_half_a_character_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="half of a character"):
        save(tmp_path / name, ["a", "b"], [("x", "y"), ("z", "\ud83d")])
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.xlsx", "out.jsonl"])
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path, monkeypatch, name, error):
    path = put(tmp_path, "old", name)

    def fail(_):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(error):
        save(path, ["a"], [["x"]] * 5000)
    assert path.read_text() == "old"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["out.csv", "out.xlsx", "out.jsonl"])
def test_full_disk_is_said_in_one_line(tmp_path, monkeypatch, name):
    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    words = rf"{name} cannot be written: No space left"
    hint = hint_of(words, save, tmp_path / name, ["a"], [["x"]], error=NLDDError)
    assert "space on the disk" in hint
    assert names(tmp_path) == []


def test_reader_of_standard_output_that_went_away():
    """The command line knows what to do about it; it is no fault of the table."""
    code = (
        "import os, sys; from nldd.coding.tables.writing import write_table\n"
        "from nldd.coding.tables.spreadsheet import frame_of\n"
        "try:\n"
        "    write_table('-', frame_of({'a': ['x' * 1000] * 10_000}))\n"
        "except BrokenPipeError:\n"
        "    os._exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait() == 7


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["out.csv", "out.xlsx", "out.jsonl"])
def test_killed_writer_leaves_the_old_file(tmp_path, name):
    path = put(tmp_path, "old", name)
    code = (
        "import os, signal, sys; from nldd.coding.tables.writing import write_table\n"
        "from nldd.coding.tables.spreadsheet import frame_of\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_table(sys.argv[1], frame_of({'a': ['x'] * 5000}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
