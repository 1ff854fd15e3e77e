"""Training and test rows: in which ways a data set is cut into folds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.model_selection import LeaveOneGroupOut, RepeatedKFold, ShuffleSplit

from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.present.text import count_noun

Rows = NDArray[np.intp]
# The kinds of splits, and what can be said about each.
KINDS: dict[str, tuple[str, ...]] = {
    "k-fold": ("folds",),
    "repeated": ("folds", "repeats"),
    "random": ("splits", "test_share"),
    "stratified": ("folds", "repeats", "order"),
    "given": (),
    "leave-one-group-out": ("groups",),
}


@dataclass(frozen=True)
class Split:
    """How a data set is cut into training and test rows.

    Attributes
    ----------
    kind : {"k-fold", "repeated", "random", "stratified", "given", "leave-one-group-out"}
    folds, repeats : int
        Parts, each of which is tested once; how often the rows are dealt anew.
    splits, test_share : int, float
        How many random splits, each with that share of the rows to test on.
    order : {1, 2}
        Whether labels are dealt evenly, or pairs of labels as well; see :func:`stratified_parts`.
    groups : str or None
        Column of the data set's file that says which rows belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.runner.splits import Split
    >>> from nldd.datasets import Dataset
    >>> songs = Dataset(np.zeros((6, 1)), np.eye(6, dtype=int), list("abcdef"), name="songs")
    >>> split = Split("k-fold", folds=3)
    >>> [(len(train), len(test)) for train, test in split.rows(songs, seed=0)]
    [(4, 2), (4, 2), (4, 2)]
    >>> split.cut(songs)["split"]
    '3-fold cross-validation'
    """

    kind: str = "k-fold"
    folds: int = 10
    repeats: int = 1
    splits: int = 1
    test_share: float = 0.25
    order: int = 1
    groups: str | None = None

    def rows(self, dataset: Dataset, seed: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold, decided by the data set and the seed alone."""
        n_samples, rows = dataset.n_samples, count_noun(dataset.n_samples, "row")
        if "folds" in KINDS[self.kind] and n_samples < self.folds:
            advice = " Use a protocol with fewer folds." if n_samples > 1 else ""
            raise InputError(f"{dataset.name} has {rows}, too few for {self.folds} folds.{advice}")
        if self.kind == "given":
            return [_given_rows(dataset)]
        if self.kind == "stratified":
            return list(self._stratified(dataset.Y, seed))
        if self.kind == "leave-one-group-out":
            return list(LeaveOneGroupOut().split(dataset.Y, groups=_groups(dataset)))
        cut: Any = RepeatedKFold(n_splits=self.folds, n_repeats=self.repeats, random_state=seed)
        if self.kind == "random":
            cut = ShuffleSplit(self.splits, test_size=self.test_share, random_state=seed)
            if np.ceil(self.test_share * n_samples) >= n_samples:
                raise InputError(
                    f"{dataset.name} has {rows}, and a share of {self.test_share:g} to test on "
                    "leaves none to train on. Use more rows or a smaller test_share."
                )
        return list(cut.split(np.empty((n_samples, 0))))

    def _stratified(self, Y: Any, seed: int) -> Iterator[tuple[Rows, Rows]]:
        rng = np.random.RandomState(seed)
        for _ in range(self.repeats):
            parts = stratified_parts(Y, self.folds, rng, self.order)
            for part in range(self.folds):
                yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)

    def cut(self, dataset: Dataset) -> dict[str, Any]:
        """How the folds are cut: their number, in words, and whether each row is tested once."""
        n_folds, n_rounds = self.folds * self.repeats, self.repeats
        text = f"{self.folds}-fold cross-validation"
        if self.repeats > 1:
            text = f"{count_noun(self.repeats, 'repetition')} of {text}"
        if self.kind == "stratified":
            text += ", stratified by " + ("labels" if self.order == 1 else "pairs of labels")
        elif self.kind == "random":
            n_folds = n_rounds = self.splits
            test = round(100 * self.test_share)
            text = f"{count_noun(self.splits, 'random split')}, {100 - test}/{test}"
        elif self.kind == "given":
            train, test_rows = _given_rows(dataset)
            n_folds, text = 1, f"given split, {len(train):,} and {len(test_rows):,} rows"
        elif self.kind == "leave-one-group-out":
            n_folds = len(np.unique(_groups(dataset)))
            text = f"leave one group out, {n_folds:,} groups"
        return {"n_folds": n_folds, "split": text, "disjoint": n_rounds == 1}


def _given_rows(dataset: Dataset) -> tuple[Rows, Rows]:
    rows = dataset.given_split
    if rows is None:
        raise InputError(
            f"{dataset.name} came without a split into training and test rows. Name the files "
            f"such as {dataset.name}-train.csv and {dataset.name}-test.csv, or choose another "
            f"kind of split for it: [datasets.{dataset.name}.split]"
        )
    return rows


def _groups(dataset: Dataset) -> NDArray[Any]:
    if dataset.groups is None:
        raise InputError(
            f"{dataset.name} has no groups to leave out. Say in the protocol which column of its "
            f'file has them, such as groups = "speaker", or choose another kind of split for it: '
            f"[datasets.{dataset.name}.split]"
        )
    if any(group is None or group != group for group in dataset.groups):
        raise InputError(f"Some rows of {dataset.name} have no group. Each row needs one.")
    if len(np.unique(dataset.groups)) < 2:
        raise InputError(f"All rows of {dataset.name} are of one group; two are needed at least.")
    return dataset.groups


def stratified_parts(
    Y: Any, n_parts: int, rng: np.random.RandomState, order: int = 1
) -> NDArray[np.intp]:
    """Number of the part that each row goes to, by iterative stratification.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
    n_parts : int
    rng : RandomState
        Deals the rows, and decides ties.
    order : {1, 2}, default=1
        1 deals labels evenly [1]_; 2 also pairs of labels that occur together [2]_.

    Returns
    -------
    ndarray of shape (n_samples,), of numbers from 0 to n_parts - 1

    Notes
    -----
    The label (or pair) that the fewest of the rows left carry comes first, because it is the one
    that can be dealt least evenly later. Each of its rows goes to the part that has the fewest rows
    of that label; if there are several, to the smallest of them; then by chance. Rows without any
    label come last and go to the smallest part. All parts shall be of the same size, so the part
    that still wants the most rows, as the papers have it, is the one that has the fewest.

    References
    ----------
    .. [1] Sechidis, Tsoumakas and Vlahavas (2011). On the stratification of multi-label data. ECML
       PKDD.
    .. [2] Szymański and Kajdanowicz (2017). A network perspective on stratification of multi-label
       data. PMLR 74.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.runner.splits import stratified_parts
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> parts = stratified_parts(Y, 2, np.random.RandomState(0))
    >>> [Y[parts == part].sum(axis=0).tolist() for part in (0, 1)]
    [[2, 1], [2, 1]]
    """
    shuffled = rng.permutation(len(Y))
    carried = csr_array(np.asarray(Y)[shuffled] != 0).astype(np.intp)
    if order == 2:
        carried = hstack([carried, _pairs(carried)], format="csr")
    # The first of several that are equally rare is taken, so their order is a matter of chance.
    carried = csr_array(carried[:, rng.permutation(carried.shape[1])])
    by_label = carried.tocsc()
    n_left = np.asarray(carried.sum(axis=0)).ravel()
    dealt = np.zeros((carried.shape[1], n_parts), dtype=np.intp)
    sizes = np.zeros(n_parts, dtype=np.intp)
    parts = np.full(len(shuffled), -1, dtype=np.intp)

    def deal(row: int, label: int | None) -> None:
        wanted = sizes if label is None else dealt[label]
        part = np.lexsort((rng.random_sample(n_parts), sizes, wanted))[0]
        labels = carried.indices[carried.indptr[row] : carried.indptr[row + 1]]
        dealt[labels, part] += 1
        n_left[labels] -= 1
        sizes[part] += 1
        parts[row] = part

    while n_left.any():
        label = int(np.where(n_left > 0, n_left, len(parts) + 1).argmin())
        rows = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        for row in np.sort(rows[parts[rows] < 0]):
            deal(int(row), label)
    for row in np.flatnonzero(parts < 0):
        deal(int(row), None)
    found = np.empty_like(parts)
    found[shuffled] = parts
    return found


def _pairs(carried: csr_array) -> csr_array:
    """Which pairs of labels each row carries, of those that occur."""
    first, second = np.nonzero(np.triu((carried.T @ carried).toarray(), k=1))
    by_label = carried.tocsc()
    return csr_array(by_label[:, first].multiply(by_label[:, second]))
