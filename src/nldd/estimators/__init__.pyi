from ._base_choice import CANDIDATES as CANDIDATES, Choice as Choice
from ._binary_relevance import BinaryRelevance as BinaryRelevance
from ._cbm import ConditionalBernoulliMixture as ConditionalBernoulliMixture, Weights as Weights
from ._classifier_chain import ClassifierChain as ClassifierChain
from ._ensemble_of_chains import EnsembleOfChains as EnsembleOfChains, Member as Member
from ._explanation import (
    Explanation as Explanation,
    NearestLabelsets as NearestLabelsets,
    braces as braces,
    theta_in_words as theta_in_words,
)
from ._halves import random_halves as random_halves
from ._label_models import (
    ConstantLabel as ConstantLabel,
    default_estimator as default_estimator,
)
from ._label_powerset import LabelPowerset as LabelPowerset, Powerset as Powerset
from ._label_probabilities import (
    JointModel as JointModel,
    MeanModel as MeanModel,
    SeparateModels as SeparateModels,
    fit_label_probabilities as fit_label_probabilities,
)
from ._linear_svm import LinearSVM as LinearSVM
from ._mlknn import MLkNN as MLkNN
from ._nldd import NLDDClassifier as NLDDClassifier
from ._platt_svc import PlattSVC as PlattSVC, linear_machine as linear_machine
from ._rakel import RAkEL as RAkEL
from ._random_forest_pct import RandomForestPCT as RandomForestPCT
from ._registry import METHODS as METHODS, Method as Method
from ._subset_mapping import SubsetMapping as SubsetMapping

__all__ = [
    "CANDIDATES",
    "METHODS",
    "BinaryRelevance",
    "Choice",
    "ClassifierChain",
    "ConditionalBernoulliMixture",
    "ConstantLabel",
    "EnsembleOfChains",
    "Explanation",
    "LabelPowerset",
    "LinearSVM",
    "MLkNN",
    "Member",
    "Method",
    "NLDDClassifier",
    "NearestLabelsets",
    "PlattSVC",
    "Powerset",
    "RAkEL",
    "RandomForestPCT",
    "SubsetMapping",
    "Weights",
]
