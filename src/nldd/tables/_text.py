"""A text file whose encoding is known, and how far it has been read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path


@dataclass(frozen=True)
class TextFile:
    """A text file whose encoding is known to fit.

    Attributes
    ----------
    path : Path
    encoding : str
        Of what comes after the byte order mark.
    mark : bytes
        The byte order mark, if there is one.
    errors : str
        What becomes of bytes that do not fit.
    notes : tuple of str
    """

    path: Path
    encoding: str
    mark: bytes = b""
    errors: str = "strict"
    notes: tuple[str, ...] = ()

    def open(self) -> TextIOWrapper:
        """The text from its first character on, with its line ends as they are."""
        stream = self.path.open("rb")
        stream.seek(len(self.mark))
        return TextIOWrapper(stream, encoding=self.encoding, errors=self.errors, newline="")


class Reading:
    """The latest reading of a text file, and how far it has come."""

    def __init__(self, text: TextFile) -> None:
        self._text = text
        self._n_bytes = max(1, text.path.stat().st_size)
        self._stream: TextIOWrapper | None = None
        self._position = 0

    @contextmanager
    def opened(self) -> Iterator[TextIOWrapper]:
        """The text from its first character on."""
        with self._text.open() as stream:
            self._stream = stream
            try:
                yield stream
            finally:
                self._position = self.position()
                self._stream = None

    def position(self) -> int:
        """Number of bytes read, with those that wait for their turn."""
        if self._stream is None:
            return self._position
        position: int = self._stream.buffer.tell()  # type: ignore[attr-defined]
        return position

    def fraction(self) -> float:
        """How much of the file has been read."""
        return min(1.0, self.position() / self._n_bytes)
