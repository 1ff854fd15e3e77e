from ._labels import as_label_sets as as_label_sets
from .datasets import load_dataset as load_dataset
from .datasets import load_yeast as load_yeast
from .estimators import METHODS as METHODS
from .estimators import BinaryRelevance as BinaryRelevance
from .estimators import ClassifierChain as ClassifierChain
from .estimators import ConditionalBernoulliMixture as ConditionalBernoulliMixture
from .estimators import EnsembleOfChains as EnsembleOfChains
from .estimators import LabelPowerset as LabelPowerset
from .estimators import MLkNN as MLkNN
from .estimators import NLDDClassifier as NLDDClassifier
from .estimators import PlattSVC as PlattSVC
from .estimators import RAkEL as RAkEL
from .estimators import RandomForestPCT as RandomForestPCT
from .estimators import SubsetMapping as SubsetMapping
from .exceptions import SeparationWarning as SeparationWarning
from .exceptions import ZeroWeightWarning as ZeroWeightWarning
from .io import load_model as load_model
from .io import save_model as save_model
from .metrics import MEASURES as MEASURES
from .metrics import Measure as Measure

__version__: str
