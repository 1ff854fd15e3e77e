"""Rows of one answer become one: of several coders, or a row for each code.

Rows are of one answer if their id and words are the same. Where the rows of an answer hold one code
each, and never the same, they are the export of a program that writes a row for each code. Else
they are codings of several people. Where these agree, the answer is learned from; where not, it is
only tested, against the codes of one coder drawn at random: to test where coders agree alone would
look too good.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nldd._wording import quote
from nldd.coding.respondents import normalize_text
from nldd.coding.training_table import CodedAnswers
from nldd.exceptions import InputError
from nldd.present.text import count_noun

Key = tuple[str, ...]


def settle_repeats(table: CodedAnswers, path: Path, random_state: int = 0) -> CodedAnswers:
    """Each answer of a respondent once; without ids, nobody knows, and all rows stay."""
    if not any(table.answers.ids):
        return table
    table = merge_code_rows(table, path)
    rng = np.random.default_rng(random_state)
    kept, taught, n_differ = list[int](), list[bool](), 0
    for rows in rows_by_answer(table).values():
        agreed = all(table.codes[row] == table.codes[rows[0]] for row in rows)
        kept.append(rows[0] if agreed else rows[int(rng.integers(len(rows)))])
        taught.append(agreed)
        n_differ += not agreed
    order = np.argsort(kept).tolist()
    notes = list(table.notes)
    if n_repeated := len(table.codes) - len(kept):
        who = f" by {count_noun(len({*table.coders}), 'coder')}" if table.coders else ""
        notes.append(
            f"Same id and words as another row: {count_noun(n_repeated, 'row')}. They are several "
            f"codings{who}; each of the {count_noun(len(kept), 'answer')} counts once. The codes "
            f"differ for {count_noun(n_differ, 'answer')}, which are tested but not learned from."
        )
    notes += _notes_on_respondents([table.answers.ids[row] for row in kept])
    found = replace(table, notes=notes).take([kept[i] for i in order], "")
    return replace(found, notes=notes, taught=[taught[i] for i in order])


def rows_by_answer(table: CodedAnswers, by_coder: bool = False) -> dict[Key, list[int]]:
    """The rows of each answer: of one id and the same words, and of one coder if asked for."""
    found = defaultdict[Key, list[int]](list)
    for row, (name, text) in enumerate(zip(table.answers.ids, table.answers.texts, strict=True)):
        coder = (table.coders[row],) if by_coder and table.coders else ()
        key = (name, normalize_text(text), *coder) if name else ("", str(row))
        found[key].append(row)
    return dict(found)


def merge_code_rows(table: CodedAnswers, path: Path) -> CodedAnswers:
    """The table with one row for each coding, where it has one for each code."""
    answers = rows_by_answer(table, by_coder=True)
    several = [rows for rows in answers.values() if len(rows) > 1]
    if not _has_code_rows(several, table.codes):
        return table
    codes = list(table.codes)
    for rows in several:
        given = [codes[row] for row in rows]
        if any(given) and not all(given):
            where = " and ".join(f"{table.rows[row]:,}" for row in rows)
            text = quote(table.answers.texts[rows[0]])
            message = (
                f"{path.name}, rows {where}: {text} has codes in one row and no code in another."
            )
            raise InputError(message, hint="correct the rows; or --coder-column, if coders differ")
        codes[rows[0]] = set().union(*given)
    note = (
        f"One row per code: {len(table.codes):,} rows are {count_noun(len(answers), 'answer')}. "
        "If they are codings of several people instead, name the column that says whose: "
        "--coder-column."
    )
    firsts = sorted(rows[0] for rows in answers.values())
    merged = replace(table, codes=codes).take(firsts, "")
    return replace(merged, notes=[*table.notes, note])


def _has_code_rows(several: Iterable[Sequence[int]], codes: Sequence[set[str]]) -> bool:
    """Whether rows of one answer hold a code each, and seldom the same one."""
    found = [[frozenset(codes[row]) for row in rows] for rows in several]
    if not found or any(len(given) > 1 for sets in found for given in sets):
        return False
    return sum(len({*sets}) == len(sets) for sets in found) > len(found) / 2


def _notes_on_respondents(ids: Sequence[str]) -> list[str]:
    n_several = sum(n > 1 for name, n in Counter(ids).items() if name)
    if not n_several:
        return []
    return [
        f"{count_noun(n_several, 'respondent')} with several answers: all of a respondent stay in "
        "one fold, and one drawn at random is tested."
    ]
