"""The rows of a table that somebody has coded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nldd._wording import count_noun
from nldd.coding._answers import Answers


@dataclass(frozen=True)
class CodedAnswers:
    """The rows of a table that somebody has coded.

    Attributes
    ----------
    answers : Answers
    codes : list of set of str
    rows : list of int
        Their numbers in the table, from 1.
    n_rows : int
        All rows of the table; those without codes are set aside.
    notes : list of str
        What a person should know about the table.
    identities : list of str
        By which each answer is known again, see :class:`Identities`.
    identity_columns : tuple of str
        What they are made of.
    tell_apart : bool
        Whether answers of the same identity are one answer.
    n_known : int
        Coded rows that were left out because they are there already.
    """

    answers: Answers
    codes: list[set[str]]
    rows: list[int]
    n_rows: int
    notes: list[str]
    identities: list[str] = field(default_factory=list)
    identity_columns: tuple[str, ...] = ()
    tell_apart: bool = False
    n_known: int = 0

    @property
    def n_set_aside(self) -> int:
        """Rows without codes."""
        return self.n_rows - len(self.codes) - self.n_known

    def once(self) -> "CodedAnswers":
        """Each answer once; only where rows of the same identity are one answer."""
        if not self.tell_apart:
            return self
        first = {name: i for i, name in reversed(list(enumerate(self.identities)))}
        return self.take(sorted(first.values()), "in the table twice, and count once")

    def take(self, places: Sequence[int], why: str) -> "CodedAnswers":
        """Some of the answers; a note says how many others there are, and why they are left out."""
        n_out = len(self.codes) - len(places)
        if not n_out:
            return self
        return replace(
            self,
            answers=self.answers[np.array(places, dtype=np.intp)],
            codes=[self.codes[i] for i in places],
            rows=[self.rows[i] for i in places],
            identities=[self.identities[i] for i in places],
            notes=[*self.notes, f"{count_noun(n_out, 'coded answer')}: {why}."],
            n_known=self.n_known + n_out,
        )
