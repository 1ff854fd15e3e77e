"""Multi-label classifiers, one file a method."""

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._explanation import Explanation
from nldd.estimators._nldd import NearestLabelsets, NLDDClassifier
from nldd.estimators._platt_svc import PlattSVC

__all__ = ["BinaryRelevance", "Explanation", "NLDDClassifier", "NearestLabelsets", "PlattSVC"]
