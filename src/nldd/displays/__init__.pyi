from ._calibration import (
    Calibration as Calibration,
    CalibrationDisplay as CalibrationDisplay,
    calibration_deciles as calibration_deciles,
)
from ._critical_difference import CriticalDifferenceDisplay as CriticalDifferenceDisplay
from ._hypercube import HypercubeDisplay as HypercubeDisplay
from ._pairs import (
    PairChoice as PairChoice,
    PairChoiceDisplay as PairChoiceDisplay,
    PairsDisplay as PairsDisplay,
    pair_distances as pair_distances,
)
from ._risk_coverage import (
    RiskCoverage as RiskCoverage,
    RiskCoverageDisplay as RiskCoverageDisplay,
    risk_coverage as risk_coverage,
)
from ._share import ShareDisplay as ShareDisplay
