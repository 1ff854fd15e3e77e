"""Numbers from 0 to 1, checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.exceptions import InputError


def as_shares(name: str, values: Any, length: int | None = None) -> NDArray[np.float64]:
    """So many numbers from 0 to 1, or any number of them but none."""
    try:
        shares = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers from 0 to 1; got {values!r:.40}.") from None
    if shares.ndim != 1 or not len(shares) or len(shares) != (length or len(shares)):
        raise InputError(
            f"{name} must be a list of {length or 'one or more'} numbers from 0 to 1; "
            f"got shape {shares.shape}."
        )
    wrong = np.flatnonzero(~((shares >= 0) & (shares <= 1)))
    if len(wrong):
        raise InputError(
            f"{name} must hold numbers from 0 to 1; got {shares[wrong[0]]:g} at position "
            f"{wrong[0]}.",
            hint="give shares rather than percentages, and no missing values.",
        )
    return shares
