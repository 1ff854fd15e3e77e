"""Predict whole labelsets: Nearest Labelset using Double Distances, and its field.

Names are imported on first use, so that ``import nldd`` and ``nldd --help`` stay fast.
"""

from typing import TYPE_CHECKING

from nldd._package import export

__version__ = "0.2.0"

if TYPE_CHECKING:
    from nldd._labels import as_label_sets as as_label_sets
    from nldd.datasets import load_survey as load_survey, load_yeast as load_yeast
    from nldd.estimators._binary_relevance import (
        BinaryRelevance as BinaryRelevance,
        SubsetMapping as SubsetMapping,
    )
    from nldd.estimators._cbm import ConditionalBernoulliMixture as ConditionalBernoulliMixture
    from nldd.estimators._chains import (
        ClassifierChain as ClassifierChain,
        EnsembleOfChains as EnsembleOfChains,
    )
    from nldd.estimators._mlknn import MLkNN as MLkNN
    from nldd.estimators._nldd import NLDDClassifier as NLDDClassifier
    from nldd.estimators._powersets import LabelPowerset as LabelPowerset, RAkEL as RAkEL
    from nldd.estimators._random_forest_pct import RandomForestPCT as RandomForestPCT
    from nldd.estimators._registry import METHODS as METHODS
    from nldd.estimators._svm import PlattSVC as PlattSVC
    from nldd.exceptions import (
        InputError as InputError,
        MissingExtraError as MissingExtraError,
        NLDDError as NLDDError,
        NLDDWarning as NLDDWarning,
        SeparationWarning as SeparationWarning,
        ZeroWeightWarning as ZeroWeightWarning,
    )
    from nldd.persistence import load_model as load_model, save_model as save_model
else:
    __getattr__, __dir__, __all__ = export(
        __name__,
        {
            "nldd._labels": "as_label_sets",
            "nldd.datasets": "load_survey load_yeast",
            "nldd.estimators._binary_relevance": "BinaryRelevance SubsetMapping",
            "nldd.estimators._cbm": "ConditionalBernoulliMixture",
            "nldd.estimators._chains": "ClassifierChain EnsembleOfChains",
            "nldd.estimators._mlknn": "MLkNN",
            "nldd.estimators._nldd": "NLDDClassifier",
            "nldd.estimators._powersets": "LabelPowerset RAkEL",
            "nldd.estimators._random_forest_pct": "RandomForestPCT",
            "nldd.estimators._registry": "METHODS",
            "nldd.estimators._svm": "PlattSVC",
            "nldd.exceptions": "InputError MissingExtraError NLDDError "
            "NLDDWarning SeparationWarning ZeroWeightWarning",
            "nldd.persistence": "load_model save_model",
        },
        modules=("bench", "coding", "datasets", "exceptions", "linear", "metrics"),
    )
