"""Rows of files with one JSON object a line, and such files of rows."""

import datetime
import json
import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

from nldd._wording import count_noun, quote
from nldd.exceptions import InputError
from nldd.tables._cells import cell_text, is_text, plain, surrogate_error
from nldd.tables._names import distinct_names
from nldd.tables._records import Cell, Row, TableFormat, located
from nldd.tables._text import Reading, TextFile

# The keys of so many lines are the columns.
HEADER_LINES = 1000

_HALF = re.compile("[\ud800-\udfff]")
_HALF_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]")


class JsonlRows:
    """A file with one JSON object a line, see :class:`nldd.tables._records.Source`.

    Parameters
    ----------
    text : TextFile
    """

    def __init__(self, text: TextFile) -> None:
        self._text = text
        self._reading = Reading(text)
        self._n_blank = self._n_half = 0
        keys: dict[str, None] = {}
        with text.open() as stream:
            for k, (_, record) in enumerate(self._records(stream)):
                if k >= HEADER_LINES:
                    break
                keys.update(dict.fromkeys(record))
        if not keys:
            raise InputError(
                f"{text.path} holds no JSON object with a key.",
                hint='write a line such as {"id": 1, "answer": "good"} for each row',
            )
        self.header = tuple(keys)
        self.format = TableFormat(kind="jsonl", encoding=text.encoding, bom=bool(text.mark))

    def batches(self, n_rows: int) -> Iterator[list[Row]]:
        """All rows from the first one on, at most `n_rows` at a time."""
        self._n_blank = self._n_half = 0
        known = dict.fromkeys(self.header)
        batch: list[Row] = []
        with self._reading.opened() as stream:
            for line, record in self._records(stream):
                if record.keys() - known.keys():
                    raise self._unknown_key(line, record)
                batch.append(tuple(map(_cell, map(record.get, self.header))))
                if len(batch) == n_rows:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def fraction(self) -> float:
        """How much of the file the latest call of :meth:`batches` has read."""
        return self._reading.fraction()

    def notes(self) -> list[str]:
        """What a person should know about what has been read."""
        notes = list(self._text.notes)
        if self._n_blank:
            verb = "were" if self._n_blank > 1 else "was"
            notes.append(f"{count_noun(self._n_blank, 'blank line')} {verb} skipped.")
        if self._n_half:
            notes.append(
                f"{count_noun(self._n_half, 'text')} held half of a character; "
                "\ufffd stands for it."
            )
        return notes

    def advice(self, hint: str) -> str:
        """The hint about a column that is not there."""
        return hint

    def _records(self, stream: TextIOWrapper) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, content in enumerate(stream, 1):
            if not content.strip():
                self._n_blank += 1
                continue
            yield line, self._record(line, content)

    def _record(self, line: int, content: str) -> dict[str, Any]:
        try:
            record = json.loads(content, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or str(error)
            raise self._refused(line, f"no JSON object ({reason})", content) from None
        if not isinstance(record, dict):
            raise self._refused(line, "JSON, but no object", content)
        if _HALF_WRITTEN.search(content):
            record = {key: self._whole(value) for key, value in record.items()}
        return record

    def _whole(self, value: Any) -> Any:
        if isinstance(value, str) and not is_text(value):
            self._n_half += 1
            return _HALF.sub("\ufffd", value)
        return value

    def _refused(self, line: int, what: str, content: str) -> InputError:
        hint = 'write one object such as {"id": 1, "answer": "good"} on each line'
        return InputError(
            f"{self._text.path}, line {line}: {what}: {quote(content.strip())}.", hint=hint
        )

    def _unknown_key(self, line: int, record: dict[str, Any]) -> InputError:
        key = next(key for key in record if key not in self.header)
        return InputError(
            f"{self._text.path}, line {line}: the key {quote(key)} is in none of the first "
            f"{HEADER_LINES:,} lines.",
            hint="add it, with null, to the first line",
        )


def _cell(value: Any) -> Cell:
    if isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=False)
        return text if is_text(text) else json.dumps(value)
    cell: Cell = value
    return cell


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key is there twice")
    if not all(map(str.isascii, record)) and not all(map(is_text, record)):
        raise ValueError("a key holds half of a character")
    return record


class JsonlSink:
    """Write rows as one JSON object a line, see :class:`nldd.tables._records.Sink`.

    Parameters
    ----------
    stream : binary stream
    header : tuple of str
        Where names are repeated or missing, the keys are those of `distinct_names`.
    path : Path
        For messages.
    """

    def __init__(self, stream: BinaryIO, header: tuple[str, ...], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._keys = header if len(set(header)) == len(header) else distinct_names(header)
        if not all(map(is_text, self._keys)):
            raise surrogate_error(f"{path.name}, header")

    def write(self, rows: list[Row], first: int) -> None:
        """Write rows of which the first has this number, from 1."""
        for number, row in enumerate(rows, first):
            record = dict(zip(self._keys, row, strict=True))
            text = json.dumps(record, ensure_ascii=False, default=_json_value)
            try:
                self._stream.write(text.encode() + b"\n")
            except UnicodeEncodeError:
                raise surrogate_error(located(self._path, number, _broken(record))) from None

    def finish(self) -> None:
        """Nothing comes after the last row."""

    def abandon(self) -> None:
        """Nothing has to be closed."""


def _broken(record: dict[str, Cell]) -> str:
    return next(key for key, cell in record.items() if isinstance(cell, str) and not is_text(cell))


def _json_value(cell: Any) -> Any:
    """What JSON has no value for: dates and times as text, others as what they stand for."""
    if isinstance(cell, datetime.date | datetime.time):
        return cell_text(cell)
    return plain(cell)
