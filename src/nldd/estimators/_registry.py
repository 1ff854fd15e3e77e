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
    given : dict
        Parameters that make it this method, whatever the settings.
    by_measure : dict
        The value of its parameter `decision` that aims at a measure, by the measure's key. A
        benchmark fits it once, and evaluates it for each measure by that decision.

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
    given: Mapping[str, Any] = field(default_factory=dict)
    by_measure: Mapping[str, str] = field(default_factory=dict)

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
        return self.factory(**{**self.given, **parameters})

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
        return clone(self.factory(**{**self.given, **self.paper, **large_only, **parameters}))


BY_MEASURE: dict[str, str] = {
    "hamming_loss": "hamming",
    **dict.fromkeys(("zero_one_loss", "subset_accuracy"), "subset"),
    "multilabel_accuracy": "jaccard",
    **dict.fromkeys(("f_measure", "precision", "recall"), "f1"),
    **dict.fromkeys(("micro_f", "micro_precision", "micro_recall"), "f1"),
    **dict.fromkeys(("macro_f", "macro_precision", "macro_recall"), "f1"),
}
"""The decision of a posterior over labelsets that aims at a measure, or suits it best."""

_SVM: dict[str, Any] = {"estimator": LinearSVM()}
_NLDD: dict[str, Any] = {"estimator": PlattSVC(), "max_pairs": None}
_RECORDS = (
    Method("BR", "Binary relevance", BinaryRelevance, _SVM),
    Method("SMBR", "Subset mapping", SubsetMapping, _SVM),
    Method(
        "NLDD",
        "Nearest labelset using double distances",
        NLDDClassifier,
        _NLDD,
        paper_large={"train_fraction": 0.7},
    ),
    Method(
        "NLDD-P",
        "NLDD by its posterior over labelsets",
        NLDDClassifier,
        _NLDD,
        paper_large={"train_fraction": 0.7},
        given={"decision": "subset"},
        by_measure=BY_MEASURE,
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
"""The methods by the short names of the paper's tables, and NLDD-P.

>>> from nldd import METHODS
>>> list(METHODS)[:5]
['BR', 'SMBR', 'NLDD', 'NLDD-P', 'CC']
>>> METHODS["MLKNN"].default(k=5)
MLkNN(k=5)
"""
