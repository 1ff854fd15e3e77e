from ._distances import (
    TIE as TIE,
    exact_distances as exact_distances,
    feature_scale as feature_scale,
    scaled as scaled,
)
from ._faiss import FaissLabelsetIndex as FaissLabelsetIndex, check_faiss as check_faiss
from ._index import (
    IN_FEATURES as IN_FEATURES,
    IN_LABELS as IN_LABELS,
    LabelsetIndex as LabelsetIndex,
    Neighbors as Neighbors,
    Score as Score,
    SearchStats as SearchStats,
)
from ._kernel import tell_compilation as tell_compilation
from ._neighbors import NeighborIndex as NeighborIndex
