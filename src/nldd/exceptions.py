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
    """An optional dependency is not installed; the message ends with the command that installs it.

    It comes with the `extra` of nldd of that name, or by the `hint` where no extra has it.
    """

    def __init__(self, message: str = "", *, extra: str = "", hint: str = "") -> None:
        command = f'pip install "nldd[{extra}]"' if extra else hint
        # A copy from another process gets the whole message and nothing else.
        super().__init__(f"{message} Run: {command}" if command else message, hint=command)
        self.extra = extra


class NLDDWarning(UserWarning):
    """Something worth knowing about a fit that went through all the same."""


class SeparationWarning(NLDDWarning):
    """The distances tell right from wrong labels perfectly: no finite likelihood maximum."""


class ZeroWeightWarning(NLDDWarning):
    """One of the two distances got no weight, so the prediction ignores it but for ties."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep inside scikit-learn nldd was called."""
    # From Python 3.12 on, skip_file_prefixes of warnings.warn does this.
    packages = (
        frame.f_globals.get("__name__", "").partition(".")[0]
        for frame, _ in walk_stack(sys._getframe())
    )
    levels = enumerate(packages, start=1)
    outside = (level for level, name in levels if name not in {"nldd", "sklearn", "joblib"})
    warn(message, category, stacklevel=next(outside, 1))
