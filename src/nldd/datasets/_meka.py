"""MEKA's way to say which attributes are labels: ``-C n`` in the name of the relation."""

import re

from nldd._wording import quote
from nldd.datasets._label_columns import counted_columns
from nldd.datasets._source import Refusal

_OPTION = re.compile(r"(?<![^\s:])-C(?:\s+(\S*)|$)")
_COUNT = re.compile(r"-?[0-9]{1,18}")


def meka_columns(relation: str, n_attributes: int) -> list[int] | None:
    """Label columns that the relation of a MEKA file names; None if it does not say.

    ``-C 3`` are the first three attributes, ``-C -3`` the last three.

    Examples
    --------
    >>> meka_columns("Slashdot: -C 2 -split-number 1891", 5)
    [0, 1]
    >>> meka_columns("Music: -C -2", 5)
    [3, 4]
    >>> meka_columns("iris", 5) is None
    True
    """
    counts = _OPTION.findall(relation)
    if not counts:
        return None
    if len(counts) > 1:
        raise Refusal(
            f"the relation says -C {len(counts)} times, which happens when a filter has moved the "
            "attributes. Say which ones are labels: labels=3 for the first three, -3 for the last."
        )
    if not _COUNT.fullmatch(counts[0]):
        raise Refusal(
            f"the relation says -C {quote(counts[0])}; expected the number of labels, such as "
            "-C 3 (the first three attributes) or -C -3 (the last three)."
        )
    try:
        return counted_columns(int(counts[0]), n_attributes)
    except Refusal as refusal:
        raise Refusal(f"the relation says -C {counts[0]}: {refusal}") from None
