"""Why a model file is not read, first without and then with its name."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike

from nldd.exceptions import InputError

AGAIN = "Copy or download the file again, or save the model anew."
ORIGIN = "Use a file that nldd wrote, from somebody you know."
SAME_VERSIONS = (
    "Install the versions of scikit-learn and numpy that the model was saved with, "
    "see nldd.io.read_manifest."
)


class Refusal(Exception):
    """Something that is not read or written, before it is known in which file it stands."""

    def __init__(self, message: str, hint: str = ORIGIN) -> None:
        super().__init__(message)
        self.hint = hint


def damaged(what: str) -> Refusal:
    """The refusal of a file that is not as it was written."""
    return Refusal(f"damaged: {what}", AGAIN)


def unlike_checksum(name: str) -> Refusal:
    """The refusal of a member whose bytes have changed."""
    return damaged(f"member {quoted(name)} does not match its checksum")


@contextmanager
def refusals_of(path: str | PathLike[str]) -> Iterator[None]:
    """Turn a refusal within the block into the error that names the file."""
    try:
        yield
    except Refusal as refusal:
        raise InputError(f"{path}: {refusal}.", hint=refusal.hint) from refusal.__cause__


def quoted(text: str) -> str:
    """Text of a file for a message: control characters visible, not too long."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def listed(texts: Iterable[str]) -> str:
    """The first few of some texts for a message."""
    few = [quoted(text) for text in islice(texts, 6)]
    return ", ".join(few[:5]) + ", ..." * (len(few) > 5)


def told(error: BaseException) -> str:
    """An error of another library in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
