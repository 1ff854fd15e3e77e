"""Figures as objects: they hold what was computed, and `plot` draws it."""

from nldd.displays._critical_difference import CriticalDifferenceDisplay
from nldd.displays._hypercube import HypercubeDisplay
from nldd.displays._pair_choice import PairChoice, PairChoiceDisplay, pair_distances
from nldd.displays._pairs import PairsDisplay
from nldd.displays._share import ShareDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "HypercubeDisplay",
    "PairChoice",
    "PairChoiceDisplay",
    "PairsDisplay",
    "ShareDisplay",
    "pair_distances",
]
