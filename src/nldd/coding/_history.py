"""What happened to a model, kept in it."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path

from nldd import __version__
from nldd.exceptions import InputError

UPDATED = (
    "The model has learned from an update. If its answers were those left over for people, they "
    "are harder than new ones will be, and the promise is not exact."
)


@dataclass(frozen=True)
class Event:
    """One step in the life of a model.

    Attributes
    ----------
    action : "fit" or "update"
    time : str
        In UTC.
    file : str
        Name of the file that the answers came from.
    sha256 : str
        Of that file.
    n_added, n_set_aside : int
        Coded answers that joined the model, and rows without codes.
    n_answers, n_labels, n_labelsets : int
        Of the model after the step.
    subset_accuracy, hamming_accuracy : float
        Of the model after the step, by cross-validation.
    version : str
        Of nldd.
    """

    action: str
    time: str
    file: str
    sha256: str
    n_added: int
    n_set_aside: int
    n_answers: int
    n_labels: int
    n_labelsets: int
    subset_accuracy: float
    hamming_accuracy: float
    version: str = __version__


def now() -> str:
    """The time in UTC; SOURCE_DATE_EPOCH sets it, so that a run can be repeated exactly."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"SOURCE_DATE_EPOCH must be seconds since 1970; got {epoch!r}.",
            hint="unset SOURCE_DATE_EPOCH, or set it to a whole number",
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def checksum(path: Path) -> str:
    """Sha256 of a file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
