"""What a search minimises: a score that never falls when one of the two distances grows."""

from typing import NamedTuple


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


IN_FEATURES = Score(x=1.0, y=0.0)
IN_LABELS = Score(x=0.0, y=1.0)
