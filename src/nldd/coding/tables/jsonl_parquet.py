"""Rows of files with one JSON object a line, and of Parquet files."""

import datetime
import decimal
import json
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nldd._wording import quote, quote_first
from nldd.coding.tables.cells import (
    MAX_BYTES,
    Cell,
    Row,
    RowSource,
    TableFormat,
    check_claim,
    check_width,
    is_text,
    skipped_note,
)
from nldd.coding.tables.text_files import TextFile, TextSource
from nldd.exceptions import InputError, MissingExtraError
from nldd.present.text import count_noun

# The keys of so many lines are the columns.
HEADER_LINES = 1000
# Python refuses to write whole numbers of thousands of digits.
MAX_DIGITS = 1000

# Cells of a batch of Parquet.
BATCH_CELLS = 2**19

_EXAMPLE = '{"id": 1, "answer": "good"}'
_HALF = re.compile("[\ud800-\udfff]")
_HALF_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]")


class JsonlRows(TextSource):
    """A file with one JSON object a line, the keys of which are the columns."""

    def __init__(self, text: TextFile) -> None:
        super().__init__(text)
        self._n_blank = self._n_half = 0
        keys: dict[str, None] = {}
        with text.open() as stream:
            for _, (_, record) in zip(range(HEADER_LINES), self._records(stream), strict=False):
                keys.update(dict.fromkeys(record))
                check_width(text.path, len(keys))
        if not keys:
            hint = f"write a line such as {_EXAMPLE} for each row"
            raise InputError(f"{text.path} holds no JSON object with a key.", hint=hint)
        self.header = tuple(keys)
        self.format = TableFormat(kind="jsonl", encoding=text.encoding, bom=bool(text.mark))

    def rows(self) -> Generator[Row, None, None]:
        self._n_blank = self._n_half = 0
        known = dict.fromkeys(self.header)
        with self._text.open() as self._stream:
            for line, record in self._records(self._stream):
                if unknown := record.keys() - known.keys():
                    place = f"{self._text.path}, line {line}: the key {quote(min(unknown))}"
                    message = f"{place} is in none of the first {HEADER_LINES:,} lines."
                    raise InputError(message, hint="add it, with null, to the first line")
                yield tuple(map(_cell, map(record.get, self.header)))

    def notes(self) -> list[str]:
        notes = [*self._text.notes, *skipped_note(self._n_blank, "blank line")]
        if self._n_half:
            texts = count_noun(self._n_half, "text")
            notes.append(f"{texts} held half of a character; \ufffd stands for it.")
        return notes

    def _records(self, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, content in enumerate(lines, 1):
            if not content.strip():
                self._n_blank += 1
                continue
            try:
                record = json.loads(content, object_pairs_hook=_distinct_keys)
                what = "" if isinstance(record, dict) else "JSON, but no object"
            except (ValueError, RecursionError) as error:
                what = f"no JSON object ({getattr(error, 'msg', None) or error})"
            if what:
                place = f"{self._text.path}, line {line}: {what}: {quote(content.strip())}."
                raise InputError(place, hint=f"write one object such as {_EXAMPLE} on each line")
            if _HALF_WRITTEN.search(content):
                record = {key: self._whole(value) for key, value in record.items()}
            yield line, record

    def _whole(self, value: Any) -> Any:
        if isinstance(value, str) and not is_text(value):
            self._n_half += 1
            return _HALF.sub("\ufffd", value)
        return value


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key is there twice")
    if not all(map(is_text, record)):
        raise ValueError("a key holds half of a character")
    return record


class ParquetRows(RowSource):
    """A Parquet file; what Python has no value for becomes text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._n_read = n_bytes = 0
        self._cut: dict[str, None] = {}
        with self._opened() as file:
            self.header = tuple(map(str, file.schema_arrow.names))
            self._n_rows = file.metadata.num_rows
            check_claim(path, self._n_rows)
            for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
                chunks = [group.column(j) for j in range(group.num_columns)]
                n_bytes += sum(chunk.total_uncompressed_size for chunk in chunks)
                # A row has several values where these are lists.
                check_claim(path, max((chunk.num_values for chunk in chunks), default=0))
            if n_bytes > MAX_BYTES:
                message = f"{path} unpacks to {n_bytes:,} bytes; at most {MAX_BYTES:,} are read."
                raise InputError(message, hint="leave out the columns that are not needed")
            self._n_batch = min(2000, BATCH_CELLS // max(1, len(self.header)))
        if not self.header:
            raise InputError(f"{path} has no columns.", hint="write it again, with the answers")
        self.format = TableFormat(kind="parquet")

    def rows(self) -> Generator[Row, None, None]:
        self._n_read = 0
        with self._opened() as file:
            for batch in file.iter_batches(batch_size=self._n_batch):
                columns = map(self._column, self.header, batch.columns)
                for row in zip(*columns, strict=True):
                    self._n_read += 1
                    yield row

    def fraction(self) -> float:
        return self._n_read / self._n_rows if self._n_rows else 1.0

    def notes(self) -> list[str]:
        note = f"Times were cut to microseconds in the columns {quote_first(self._cut)}."
        return [note] if self._cut else []

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            message = f"{self._path}: reading Parquet files needs pyarrow."
            raise MissingExtraError(message, extra="parquet") from error
        try:
            with pyarrow.parquet.ParquetFile(self._path) as file:
                yield file
        except InputError:
            raise  # it is a ValueError too
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0][:200]
            message = f"{self._path} cannot be read as Parquet: {reason}."
            raise InputError(message, hint="write it again, or save the table as CSV") from error

    def _column(self, name: str, array: Any) -> list[Cell]:
        import pyarrow

        types, kind = pyarrow.types, array.type
        if types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        if getattr(kind, "unit", "") == "ns":  # which Python's times do not have
            coarse = pyarrow.time64("us") if types.is_time64(kind) else pyarrow.duration("us")
            if types.is_timestamp(kind):
                coarse = pyarrow.timestamp("us", kind.tz)
            precise, array = array, array.cast(coarse, safe=False)
            if not array.cast(kind).equals(precise):
                self._cut[name] = None
        return [_cell(value) for value in array.to_pylist()]


def _cell(value: Any) -> Any:
    """A value of JSON or Parquet as a cell; what no cell can hold becomes text."""
    if isinstance(value, decimal.Decimal):
        # A number, if it is the same number, else its digits.
        if value == value.to_integral_value():
            return int(value) if value.adjusted() < MAX_DIGITS else str(value)
        return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | dict):
        text = json.dumps(value, ensure_ascii=False, default=_nested)
        return text if is_text(text) else json.dumps(value)
    if isinstance(value, bytes | datetime.timedelta):
        return _nested(value)
    return value


def _nested(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
