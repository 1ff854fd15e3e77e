"""Columns that name or number the rows, from which nothing can be learnt about new rows."""

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.present.text import count_noun

# Of fewer rows, values may all be different by chance.
LEAST_ROWS = 20
_NEARLY_ALL = 0.95
_NAMES = {"id", "ids", "idx", "index", "row", "rowid", "nr", "no", "number", "case", "record"}
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def names_rows(values: Collection[str], n_rows: int, *, texts: bool = False) -> bool:
    """Whether nominal values or `texts`, each given once, are (nearly) as many as the rows.

    Texts of several words are the content of the rows rather than their names.
    """
    if n_rows < LEAST_ROWS or len(values) < _NEARLY_ALL * n_rows:
        return False
    n_words = sum(len(value.split()) > 1 for value in values) if texts else 0
    return n_words <= len(values) / 2


def sounds_like_a_row_id(name: str) -> bool:
    """Whether a column is called like a row number: ``id``, ``case_no``, ``RowIndex``."""
    words = [word.lower() for word in _WORDS.split(name) if word]
    return bool(words) and words[-1] in _NAMES


def note_on_numbers(name: str, parts: Sequence[NDArray[Any]]) -> str | None:
    """What to tell about a column that, file by file, numbers the rows; None of another column.

    It is 0, 1, 2 and so on, or 1, 2, 3; each file may begin anew. Numbers that are all different
    are nothing unusual: look at the name of the column first.
    """
    values = np.concatenate(parts)
    if len(values) < LEAST_ROWS:
        return None
    if _counts_up(values):
        return left_out(name, len(values), len(values))
    return _note(name, "it numbers the rows of each part") if all(map(_counts_up, parts)) else None


def _counts_up(values: NDArray[Any]) -> bool:
    """Whether values are the numbers from 0 or 1 on, in any order."""
    found = np.sort(values)
    return bool(len(found)) and any(
        np.array_equal(found, np.arange(first, first + len(found))) for first in (0, 1)
    )


def left_out(name: str, n_values: int, n_rows: int) -> str:
    """What to tell about a column that was left out because its values name the rows."""
    nearly = "nearly " if n_values < n_rows else ""
    values, rows = count_noun(n_values, "value"), count_noun(n_rows, "row")
    return _note(name, f"its {values} {nearly}tell the {rows} apart")


def _note(name: str, why: str) -> str:
    return f"The column {quote(name)} was left out of the features: {why}, as a row id does."
