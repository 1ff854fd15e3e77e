"""Multi-label classifiers, one file a method."""

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._cbm import ConditionalBernoulliMixture
from nldd.estimators._classifier_chain import ClassifierChain
from nldd.estimators._ensemble_of_chains import EnsembleOfChains
from nldd.estimators._explanation import Explanation
from nldd.estimators._label_powerset import LabelPowerset
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nearest_labelsets import NearestLabelsets
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._platt_svc import PlattSVC
from nldd.estimators._rakel import RAkEL
from nldd.estimators._random_forest_pct import RandomForestPCT
from nldd.estimators._registry import METHODS, Method
from nldd.estimators._subset_mapping import SubsetMapping

__all__ = [
    "METHODS",
    "BinaryRelevance",
    "ClassifierChain",
    "ConditionalBernoulliMixture",
    "EnsembleOfChains",
    "Explanation",
    "LabelPowerset",
    "MLkNN",
    "Method",
    "NLDDClassifier",
    "NearestLabelsets",
    "PlattSVC",
    "RAkEL",
    "RandomForestPCT",
    "SubsetMapping",
]
