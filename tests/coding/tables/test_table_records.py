"""JSON lines and Parquet: records with columns, in and out."""

import datetime
import decimal
import json
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_files import hint_of, load, load_text, save

from nldd.coding.tables.spreadsheet import cell_text
from nldd.exceptions import InputError, MissingExtraError


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
    words = re.escape(f"answers.jsonl, line 2: {message}")
    assert "one object" in hint_of(words, read, tmp_path, f'{{"a": 1}}\n{line}\n')


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


def parquet(folder, columns):
    pq.write_table(pa.table(columns), folder / "answers.parquet")
    return folder / "answers.parquet"


def column(folder, values, kind):
    return [cell for (cell,) in load(parquet(folder, {"a": pa.array(values, kind)})).rows]


def test_types(tmp_path):
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
    columns = {
        "text": ["ä", None],
        "int": pa.array([1, None], pa.int32()),
        "float": [0.5, None],
        "flag": [True, None],
        "day": [moment.date(), None],
        "moment": [moment, None],
        "time": [moment.time(), None],
        "category": pa.array(["x", None]).dictionary_encode(),
        "nothing": pa.nulls(2),
        "large": pa.array(["y", None], pa.large_string()),
    }
    loaded = load(parquet(tmp_path, columns))
    row = ("ä", 1, 0.5, True, moment.date(), moment, moment.time(), "x", None, "y")
    assert loaded.rows == [row, (None,) * 10]
    assert (loaded.format.kind, loaded.header) == ("parquet", tuple(columns))


def test_decimals_are_numbers_where_these_are_the_same(tmp_path):
    values = [decimal.Decimal(text) for text in ("1.50", "3.00", "0.12345678901234567890123")]
    got = column(tmp_path, values, pa.decimal128(30, 23))
    assert got == [1.5, 3, "0.12345678901234567890123"]
    assert list(map(type, got)) == [float, int, str]


def test_nanoseconds_are_kept(tmp_path):
    fits = column(tmp_path, [1_000, None], pa.timestamp("ns"))
    assert fits == [datetime.datetime(1970, 1, 1, 0, 0, 0, 1), None]
    (cell,) = column(tmp_path, [1_001], pa.timestamp("ns"))
    assert cell_text(cell) == "1970-01-01T00:00:00.000001001"


def test_empty_table(tmp_path):
    assert load(parquet(tmp_path, {"a": pa.array([], pa.int64())})).rows == []
    with pytest.raises(InputError, match="has no columns"):
        load(parquet(tmp_path, {}))


def test_without_pyarrow(tmp_path, monkeypatch):
    path = parquet(tmp_path, {"a": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    hint = hint_of("needs pyarrow", load, path, error=MissingExtraError)
    assert hint == 'pip install "nldd[parquet]"'


def test_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nldd.coding.tables.spreadsheet.MAX_BYTES", 1000)
    assert load(parquet(tmp_path, {"a": list(range(10))})).rows[9] == (9,)
    with pytest.raises(InputError, match="at most 1,000 are read"):
        load(parquet(tmp_path, {"a": list(range(1000))}))
