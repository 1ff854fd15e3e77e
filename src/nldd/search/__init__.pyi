from ._distances import (
    TIE as TIE,
    Spread as Spread,
    exact_distances as exact_distances,
    feature_scale as feature_scale,
    merge_spreads as merge_spreads,
    scaled as scaled,
)
from ._index import (
    IN_FEATURES as IN_FEATURES,
    IN_LABELS as IN_LABELS,
    LabelsetIndex as LabelsetIndex,
    Neighbors as Neighbors,
    Score as Score,
    SearchStats as SearchStats,
    check_probabilities as check_probabilities,
)
from ._kernel import tell_compilation as tell_compilation
from ._neighbors import NeighborIndex as NeighborIndex
from ._shards import (
    AnsweredIndex as AnsweredIndex,
    ShardedIndex as ShardedIndex,
    build_index as build_index,
    find_labelsets as find_labelsets,
    scale_features as scale_features,
)

__all__ = [
    "IN_FEATURES",
    "IN_LABELS",
    "LabelsetIndex",
    "Neighbors",
    "Score",
    "SearchStats",
    "feature_scale",
]
