from ._critical_difference import CriticalDifferenceDisplay as CriticalDifferenceDisplay
from ._hypercube import HypercubeDisplay as HypercubeDisplay
from ._pairs import (
    PairChoice as PairChoice,
    PairChoiceDisplay as PairChoiceDisplay,
    PairsDisplay as PairsDisplay,
    pair_distances as pair_distances,
)
from ._posterior import PosteriorDisplay as PosteriorDisplay
from ._share import ShareDisplay as ShareDisplay
from ._theta import (
    Calibration as Calibration,
    CalibrationDisplay as CalibrationDisplay,
    RiskCoverage as RiskCoverage,
    RiskCoverageDisplay as RiskCoverageDisplay,
    calibration_deciles as calibration_deciles,
    risk_coverage as risk_coverage,
)

__all__ = [
    "Calibration",
    "CalibrationDisplay",
    "CriticalDifferenceDisplay",
    "HypercubeDisplay",
    "PairChoice",
    "PairChoiceDisplay",
    "PairsDisplay",
    "PosteriorDisplay",
    "RiskCoverage",
    "RiskCoverageDisplay",
    "ShareDisplay",
    "calibration_deciles",
    "pair_distances",
    "risk_coverage",
]
