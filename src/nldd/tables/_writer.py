"""Write a table that is whole or not there."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from nldd._files import replacing
from nldd._wording import quote_first
from nldd.exceptions import InputError, NLDDError
from nldd.tables._reader import distinct_names
from nldd.tables._records import Cell, Row, Sink, TableFormat, located

STANDARD_OUTPUT = "-"
ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".jsonl")
BLOCK_ROWS = 2000


class TableWriter:
    """Rows on their way into a file; made by :func:`create_table`.

    The file gets its name when the ``with`` block ends. After an error there is no new file, and
    an old one of that name is as it was.

    Attributes
    ----------
    path : Path
    header : tuple of str
    n_rows : int
        Number of rows written so far, without the header.
    """

    def __init__(
        self, path: Path, header: Sequence[str], like: TableFormat | None, raw: bool
    ) -> None:
        self.path = path
        self.header = tuple(header)
        self.n_rows = 0
        self._like = like
        self._raw = raw
        self._sink: Sink | None = None
        self._stack = ExitStack()

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Add rows, each as long as the header."""
        if self._sink is None:
            raise RuntimeError("a table is written within a `with` block")
        waiting = iter(rows)
        while block := [tuple(row) for row in islice(waiting, BLOCK_ROWS)]:
            self._check_widths(block)
            with _naming_errors(self.path):
                self._sink.write(block, self.n_rows + 1)
            self.n_rows += len(block)

    def _check_widths(self, block: list[Row]) -> None:
        width = len(self.header)
        for k, row in enumerate(block, self.n_rows + 1):
            if len(row) != width:
                raise InputError(
                    f"{located(self.path, k)}: expected {width} cells as in the header; got "
                    f"{len(row)}."
                )

    def __enter__(self) -> "TableWriter":
        with _naming_errors(self.path), ExitStack() as stack:
            stream = stack.enter_context(_stream(self.path))
            self._sink = sink = _sink(stream, self.path, self.header, self._like, self._raw)
            stack.callback(sink.close)
            stack.push(lambda kind, *_: sink.finish() if kind is None else None)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sink = None
        with _naming_errors(self.path):
            self._stack.__exit__(kind, error, trace)


@contextmanager
def _naming_errors(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NLDDError(
            f"{path} cannot be written: {error.strerror or error}.",
            hint="check the folder, who may write to it, and the space on the disk",
        ) from error


@contextmanager
def _stream(path: Path) -> Iterator[BinaryIO]:
    if str(path) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # The file that a link points to is replaced, not the link.
    with replacing(path.resolve() if path.is_symlink() else path) as stream:
        yield stream


def _sink(
    stream: BinaryIO, path: Path, header: tuple[str, ...], like: TableFormat | None, raw: bool
) -> Sink:
    ending = path.suffix.lower()
    like = like or TableFormat(kind="")
    if ending == ".xlsx":
        from nldd.tables._excel import XlsxSink

        return XlsxSink(stream, header, path, like.sheet)
    if ending == ".jsonl":
        from nldd.tables._lines import JsonlSink

        keys = header if len(set(header)) == len(header) else distinct_names(header)
        return JsonlSink(stream, keys, path)
    from nldd.tables._csv import CsvSink

    unicode = like.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "ascii", "us-ascii")
    # Who works in Excel opens the file there, where umlauts without the mark are garbled.
    bom = like.bom or not unicode or like.kind == "xlsx"
    like = replace(
        like,
        separator=_separator(ending, like),
        bom=bom and str(path) != STANDARD_OUTPUT,
    )
    return CsvSink(stream, header, path, like, raw)


def _separator(ending: str, like: TableFormat) -> str:
    if ending == ".tsv":
        return "\t"
    if like.kind == "csv":
        return like.separator
    return "\t" if ending == ".txt" else ","


def create_table(
    path: Path | str,
    header: Sequence[str],
    *,
    like: TableFormat | None = None,
    raw: bool = False,
) -> TableWriter:
    """Begin a table in the format that the ending of its name says.

    Parameters
    ----------
    path : path
        Ends in ``.csv``, ``.tsv``, ``.txt``, ``.xlsx`` or ``.jsonl``; ``-`` is CSV on standard
        output.
    header : sequence of str
    like : TableFormat, optional
        Of the table that it came from: CSV gets the same separator and line ends, and a byte order
        mark if that had one, was not in UTF-8 or was a workbook. All text is written in UTF-8.
    raw : bool
        Whether to write text to CSV as it is. By default text that a spreadsheet would run gets an
        apostrophe before it, see :func:`guarded`.

    Returns
    -------
    writer : TableWriter

    Notes
    -----
    A workbook holds numbers with 15 digits; whole numbers with more are written as text, so that
    no id changes, and so are times with microseconds. What a workbook cannot hold is an error that
    names the cell: more than 32,767 characters, NaN and infinity, days before 1900, time zones.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "coded.csv")
    ...     with create_table(path, ["answer", "theta"]) as writer:
    ...         writer.write([("good", 0.25), ("=1+1", None)])
    ...     print(path.read_text(), end="")
    answer,theta
    good,0.25
    '=1+1,
    """
    path = Path(path)
    if str(path) != STANDARD_OUTPUT and path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{path}: the ending {path.suffix!r} is none of those that are written.",
            hint=f"use one of {', '.join(ENDINGS)}",
        )
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is there and is no file.", hint="use another name")
    if not header:
        raise InputError(f"{path}: a table needs at least one column.")
    wrong = [str(name) for name in header if not isinstance(name, str)]
    if wrong:
        raise InputError(f"{path}: names of columns must be text; got {quote_first(wrong)}.")
    return TableWriter(path, header, like, raw)
