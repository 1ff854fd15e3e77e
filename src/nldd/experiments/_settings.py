"""An estimator in one line, whole: scikit-learn's own text cuts long lists and lines."""

from inspect import signature
from typing import Any


def settings_text(estimator: Any) -> str:
    """Class and parameters of an estimator, those that are not its defaults.

    Examples
    --------
    >>> from nldd import NLDDClassifier, PlattSVC
    >>> settings_text(NLDDClassifier(PlattSVC(C=2.0), random_state=0))
    'NLDDClassifier(estimator=PlattSVC(C=2.0), random_state=0)'
    """
    if not hasattr(estimator, "get_params"):
        return repr(estimator)
    defaults = signature(type(estimator)).parameters
    chosen = ", ".join(
        f"{name}={settings_text(value)}"
        for name, value in estimator.get_params(deep=False).items()
        if name not in defaults or repr(value) != repr(defaults[name].default)
    )
    return f"{type(estimator).__name__}({chosen})"
