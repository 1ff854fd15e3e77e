"""Why a model file is not read, and what to do about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from nldd._wording import printable
from nldd.exceptions import InputError

FETCH_AGAIN = "Fetch the file again from whoever made it, or fit and save the model anew."


def damaged(what: str) -> InputError:
    """The refusal of a file that is not as it was written."""
    return InputError(f"damaged: {what}", hint=FETCH_AGAIN)


def refusal_of(error: Exception, place: str = "it") -> InputError:
    """The refusal that an error leads to; what nobody foresaw is damage."""
    if isinstance(error, InputError):
        return error
    if isinstance(error, MemoryError):
        return InputError("takes more memory than there is", hint="Free some memory.")
    return damaged(f"{place} cannot be read ({in_one_line(error)})")


@contextmanager
def naming_file(path: str | PathLike[str], doing: str = "read") -> Iterator[None]:
    """Let refusals and failures of the system within the block name the file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}.", hint=error.hint) from error.__cause__
    except OSError as error:
        reason, hint = error.strerror or error, "Check the name, the folder and the free space."
        raise InputError(f"{path}: cannot be {doing}: {reason}.", hint=hint) from error


def in_one_line(error: Exception) -> str:
    """An error of another library for a message."""
    return f"{type(error).__name__}: {printable(' '.join(str(error).split()))[:200]}"
