"""What the coded answers of a model look like."""

from dataclasses import dataclass

import numpy as np

from nldd.coding._model import CodingModel


@dataclass(frozen=True)
class Summary:
    """Counts of a model's coded answers.

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


def summarise(model: CodingModel) -> Summary:
    """Counts of a model's coded answers."""
    counts = model.Y.sum(axis=0).tolist()
    _, times = np.unique(model.Y, axis=0, return_counts=True)
    sizes = model.Y.sum(axis=1)
    return Summary(
        dict(zip(model.labels, counts, strict=True)),
        float(sizes.mean()),
        len(times),
        int((times == 1).sum()),
        int((sizes == 0).sum()),
    )
