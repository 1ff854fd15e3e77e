"""What an experiment does: folds, seeds, methods, their settings and base classifiers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier

from nldd.estimators import METHODS, PlattSVC, linear_machine

Rows = NDArray[np.intp]


BASES = ("logistic", "platt-svc", "platt-linear-svc")
# What methods ask of a base classifier: probabilities or decisions of a label, or classes.
SHAPES = {
    **dict.fromkeys(("BR", "SMBR", "NLDD"), "probabilities"),
    **dict.fromkeys(("CC", "ECC"), "decisions"),
    **dict.fromkeys(("LP", "RAKEL"), "classes"),
}


def base_classifier(base: str, shape: str, seed: int) -> Any:
    """One of the `BASES` in one of the `SHAPES`."""
    if base == "logistic":
        logistic = LogisticRegression(solver="liblinear", random_state=seed)
        # One class against the rest, as for labels: with all classes in one model, scikit-learn's
        # solver stops short of the optimum on features of different scales.
        return OneVsRestClassifier(logistic) if shape == "classes" else logistic
    solver = "libsvm" if base == "platt-svc" else "liblinear"
    machine = PlattSVC if shape == "probabilities" else linear_machine
    return machine(solver=solver, random_state=seed)


@dataclass(frozen=True)
class Shares:
    """The study of one method on growing shares of the training rows of one data set."""

    dataset: str
    method: str
    steps: tuple[float, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """An experiment, as a TOML file says it.

    Attributes
    ----------
    name, title : str
    seed : int
        Decides the folds; fold number k of every method draws from `seed` + k.
    folds, split_from, test_share : int, int, float
        Data sets with fewer than `split_from` rows are cross-validated; others are split once at
        random, with that share of the rows to test on.
    settings : {"default", "paper"}
        Which settings of :data:`nldd.METHODS` the methods have.
    base, large_base : str
        Base classifier below `split_from` rows, and from there on.
    methods : tuple of str
    parameters, large_parameters : dict of dict
        Parameters by method that differ from the settings.
    dataset_parameters : dict of dict of dict
        The same by data set, which come first.
    shares : Shares or None
    """

    name: str
    title: str
    seed: int = 0
    folds: int = 10
    split_from: int = 5000
    test_share: float = 0.25
    settings: str = "default"
    base: str = "logistic"
    large_base: str = "logistic"
    methods: tuple[str, ...] = tuple(METHODS)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    large_parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    dataset_parameters: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    shares: Shares | None = None

    def is_large(self, n_samples: int) -> bool:
        """Whether a data set of so many rows is split once instead of cross-validated."""
        return n_samples >= self.split_from

    def n_folds(self, n_samples: int) -> int:
        """How many pairs of training and test rows there are."""
        return 1 if self.is_large(n_samples) else self.folds

    def split(self, n_samples: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold, the same for all methods."""
        if self.is_large(n_samples):
            cut: Any = ShuffleSplit(1, test_size=self.test_share, random_state=self.seed)
        else:
            cut = KFold(self.folds, shuffle=True, random_state=self.seed)
        return list(cut.split(np.empty((n_samples, 0))))

    def estimator(
        self, method: str, dataset: str, n_samples: int, fold: int, **parameters: Any
    ) -> Any:
        """The estimator of a cell; `parameters` come before those of the protocol."""
        record, large, seed = METHODS[method], self.is_large(n_samples), self.seed + fold
        chosen: dict[str, Any] = {}
        if method in SHAPES:
            base = self.large_base if large else self.base
            chosen["estimator"] = base_classifier(base, SHAPES[method], seed)
        if "random_state" in signature(record.factory).parameters:
            chosen["random_state"] = seed
        chosen |= self.parameters.get(method, {})
        if large:
            chosen |= self.large_parameters.get(method, {})
        chosen |= self.dataset_parameters.get(dataset, {}).get(method, {})
        chosen |= parameters
        if self.settings == "paper":
            return record.as_in_paper(large=large, **chosen)
        return record.default(**chosen)
