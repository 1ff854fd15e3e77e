"""What may join a model: codes that look like slips and rows that say nothing are not let in."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from nldd._wording import quote, quote_first
from nldd.coding.answers import Answers, CodeColumns, Columns
from nldd.coding.code_slips import find_lists, find_new_slips, first_rows, list_slips, sep_options
from nldd.coding.training_table import CodedAnswers
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# So many rows without text must have the same codes, and so large a share of them, to be learned.
FEWEST_BLANK, SAME = 5, 0.9

# Asks a person at a terminal; None where nobody can answer.
Ask = Callable[[str], bool] | None


def agree_on_lists(table: CodedAnswers, columns: Columns, path: Path, ask: Ask = None) -> Columns:
    """The columns, with separators that a person agrees to; codes that look like lists are refused.

    These are codes that consist of others of the table, with a separator that nobody named.
    """
    codes = columns.codes
    slips = (
        find_lists(first_rows(table.codes, table.rows), codes.separators) if codes.listed else []
    )
    if not slips:
        return columns
    found = tuple(dict.fromkeys("".join(slip.separator for slip in slips)))
    between = " or ".join(map(quote, found))
    what = (
        "1 code looks like a list" if len(slips) == 1 else f"{len(slips):,} codes look like lists"
    )
    lines = list_slips(slips, lambda slip: quote(slip.written, 80))
    message = f"{path.name}: {what} of others, with {between} between them:{lines}"
    if ask and ask(f"{message}\nDoes {between} separate codes, as {quote(codes.separator)} does?"):
        return replace(columns, codes=replace(codes, also=(*codes.also, *found)))
    used = codes.separators if any(len(names) > 1 for names in table.codes) else ()
    hint = f"{sep_options(slips, used)}; or --as-written, if they are codes of their own"
    raise InputError(_without_lines(message) if ask else message, hint=hint)


def check_new_codes(
    table: CodedAnswers,
    known: Sequence[str],
    codes: CodeColumns,
    path: Path,
    allowed: bool = False,
    ask: Ask = None,
) -> CodedAnswers:
    """Note codes that are not known, and refuse those that look like slips, unless `allowed`.

    Lists of known codes with another separator are taken as such where a person agrees.
    """
    rows = first_rows(table.codes, table.rows)
    slips = [] if allowed else find_new_slips(rows, known, codes)
    if slips:
        message = f"{path.name}: the model does not know these codes:{list_slips(slips)}"
        if len(slips) == 1:
            where = f"{path.name}, row {slips[0].row:,}"
            message = f"{where}: the model does not know the code {slips[0]}."
        lists = [slip for slip in slips if len(slip.meant) > 1]
        asked = ask is not None and len(lists) == len(slips)
        if not (ask and asked and ask(f"{message}\nAre these lists of codes?")):
            used = codes.separators if any(len(names) > 1 for names in table.codes) else ()
            sep = f"{sep_options(lists, used)}, if the file lists codes so; or " if lists else ""
            own = "--new-codes, if they are codes of their own"
            said = _without_lines(message) if asked else message
            guess = any("which is a guess" in note for note in table.notes)
            encoding = "; or --encoding, which was guessed, if letters look wrong" * guess
            raise InputError(said, hint=f"correct them in the file; or {sep}{own}{encoding}")
    meant = {slip.written: slip.meant for slip in slips}
    settled = [{m for name in names for m in meant.get(name, (name,))} for names in table.codes]
    new = sorted(rows.keys() - meant.keys() - set(known))
    notes = [f"New codes: {quote_first(new)}."] if new else []
    return replace(table, codes=settled, notes=[*table.notes, *notes])


def drop_blank_answers(
    table: CodedAnswers,
    columns: Columns,
    path: Path,
    earlier: Iterable[Collection[str]] = (),
    fewest: int = 1,
) -> CodedAnswers:
    """Leave out rows that say nothing, unless nearly all of them have the same codes.

    A code for "no answer" can be learned. Otherwise codes come from something that is not in the
    table, and what empty answers get would be a guess. `earlier` are codes of such rows before.
    At least the `fewest` rows must be left.
    """
    answers = table.answers
    silent = [i for i, text in enumerate(answers.texts) if columns.text and not text.strip()]
    blank = [i for i in silent if not _says_more(answers, i)]
    notes = list(table.notes)
    if n_more := len(silent) - len(blank):
        notes.append(f"{_without_text(n_more, table)}: learned from their other columns.")
    if not blank:
        return replace(table, notes=notes)
    sets = Counter(map(frozenset, chain(earlier, (table.codes[i] for i in blank))))
    (most, n_most), n = sets.most_common(1)[0], sets.total()
    if n_most >= max(FEWEST_BLANK, SAME * n):
        which = f"are coded {quote_first(sorted(most))}" if most else "have no code"
        learned = f"learned, as nearly all {which}; new answers without text may be coded so too"
        return replace(table, notes=[*notes, f"{_without_text(len(blank), table)}: {learned}."])
    kept = sorted({*range(len(table.codes))} - {*blank})
    if len(kept) < fewest:
        have = f"only {len(kept)} of the" if kept else "none of the"
        needed = f"; {fewest} are needed" if fewest > 1 else ""
        message = f"{path.name}: {have} {len(table.codes):,} coded rows has text{needed}."
        hint = f"check that the answers stand in {quote_first(columns.text)}, or name it by --text"
        raise InputError(message, hint=hint)
    left = "left out, as their codes cannot come from it; if it stands in another column, add that"
    notes.append(f"{_without_text(len(blank), table)}: {left} to --text.")
    return replace(table.take(kept, ""), notes=notes)


def _without_lines(message: str) -> str:
    """The first line of a message, for a person who has just read all of it."""
    return message.partition(":\n")[0].removesuffix(".") + "."


def _says_more(answers: Answers, i: int) -> bool:
    """Whether an answer has anything but its text."""
    has_numbers = answers.extra.shape[1] > 0 or not np.isnan(answers.numbers[i]).all()
    return has_numbers or any(answers.categories[i])


def _without_text(n: int, table: CodedAnswers) -> str:
    return f"{n:,} of {count_noun(len(table.codes), 'coded row')} without text"
