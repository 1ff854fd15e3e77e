"""The accuracy guarantee as coded tables state it: a cell that travels with every row."""

import re
from dataclasses import dataclass
from typing import Self

from nldd._wording import quote
from nldd.exceptions import InputError

# The grammar of `Guarantee`; codes that are settled one by one have two thresholds.
SHARE, LIMIT = r"(0\.[0-9]+|[0-9.]+e-[0-9]+)", r"(?:none|[0-9.]+(?:e-[0-9]+)?)"
LIMITS, RANKED = rf"({LIMIT}(?: and {LIMIT})?)", "(chance|theta|probability)"
GRAMMAR = re.compile(
    rf"accuracy {SHARE} \((subset|hamming|per-code)\), confidence level {SHARE}, "
    rf"{RANKED} threshold {LIMITS}(?:, repeated words {LIMITS})?"
)


@dataclass(frozen=True)
class Guarantee:
    """The accuracy guarantee of a coded table, as each of its rows states it.

    Attributes
    ----------
    target, confidence : float
        Accuracy, and confidence level.
    measure : {"subset", "hamming", "per-code"}
        Accuracy of whole answers, of labels, or of codes settled one by one.
    rank_by : {"chance", "theta", "probability"}
        What the threshold is about; "probability" is that of a single code.
    threshold : str
        Least chance or largest theta of automatically coded answers, as the coded table shows it;
        by code, "0.95 and 0.01": set from the first, ruled out up to the second. "none": nothing is
        coded automatically.
    repeated : str
        The same for answers whose words are in the training data; empty if there is no difference.

    Examples
    --------
    >>> from nldd.coding.guarantee_cell import Guarantee
    >>> print(found := Guarantee(0.7, 0.9, "subset", "chance", "0.8312"))
    accuracy 0.7 (subset), confidence level 0.9, chance threshold 0.8312
    >>> Guarantee.parse(str(found)) == found
    True
    """

    target: float
    confidence: float
    measure: str
    rank_by: str
    threshold: str
    repeated: str = ""

    @classmethod
    def parse(cls, text: str, where: str = "") -> Self:
        """The guarantee that a cell states; `where` it stands is for the message if it does not."""
        if (match := GRAMMAR.fullmatch(text)) is None:
            message = f"{where}: {quote(text, 100)} is no accuracy guarantee."
            raise InputError(message, hint="leave the column as nldd predict wrote it")
        target, measure, confidence, *thresholds = match.groups(default="")
        return cls(float(target), float(confidence), measure, *thresholds)

    def __str__(self) -> str:
        level = f"confidence level {self.confidence}, {self.rank_by} threshold {self.threshold}"
        again = f", repeated words {self.repeated}" if self.repeated else ""
        return f"accuracy {self.target} ({self.measure}), {level}{again}"


def threshold_text(rank_by: str, *limits: float | None) -> str:
    """Limits of the doubt as the columns of a coded table show chance and theta."""
    shown = (x if x is None or rank_by != "chance" else 1 - x for x in limits)
    return " and ".join("none" if x is None else f"{x:.6g}" for x in shown)
