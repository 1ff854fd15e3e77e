"""Encodings: by their mark, by being valid, by their letters, and as told."""

import sys

import pytest
from foreign_answers import answers, table_text
from table_files import load, load_text, put

from nldd.exceptions import InputError
from nldd.tables import _encoding
from nldd.tables._languages import guess_encodings

LEGACY = [
    ("German", "cp1252"),
    ("German", "mac_roman"),
    ("German", "cp850"),
    ("French", "cp1252"),
    ("Spanish", "latin-1"),
    ("Swedish", "cp1252"),
    ("Polish", "cp1250"),
    ("Polish", "iso8859-2"),
    ("Czech", "cp1250"),
    ("Hungarian", "cp1250"),
    ("Turkish", "cp1254"),
    ("Russian", "cp1251"),
    ("Russian", "koi8-r"),
    ("Russian", "cp866"),
    ("Greek", "cp1253"),
    ("Hebrew", "cp1255"),
    ("Arabic", "cp1256"),
    ("Thai", "cp874"),
    ("Japanese", "shift_jis"),
    ("Japanese", "euc_jp"),
    ("Chinese", "gb18030"),
    ("Traditional Chinese", "big5"),
    ("Korean", "cp949"),
]


@pytest.mark.parametrize(("language", "encoding"), LEGACY, ids=str)
def test_encoding_is_told_by_the_letters(tmp_path, language, encoding):
    loaded = load_text(tmp_path, table_text(language).encode(encoding))
    assert [row[1] for row in loaded.rows] == answers(language)
    assert len(loaded.notes) == 1
    assert loaded.notes[0].startswith("The file is not in UTF-8; it was read as ")
    assert loaded.notes[0].endswith(", by its letters. Set --encoding if letters look wrong.")
    assert loaded.format.encoding != "utf-8"


@pytest.mark.parametrize(("language", "encoding"), LEGACY, ids=str)
def test_encoding_is_told_by_fifteen_answers(tmp_path, language, encoding):
    for seed in range(1, 4):
        content = table_text(language, 15, seed).encode(encoding)
        assert [row[1] for row in load_text(tmp_path, content).rows] == answers(language, 15, seed)


@pytest.mark.parametrize("language", ["German", "Russian", "Japanese", "Arabic"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_with_and_without_mark(tmp_path, language, encoding):
    loaded = load_text(tmp_path, table_text(language).encode(encoding))
    assert loaded.header == ("id", "answer", "age")
    assert [row[1] for row in loaded.rows] == answers(language)
    assert loaded.format.bom == (encoding in ("utf-8-sig", "utf-16", "utf-32"))
    assert loaded.notes == ([] if encoding.startswith("utf-8") else [loaded.notes[0]])


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"\xfe\xff", "utf-16-be"), (b"\x00\x00\xfe\xff", "utf-32-be")],
)
def test_big_endian_marks(tmp_path, mark, encoding):
    loaded = load_text(tmp_path, mark + "a,b\n1,é\n".encode(encoding))
    assert (loaded.header, loaded.rows) == (("a", "b"), [("1", "é")])
    assert loaded.format.encoding == encoding


def test_latin_letters_after_a_megabyte_of_ascii(tmp_path):
    plain = "".join(f"{k},an answer in plain letters\n" for k in range(50_000))
    content = ("id,answer\n" + plain + "50000,für größere Häuser\n").encode("cp1252")
    assert len(content) > 2**20
    loaded = load_text(tmp_path, content)
    assert loaded.rows[-1] == ("50000", "für größere Häuser")
    assert len(loaded.rows) == 50_001


def test_wide_letters_across_the_parts_in_which_a_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_encoding, "CHUNK_BYTES", 7)
    for encoding in ("utf-8", "utf-16-le", "shift_jis"):
        loaded = load_text(tmp_path, table_text("Japanese", 30).encode(encoding))
        assert [row[1] for row in loaded.rows] == answers("Japanese", 30)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n" + b"\x00\xd8" * 3 + b"x" * 60,  # no lines
        "a,b\n".encode("utf-16-le") * 5 + b"\x00\xd8x\x00",  # half of a character
        "a,b\n\x01".encode("utf-16-le") * 5,  # no text
        b"a,b\n" * 20 + b"\x00\x00\x00\x00",  # zeros in all places
    ],
)
def test_zero_bytes_that_are_no_utf16(content):
    assert _encoding._without_mark(content) is None


def test_one_wrong_byte_leaves_the_other_letters_alone(tmp_path):
    lines = table_text("Polish").encode().split(b"\n")
    lines[50] = b"49;caf\xe9 \x81;20"
    loaded = load_text(tmp_path, b"\n".join(lines))
    right = answers("Polish")
    assert [row[1] for row in loaded.rows] == [*right[:49], "caf\u00e9 \ufffd", *right[50:]]
    assert loaded.notes == [
        "The file is in UTF-8 but for some bytes, the first in line 51; they were read as "
        "Windows-1252."
    ]
    assert loaded.format.encoding == "utf-8"


def test_mark_of_utf8_before_a_wrong_byte(tmp_path):
    loaded = load_text(tmp_path, b"\xef\xbb\xbfa,b\n\xe9,\xc3\xa9\n")
    assert loaded.rows == [("é", "é")]
    assert loaded.header == ("a", "b")


@pytest.mark.parametrize("name", ["cp1252", "CP1252", "windows-1252", "latin1"])
def test_encoding_as_told(tmp_path, name):
    loaded = load_text(tmp_path, "a,b\n1,ÃÅ\n".encode("cp1252"), encoding=name)
    assert loaded.rows == [("1", "ÃÅ")]
    assert loaded.notes == []


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8-sig", "utf-8"),
        ("utf-8-sig", "utf_8_sig"),
        ("utf-8", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16", "utf-16-le"),
        ("utf-32", "utf-32"),
    ],
)
def test_mark_is_no_part_of_the_header(tmp_path, encoding, told):
    if sys.byteorder == "big":
        pytest.skip("Python writes the other mark")
    loaded = load_text(tmp_path, "a,b\n1,é\n".encode(encoding), encoding=told)
    assert (loaded.header, loaded.rows) == (("a", "b"), [("1", "é")])


def test_mark_of_utf8_is_no_text_in_another_encoding(tmp_path):
    loaded = load_text(tmp_path, b"\xef\xbb\xbfa,b\n1,\xe9\n", encoding="cp1252")
    assert (loaded.header, loaded.rows) == (("a", "b"), [("1", "é")])


@pytest.mark.parametrize("name", ["klingon", "", "rot13", "hex", "zlib", "a\x00b", "ü" * 300])
def test_unknown_encoding(tmp_path, name):
    with pytest.raises(InputError, match="There is no encoding") as caught:
        load_text(tmp_path, "a,b\n", encoding=name)
    assert "cp1252" in caught.value.hint


def test_text_that_is_not_in_the_encoding_as_told(tmp_path):
    content = b"a,b\n1,x\n2,caf\xe9\n"
    with pytest.raises(InputError) as caught:
        load_text(tmp_path, content, encoding="utf-8")
    assert "line 3: byte 13 of the file is not in the encoding 'utf-8'" in str(caught.value)
    assert content[13] == 0xE9
    assert "--encoding" in caught.value.hint


@pytest.mark.parametrize("chunk", [1, 5, 2**20])
def test_place_of_a_misfit_does_not_depend_on_the_parts(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(_encoding, "CHUNK_BYTES", chunk)
    for content, encoding, byte in (
        (b"a\n\xc3\xa9\n\xc3(", "utf-8", 5),
        (b"a\nb\n\xc3", "utf-8", 4),
        ("a\nb\n".encode("utf-16-le") + b"\x00", "utf-16-le", 8),
        (b"a\nb\n\x82", "shift_jis", 4),
        (b"a\nb\n\x98", "cp1251", 4),
    ):
        misfit = _encoding.scan(put(tmp_path, content), encoding).misfit
        assert (misfit.byte, misfit.line) == (byte, 3), (content, encoding)


def test_half_a_letter_at_the_end_of_utf16(tmp_path):
    with pytest.raises(InputError, match=r"line 2: byte 10 of the file is not in .*utf-16-le"):
        load_text(tmp_path, b"\xff\xfe" + "ab\nc".encode("utf-16-le") + b"\x00")


def test_without_charset_normalizer_other_letters_are_western(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    monkeypatch.setattr(_encoding, "LEAST_SCORE", 2.0)
    loaded = load_text(tmp_path, "a,b\n1,für\n".encode("cp1252"))
    assert loaded.rows == [("1", "für")]
    assert loaded.notes == [
        "The file is not in UTF-8; it was read as cp1252, which is a guess; "
        'pip install "nldd[survey]" for a better one. Set --encoding if letters look wrong.'
    ]


def test_charset_normalizer_is_asked_where_no_letters_are_known(tmp_path, monkeypatch):
    monkeypatch.setattr(_encoding, "LEAST_SCORE", 2.0)
    loaded = load_text(tmp_path, table_text("Russian").encode("cp1251"))
    assert [row[1] for row in loaded.rows] == answers("Russian")
    assert "which is a guess. Set --encoding" in loaded.notes[0]


def test_one_wrong_byte_does_not_change_the_encoding(tmp_path):
    lines = table_text("German").encode("cp1252").split(b"\n")
    lines[90] = b"89;\x81;20"
    loaded = load_text(tmp_path, b"\n".join(lines))
    right = answers("German")
    assert [row[1] for row in loaded.rows] == [*right[:89], "\ufffd", *right[90:]]
    assert loaded.notes == [
        "The file is not in UTF-8; it was read as cp1252, by its letters. Set --encoding if "
        "letters look wrong.",
        "Some bytes are not in cp1252, the first in line 91; \ufffd stands for them.",
    ]


def test_bytes_that_are_in_no_encoding(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    monkeypatch.setattr(_encoding, "LEAST_SCORE", 2.0)
    loaded = load_text(tmp_path, b"a,b\n1,\x81\x8d\n")
    assert loaded.rows == [("1", "\ufffd\ufffd")]
    assert loaded.notes[1].startswith("Some bytes are not in cp1252, the first in line 2")


def test_western_files_are_called_western():
    """Their bytes mean the same in other encodings, whose name would only confuse."""
    for language in ("German", "French", "Spanish", "Swedish"):
        assert guess_encodings(table_text(language).encode("cp1252"))[0].encoding == "cp1252"


def test_a_line_that_never_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(_encoding, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(_encoding, "MAX_CELL", 1000)
    with pytest.raises(InputError, match=r"line 2: the line is longer than 1,000 characters"):
        load(put(tmp_path, "a,b\n" + "x" * 10_000))
