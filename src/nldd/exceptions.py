"""Errors and warnings that nldd raises by name."""

import sys
from traceback import walk_stack
from warnings import warn


class NLDDError(Exception):
    """Anything that nldd refuses to do: the message says why, the `hint` what to do about it.

    The command line prints both, the hint behind ``Try:``, and stops.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(NLDDError, ValueError):
    """Data or parameters that cannot be used: what was expected, what came, what to do."""


class MissingExtraError(NLDDError, ImportError):
    """An optional dependency is not installed; the message names the command that does."""


class NLDDWarning(UserWarning):
    """Something worth knowing about a fit that went through all the same."""


class SeparationWarning(NLDDWarning):
    """The distances tell right from wrong labels perfectly: no finite likelihood maximum."""


class ZeroWeightWarning(NLDDWarning):
    """One of the two distances got no weight, so the prediction ignores it but for ties."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep inside scikit-learn nldd was called."""
    # From Python 3.12 on, skip_file_prefixes of warnings.warn does this.
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe()))
    # The frames of an import statement are none to `warn`.
    counted = (name for name in modules if not name.startswith("importlib._bootstrap"))
    levels = enumerate((name.partition(".")[0] for name in counted), start=1)
    outside = (level for level, name in levels if name not in {"nldd", "sklearn", "joblib"})
    warn(message, category, stacklevel=next(outside, 1))


def warn_deprecated(old: str, new: str, *, since: str) -> None:
    """Tell the user's line that a name, a parameter or a value is to go, and what to use instead.

    `since` is the version that said so first: for how long the old one works, see the policy in
    ``docs/stability.md``.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     warn_deprecated('order="given"', "order=None", since="0.2.0")
    >>> print(told[0].message)
    order="given" is deprecated since nldd 0.2.0 and will be removed; use order=None.
    """
    message = f"{old} is deprecated since nldd {since} and will be removed; use {new}."
    warn_caller(message, FutureWarning)
