"""Answers that people may have miscoded: coded unlike their likes, or unlike identical ones.

The machine predicts each answer without itself. Where it is sure, and people gave other codes, one
of both is wrong (confident learning: Northcutt et al., 2021). The machine mostly errs in a single
code, so answers are ranked by how many codes of people are expected to be wrong: the number that
differ, times the chance that the machine is right. Answers that say the same in the same words and
have different codes need no machine.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from nldd.coding.answers import Answers, BoolArray, FloatArray
from nldd.coding.model import CodingModel
from nldd.coding.tables.spreadsheet import unique_column_names
from nldd.coding.wording import fill_words
from nldd.present.table import Table, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

UNLIKE = "coded unlike its likes"
IDENTICAL = "identical answers have other codes"
COLUMNS: tuple[str, ...] = ("codes", "likely_codes", "differ_in", "expected_wrong", "sure", "why")
COLUMNS += ("same_answer_coded", "nearest_answer", "nearest_codes")
MOST_SHOWN = 15
Codes = tuple[str, ...]


@dataclass(frozen=True)
class Suspect:
    """An answer of a model with codes that may be wrong.

    Attributes
    ----------
    number : int
        Of the answer in the model, from 1.
    text : str
        What it says.
    codes : tuple of str
        The codes that people gave it.
    likely : tuple of str
        The codes that it should have, as far as can be told: those of most identical answers, or
        those that the machine predicts.
    why : tuple of str
        "coded unlike its likes", "identical answers have other codes", or both.
    sure : float
        The share of identical answers that have the likely codes, or the chance that the machine is
        right.
    nearest, nearest_text, nearest_codes : int, str, tuple of str
        Another coded answer that speaks for the prediction: its number, text and codes.
    same : tuple of (tuple of str, int)
        How often the same answer was coded how, this one included.
    """

    number: int
    text: str
    codes: Codes
    likely: Codes
    why: tuple[str, ...]
    sure: float
    nearest: int
    nearest_text: str
    nearest_codes: Codes
    same: tuple[tuple[Codes, int], ...] = ()

    @property
    def differ_in(self) -> Codes:
        """Codes that are likely missing, with a plus, and likely wrong, with a minus."""
        missing = (f"+{code}" for code in self.likely if code not in self.codes)
        return (*missing, *(f"-{code}" for code in self.codes if code not in self.likely))

    @property
    def expected_wrong(self) -> float:
        """How many of the decisions on its codes are expected to be wrong."""
        return self.sure * len(self.differ_in)


@dataclass(frozen=True)
class Suspects:
    """Answers of a model that people may have miscoded; found by :func:`find_suspects`.

    Attributes
    ----------
    items : tuple of Suspect
        The most suspicious first. Many will be right: people look at each.
    model : CodingModel
        Whose answers they are.
    """

    items: tuple[Suspect, ...]
    model: CodingModel

    def __str__(self) -> str:
        of = f"of {count_noun(len(self.model.answers), 'coded answer')} of the model"
        if not self.items:
            return f"No suspicion: none {of} is coded unlike its likes."
        unlike, identical = (sum(why in s.why for s in self.items) for why in (UNLIKE, IDENTICAL))
        counts = f"{unlike:,} coded unlike their likes, {identical:,} unlike identical answers"
        first, table = f"{len(self.items):,} {of} may be miscoded: {counts}.", self.table()
        return "\n\n".join([wrap([first]), to_text(table, most=MOST_SHOWN), wrap(table.notes)])

    def table(self, most: int | None = None) -> Table:
        """Make a table of the first of them, for people to read."""

        def shown(codes: Codes) -> str:
            return visible("; ".join(map(self.model.codebook.shown, codes)) or "(no code)", 40)

        columns: dict[str, Any] = {
            "answer": lambda s: visible(s.text, 50),
            "codes": lambda s: shown(s.codes),
            "likely": lambda s: shown(s.likely),
            "sure": lambda s: percent(s.sure),
            "why": lambda s: "; ".join(s.why),
        }
        title = "Answers that may be miscoded, the most suspicious first"
        items = self.items[:most]
        return tabulate("suspects", title, items, columns, *fill_words("suspects_notes"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("differ_in", "expected_wrong")
        suspects = [asdict(s) | {name: getattr(s, name) for name in names} for s in self.items]
        return {"n_answers": len(self.model.answers), "suspects": suspects}

    def to_frame(self) -> pd.DataFrame:
        """One row per suspect with the evidence, and what else the answer says."""
        read, answers = self.model.columns, self.model.answers
        text = read.text[0] if len(read.text) == 1 else "answer"
        names = ("number", text, *COLUMNS, *read.numeric, *read.categorical)
        join, rows = read.codes.join, []
        for s in self.items:
            same = " | ".join(f"{join(codes) or '(no code)'}: {n}" for codes, n in s.same)
            said = (s.number, s.text, join(s.codes), join(s.likely), "; ".join(s.differ_in))
            scores = (round(s.expected_wrong, 3), round(s.sure, 4), "; ".join(s.why))
            near, place = (same, s.nearest_text, join(s.nearest_codes)), s.number - 1
            numbers = ("" if np.isnan(x) else x for x in answers.numbers[place].tolist())
            rows.append((*said, *scores, *near, *numbers, *answers.categories[place]))
        return pd.DataFrame(rows, columns=unique_column_names(names, ()), dtype=object)


def find_suspects(model: CodingModel) -> Suspects:
    """Find answers of a model whose codes may be wrong.

    Parameters
    ----------
    model : CodingModel
        Its coded answers are looked at.

    Returns
    -------
    Suspects
        The most suspicious first.

    Notes
    -----
    Answers are ranked by how many codes of people are expected to be wrong: the number
    that differ from those predicted without the answer itself, times the chance that the prediction
    is right. Answers that say the same in the same words and have different codes need no machine.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, find_suspects, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> first, *others = find_suspects(model).items
    >>> first.number, first.text
    (95, 'We could do with cheaper bus fares. The roads are dangerous')
    >>> first.codes, first.likely, first.differ_in
    (('cycling',), ('housing costs',), ('+housing costs', '-cycling'))
    """
    found, texts, codes = model.evidence, model.answers.texts, model.codes(model.Y)
    # How likely each prediction is right as a whole: its chance, or as the posterior tells.
    sure = found.probability if found.chance is None else found.chance
    predicted, suspects = model.codes(found.Y), []
    alike = _identical(model.answers, codes)
    each = zip(alike, _is_unlike(model, sure), found.row.tolist(), strict=True)
    for i, (same, unlike, near) in enumerate(each):
        most = same.most_common(2)
        # With as many of another kind, identical answers do not tell which is right.
        majority = most[0] if len(most) > 1 and most[0][1] > most[1][1] else None
        odd = len(same) > 1 and (majority is None or majority[0] != codes[i])
        if not (odd or unlike):
            continue
        likely, certainty = predicted[i], float(sure[i])
        if odd and majority is not None:
            likely, certainty = majority[0], majority[1] / same.total()
        why = (UNLIKE,) * bool(unlike) + (IDENTICAL,) * odd
        evidence = (near + 1, texts[near], codes[near], tuple(same.most_common()) if odd else ())
        suspects.append(Suspect(i + 1, texts[i], codes[i], likely, why, certainty, *evidence))
    return Suspects(tuple(sorted(suspects, key=lambda s: -s.expected_wrong)), model)


def _is_unlike(model: CodingModel, sure: FloatArray) -> BoolArray:
    """Find where more codes of people are expected to be wrong than a usual chance would be.

    That is the machine's chance to be right on average where people agree with it: so sure it must
    be of an answer that differs in one code, and half as sure if it differs in two.
    """
    n_differ = model.evidence.n_wrong(model.Y)
    agree = n_differ == 0
    usual = sure[agree].mean() if agree.any() else np.inf
    return np.asarray(~agree & (sure * n_differ >= usual))


def _identical(answers: Answers, codes: Sequence[Codes]) -> list[Counter[Codes]]:
    """How often the words of each answer were coded how; empty for one without words."""
    found = defaultdict[str, Counter[Codes]](Counter)
    texts = answers.normalized_texts
    for said, given in zip(texts, codes, strict=True):
        found[said][given] += 1
    return [found[said] if any(map(str.isalnum, said)) else Counter() for said in texts]
