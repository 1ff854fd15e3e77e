"""What the tests of tables share: files in, rows out."""

import os
from dataclasses import dataclass
from unittest import mock

from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.opening import open_table
from nldd.coding.tables.writer import create_table


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


def load(path, *, n_rows=2000, **options):
    with open_table(path, **options) as reader:
        rows = []
        for block in reader.blocks(n_rows):
            assert block.first == len(rows) + 1
            assert 1 <= len(block.rows) <= n_rows
            assert all(type(row) is tuple and len(row) == len(reader.header) for row in block.rows)
            rows += block.rows
        return Loaded(reader.header, reader.names, rows, reader.notes, reader.format)


def load_text(folder, content, *, name="answers.csv", **options):
    return load(put(folder, content, name), **options)


def save(path, header, rows, **options):
    with create_table(path, header, **options) as writer:
        writer.write(rows)
    assert writer.n_rows == len(rows)
    return path


def quick_save(path, header, rows, **options):
    """As `save`, without waiting for the disk: property tests write hundreds of files."""
    with mock.patch.object(os, "fsync"):
        return save(path, header, rows, **options)
