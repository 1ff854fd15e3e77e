"""Why a model file is not read, first without and then with its name."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike

from nldd import _wording
from nldd.exceptions import InputError

LONGEST = 80
AGAIN = "Copy or download the file again, or save the model anew."
ORIGIN = "Use a file that nldd wrote, from somebody you know."
MODEL_FIRST = (
    "Name a file that nldd saved, such as model.nldd; the model comes first, then the table."
)
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
    """Text of a file for a message, long enough for the full name of a type."""
    return _wording.quote(text, LONGEST)


def listed(texts: Iterable[str]) -> str:
    """The first few of some texts of a file for a message."""
    return _wording.quote_first(texts, LONGEST)


def told(error: BaseException) -> str:
    """An error of another library in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
