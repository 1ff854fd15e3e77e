"""What is measured on a data set: its size, its labels, and how unequal they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.bench.datasets.catalogue import align_facts, counts
from nldd.datasets import Dataset, labelset_counts
from nldd.present.table import Table, tabulate
from nldd.present.text import count_noun, percent, visible

# What a data set says of itself.
_OWN_FACTS = ("name", "n_samples", "n_features", "n_labels", "n_train", "cardinality")


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts measured on a data set.

    Attributes
    ----------
    name : str
    n_samples, n_features, n_labels, n_labelsets : int
    n_binary : int
        Features that are 0 or 1 in every row.
    sparse, text : bool
        Whether the features are kept as a sparse array; whether they are texts.
    n_missing : int
        Feature values that are missing (NaN), or empty texts.
    n_train : int or None
        Rows that were given for training; None without a given split.
    cardinality, density : float
        Mean number of labels that a row carries; the same divided by the number of labels.
    distinct : float
        Number of distinct labelsets divided by that of the rows (PDIV).
    n_single : int
        Labelsets that occur once.
    seen_once, unlabelled : float
        Shares of the rows whose labelset no other row has, and of those that carry no label.
    n_absent : int
        Labels that no row carries. They are left out of the next four.
    mean_ir, max_ir, cv_ir : float
        Mean, maximum and coefficient of variation over the labels of the imbalance ratio: how many
        times as often as the label the most frequent label occurs. NaN without any label.
    scumble : float
        Mean over the rows of how unequal the imbalance ratios of their labels are.
    tcs : float
        Theoretical complexity: the logarithm of features times labels times labelsets. NaN for
        texts.
    frequent : tuple of (str, float)
        The most frequent labels with the shares of the rows that carry them.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench import describe
    >>> from nldd.datasets import Dataset
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [0, 0]])
    >>> facts = describe(Dataset(np.zeros((4, 1)), Y, ["a", "b"]))
    >>> facts.cardinality, facts.n_labelsets, facts.unlabelled, facts.max_ir
    (1.0, 3, 0.25, 3.0)
    >>> print(facts)
      rows             4
      features         1 (all 0 or 1)
      labels           2
      labels a row     1.00 (cardinality)
      labelsets        3 distinct
      density          0.500 (labels a row / labels)
      distinct         0.750 (labelsets / rows, PDIV)
      seen once        50.0 % of the rows have a labelset of their own
      no label         25.0 % of the rows
      imbalance        MeanIR 2.000, MaxIR 3.000, CVIR 0.707
      SCUMBLE          0.0335 (frequent labels beside rare ones)
      TCS              1.792 (ln of features x labels x labelsets)
      missing values   0 in the features
      frequent labels  a 75.0 %, b 25.0 %
    """

    name: str
    n_samples: int
    n_features: int
    n_binary: int
    n_labels: int
    sparse: bool
    text: bool
    n_missing: int
    n_train: int | None
    cardinality: float
    density: float
    n_labelsets: int
    distinct: float
    n_single: int
    seen_once: float
    unlabelled: float
    n_absent: int
    mean_ir: float
    max_ir: float
    cv_ir: float
    scumble: float
    tcs: float
    frequent: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """One line a fact, with what it means."""
        missing = "empty texts" if self.text else "in the features"
        frequent = (f"{visible(name)} {percent(share, 1)}" for name, share in self.frequent)
        measured = {
            "density": f"{self.density:.3f} (labels a row / labels)",
            "distinct": f"{self.distinct:.3f} (labelsets / rows, PDIV)",
            "seen once": f"{percent(self.seen_once, 1)} of the rows have a labelset of their own",
            "no label": f"{percent(self.unlabelled, 1)} of the rows",
            "imbalance": self._imbalance(),
            "SCUMBLE": f"{self.scumble:.4f} (frequent labels beside rare ones)",
            "TCS": f"{self.tcs:.3f} (ln of features x labels x labelsets)",
            "missing values": f"{self.n_missing} {missing}",
            "frequent labels": ", ".join(frequent),
        }
        if self.text:
            del measured["TCS"]
        split = {}
        if self.n_train is not None:
            n_test = self.n_samples - self.n_train
            split = {"given split": f"{self.n_train} rows to train on, {n_test} to test on"}
        return align_facts(counts(self, self._kind()) | split | measured)

    def _kind(self) -> str:
        """What the features are."""
        kinds = ["texts"] * self.text + ["sparse"] * self.sparse
        if self.n_binary:
            some = f"{self.n_binary} of them" if self.n_binary < self.n_features else "all"
            kinds.append(f"{some} 0 or 1")
        return f" ({', '.join(kinds)})" if kinds else ""

    def _imbalance(self) -> str:
        if self.n_absent == self.n_labels:
            return "no row has a label"
        ratios = f"MeanIR {self.mean_ir:.3f}, MaxIR {self.max_ir:.3f}, CVIR {self.cv_ir:.3f}"
        left_out = f"; {count_noun(self.n_absent, 'label')} without rows left out"
        return ratios + left_out * bool(self.n_absent)

    def remarks(self) -> Iterator[str]:
        """What a reader of a table should know beside its numbers."""
        if self.text:
            yield "Texts, of which features are made inside of the folds."
        if self.n_missing:
            what = "empty text" if self.text else "missing value"
            yield f"{count_noun(self.n_missing, what)}."
        if self.n_absent:
            yield f"{count_noun(self.n_absent, 'label')} without rows left out of the IR."


def describe(dataset: Dataset, n_frequent: int = 5) -> Facts:
    """Measure a data set.

    Parameters
    ----------
    dataset : Dataset
    n_frequent : int, default=5
        How many of the most frequent labels to name.

    Returns
    -------
    Facts

    Notes
    -----
    The imbalance ratio of a label is the number of rows of the most frequent label, divided by its
    own. SCUMBLE [1]_ of a row is 1 minus the geometric mean over the arithmetic mean of the ratios
    of its labels, and 0 of a row without labels: high where frequent labels stand beside rare ones.
    TCS [2]_ is the natural logarithm of features times labels times distinct labelsets.

    References
    ----------
    .. [1] Charte, Rivera, del Jesus and Herrera (2014). Concurrence among imbalanced labels and its
       influence on multilabel resampling algorithms. HAIS.
    .. [2] Charte, Rivera, del Jesus and Herrera (2016). On the impact of dataset complexity and
       sampling strategy in multilabel classifiers performance. HAIS.

    Examples
    --------
    >>> from nldd import load_yeast
    >>> from nldd.bench import describe
    >>> facts = describe(load_yeast(), n_frequent=1)
    >>> facts.n_labelsets, facts.frequent[0][0]
    (198, 'Class12')
    >>> print(f"MeanIR {facts.mean_ir:.3f}, SCUMBLE {facts.scumble:.4f}, TCS {facts.tcs:.3f}")
    MeanIR 7.197, SCUMBLE 0.1044, TCS 12.562
    """
    counts = labelset_counts(dataset.Y)
    shares = (dataset.Y != 0).mean(axis=0)
    order = np.argsort(-shares, kind="stable")[:n_frequent].tolist()
    size = dataset.n_features * dataset.n_labels * len(counts)
    return Facts(
        **{name: getattr(dataset, name) for name in _OWN_FACTS},
        **_imbalance(dataset.Y != 0),
        n_binary=_count_binary(dataset),
        sparse=issparse(dataset.X),
        text=dataset.is_text,
        n_missing=_count_missing(dataset),
        density=dataset.cardinality / dataset.n_labels,
        n_labelsets=len(counts),
        distinct=len(counts) / dataset.n_samples,
        n_single=int((counts == 1).sum()),
        seen_once=float((counts == 1).sum() / dataset.n_samples),
        unlabelled=float(1 - dataset.Y.any(axis=1).mean()),
        n_absent=int((shares == 0).sum()),
        tcs=np.nan if dataset.is_text else log(size),
        frequent=tuple((dataset.label_names[j], float(shares[j])) for j in order),
    )


def _imbalance(carried: NDArray[np.bool_]) -> dict[str, Any]:
    """MeanIR, MaxIR, CVIR and SCUMBLE; see :func:`describe`."""
    counts = carried.sum(axis=0)
    present = counts > 0
    if not present.any():
        return dict.fromkeys(("mean_ir", "max_ir", "cv_ir"), np.nan) | {"scumble": 0.0}
    ratios = counts.max() / counts[present]
    # Charte's deviation divides by one less than the number of labels.
    deviation = float(ratios.std(ddof=1)) if len(ratios) > 1 else 0.0
    rows = carried[carried.any(axis=1)][:, present].astype(float)
    n_labels = rows.sum(axis=1)
    # By logarithms, since the product of hundreds of ratios exceeds the largest float.
    geometric = np.exp(rows @ np.log(ratios) / n_labels)
    # Rounding may leave the two means of equal ratios a little apart.
    unequal = np.maximum(0, 1 - geometric / (rows @ ratios / n_labels))
    mean, scumble = float(ratios.mean()), float(unequal.sum() / len(carried))
    found = {"mean_ir": mean, "max_ir": float(ratios.max()), "cv_ir": deviation / mean}
    return found | {"scumble": scumble}


def _count_missing(dataset: Dataset) -> int:
    if dataset.is_text:
        return sum(not text.strip() for text in dataset.X)
    return int(np.isnan(dataset.X.data if issparse(dataset.X) else dataset.X).sum())


def _count_binary(dataset: Dataset) -> int:
    """How many features are 0 or 1 throughout, where they are not missing."""
    X = dataset.X
    if dataset.is_text:
        return 0
    if issparse(X):
        other = (X.data != 1) & (X.data != 0) & ~np.isnan(X.data)
        return dataset.n_features - len(np.unique(X.indices[other]))
    return int(((X == 0) | (X == 1) | np.isnan(X)).all(axis=0).sum())


# Columns of the table of data sets: the fact below each head, and how it is printed.
_COLUMNS = {
    "Data set": ("name", ""),
    "Rows": ("n_samples", "d"),
    "Features": ("n_features", "d"),
    "Labels": ("n_labels", "d"),
    "Card.": ("cardinality", ".3f"),
    "Dens.": ("density", ".3f"),
    "Labelsets": ("n_labelsets", "d"),
    "PDIV": ("distinct", ".3f"),
    "Single": ("n_single", "d"),
    "MeanIR": ("mean_ir", ".3f"),
    "MaxIR": ("max_ir", ".3f"),
    "CVIR": ("cv_ir", ".3f"),
    "SCUMBLE": ("scumble", ".4f"),
    "TCS": ("tcs", ".3f"),
}
_LEGEND = (
    "Card.: labels a row; Dens.: the same over the number of labels; PDIV: distinct labelsets over "
    "rows; Single: labelsets of one row; IR of a label: how many times as often as the label the "
    "most frequent label occurs (mean, maximum, coefficient of variation); SCUMBLE: how unequal "
    "the IR of the labels of a row are; TCS: ln(features x labels x labelsets)."
)


def datasets_table(described: Mapping[str, tuple[Facts, Sequence[str]]]) -> Table:
    """What reviewers ask about data sets, with the facts and the notes of each by its name."""
    facts = [of for of, _ in described.values()]
    columns = {head: partial(_cell, fact, form) for head, (fact, form) in _COLUMNS.items()}
    remarks = [f"{of.name}: {remark}" for of in facts for remark in of.remarks()]
    notes = [f"{name}: {note}" for name, (_, told) in described.items() for note in told]
    table = tabulate("datasets", "Data sets", facts, columns, _LEGEND, *remarks, *notes)
    plain = tuple(field.name for field in fields(Facts) if field.name != "frequent")
    rows = tuple(tuple(getattr(of, fact) for fact in plain) for of in facts)
    return replace(table, data_head=plain, data=rows)


def _cell(fact: str, form: str, facts: Facts) -> str:
    value = getattr(facts, fact)
    is_unknown = value != value or (facts.text and fact == "n_features")
    return "-" if is_unknown else format(value, form)
