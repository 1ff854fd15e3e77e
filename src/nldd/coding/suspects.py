"""Answers that people may have miscoded: coded unlike their likes, or unlike identical ones.

The machine predicts each answer without itself. Where it is sure, and people gave other codes, one
of both is wrong (confident learning: Northcutt et al., 2021). The machine mostly errs in a single
code, so answers are ranked by how many codes of people are expected to be wrong: the number that
differ, times the chance that the machine is right. Answers that say the same in the same words and
have different codes need no machine.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from nldd.coding.model import CodingModel
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.writer import create_table

UNLIKE = "coded unlike its likes"
IDENTICAL = "identical answers have other codes"
HEAD = ("codes", "likely_codes", "differ_in", "expected_wrong", "sure", "why", "same_answer_coded")
EVIDENCE = ("nearest_answer", "nearest_codes")


@dataclass(frozen=True)
class Suspect:
    """An answer of a model with codes that may be wrong; found by :func:`find_suspects`.

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

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, find_suspects, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> first = find_suspects(model)[0]
    >>> first.text
    'We could do with cheaper bus fares. The roads are dangerous'
    >>> first.codes, first.likely, first.differ_in
    (('cycling',), ('housing costs',), ('+housing costs', '-cycling'))
    """

    number: int
    text: str
    codes: tuple[str, ...]
    likely: tuple[str, ...]
    why: tuple[str, ...]
    sure: float
    nearest: int
    nearest_text: str
    nearest_codes: tuple[str, ...]
    same: tuple[tuple[tuple[str, ...], int], ...] = ()

    @property
    def differ_in(self) -> tuple[str, ...]:
        """Codes that are likely missing, with a plus, and likely wrong, with a minus."""
        missing = (f"+{code}" for code in self.likely if code not in self.codes)
        return (*missing, *(f"-{code}" for code in self.codes if code not in self.likely))

    @property
    def expected_wrong(self) -> float:
        """How many of the decisions on its codes are expected to be wrong."""
        return self.sure * len(self.differ_in)


def find_suspects(model: CodingModel) -> list[Suspect]:
    """Find answers of a model whose codes may be wrong.

    Parameters
    ----------
    model : CodingModel
        Its coded answers are looked at.

    Returns
    -------
    list of Suspect
        The most suspicious first. Many will be right: people look at each.

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
    >>> [(suspect.number, suspect.codes, suspect.likely) for suspect in find_suspects(model)][:2]
    [(95, ('cycling',), ('housing costs',)), (76, ('safety',), ('housing costs',))]
    """
    found, codes = model.evidence, model.codes(model.Y)
    predicted = model.codes(found.Y)
    sure = chance_right(model)
    same = _identical(model.answers.texts)
    unlike = set(np.flatnonzero(_is_unlike(model, sure)).tolist())
    suspects = []
    for i, near in enumerate(found.row.tolist()):
        counts = Counter(codes[j] for j in same.get(i, ()))
        most = counts.most_common(2)
        # With as many of another kind, identical answers do not tell which is right.
        majority = most[0] if len(most) > 1 and most[0][1] > most[1][1] else None
        odd = len(counts) > 1 and (majority is None or majority[0] != codes[i])
        if not odd and i not in unlike:
            continue
        likely, certainty = predicted[i], float(sure[i])
        if odd and majority is not None:
            likely, certainty = majority[0], majority[1] / counts.total()
        why = (*((UNLIKE,) * (i in unlike)), *((IDENTICAL,) * odd))
        evidence = (near + 1, model.answers.texts[near], codes[near])
        about = (i + 1, model.answers.texts[i], codes[i], likely, why, certainty)
        suspects.append(Suspect(*about, *evidence, tuple(counts.most_common()) if odd else ()))
    return sorted(suspects, key=lambda s: (-s.expected_wrong, s.number))


def chance_right(model: CodingModel) -> NDArray[np.float64]:
    """How likely each prediction is right as a whole: its chance, or as theta tells."""
    found = model.evidence
    if found.chance is not None:
        return found.chance
    return np.asarray((1 - found.theta) ** len(model.labels))


def _is_unlike(model: CodingModel, sure: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where more codes of people are expected to be wrong than a usual chance would be.

    That is the machine's chance to be right on average where people agree with it: so sure it must
    be of an answer that differs in one code, and half as sure if it differs in two.
    """
    n_differ = model.evidence.n_wrong(model.Y)
    agree = n_differ == 0
    if not agree.any():
        return np.zeros(len(sure), dtype=bool)
    return np.asarray(~agree & (sure * n_differ >= sure[agree].mean()))


def _identical(texts: list[str]) -> dict[int, list[int]]:
    """For answers that say the same as others, but for case, spaces and marks: all of these."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for i, text in enumerate(texts):
        groups[plain_words(text)].append(i)
    several = (rows for words, rows in groups.items() if words and len(rows) > 1)
    return {i: rows for rows in several for i in rows}


def plain_words(text: str) -> str:
    """The words of a text, whatever their case, and what stands between them.

    >>> plain_words("More  buses, please!") == plain_words("more buses please")
    True
    """
    return " ".join(re.findall(r"\w+", normalize("NFKC", text).casefold()))


def write_suspects(model: CodingModel, suspects: list[Suspect], out: Path | str) -> None:
    """Write suspects as a table: the answer, its codes and likely ones, why, and the evidence.

    Parameters
    ----------
    model : CodingModel
        Whose answers they are.
    suspects : list of Suspect
        Of :func:`find_suspects`.
    out : Path or str
        File for the table, in the format that its ending says.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, find_suspects, fit_coding_model
    >>> from nldd.coding.suspects import write_suspects
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding.tables.opening import open_table
    >>> with TemporaryDirectory() as folder:
    ...     write_suspects(model, find_suspects(model), Path(folder, "suspects.csv"))
    ...     with open_table(Path(folder, "suspects.csv")) as table:
    ...         names = table.names
    >>> names[:5]
    ('number', 'answer', 'codes', 'likely_codes', 'differ_in')
    """
    names = (*model.columns.numeric, *model.columns.categorical)
    text = model.columns.text[0] if len(model.columns.text) == 1 else "answer"
    join = model.columns.codes.join
    with create_table(out, ("number", text, *HEAD, *EVIDENCE, *names)) as writer:
        for s in suspects:
            same = " | ".join(f"{join(codes) or '(no code)'}: {n}" for codes, n in s.same)
            told = (join(s.codes), join(s.likely), "; ".join(s.differ_in))
            scores = (round(s.expected_wrong, 3), round(s.sure, 4), "; ".join(s.why))
            evidence = (same, s.nearest_text, join(s.nearest_codes))
            features = _features(model, s.number - 1)
            writer.write([(s.number, s.text, *told, *scores, *evidence, *features)])


def _features(model: CodingModel, row: int) -> list[Cell]:
    numbers = model.answers.numbers[row].tolist()
    return [*("" if np.isnan(x) else x for x in numbers), *model.answers.categories[row]]
