"""Why a model file is not read, and what to do about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike

from nldd import _wording
from nldd.exceptions import InputError

# Long enough for the full name of a type.
quote = partial(_wording.quote, longest=80)
quote_first = partial(_wording.quote_first, longest=80)

FETCH_AGAIN = "Fetch the file again from whoever made it, or save the model anew."
KNOWN_SOURCE = "Use a file that nldd wrote, from somebody you know."
MODEL_FIRST = (
    "Name a file that nldd saved, such as model.nldd; the model comes first, then the table."
)


class Refusal(Exception):
    """Something that is not read or written, before it is known in which file it stands."""

    def __init__(self, message: str, hint: str = KNOWN_SOURCE) -> None:
        super().__init__(message)
        self.hint = hint


def damaged(what: str) -> Refusal:
    """The refusal of a file that is not as it was written."""
    return Refusal(f"damaged: {what}", FETCH_AGAIN)


@contextmanager
def naming_file(path: str | PathLike[str], doing: str = "read") -> Iterator[None]:
    """Turn a refusal or a failure of the system within the block into an error naming the file."""
    try:
        yield
    except Refusal as refusal:
        raise InputError(f"{path}: {refusal}.", hint=refusal.hint) from refusal.__cause__
    except OSError as error:
        reason = error.strerror or error
        space = ", and the free space" if doing == "written" else ""
        hint = f"Check the name and the folder of the file{space}."
        raise InputError(f"{path}: cannot be {doing}: {reason}.", hint=hint) from error


def in_one_line(error: BaseException) -> str:
    """An error of another library for a message."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
