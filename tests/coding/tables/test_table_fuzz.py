"""Thousands of damaged files: an InputError or a correct load, and nothing else."""

import random
from pathlib import Path

import pytest
from foreign_answers import table_text
from naive_table_csv import read_naively
from table_files import load, put, quick_save
from workbooks import number_formats, parts, zipped

from nldd.coding.tables.spreadsheet import TableFormat
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
JSON_PIECES = [*b'{ } [ " , : \\ \\ud800 null 1e999'.split(), b"\n", b"\xff"]


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
def test_damaged_csv_is_read_as_the_csv_module_does(tmp_path, n_files):
    rng = random.Random(0)
    n_compared = 0
    for k in range(2 * n_files):
        content = damaged(rng, CSV[k % 5], CSV_PIECES)
        # In Latin-1 all bytes are letters, so that just the splitting is compared.
        loaded = load_or_refuse(put(tmp_path, content), encoding="latin-1", separator=",")
        text = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        if text[:4].lower() == "sep=" or (loaded and "Spaces after" in " ".join(loaded.notes)):
            continue
        n_compared += 1
        assert read_naively(text) == (loaded and (loaded.header, loaded.rows)), content
    assert n_compared > n_files


@pytest.mark.parametrize("n_files", FEW_AND_MANY)
def test_damaged_workbooks(tmp_path, n_files):
    rng = random.Random(1)
    rows = "".join(
        f'<row r="{k}"><c r="A{k}" t="s"><v>{k % 3}</v></c><c r="B{k}" s="1"><v>4529{k}.5</v></c>'
        f'<c r="C{k}" t="inlineStr"><is><t>x_x000D_</t></is></c><c r="D{k}" t="b"><v>1</v></c>'
        "</row>"
        for k in range(1, 9)
    )
    strings = "<si><t>one</t></si><si><r><t>two</t></r></si><si><t>3</t></si>"
    members = parts(rows, strings=strings, styles=number_formats(22))
    n_loaded = 0
    for k in range(2 * n_files):
        name = list(members)[k % len(members)]
        content = damaged(rng, members[name].encode(), XML_PIECES)
        n_loaded += bool(load_or_refuse(zipped(tmp_path / "a.xlsx", members | {name: content})))
    assert n_files / 8 < n_loaded < 2 * n_files


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


@pytest.mark.parametrize("n_files", FEW_AND_MANY)
def test_damaged_jsonl(tmp_path, n_files):
    rng = random.Random(3)
    content = b'{"id": 1, "answer": "g\\u00fct", "x": [1, {"y": null}]}\n{"id": 2.5, "x": true}\n\n'
    n_loaded = sum(
        load_or_refuse(put(tmp_path, damaged(rng, content * 3, JSON_PIECES), "a.jsonl")) is not None
        for _ in range(2 * n_files)
    )
    assert 0 < n_loaded < 2 * n_files


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.jsonl"])
def test_cut_anywhere(tmp_path, name):
    path = tmp_path / name
    like = TableFormat("csv", bom=True)
    quick_save(path, ["a", "b"], [(k, f"täxt, {k}") for k in range(20)], like=like)
    content = path.read_bytes()
    for n in range(0, len(content), 1 + len(content) // 40):
        loaded = load_or_refuse(put(tmp_path, content[:n], f"cut {name}"))
        # A cut row must not look as a whole one, but where it is cut between lines or cells.
        assert loaded is None or (name != "t.xlsx" and len(loaded.rows) <= 20)
