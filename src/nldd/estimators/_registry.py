"""Every method under its short name, with the settings of the paper's experiments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from nldd.estimators._binary_relevance import BinaryRelevance, SubsetMapping
from nldd.estimators._cbm import ConditionalBernoulliMixture
from nldd.estimators._chains import ClassifierChain, EnsembleOfChains
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._powersets import LabelPowerset, RAkEL
from nldd.estimators._random_forest_pct import RandomForestPCT
from nldd.estimators._svm import LinearSVM, PlattSVC


@dataclass(frozen=True)
class Method:
    """A method under its short name, with the settings of the paper.

    Attributes
    ----------
    key, name : str
        The short name of the paper's tables, and the long one.
    factory : callable
        The estimator's class.
    paper, paper_large : dict
        The paper's settings, and what it changes on its large data sets.

    Examples
    --------
    >>> from nldd import METHODS
    >>> METHODS["RAKEL"].name, METHODS["RAKEL"].as_in_paper(n_models=5)
    ('Random k-labelsets', RAkEL(estimator=LinearSVM(), n_models=5))
    """

    key: str
    name: str
    factory: Callable[..., Any]
    paper: Mapping[str, Any] = field(default_factory=dict)
    paper_large: Mapping[str, Any] = field(default_factory=dict)

    def default(self, **parameters: Any) -> Any:
        """The estimator with our defaults.

        Parameters
        ----------
        **parameters : dict
            Parameters that differ from them.

        Returns
        -------
        estimator, not fitted
        """
        return self.factory(**parameters)

    def as_in_paper(self, *, large: bool = False, **parameters: Any) -> Any:
        """The estimator with the paper's settings.

        Parameters
        ----------
        large : bool, default=False
            Use its settings for large data sets.
        **parameters : dict
            Parameters that differ from them.

        Returns
        -------
        estimator, not fitted
        """
        large_only = self.paper_large if large else {}
        return clone(self.factory(**{**self.paper, **large_only, **parameters}))


_SVM: dict[str, Any] = {"estimator": LinearSVM()}
_RECORDS = (
    Method("BR", "Binary relevance", BinaryRelevance, _SVM),
    Method("SMBR", "Subset mapping", SubsetMapping, _SVM),
    Method(
        "NLDD",
        "Nearest labelset using double distances",
        NLDDClassifier,
        {"estimator": PlattSVC(), "max_pairs": None},
        paper_large={"train_fraction": 0.7},
    ),
    Method("CC", "Classifier chain", ClassifierChain, _SVM),
    Method(
        "ECC",
        "Ensemble of classifier chains",
        EnsembleOfChains,
        {**_SVM, "n_members": 10, "threshold": "cardinality"},
        paper_large={"bootstrap": False, "row_fraction": 0.75, "feature_fraction": 0.5},
    ),
    Method("LP", "Label powerset", LabelPowerset, _SVM),
    Method("RAKEL", "Random k-labelsets", RAkEL, {**_SVM, "k": 3}),
    Method("MLKNN", "Multi-label nearest neighbours", MLkNN, {"k": 10, "s": 1.0}),
    Method(
        "CBM",
        "Conditional Bernoulli mixtures",
        ConditionalBernoulliMixture,
        {"n_components": 20, "n_iterations": 10, "variance": 1.0},
        paper_large={"n_iterations": 5, "feature_fraction": 0.5},
    ),
    Method("RFPCT", "Random forest of clustering trees", RandomForestPCT),
)

METHODS: dict[str, Method] = {method.key: method for method in _RECORDS}
"""The methods by the short names of the paper's tables.

>>> from nldd import METHODS
>>> list(METHODS)[:5]
['BR', 'SMBR', 'NLDD', 'CC', 'ECC']
>>> METHODS["MLKNN"].default(k=5)
MLkNN(k=5)
"""
