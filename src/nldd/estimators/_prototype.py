"""Unfitted copies of a base classifier, each with a seed of its own."""

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone


def draw_seed(rng: np.random.RandomState) -> int:
    """A seed for one base classifier."""
    return int(rng.randint(np.iinfo(np.int32).max))


class Prototype:
    """An estimator to make unfitted copies of, each with a seed of its own.

    scikit-learn's `clone` inspects signatures, which for small data takes as long as the fit.
    Here that is done once, for all labels.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = clone(estimator)
        # Every random_state that was left at None, those of nested estimators included.
        self.seed_names = [
            name
            for name, value in self.estimator.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]

    def copy(self, seed: int) -> Any:
        """An unfitted copy."""
        model = deepcopy(self.estimator)
        if self.seed_names == ["random_state"]:
            model.random_state = int(seed)
        elif self.seed_names:
            model.set_params(**dict.fromkeys(self.seed_names, int(seed)))
        return model
