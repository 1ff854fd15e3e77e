"""Errors and warnings that nldd raises by name."""

import sys
from traceback import walk_stack
from warnings import warn


class NLDDError(Exception):
    """Base of all errors that nldd raises.

    The message says what is wrong, the `hint` what to do about it. The command line prints both,
    the hint after ``Try:``, and stops.

    Parameters
    ----------
    message, hint : str

    Examples
    --------
    >>> from nldd import NLDDError
    >>> error = NLDDError("The table has no answers.", hint="name another column of text.")
    >>> print(f"{error} Try: {error.hint}")
    The table has no answers. Try: name another column of text.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(NLDDError, ValueError):
    """Data or parameters that cannot be used; the message says what was expected and what to do.

    Examples
    --------
    >>> from nldd import BinaryRelevance
    >>> from nldd import InputError
    >>> BinaryRelevance().fit([[0.0], [1.0]], [[0, 2], [1, 1]])
    Traceback (most recent call last):
        ...
    nldd.exceptions.InputError: Y must hold only 0 and 1; label column 1 holds 1, 2. Give one 0/1
    column per label (array, sparse matrix or frame), or a list with one set of label names per row.

    It is a ValueError too:

    >>> issubclass(InputError, ValueError)
    True
    """


class MissingExtraError(NLDDError, ImportError):
    """An optional dependency is not installed; the message ends with the command that installs it.

    Parameters
    ----------
    message : str
        What needs it.
    extra : str, optional
        The extra of nldd that contains it.

    Examples
    --------
    It is an ImportError too:

    >>> from nldd import MissingExtraError
    >>> try:
    ...     raise MissingExtraError("GEE needs statsmodels.", extra="gee")
    ... except ImportError as error:
    ...     print(error)
    GEE needs statsmodels. Run: pip install "nldd[gee]"
    """

    def __init__(self, message: str = "", *, extra: str = "") -> None:
        command = f'pip install "nldd[{extra}]"' if extra else ""
        # A copy from another process gets the whole message and nothing else.
        super().__init__(f"{message} Run: {command}" if command else message, hint=command)
        self.extra = extra


class NLDDWarning(UserWarning):
    """A fit that succeeded, but with a result that may surprise.

    Examples
    --------
    >>> import warnings
    >>> from nldd import BinaryRelevance
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = BinaryRelevance().fit([[0.0], [1.0]], ["sad,quiet", "sad"])
    >>> print(caught[0].message)
    Labels such as 'sad,quiet' are taken as one class each. If they list several labels, pass lists:
    [text.split(',') for text in y].
    """


class SeparationWarning(NLDDWarning):
    """The distances separate right from wrong labels perfectly: no finite likelihood maximum.

    The counts of wrong labels are smoothed slightly, so that the weights stay finite.

    Examples
    --------
    No label is wrong in any of these pairs:

    >>> import warnings
    >>> import numpy as np
    >>> from nldd.regression._regression import Pairs, fit_regression
    >>> one, i = np.ones(4), np.arange(4)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fit = fit_regression(Pairs(one, one, 0 * i, 5, i, i, one))
    >>> print(caught[0].category.__name__, fit.separated)
    SeparationWarning True
    """


class ZeroWeightWarning(NLDDWarning):
    """One of the two distances has weight 0, so it only breaks ties between predictions.

    Examples
    --------
    The farther apart in features these pairs are, the fewer labels are wrong:

    >>> import warnings
    >>> import numpy as np
    >>> from nldd.regression._regression import Pairs, fit_regression
    >>> i, Dy = np.arange(6), np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    >>> errors = np.array([3, 5, 2, 4, 1, 3])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fit = fit_regression(Pairs(1.0 * i, Dy, errors, 8, i, i, np.ones(6)))
    >>> print(caught[0].category.__name__, fit.fixed)
    ZeroWeightWarning ('Dx (features)',)
    """


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep inside scikit-learn nldd is called."""
    # From Python 3.12 on, skip_file_prefixes of warnings.warn does this.
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe()))
    levels = enumerate((name.partition(".")[0] for name in modules), start=1)
    outside = (level for level, name in levels if name not in {"nldd", "sklearn", "joblib"})
    warn(message, category, stacklevel=next(outside, 1))
