from ._labels import as_label_sets as as_label_sets
from .datasets import load_dataset as load_dataset, load_yeast as load_yeast
from .estimators import (
    METHODS as METHODS,
    BinaryRelevance as BinaryRelevance,
    ClassifierChain as ClassifierChain,
    ConditionalBernoulliMixture as ConditionalBernoulliMixture,
    EnsembleOfChains as EnsembleOfChains,
    LabelPowerset as LabelPowerset,
    MLkNN as MLkNN,
    NLDDClassifier as NLDDClassifier,
    PlattSVC as PlattSVC,
    RAkEL as RAkEL,
    RandomForestPCT as RandomForestPCT,
    SubsetMapping as SubsetMapping,
)
from .exceptions import (
    SeparationWarning as SeparationWarning,
    ZeroWeightWarning as ZeroWeightWarning,
)
from .io import load_model as load_model, save_model as save_model
from .linear import MultiLabelLogisticRegression as MultiLabelLogisticRegression
from .metrics import MEASURES as MEASURES, Measure as Measure

__version__: str
