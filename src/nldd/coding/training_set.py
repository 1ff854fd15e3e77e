"""What a model learns from: each answer once, with codes that are no slips.

Rows are of one answer if their id and words are the same. Where the rows of an answer hold one code
each, and never the same, they are the export of a program that writes a row for each code. Else
they are codings of several people. Where these agree, the answer is learned from; where not, it is
only tested, against the codes of one coder drawn at random: to test where coders agree alone would
look too good.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from nldd._wording import quote, quote_first
from nldd.coding.answers import Answers, Decisions, normalize_text
from nldd.coding.code_slips import find_lists, find_new_slips, first_rows, list_slips, sep_options
from nldd.coding.columns import CodeColumns, Codes, Columns
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# So many rows without text must have the same codes, and so large a share of them, to be learned.
FEWEST_BLANK, SAME = 5, 0.9

# Asks a person at a terminal; None where nobody can answer.
Ask = Callable[[str], bool] | None
Key = tuple[str, ...]
Coded = tuple[Answers, Decisions]


def given_codes(decisions: Decisions) -> list[Codes]:
    """The codes of decisions that are all made."""
    return [codes for codes in decisions.codes if codes is not None]


def take(coded: Coded, places: Iterable[int], *notes: str) -> Coded:
    """Some of the answers and their decisions, with notes on the others."""
    chosen, (answers, decisions) = np.array(list(places), dtype=np.intp), coded
    some = replace(decisions[chosen], notes=[*decisions.notes, *notes])
    return answers[chosen], some


def choose_answers(
    answers: Answers,
    decisions: Decisions,
    columns: Columns,
    seed: int = 0,
    earlier: Iterable[Collection[str]] = (),
    fewest: int = 1,
) -> Coded:
    """The decided answers to learn from or to test on: each once, and not blank.

    `earlier` are codes that blank answers had before. At least the `fewest` must be left.
    """
    coded = take((answers, decisions), decisions.decided)
    return settle_repeats(*drop_blank_answers(*coded, columns, earlier, fewest), seed)


def drop_blank_answers(
    answers: Answers,
    decisions: Decisions,
    columns: Columns,
    earlier: Iterable[Collection[str]] = (),
    fewest: int = 1,
) -> Coded:
    """Leave out answers that say nothing, unless nearly all of them have the same codes.

    A code for "no answer" can be learned. Otherwise codes come from something that is not in the
    table, and what empty answers get would be a guess.
    """
    coded, n = (answers, decisions), len(answers)
    silent = [i for i, text in enumerate(answers.texts) if columns.text and not text.strip()]
    has_more = [any(answers.categories[i]) or answers.extra.shape[1] > 0 for i in range(n)]
    blank = [i for i in silent if not has_more[i] and np.isnan(answers.numbers[i]).all()]
    of = f"of {count_noun(n, 'coded row')} without text"
    if n_more := len(silent) - len(blank):
        coded = take(coded, range(n), f"{n_more:,} {of}: learned from their other columns.")
    if not blank:
        return coded
    given = given_codes(decisions)
    sets = Counter(map(frozenset, chain(earlier, (given[i] for i in blank))))
    (most, n_most), n_all = sets.most_common(1)[0], sets.total()
    if n_most >= max(FEWEST_BLANK, SAME * n_all):
        which = f"are coded {quote_first(sorted(most))}" if most else "have no code"
        learned = f"learned, as nearly all {which}; new answers without text may be coded so too"
        return take(coded, range(n), f"{len(blank):,} {of}: {learned}.")
    kept = sorted({*range(n)} - {*blank})
    if len(kept) < fewest:
        message = f"{decisions.source}: {len(kept)} of {n:,} coded rows have text; expected"
        hint = f"check that the answers stand in {quote_first(columns.text)}, or name it by --text"
        raise InputError(f"{message} {fewest} or more.", hint=hint)
    left = "left out, as their codes cannot come from it; if it stands in another column, add that"
    return take(coded, kept, f"{len(blank):,} {of}: {left} to --text.")


def settle_repeats(answers: Answers, decisions: Decisions, seed: int = 0) -> Coded:
    """Each answer of a respondent once; without ids, nobody knows, and all rows stay."""
    if not any(answers.ids):
        return answers, decisions
    answers, decisions = merge_code_rows(answers, decisions)
    rng, kept, notes = np.random.default_rng(seed), dict[int, bool](), list[str]()
    for rows in rows_by_answer(answers, decisions).values():
        agreed = all(decisions.codes[row] == decisions.codes[rows[0]] for row in rows)
        kept[rows[0] if agreed else rows[int(rng.integers(len(rows)))]] = agreed
    if n_repeated := len(answers) - len(kept):
        n_coders = len({*decisions.coders} - {""})
        who = f" by {count_noun(n_coders, 'coder')}" if n_coders else ""
        n_differ = len(kept) - sum(kept.values())
        notes.append(
            f"Same id and words as another row: {count_noun(n_repeated, 'row')}. They are several "
            f"codings{who}; each of the {count_noun(len(kept), 'answer')} counts once. The codes "
            f"differ for {count_noun(n_differ, 'answer')}, which are tested but not learned from."
        )
    names = Counter(answers.ids[row] for row in kept)
    if n_several := sum(n > 1 for name, n in names.items() if name):
        notes.append(
            f"{count_noun(n_several, 'respondent')} with several answers: all of a respondent stay "
            "in one fold, and one drawn at random is tested."
        )
    order = sorted(kept)
    answers, decisions = take((answers, decisions), order, *notes)
    return answers, replace(decisions, agreed=[kept[row] for row in order])


def rows_by_answer(
    answers: Answers, decisions: Decisions, by_coder: bool = False
) -> dict[Key, list[int]]:
    """The rows of each answer: of one id and the same words, and of one coder if asked for."""
    found = defaultdict[Key, list[int]](list)
    rows = zip(answers.ids, answers.texts, decisions.coders, strict=True)
    for row, (name, text, coder) in enumerate(rows):
        who = (coder,) if by_coder else ()
        found[(name, normalize_text(text), *who) if name else ("", str(row))].append(row)
    return dict(found)


def merge_code_rows(answers: Answers, decisions: Decisions) -> Coded:
    """Each coding in one row, where a table has a row for each code."""
    rows_of, codes = rows_by_answer(answers, decisions, by_coder=True), given_codes(decisions)
    several = [rows for rows in rows_of.values() if len(rows) > 1]
    sets = [[codes[row] for row in rows] for rows in several]
    n_apart = sum(len({*given}) == len(given) for given in sets)
    if 2 * n_apart <= len(sets) or max(map(len, chain.from_iterable(sets))) > 1:
        return answers, decisions
    for rows, given in zip(several, sets, strict=True):
        if any(given) and not all(given):
            where = " and ".join(f"{answers.rows[row]:,}" for row in rows)
            what = f"{quote(answers.texts[rows[0]])} has codes in one row and no code in another"
            message = f"{decisions.source}, rows {where}: {what}."
            raise InputError(message, hint="correct the rows; or --coder-column, if coders differ")
        codes[rows[0]] = frozenset().union(*given)
    note = (
        f"One row per code: {len(codes):,} rows are {count_noun(len(rows_of), 'answer')}. "
        "If they are codings of several people instead, name the column that says whose: "
        "--coder-column."
    )
    merged = replace(decisions, codes=list(codes))
    return take((answers, merged), sorted(rows[0] for rows in rows_of.values()), note)


def drop_duplicates(answers: Answers, decisions: Decisions) -> Coded:
    """Each answer once that is known by its cells."""
    seen, kept = set[str](), list[int]()
    for i, keys in enumerate(answers.keys):
        own = {key for key in keys if key.startswith("cells:")}
        if seen.isdisjoint(own):
            kept.append(i)
        seen |= own
    n_out = len(answers) - len(kept)
    note = f"{count_noun(n_out, 'coded answer')}: in the table twice, and count once."
    return take((answers, decisions), kept, *[note] * bool(n_out))


def agree_on_lists(
    answers: Answers, decisions: Decisions, columns: Columns, ask: Ask = None
) -> Columns:
    """The columns, with separators that a person agrees to; codes that look like lists are refused.

    These are codes that consist of others of the table, with a separator that nobody named.
    """
    codes = columns.codes
    slips = find_lists(first_rows(answers, decisions), codes.separators) if codes.listed else []
    if not slips:
        return columns
    found = tuple(dict.fromkeys("".join(slip.separator for slip in slips)))
    between = " or ".join(map(quote, found))
    what = f"codes look like lists of others, with {between} between them"
    message = f"{decisions.source}: {what}:{list_slips(slips)}"
    if ask and ask(f"{message}\nDoes {between} separate codes, as {quote(codes.separator)} does?"):
        return replace(columns, codes=replace(codes, also=(*codes.also, *found)))
    sep = sep_options(slips, codes.separators)
    raise InputError(message, hint=f"{sep}; or --as-written, if they are codes of their own")


def check_new_codes(
    answers: Answers,
    decisions: Decisions,
    known: Sequence[str],
    codes: CodeColumns,
    allowed: bool = False,
    ask: Ask = None,
) -> Decisions:
    """Note codes that are not known, and refuse those that look like slips, unless `allowed`.

    Lists of known codes with another separator are taken as such where a person agrees.
    """
    rows = first_rows(answers, decisions)
    slips = [] if allowed else find_new_slips(rows, known, codes)
    lists = [slip for slip in slips if len(slip.meant) > 1]
    message = f"{decisions.source}: the model does not know these codes:{list_slips(slips)}"
    can_ask = ask is not None and len(lists) == len(slips)
    if slips and not (ask and can_ask and ask(f"{message}\nAre these lists of codes?")):
        sep = f"{sep_options(lists, codes.separators)}, if the file lists codes so; or "
        hint = f"{sep * bool(lists)}--new-codes, if they are codes of their own"
        guess = any("which is a guess" in note for note in decisions.notes)
        encoding = "; or --encoding, which was guessed, if letters look wrong" * guess
        raise InputError(message, hint=f"correct them in the file; or {hint}{encoding}")
    meant = {slip.written: slip.meant for slip in slips}
    settled = [
        None if names is None else frozenset(m for n in names for m in meant.get(n, (n,)))
        for names in decisions.codes
    ]
    new = sorted(rows.keys() - meant.keys() - set(known))
    notes = [*decisions.notes, *[f"New codes: {quote_first(new)}."] * bool(new)]
    return replace(decisions, codes=settled, notes=notes)
