"""Thousands of damaged files: an InputError or a correct load, and nothing else."""

import random
from pathlib import Path

import pytest
from foreign_answers import table_text
from table_files import load, put

from nldd.exceptions import InputError

# So many damaged files of a kind in the default run; `make test-slow` tries the many.
FEW_AND_MANY = [40, pytest.param(1000, marks=pytest.mark.slow)]

CSV = [
    b'id,answer,age\n1,"good, cheap",30\n2,"two\nlines",41\n3,,\n\n4,"so ""so""",9\n',
    b"\xef\xbb\xbfid;answer\r\n1;gut\r\n2;\xc3\xa4rgerlich\r\n",
    b"sep=;\na;b\n1;2\n",
    b'answer\ngood\n\n"bad, very"\n',
    table_text("German", 12).encode("cp1252"),
    table_text("Japanese", 12).encode("shift_jis"),
    table_text("Russian", 12).encode("utf-16"),
    b'"a", "b"\n1, "x, y"\n',
    b"a\tb\tc\n" + b"1\t2\t3\n" * 20,
]
CSV_PIECES = [b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xe4"]
CSV_PIECES += [b"\xef\xbb\xbf", b"\xff\xfe", b"sep=", b"=", b" ", b"\x1a", b"\xc3", b"x" * 300]
XML_PIECES = (
    b'< > / & " <row> </row> <c> <v> r="A1" t="s" t="d" s="1" t="e" <f> _x0041_ - . e'.split()
)
XML_PIECES += [b"9" * 20, b"\x00", b"\xff", b"<is>"]


def damaged(rng, content, pieces):
    """The content after one to four accidents."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        accident = rng.randrange(5)
        if accident == 0:
            content[place:place] = rng.choice(pieces)
        elif accident == 1:
            del content[place : place + rng.randint(1, 20)]
        elif accident == 2 and place < len(content):
            content[place] = rng.randrange(256)
        elif accident == 3:
            content[place:place] = content[place : place + rng.randint(1, 60)]
        else:
            other = rng.randrange(len(content) + 1)
            content[other : other + 5] = content[place : place + 5]
    return bytes(content)


def load_or_refuse(path, **options):
    """Rows as wide as the header (which `load` checks), or None."""
    try:
        return load(path, **options)
    except InputError as error:
        assert str(error).isprintable()
        return None


@pytest.mark.parametrize("n_files", FEW_AND_MANY)
def test_damaged_csv(tmp_path, n_files):
    rng = random.Random(0)
    n_loaded = sum(
        load_or_refuse(put(tmp_path, damaged(rng, content, CSV_PIECES))) is not None
        for content in CSV
        for _ in range(n_files // 4)
    )
    assert n_files / 8 < n_loaded < n_files // 4 * len(CSV)


@pytest.mark.parametrize("n_files", FEW_AND_MANY)
@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_damaged_archives(tmp_path, ending, n_files):
    rng = random.Random(2)
    content = (Path(__file__).parent / "files" / f"libreoffice{ending}").read_bytes()
    n_loaded = sum(
        load_or_refuse(put(tmp_path, damaged(rng, content, XML_PIECES), f"b{ending}")) is not None
        for _ in range(n_files)
    )
    assert n_loaded < n_files
