"""Ensemble of classifier chains: resampled rows, random orders, one vote each."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from nldd._base import Training
from nldd._parallel import delayed, do_all
from nldd._sklearn import Interval, StrOptions, validate_parameters
from nldd.estimators._base_choice import WithWorkers
from nldd.estimators._classifier_chain import WithChainEstimator, fit_chain, predict_chain
from nldd.estimators._label_models import (
    PredictsFromScores,
    draw_seed,
    draw_share,
    fits_all_labels,
    take_columns,
)


@dataclass(frozen=True, eq=False)
class Member:
    """One chain: its order, its links, its features, and its rows among those with weight."""

    order: NDArray[np.intp]
    links: list[Any]
    features: NDArray[np.intp]
    rows: NDArray[np.intp]

    def votes(self, X: Any) -> NDArray[np.int8]:
        """Labels that the chain predicts."""
        X = take_columns(X, self.features)
        return predict_chain(self.links, self.order, X, with_probabilities=False)[0]


def weigh_rows(T: Training, rows: NDArray[np.intp]) -> Training:
    """Each of the `rows` once, with a weight for how often it was drawn."""
    distinct, counts = np.unique(rows, return_counts=True)
    part = T[distinct]
    weight = counts if part.sample_weight is None else counts * part.sample_weight
    return replace(part, sample_weight=weight.astype(np.float64))


class EnsembleOfChains(PredictsFromScores, WithChainEstimator, WithWorkers):
    """Chains in random orders on resampled rows, which vote on every label (ECC).

    Parameters
    ----------
    estimator : classifier, default=None, as in :class:`nldd.ClassifierChain`
    n_members : int, default=10, the number of chains
    bootstrap : bool, default=True, whether rows are drawn with replacement
    row_fraction : float in (0, 1], default=1.0, the share of the rows drawn for each member
    feature_fraction : float in (0, 1], default=1.0, the share of the features drawn for each
    order : {"random", "given"}, default="random"; "given" is that of the columns
    threshold : {"majority", "cardinality"}, default="majority"
        At least half of the votes, or the share at which training rows get as many labels on
        average as they have, judged by the members that did not see them.
    n_jobs, random_state, verbose : as in BinaryRelevance, with members for labels

    Attributes
    ----------
    estimators_ : list of Member
    threshold_ : float, the share of votes that a label needs
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    With v_l of the m members voting for label l, the label is predicted iff ``v_l / m >= 1/2``
    (five of ten count), and ``v_l / m`` is its probability. See :class:`nldd.ClassifierChain`.

    Examples
    --------
    >>> from nldd import EnsembleOfChains, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = EnsembleOfChains(n_members=5, random_state=0).fit(X[:300], Y[:300])
    >>> model.predict_proba(X[300:301])[0, :4]
    array([0. , 0. , 0.6, 0.6])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **WithWorkers._parameter_constraints,
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "row_fraction": [Interval(Real, 0, 1, closed="right")],
        "feature_fraction": [Interval(Real, 0, 1, closed="right")],
        "order": [StrOptions({"random", "given"})],
        "threshold": [StrOptions({"majority", "cardinality"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_members: int = 10,
        bootstrap: bool = True,
        row_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        order: str = "random",
        threshold: str = "majority",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(estimator, n_jobs, random_state, verbose)
        self.n_members = n_members
        self.bootstrap = bootstrap
        self.row_fraction = row_fraction
        self.feature_fraction = feature_fraction
        self.order = order
        self.threshold = threshold

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the chains. Arguments are those of :meth:`nldd.BinaryRelevance.fit`."""
        T = self._validate_fit(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
        seeds = [draw_seed(rng) for _ in range(self.n_members)]
        tasks = (delayed(self._fit_member)(T, seed) for seed in seeds)
        title = "ensemble of chains" if self.verbose else None
        self.estimators_ = do_all(tasks, self.n_members, self.n_jobs, title)
        self.threshold_ = 0.5 if self.threshold == "majority" else self._cardinality_threshold(T)
        return self

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        tasks = (delayed(member.votes)(X) for member in self.estimators_)
        votes = np.mean(do_all(tasks, len(self.estimators_), self.n_jobs), axis=0)
        return votes, votes >= self.threshold_

    def _fit_member(self, T: Training, seed: int) -> Member:
        rng = np.random.RandomState(seed)
        (n_samples, n_features), n_labels = T.X.shape, T.Y.shape[1]
        if self.bootstrap:
            rows = rng.randint(n_samples, size=max(1, round(self.row_fraction * n_samples)))
        else:
            rows = draw_share(n_samples, self.row_fraction, rng)
        features = draw_share(n_features, self.feature_fraction, rng)
        order = rng.permutation(n_labels) if self.order == "random" else np.arange(n_labels)
        estimator = self._base_estimator()
        part = weigh_rows(T, rows) if fits_all_labels(estimator) else T[rows]
        part = replace(part, X=take_columns(part.X, features))
        links = fit_chain(estimator, part, order, self.label_names_, rng)
        return Member(order, links, features, rows)

    def _cardinality_threshold(self, T: Training) -> float:
        """Cut at which out-of-bag votes give training rows as many labels as they have."""
        votes, seen = np.zeros(T.Y.shape), np.zeros(len(T))
        for member in self.estimators_:
            out = np.setdiff1d(np.arange(len(T)), member.rows)
            if len(out):
                votes[out] += member.votes(T.X[out])
                seen[out] += 1
        judged = seen > 0
        if not judged.any():
            return 0.5
        share = votes[judged] / seen[judged, np.newaxis]
        cardinality = T.Y[judged].sum(axis=1).mean()
        cuts = np.arange(1, self.n_members + 1) / self.n_members
        predicted = np.array([(share >= cut).sum(axis=1).mean() for cut in cuts])
        return float(cuts[np.abs(predicted - cardinality).argmin()])
