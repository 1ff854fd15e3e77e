"""Estimators of other libraries in one skops file, not looked into before their types are named."""

import re
import warnings
from collections.abc import Sequence
from typing import Any
from zipfile import ZIP_DEFLATED

from nldd.exceptions import InputError
from nldd.persistence._refusal import damaged, in_one_line

TYPE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)


def _type_names(things: Sequence[Any]) -> set[str]:
    return {f"{type(each).__module__}.{type(each).__qualname__}" for each in things}


def dump_skops(estimators: Sequence[Any]) -> tuple[list[str], bytes]:
    """The types that must be named to read estimators, and their skops file."""
    from skops import io as skops_io

    try:
        content: bytes = skops_io.dumps(list(estimators), compression=ZIP_DEFLATED)
        types = _type_names(estimators).union(skops_io.get_untrusted_types(data=content))
    except InputError:  # rows on a cluster, which are sent nowhere
        raise
    except Exception as error:  # whatever an estimator of a third party does when looked into
        raise InputError(
            f"an estimator in it cannot be stored: {in_one_line(error)}",
            hint="Use estimators of scikit-learn or nldd, without functions of your own.",
        ) from error
    return sorted(types), content


def load_skops(content: bytes, types: Sequence[str]) -> list[Any]:
    """The estimators of a skops file, whose types the user has named."""
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    with warnings.catch_warnings():
        # The manifest knows the version too, and one warning is enough.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        found = skops_io.loads(content, trusted=list(types))
    if not isinstance(found, list) or not _type_names(found) <= {*types}:
        raise damaged("its estimators are of other types than it says")
    return found
