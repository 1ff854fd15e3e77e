"""Figures as objects: they hold what was computed, and `plot` draws it."""

from nldd.displays._calibration import Calibration, CalibrationDisplay, calibration_deciles
from nldd.displays._critical_difference import CriticalDifferenceDisplay
from nldd.displays._hypercube import HypercubeDisplay
from nldd.displays._pair_choice import PairChoice, PairChoiceDisplay, pair_distances
from nldd.displays._pairs import PairsDisplay
from nldd.displays._risk_coverage import RiskCoverage, RiskCoverageDisplay, risk_coverage
from nldd.displays._share import ShareDisplay

__all__ = [
    "Calibration",
    "CalibrationDisplay",
    "CriticalDifferenceDisplay",
    "HypercubeDisplay",
    "PairChoice",
    "PairChoiceDisplay",
    "PairsDisplay",
    "RiskCoverage",
    "RiskCoverageDisplay",
    "ShareDisplay",
    "calibration_deciles",
    "pair_distances",
    "risk_coverage",
]
