"""What the tests of tables share: files in, rows out."""

import os
from dataclasses import dataclass
from unittest import mock

from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import TableFormat, frame_of_rows
from nldd.coding.tables.writing import write_table


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
