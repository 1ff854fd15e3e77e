"""What a search minimises: a score that never falls when one of the two distances grows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Score(NamedTuple):
    """``x * Dx + y * Dy``, or as a product ``Dx^x * Dy^y``.

    Attributes
    ----------
    x, y : float, not negative
        Weights of the feature distance and the label distance.
    product : bool
        Whether the weights are exponents, as in the multiplicative model.
    """

    x: float
    y: float
    product: bool = False

    def of(self, Dx: NDArray[np.float64], Dy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of pairs of distances."""
        if self.product:
            return np.power(Dx, self.x) * np.power(Dy, self.y)
        return self.x * Dx + self.y * Dy


IN_FEATURES = Score(x=1.0, y=0.0)
IN_LABELS = Score(x=0.0, y=1.0)
