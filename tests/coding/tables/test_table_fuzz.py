"""Thousands of damaged files: an InputError or a correct load, and nothing else."""

import random

import pytest
from table_files import FILES, load, put, table_text

from fuzz import changed
from nldd.exceptions import InputError

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
WHOLE = {".csv": CSV, **{e: [(FILES / f"libreoffice{e}").read_bytes()] for e in (".xlsx", ".ods")}}


# So many damaged files of a kind in the default run; `make test-slow` tries the many.
@pytest.mark.parametrize("n_files", [90, pytest.param(2250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ending", WHOLE)
def test_damaged_files(tmp_path, ending, n_files):
    rng, n_loaded, others = random.Random(0), 0, [(content, ()) for content in WHOLE[ending]]
    for content in WHOLE[ending] * (n_files // len(WHOLE[ending])):
        try:  # rows as wide as the header, which `load` checks
            load(put(tmp_path, changed(rng, content, others), f"b{ending}"))
            n_loaded += 1
        except InputError as error:
            assert str(error).isprintable()
    assert (n_files / 8 if ending == ".csv" else 0) <= n_loaded < n_files
