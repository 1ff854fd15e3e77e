"""Predict whole labelsets: Nearest Labelset using Double Distances, and its field.

Names are imported on first use, so that ``import nldd`` and ``nldd --help`` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nldd._labels import as_label_sets
    from nldd.datasets import load_dataset, load_yeast
    from nldd.estimators import (
        METHODS,
        BinaryRelevance,
        ClassifierChain,
        ConditionalBernoulliMixture,
        EnsembleOfChains,
        LabelPowerset,
        MLkNN,
        NLDDClassifier,
        PlattSVC,
        RAkEL,
        RandomForestPCT,
        SubsetMapping,
    )
    from nldd.exceptions import SeparationWarning, ZeroWeightWarning
    from nldd.io import load_model, save_model
    from nldd.metrics import MEASURES, Measure

_HOME = {
    "SubsetMapping": "nldd.estimators",
    "ClassifierChain": "nldd.estimators",
    "EnsembleOfChains": "nldd.estimators",
    "LabelPowerset": "nldd.estimators",
    "RAkEL": "nldd.estimators",
    "MLkNN": "nldd.estimators",
    "ConditionalBernoulliMixture": "nldd.estimators",
    "RandomForestPCT": "nldd.estimators",
    "METHODS": "nldd.estimators",
    "BinaryRelevance": "nldd.estimators",
    "MEASURES": "nldd.metrics",
    "Measure": "nldd.metrics",
    "NLDDClassifier": "nldd.estimators",
    "PlattSVC": "nldd.estimators",
    "SeparationWarning": "nldd.exceptions",
    "ZeroWeightWarning": "nldd.exceptions",
    "as_label_sets": "nldd._labels",
    "load_dataset": "nldd.datasets",
    "load_model": "nldd.io",
    "load_yeast": "nldd.datasets",
    "save_model": "nldd.io",
}

__all__ = [
    "MEASURES",
    "METHODS",
    "BinaryRelevance",
    "ClassifierChain",
    "ConditionalBernoulliMixture",
    "EnsembleOfChains",
    "LabelPowerset",
    "MLkNN",
    "Measure",
    "NLDDClassifier",
    "PlattSVC",
    "RAkEL",
    "RandomForestPCT",
    "SeparationWarning",
    "SubsetMapping",
    "ZeroWeightWarning",
    "__version__",
    "as_label_sets",
    "load_dataset",
    "load_model",
    "load_yeast",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'nldd' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
