"""Slips in codes: lists with another separator, misspelt ones, and what nobody meant as a code."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from nldd._wording import quote, quote_first
from nldd.coding.answers import Answers, Coded, Decisions
from nldd.coding.columns import CodeColumns, Codes, Columns
from nldd.coding.tables.spreadsheet import close_matches, fold_name
from nldd.exceptions import InputError
from nldd.present.text import count_noun

# What people write into a cell to say that no code applies.
DASHES = frozenset({"-", "--", "–", "—", "/"})  # noqa: RUF001 (other dashes are meant)
# Between codes, in lists that were written with another separator than was said.
OTHER_SEPARATORS = (",", ";", "|", "/", "+", "&")
# A space is within many a code; so many that consist of others are lists.
SPACE, FEWEST_SPACED = " ", 3
# A code is rare, and another frequent, from these numbers of answers on.
RARE, FREQUENT = 2, 20
MOST_NOTES = 5
MOST_LINES = 20
CLOSE = 0.8
# Asks a person at a terminal; None where nobody can answer.
Ask = Callable[[str], bool] | None

# Longer numbers are ids, and no codes.
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0+)?")
_FRACTION = re.compile(r"[0-9]+\.[0-9]*[1-9][0-9]*")
_MONTHS = "jan|feb|mar|mär|märz|mrz|apr|may|mai|jun|june|juni|jul|july|juli"
_MONTHS += "|aug|sep|sept|oct|okt|nov|dec|dez"
# As spreadsheets show them in English and German, and as we write them.
_DATE = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ][0-9:.]+)?"
    rf"|[0-9]{{1,2}}[-./ ]+(?:{_MONTHS})\.?(?:[-./ ]+[0-9]{{2,4}})?"
    rf"|(?:{_MONTHS})\.?[-./ ]+[0-9]{{1,4}}"
    rf"|[0-9]{{1,2}}[./][0-9]{{1,2}}[./](?:19|20)[0-9]{{2}}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Slip:
    """A code, the first row that has it, and the codes that are meant, or advice.

    Several that are meant were listed with `separator`, which may be several characters.
    """

    row: int
    written: str
    meant: tuple[str, ...] = ()
    advice: str = ""
    separator: str = ""

    def __str__(self) -> str:
        meant = " and ".join(map(quote, self.meant))
        return f"{quote(self.written, 80)}: " + (f"meant as {meant}?" if meant else self.advice)


def first_rows(answers: Answers, decisions: Decisions) -> dict[str, int]:
    """Each code with the first row that has it."""
    found: dict[str, int] = {}
    for row, names in zip(answers.rows, decisions.codes, strict=True):
        for name in sorted(names or ()):
            found.setdefault(name, row)
    return found


def find_lists(found: Mapping[str, int], used: Sequence[str]) -> list[Slip]:
    """Codes of a table that are lists of others, with a separator that is not in use."""
    by_fold = {fold_name(name): name for name in found}
    lists = ((row, name, _listed(name, by_fold.get, used)) for name, row in found.items())
    slips = [Slip(row, name, meant, "", by) for row, name, (by, meant) in lists if meant]
    unspaced = [slip for slip in slips if SPACE not in slip.separator]
    return slips if len(slips) - len(unspaced) >= FEWEST_SPACED else unspaced


def find_new_slips(
    found: Mapping[str, int], known: Sequence[str], columns: CodeColumns
) -> list[Slip]:
    """Codes that are not known and look like known ones, lists of them, or like no codes."""
    advice = {name: said for said, names in _strange(found, columns) for name in names}
    has_fractions = any(map(_FRACTION.fullmatch, known))
    match = partial(close_code, known=known)
    slips = []
    for name in (name for name in found if name not in known):
        # A spreadsheet of many countries takes the list 1,2 for a number.
        more = () if has_fractions or not _FRACTION.fullmatch(name) else (".",)
        by, meant = _listed(name, match, columns.separators, more)
        meant = meant or tuple(filter(None, [match(name)]))
        if meant or name in advice:
            slips.append(Slip(found[name], name, meant, advice.get(name, ""), by))
    return slips


def _listed(
    name: str, match: Callable[[str], str | None], used: Sequence[str], more: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Known codes that a name lists by one or all of its separators, and by which it does."""
    marks_of_lists = (*OTHER_SEPARATORS, *more, SPACE)
    others = [mark for mark in marks_of_lists if mark in name and mark not in used]
    for marks in (*others, "".join(others)) if others else ():
        parts = [part for part in re.split(f"[{re.escape(marks)}]", name) if part.strip()]
        meant = [known for part in parts if (known := match(fold_name(part)))]
        if len(parts) > 1 and len(meant) == len(parts):
            return marks, tuple(dict.fromkeys(meant))
    return "", ()


def sep_options(slips: Iterable[Slip], used: Sequence[str] = ()) -> str:
    """The options that name all separators of some lists, after those that are in `use`."""
    found = (mark for slip in slips for mark in slip.separator)
    # As a person types them.
    marks = (mark.replace("\t", "\\t").replace("\n", "\\n") for mark in (*used, *found))
    return " ".join(f'--sep "{mark}"' for mark in dict.fromkeys(marks))


def list_slips(slips: Sequence[Slip]) -> str:
    """The slips of a file with their rows, a line each; of many, the first ones."""
    lines = [f"\n  row {slip.row:,}: {slip}" for slip in slips[:MOST_LINES]]
    return "".join(lines) + f"\n  and {len(slips) - MOST_LINES:,} more" * (len(slips) > MOST_LINES)


def other_names_of_numbers(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Codes that are numbers written in another way: 12.0 for 12, and 2 for 02 where it is known.

    Spreadsheets and programs write them so. Where codes have fractions, 12.0 may be one of them.
    """
    names = [name for name in names if name not in known]
    if any(map(_FRACTION.fullmatch, (*names, *known))):
        return {}
    known_as, meant = defaultdict[int, list[str]](list), dict[str, str]()
    for name in known:
        if number := _WHOLE.fullmatch(name):
            known_as[int(number[1])].append(name)
    for name in names:
        if number := _WHOLE.fullmatch(name):
            same = known_as[int(number[1])]
            meant[name] = same[0] if len(same) == 1 else number[1]
    return {name: code for name, code in meant.items() if name != code}


def notes_on_codes(
    cells: Sequence[str], codes: Sequence[Codes], columns: CodeColumns, known: Collection[str]
) -> Iterator[str]:
    """What looks like a slip in columns that list codes."""
    where, separators = quote_first(columns.names), columns.separators
    counts = Counter(name for names in codes for name in names)
    if (other := likely_separator(cells, separators)) and len(columns.names) == 1:
        named = " or ".join(map(repr, separators))
        unlike = f"No cell of {where} holds {named}, but many hold {other!r}"
        yield f'{unlike}. If that separates codes, use --sep "{other}".'
    if missing := [cell for cell in cells if columns.says_missing(cell)]:
        which = quote_first(sorted(set(missing)))
        yield f"{count_noun(len(missing), 'cell')} of {where} with {which}: taken as not coded."
    for group in similar_groups(sorted(counts))[:MOST_NOTES]:
        one = "write them alike if they are one"
        yield f"{quote_first(group)} are taken as different codes; {one}."
    for name, meant in _misspelt(counts)[:MOST_NOTES]:
        times = f"{quote(name)} {count_noun(counts[name], 'time')}"
        yield f"{times}: a code of its own, or {quote(meant)} misspelt? Correct it if it is."
    for advice, names in _strange(counts, columns):
        if new := [name for name in names if name not in known]:
            kind = "is taken as a code" if len(new) == 1 else "are taken as codes"
            yield f"{quote_first(new)} {kind}; {advice}."


def _strange(names: Iterable[str], columns: CodeColumns) -> Iterator[tuple[str, list[str]]]:
    """Codes that people hardly mean as such, with what to do about them."""
    names = sorted(names)
    for mark in sorted(DASHES.intersection(names)):
        yield f"if it means that no code applies, use --no-code {mark!r}", [mark]
    if asked := [name for name in names if not set(name) - set("?¿ ")]:
        yield "if that means that nobody has decided, leave the cell empty", asked
    if dates := [name for name in names if _DATE.fullmatch(name)]:
        text = "format the column as text and write the codes again"
        yield f"if a spreadsheet made dates of codes such as 1-2, {text}", dates
    if headers := [name for name in names if name in columns.names]:
        yield "if the header stands among the rows a second time, delete it there", headers


def _misspelt(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Codes that came once or twice beside a frequent one that is written nearly alike."""
    frequent = [name for name, n in counts.items() if n >= FREQUENT]
    rare = sorted(name for name, n in counts.items() if n <= RARE)
    pairs = ((name, close_code(name, frequent)) for name in rare)
    return [(name, meant) for name, meant in pairs if meant and fold_name(meant) != fold_name(name)]


def likely_separator(cells: Sequence[str], used: Sequence[str]) -> str | None:
    """Another separator, if codes seem to be listed with that one."""
    if any(separator in cell for cell in cells for separator in used):
        return None
    counts = [sum(other in cell for cell in cells) for other in OTHER_SEPARATORS]
    best = OTHER_SEPARATORS[counts.index(max(counts))]
    return best if max(counts) >= max(2, len(cells) / 20) else None


def similar_groups(names: Sequence[str]) -> list[list[str]]:
    """Names that differ only in capitals, spaces or zeros before a number, by group."""
    groups = defaultdict(list)
    for name in names:
        folded = fold_name(name)
        groups[folded.lstrip("0") or "0" if folded.isdecimal() else folded].append(name)
    return [group for group in groups.values() if len(group) > 1]


def close_code(name: str, known: Sequence[str]) -> str | None:
    """The known code that a new one may be meant to be; codes with other numbers are others."""
    digits = partial(re.sub, r"\D", "")
    like = [other for other in known if digits(other) == digits(name)]
    return next(iter(close_matches(name, like, n=1, cutoff=CLOSE)), None)


def agree_on_lists(coded: Coded, columns: Columns, ask: Ask = None) -> Columns:
    """The columns, with separators that a person agrees to; codes that look like lists are refused.

    These are codes that consist of others of the table, with a separator that nobody named.
    """
    codes = columns.codes
    slips = find_lists(first_rows(*coded), codes.separators) if codes.listed else []
    if not slips:
        return columns
    found = tuple(dict.fromkeys("".join(slip.separator for slip in slips)))
    between = " or ".join(map(quote, found))
    what = f"codes look like lists of others, with {between} between them"
    message = f"{coded[1].source}: {what}:{list_slips(slips)}"
    if ask and ask(f"{message}\nDoes {between} separate codes, as {quote(codes.separator)} does?"):
        return replace(columns, codes=replace(codes, also=(*codes.also, *found)))
    sep = sep_options(slips, codes.separators)
    raise InputError(message, hint=f"{sep}; or --as-written, if they are codes of their own")


def check_new_codes(
    coded: Coded, known: Sequence[str], codes: CodeColumns, allowed: bool = False, ask: Ask = None
) -> Decisions:
    """Note codes that are not known, and refuse those that look like slips, unless `allowed`.

    Lists of known codes with another separator are taken as such where a person agrees.
    """
    rows, decisions = first_rows(*coded), coded[1]
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
    settled = [c and frozenset(m for n in c for m in meant.get(n, (n,))) for c in decisions.codes]
    new = sorted(rows.keys() - meant.keys() - set(known))
    notes = [*decisions.notes, *[f"New codes: {quote_first(new)}."] * bool(new)]
    return replace(decisions, codes=settled, notes=notes)
