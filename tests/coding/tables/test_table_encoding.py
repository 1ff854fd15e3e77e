"""Encodings: by their mark, by being valid, by their letters, and as told."""

import sys

import charset_normalizer
import pytest
from table_files import answers, hint_of, load_text, table_text

from nldd.exceptions import InputError

LEGACY = [
    *(("German", "cp1252"), ("German", "mac_roman"), ("German", "cp850"), ("French", "cp1252")),
    *(("Spanish", "latin-1"), ("Polish", "cp1250"), ("Polish", "iso8859-2"), ("Turkish", "cp1254")),
    *(("Russian", "cp1251"), ("Russian", "koi8-r"), ("Russian", "cp866"), ("Greek", "cp1253")),
    *(("Hebrew", "cp1255"), ("Japanese", "shift_jis"), ("Japanese", "euc_jp")),
    ("Chinese", "gb18030"),
]


# The oldest detector that we support takes these for others.
HARD = [("Polish", "cp1250"), ("Japanese", "shift_jis")]
OLD_DETECTOR = charset_normalizer.__version__ < "3.4"


@pytest.mark.parametrize(
    ("language", "encoding"),
    [case for case in LEGACY if not (OLD_DETECTOR and case in HARD)],
    ids=str,
)
def test_encoding_is_guessed_and_said(tmp_path, language, encoding):
    loaded = load_text(tmp_path, table_text(language).encode(encoding))
    assert [row[1] for row in loaded.rows] == answers(language)
    western = language in ("German", "French", "Spanish") and encoding == "cp1252"
    assert (loaded.format.encoding == "cp1252") == (western or encoding == "latin-1")
    (note,) = loaded.notes
    assert f"read as {loaded.format.encoding}, which is a guess. Set --encoding" in note


def test_most_encodings_are_guessed_from_fifteen_answers(tmp_path):
    n_right = 0
    for language, encoding in LEGACY:
        for seed in range(1, 4):
            loaded = load_text(tmp_path, table_text(language, 15, seed).encode(encoding))
            n_right += [row[1] for row in loaded.rows] == answers(language, 15, seed)
    assert n_right >= 0.85 * 3 * len(LEGACY)


@pytest.mark.parametrize("language", ["German", "Russian", "Japanese", "Hebrew"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_with_and_without_mark(tmp_path, language, encoding):
    loaded = load_text(tmp_path, table_text(language).encode(encoding))
    assert loaded.header == ("id", "answer", "age")
    assert [row[1] for row in loaded.rows] == answers(language)
    assert loaded.format.bom == (encoding in ("utf-8-sig", "utf-16", "utf-32"))
    assert loaded.notes == ([] if encoding.startswith("utf-8") else [loaded.notes[0]])


def test_one_wrong_byte_leaves_the_other_letters_alone(tmp_path):
    lines = table_text("Polish").encode().split(b"\n")
    lines[50] = b"49;caf\xe9 \x81;20"
    loaded = load_text(tmp_path, b"\n".join(lines))
    right = answers("Polish")
    assert [row[1] for row in loaded.rows] == [*right[:49], "caf\u00e9 \ufffd", *right[50:]]
    assert "the first in line 51; they were read as Windows-1252" in loaded.notes[0]
    assert loaded.format.encoding == "utf-8"


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        *(("utf-8-sig", "utf-8"), ("utf-8-sig", "utf_8_sig"), ("utf-8", "utf-8-sig")),
        *(("utf-16", "utf-16"), ("utf-16", "utf-16-le"), ("utf-32", "utf-32")),
    ],
)
def test_mark_is_no_part_of_the_header(tmp_path, encoding, told):
    if sys.byteorder == "big":
        pytest.skip("Python writes the other mark")
    loaded = load_text(tmp_path, "a,b\n1,é\n".encode(encoding), encoding=told)
    assert (loaded.header, loaded.rows) == (("a", "b"), [("1", "é")])


@pytest.mark.parametrize("name", ["klingon", "", "rot13", "hex", "zlib", "a\x00b", "ü" * 300])
def test_unknown_encoding(tmp_path, name):
    assert "cp1252" in hint_of("There is no encoding", load_text, tmp_path, "a,b\n", encoding=name)


def test_text_that_is_not_in_the_encoding_as_told(tmp_path):
    content = b"a,b\n1,x\n2,caf\xe9\n"
    with pytest.raises(InputError, match=r"line 3: .* 'utf-8'") as caught:
        load_text(tmp_path, content, encoding="utf-8")
    assert "--encoding" in caught.value.hint


@pytest.mark.parametrize("word", ["f\u00fcr alle", "\u00dcberwege", "Tr\u00e8s \u00e9lev\u00e9"])
def test_words_that_come_again_and_again_are_western(tmp_path, word):
    for n in (1, 20, 200):
        rows = "".join(f"{i};{word} {i % 3}\r\n" for i in range(n))
        loaded = load_text(tmp_path, f"id;answer\r\n{rows}".encode("cp1252"))
        assert loaded.rows[-1][1] == f"{word} {(n - 1) % 3}"
