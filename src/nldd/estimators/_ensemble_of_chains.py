"""Ensemble of classifier chains: resampled rows, random orders, one vote each."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, xlog1py, xlogy
from sklearn.utils import check_random_state

from nldd._parallel import delayed, do_all
from nldd._sklearn import Interval, StrOptions, validate_parameters
from nldd._training import Training
from nldd.estimators._base_choice import BaseMetaClassifier
from nldd.estimators._classifier_chain import (
    ChainEstimatorMixin,
    Order,
    chain_order,
    fit_chain,
    predict_chain,
)
from nldd.estimators._label_models import (
    ScoreClassifier,
    draw_seed,
    draw_share,
    fits_all_labels,
    take_columns,
)
from nldd.exceptions import NLDDWarning, warn_caller

# Chances of a vote that are told apart, and steps of the EM algorithm, which are many because it
# moves slowly between neighbouring chances. They take a few hundredths of a second.
CHANCES = np.linspace(0, 1, 101)
N_STEPS = 2000


@dataclass(frozen=True, eq=False)
class Member:
    """One chain of an ensemble.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        The labels along the chain.
    links : list of fitted classifiers
    features : ndarray
        The columns of `X` that it uses.
    rows : ndarray
        Those that it was fitted to, among the training rows with weight.

    Examples
    --------
    >>> from nldd import EnsembleOfChains
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = EnsembleOfChains(n_members=2, bootstrap=False, order=[1, 0]).fit(X, Y)
    >>> [member.order.tolist() for member in model.estimators_]
    [[1, 0], [1, 0]]
    """

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


def expected_sizes(
    votes: NDArray[np.intp],
    judges: NDArray[np.intp],
    n_members: int,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Mean number of labels that get at least 1, 2, ... of the votes of `n_members` members.

    What is known of row i and label l is that ``votes[i, l]`` of ``judges[i]`` members are for it.
    Each member is for it with some chance, the same for all; how often each chance occurs among
    all rows and labels is estimated by maximum likelihood (EM on a grid of chances).
    """
    weight = np.ones(len(votes)) if sample_weight is None else sample_weight
    kinds = np.broadcast_to(judges[:, np.newaxis], votes.shape) * (n_members + 1) + votes
    kind, place = np.unique(kinds.ravel(), return_inverse=True)
    count = np.bincount(place, weights=np.repeat(weight, votes.shape[1]))
    n_judges, n_votes = np.divmod(kind[:, np.newaxis], n_members + 1)
    log_likelihood = xlogy(n_votes, CHANCES) + xlog1py(n_judges - n_votes, -CHANCES)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    share = np.full(len(CHANCES), 1 / len(CHANCES))
    for _ in range(N_STEPS):
        share *= likelihood.T @ (count / (likelihood @ share)) / count.sum()
    at_least = bdtrc(np.arange(n_members), n_members, CHANCES[:, np.newaxis])
    return votes.shape[1] * (share @ at_least)


class EnsembleOfChains(ScoreClassifier, ChainEstimatorMixin, BaseMetaClassifier):
    """Chains in random orders on resampled rows, which vote on every label (ECC).

    Parameters
    ----------
    estimator : classifier, default=None, as in :class:`nldd.ClassifierChain`
    n_members : int, default=10
        The number of chains.
    bootstrap : bool, default=True
        Draw rows with replacement.
    row_fraction : float in (0, 1], default=1.0
        The share of the rows drawn for each member.
    feature_fraction : float in (0, 1], default=1.0
        The share of the features drawn for each.
    order : sequence of int, "random" or None, default="random"
        As in :class:`nldd.ClassifierChain`; "random" draws one for each member.
    threshold : {"majority", "cardinality"} or float in (0, 1], default="majority"
        The share of votes that a label needs: half of them, or the share at which rows get as many
        labels on average as training rows have, or this share. If all members saw all rows, as with
        ``bootstrap=False``, "cardinality" warns and is half of the votes.
    n_jobs, random_state, verbose : as in BinaryRelevance, with members for labels

    Attributes
    ----------
    estimators_ : list of Member
    threshold_ : float
        The share of votes that a label needs.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    With v_l of the m members voting for label l, the label is predicted iff ``v_l / m >= 1/2``
    (five of ten count). `predict_proba` gives ``v_l / m``, the share of votes, moved to the side
    of 1/2 that the prediction is on; it is not calibrated. See :class:`nldd.ClassifierChain`.

    "cardinality" is how the authors of the method choose the cut (Read et al., 2011), and what the
    results published for it in the NLDD paper agree with. They count the labels of the rows to be
    predicted; here it is training rows, with the votes of the members that did not see them. Those
    are fewer than m, so that their shares of votes are not cut themselves: how many labels all m
    members would give at each cut is estimated from them (:func:`expected_sizes`).

    Examples
    --------
    >>> from nldd import EnsembleOfChains, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = EnsembleOfChains(n_members=5, random_state=0).fit(X[:300], Y[:300])
    >>> model.predict_proba(X[300:301])[0, :4]
    array([0. , 0. , 0.6, 0.6])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseMetaClassifier._parameter_constraints,
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "bootstrap": ["boolean"],
        "row_fraction": [Interval(Real, 0, 1, closed="right")],
        "feature_fraction": [Interval(Real, 0, 1, closed="right")],
        "order": ["array-like", StrOptions({"random"}), None],
        "threshold": [
            StrOptions({"majority", "cardinality"}),
            Interval(Real, 0, 1, closed="right"),
        ],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_members: int = 10,
        bootstrap: bool = True,
        row_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        order: Order = "random",
        threshold: Literal["majority", "cardinality"] | float = "majority",
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
        """Fit the chains.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
            Or a frame, a sparse matrix, or a list with one set of label names for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are left out.

        Returns
        -------
        self : the fitted estimator
        """
        T = self._validate_fit(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self._settle_base(T, rng)
        seeds = [draw_seed(rng) for _ in range(self.n_members)]
        tasks = (delayed(self._fit_member)(T, seed) for seed in seeds)
        title = "ensemble of chains" if self.verbose else None
        self.estimators_ = do_all(tasks, self.n_members, self.n_jobs, title)
        if self.threshold == "cardinality":
            self.threshold_ = self._cardinality_threshold(T)
        else:
            self.threshold_ = 0.5 if self.threshold == "majority" else float(self.threshold)
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
        along = chain_order(self.order, n_labels, rng)
        estimator = self._base_estimator()
        part = weigh_rows(T, rows) if fits_all_labels(estimator) else T[rows]
        part = replace(part, X=take_columns(part.X, features))
        links = fit_chain(estimator, part, along, self.label_names_, rng)
        return Member(along, links, features, rows)

    def _cardinality_threshold(self, T: Training) -> float:
        """Cut at which rows that no member saw would get as many labels as training rows have."""
        votes, judges = np.zeros(T.Y.shape, dtype=np.intp), np.zeros(len(T), dtype=np.intp)
        for member in self.estimators_:
            out = np.setdiff1d(np.arange(len(T)), member.rows)
            if len(out):
                votes[out] += member.votes(T.X[out])
                judges[out] += 1
        judged = judges > 0
        if not judged.any():
            warn_caller(
                'threshold="cardinality" needs rows that a member has not seen, and there are '
                "none: half of the votes are asked for instead. Set bootstrap=True or row_fraction "
                "below 1, or give a threshold.",
                NLDDWarning,
            )
            return 0.5
        weight = None if T.sample_weight is None else T.sample_weight[judged]
        sizes = expected_sizes(votes[judged], judges[judged], self.n_members, weight)
        cardinality = np.average(T.Y[judged].sum(axis=1), weights=weight)
        return float((np.abs(sizes - cardinality).argmin() + 1) / self.n_members)
