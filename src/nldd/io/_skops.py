"""Estimators to and from bytes, through skops; never through pickle."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from nldd.exceptions import NLDDWarning
from nldd.io._compressed import check_npz
from nldd.io._json import read_json
from nldd.io._npy import check_npy
from nldd.io._positions import check_positions
from nldd.io._refusal import SAME_VERSIONS, Refusal, quoted, told
from nldd.io._schema import MAX_DEPTH, ForeignTypes, check_schema
from nldd.io._stored_zip import StoredZip
from nldd.io._tidy import tidy
from nldd.io._trees import plant_trees

SCHEMA = "schema.json"
MAX_SCHEMA = 2**25
MAX_MEMBERS = 100_000
NO_LIMIT = 2**63
OTHER = "Use estimators of scikit-learn or nldd, without functions of your own."


def dump_estimators(estimators: Sequence[Any], name: str) -> bytes:
    """A list of estimators as a skops file, found to be one that can be read again."""
    from skops import io as skops_io

    try:
        check_positions(estimators)
        content = tidy(skops_io.dumps(list(estimators)))
        check_estimators(content, frozenset(), NO_LIMIT)
    except ForeignTypes as foreign:
        wanted = ", ".join(f'"{name}"' for name in sorted(foreign.names))
        warnings.warn(
            f"Estimators {name!r} hold types that nldd does not load by itself; to read the "
            f"model, its users must write load_model(path, trusted=[{wanted}]).",
            NLDDWarning,
            stacklevel=2,
        )
    except Refusal as refusal:
        raise Refusal(f"estimators {name!r} cannot be stored: {refusal}", OTHER) from refusal
    except Exception as error:  # whatever a third party's estimator does when looked into
        raise Refusal(f"estimators {name!r} cannot be stored: {told(error)}", OTHER) from error
    return content


def load_estimators(content: bytes, name: str, trusted: Sequence[str], max_bytes: int) -> list[Any]:
    """The estimators of a skops file that may have come from anybody."""
    types = check_estimators(content, frozenset(trusted), max_bytes)
    from sklearn.exceptions import InconsistentVersionWarning
    from skops import io as skops_io

    try:
        with warnings.catch_warnings():
            # The manifest knows the version too, and one warning is enough.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            estimators = skops_io.loads(content, trusted=sorted(types))
        plant_trees(estimators)
    except Exception as error:  # states that a type does not accept are refused in many ways
        raise Refusal(
            f"estimators {quoted(name)} cannot be rebuilt: {told(error)}", SAME_VERSIONS
        ) from error
    check_positions(estimators)
    return list(estimators)


def check_estimators(content: bytes, trusted: frozenset[str], max_bytes: int) -> frozenset[str]:
    """Check all that can be checked before skops sees the file; the types that it needs."""
    archive = StoredZip(BytesIO(content), MAX_MEMBERS)
    sizes = dict(archive.sizes)
    if sizes.pop(SCHEMA, MAX_SCHEMA + 1) > MAX_SCHEMA:
        raise Refusal(
            "its estimators are too many or no estimators",
            "Keep fewer estimators in one list.",
        )
    schema = read_json(archive.read(SCHEMA), SCHEMA, MAX_SCHEMA, 2 * MAX_DEPTH)
    types = check_schema(schema, sizes, trusted, max_bytes)
    for member in sizes:
        if member.endswith(".npy"):
            check_npy(archive.read(member), member)
        else:
            check_npz(BytesIO(archive.read(member)), member)
    return types
