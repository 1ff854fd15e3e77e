from ._distances import exact_distances as exact_distances
from ._faiss import FaissLabelsetIndex as FaissLabelsetIndex, check_faiss as check_faiss
from ._index import LabelsetIndex as LabelsetIndex, Neighbors as Neighbors
from ._neighbors import NeighborIndex as NeighborIndex
from ._scale import feature_scale as feature_scale, scaled as scaled
from ._score import IN_FEATURES as IN_FEATURES, IN_LABELS as IN_LABELS, Score as Score
from ._stats import SearchStats as SearchStats
from ._ties import TIE as TIE
