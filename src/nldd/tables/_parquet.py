"""Rows of Parquet files."""

import datetime
import decimal
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nldd._wording import quote_first
from nldd.exceptions import InputError, MissingExtraError
from nldd.tables._records import Cell, Row, TableFormat


class ParquetRows:
    """A Parquet file, see :class:`nldd.tables._records.Source`.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._n_read = 0
        self._cut: dict[str, None] = {}
        with self._opened() as file:
            self.header = tuple(map(str, file.schema_arrow.names))
            self._n_rows = file.metadata.num_rows
        if not self.header:
            raise InputError(f"{path} has no columns.", hint="check how it was written")
        self.format = TableFormat(kind="parquet")

    def batches(self, n_rows: int) -> Iterator[list[Row]]:
        """All rows from the first one on, at most `n_rows` at a time."""
        self._n_read = 0
        with self._opened() as file:
            for batch in file.iter_batches(batch_size=n_rows):
                columns = [
                    self._column(name, array)
                    for name, array in zip(self.header, batch.columns, strict=True)
                ]
                self._n_read += batch.num_rows
                if batch.num_rows:
                    yield list(zip(*columns, strict=True))

    def fraction(self) -> float:
        """How much of the file the latest call of :meth:`batches` has read."""
        return self._n_read / self._n_rows if self._n_rows else 1.0

    def notes(self) -> list[str]:
        """What a person should know about what has been read."""
        if not self._cut:
            return []
        return [f"Times were cut to microseconds in the columns {quote_first(self._cut)}."]

    def advice(self, hint: str) -> str:
        """The hint about a column that is not there."""
        return hint

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtraError(
                f"{self._path}: reading Parquet files needs pyarrow.",
                hint='pip install "nldd[parquet]"',
            ) from error
        try:
            with pyarrow.parquet.ParquetFile(self._path) as file:
                yield file
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0][:200]
            raise InputError(
                f"{self._path} cannot be read as Parquet: {reason}.",
                hint="write it again, or save the table as CSV",
            ) from error

    def _column(self, name: str, array: Any) -> list[Cell]:
        from pyarrow import ArrowInvalid, types

        kind = array.type
        if types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        if types.is_timestamp(kind) or types.is_time64(kind) or types.is_duration(kind):
            try:
                array = array.cast(_microseconds(kind))
            except ArrowInvalid:
                self._cut[name] = None
                array = array.cast(_microseconds(kind), safe=False)
        values: list[Any] = array.to_pylist()
        convert = _CONVERT.get(_family(kind))
        return (
            [None if value is None else convert(value) for value in values] if convert else values
        )


def _microseconds(kind: Any) -> Any:
    """The same type of time with the precision that Python has."""
    import pyarrow

    if pyarrow.types.is_timestamp(kind):
        return pyarrow.timestamp("us", kind.tz)
    return pyarrow.time64("us") if pyarrow.types.is_time64(kind) else pyarrow.duration("us")


def _family(kind: Any) -> str:
    """What has to become of a column: "" where its values are cells already."""
    from pyarrow import types

    if types.is_decimal(kind):
        return "decimal"
    if types.is_nested(kind):
        return "nested"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return "binary"
    return "duration" if types.is_duration(kind) else ""


def _from_decimal(value: decimal.Decimal) -> Cell:
    """A number, if it is the same number, else its digits."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if decimal.Decimal(repr(float(value))) == value else str(value)


def _from_bytes(value: bytes) -> Cell:
    return value.decode("utf-8", "backslashreplace")


def _from_nested(value: Any) -> Cell:
    return json.dumps(value, ensure_ascii=False, default=_simple)


def _simple(value: Any) -> Any:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


_CONVERT: dict[str, Callable[[Any], Cell]] = {
    "decimal": _from_decimal,
    "binary": _from_bytes,
    "nested": _from_nested,
    "duration": str,
}
