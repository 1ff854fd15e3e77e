"""A random forest of predictive clustering trees: one tree predicts all labels at once."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from nldd._validation import validate_parameters
from nldd.estimators._base_classifiers import JointModel, ScoreClassifier, draw_seed, fit_joint

# Parameters of scikit-learn's forest that can be set here.
OF_TREES = ("n_estimators", "max_features", "min_samples_leaf", "max_depth")


class RandomForestPCT(ScoreClassifier):
    """Random forest whose trees split on all labels together (RF-PCT).

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_features, min_samples_leaf, max_depth, n_jobs, random_state
        As in :class:`sklearn.ensemble.RandomForestClassifier`.

    Attributes
    ----------
    estimators_ : list of the forest
        Empty if no label varies in the training rows.
    label_names_, classes_, n_labels_, n_features_in_ : as in :class:`nldd.BinaryRelevance`

    Notes
    -----
    A split is the better the more it lowers the variance of the labels, summed over labels, which
    for 0 and 1 is half of their Gini impurity. The probability of a label is the mean over trees of
    its share in the leaf; it is predicted above 1/2.

    D. Kocev, C. Vens, J. Struyf and S. Dzeroski (2013). Tree ensembles for predicting structured
    outputs. Pattern Recognition 46(3), 817-833.

    Examples
    --------
    >>> from nldd import RandomForestPCT, load_yeast
    >>> X, Y, _ = load_yeast()
    >>> model = RandomForestPCT(n_estimators=20, random_state=0).fit(X[:500], Y[:500])
    >>> model.predict(X[500:501])
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        name: RandomForestClassifier._parameter_constraints[name]
        for name in (*OF_TREES, "n_jobs", "random_state")
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_features: Literal["sqrt", "log2"] | int | float | None = "sqrt",
        min_samples_leaf: int | float = 1,
        max_depth: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validate_parameters(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

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
        forest = RandomForestClassifier(**{**self.get_params(), "random_state": draw_seed(rng)})
        self._forest: JointModel = fit_joint(forest, T, rng)
        self.estimators_ = self._forest.estimators
        return self

    def _scores(self, X: Any) -> tuple[NDArray[np.float64], None]:
        return self._forest.probabilities(X), None

    def _labels(self, X: Any) -> NDArray[Any]:
        P, _ = self._scores(X)
        return P if self.single_label_ else P > 0.5
