"""What the tests of tables share: files in, rows out, and short answers in several languages."""

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import TableFormat, frame_of_rows
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError

FILES = Path(__file__).parent / "files"
ANSWERS = json.loads((FILES / "foreign_answers.json").read_text(encoding="utf-8"))


def hint_of(match, call, *words, error=InputError, **options):
    """The advice of the error that a call must raise."""
    with pytest.raises(error, match=match) as caught:
        call(*words, **options)
    return caught.value.hint


@dataclass
class Loaded:
    header: tuple
    names: tuple
    rows: list
    notes: list
    format: TableFormat


def put(folder, content, name="answers.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(path, **options):
    table = read_table(path, TableOptions(**options))
    assert {str(kind) for kind in table.frame.dtypes} == {"object"}
    rows = list(table.frame.itertuples(index=False, name=None))
    assert len(table.header) == len(table.names) == len(set(table.names))
    return Loaded(table.header, table.names, rows, table.notes, table.format)


def load_text(folder, content, *, name="answers.csv", **options):
    return load(put(folder, content, name), **options)


def save(path, header, rows, **options):
    frame = frame_of_rows(list(map(tuple, rows)), len(header))
    write_table(path, frame, header=header, **options)
    return path


def quick_save(path, header, rows, **options):
    """As `save`, without waiting for the disk: property tests write hundreds of files."""
    with mock.patch.object(os, "fsync"):
        return save(path, header, rows, **options)


def answers(language, n=100, seed=0):
    """Answers of `n` people: short sentences, often the same ones."""
    rng = random.Random(f"{language} {seed}")
    return [rng.choice(ANSWERS[language]) for _ in range(n)]


def table_text(language, n=100, seed=0):
    """A table of the answers between numbers, separated by semicolons."""
    lines = [f"{k};{answer};{k % 70 + 18}\n" for k, answer in enumerate(answers(language, n, seed))]
    return "id;answer;age\n" + "".join(lines)
