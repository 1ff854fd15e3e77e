"""What coded answers look like."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Summary:
    """Counts of coded answers.

    Attributes
    ----------
    labels : dict of str to int
        How many answers carry each code.
    cardinality : float
        Codes an answer.
    n_labelsets, n_seen_once, n_without_code : int
        Distinct combinations of codes, those seen once, and answers to which no code applies.
    """

    labels: dict[str, int]
    cardinality: float
    n_labelsets: int
    n_seen_once: int
    n_without_code: int


def summarise(labels: Sequence[str], Y: NDArray[np.int8]) -> Summary:
    """Counts of answers that carry the codes `labels` as `Y` says."""
    counts = Y.sum(axis=0).tolist()
    _, times = np.unique(Y, axis=0, return_counts=True)
    sizes = Y.sum(axis=1)
    return Summary(
        dict(zip(labels, counts, strict=True)),
        float(sizes.mean()),
        len(times),
        int((times == 1).sum()),
        int((sizes == 0).sum()),
    )
