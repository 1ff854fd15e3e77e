"""One JSON object a line, in and out."""

import datetime
import json

import numpy as np
import pytest
from table_files import load_text, save

from nldd.exceptions import InputError


def read(folder, text, **options):
    return load_text(folder, text, name="answers.jsonl", **options)


def test_keys_in_order_of_appearance(tmp_path):
    loaded = read(tmp_path, '{"b": 1, "a": "x"}\n\n{"c": null, "a": 2.5}\n{"b": true}\n')
    assert loaded.header == ("b", "a", "c")
    assert loaded.rows == [(1, "x", None), (None, 2.5, None), (True, None, None)]
    assert loaded.notes == ["1 blank line was skipped."]
    assert loaded.format.kind == "jsonl"


def test_half_of_a_character_becomes_a_mark(tmp_path):
    loaded = read(tmp_path, '{"a": "x\\ud83d"}\n{"a": "\\ud83d\\ude00"}\n{"a": ["\\udc00"]}\n')
    assert loaded.rows == [("x\ufffd",), ("\U0001f600",), ('["\ufffd"]',)]
    assert loaded.notes == ["\ufffd stands for 2 broken characters."]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "no JSON object (Expecting value): 'nonsense'"),
        ("[1, 2]", "JSON, but no object: '[1, 2]'"),
        ("5", "JSON, but no object: '5'"),
        ('{"a": 1', "no JSON object"),
        ('{"a": 1} {"a": 2}', "no JSON object (Extra data)"),
        ('{"a": 1, "a": 2}', "no JSON object (a key is there twice)"),
        ("[" * 100_000, "no JSON object (maximum recursion depth"),
        (f'{{"a": {"9" * 5000}}}', "no JSON object (Exceeds the limit"),
        ('{"a": "\x01"}', "no JSON object (Invalid control character at)"),
    ],
)
def test_lines_that_are_no_objects(tmp_path, line, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, f'{{"a": 1}}\n{line}\n')
    assert f"answers.jsonl, line 2: {message}" in str(caught.value)
    assert "one object" in caught.value.hint


def test_written_lines(tmp_path):
    row = ("ä=1", 5, 2.0, True, None, datetime.date(2024, 1, 2), np.float64(0.5), np.int64(3))
    path = save(tmp_path / "out.jsonl", list("abcdefgh"), [row])
    assert path.read_text(encoding="utf-8") == (
        '{"a": "ä=1", "b": 5, "c": 2.0, "d": true, "e": null, "f": "2024-01-02", '
        '"g": 0.5, "h": 3}\n'
    )


def test_repeated_names_become_distinct_keys(tmp_path):
    path = save(tmp_path / "out.jsonl", ["a", "a", ""], [(1, 2, 3)])
    assert json.loads(path.read_text()) == {"a": 1, "a (2)": 2, "column 3": 3}
