"""Names of columns: distinct ones, and the ones that are near a wrong one."""

import difflib
from collections.abc import Sequence

from nldd._wording import count_noun, quote, quote_first


def distinct_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each column that no other one has.

    Spaces around a name are dropped. A repeated one gets a number behind it, an empty one its
    place.

    Examples
    --------
    >>> distinct_names(["age", "comment", "comment", ""])
    ('age', 'comment', 'comment (2)', 'column 4')
    """
    wanted = [_trimmed(cell) or f"column {j}" for j, cell in enumerate(header, 1)]
    taken, reserved = set[str](), set(wanted)
    latest: dict[str, int] = {}
    names = []
    for name in wanted:
        chosen, k = name, latest.get(name, 1)
        while chosen in taken or (chosen != name and chosen in reserved):
            k += 1
            chosen = f"{name} ({k})"
        latest[name] = k
        taken.add(chosen)
        names.append(chosen)
    return tuple(names)


def _trimmed(cell: str) -> str:
    return cell.strip(" \t\r\n\u00a0\ufeff")


def renaming_notes(header: Sequence[str], names: Sequence[str]) -> list[str]:
    """What to say about columns whose name had to be made."""
    pairs = [(_trimmed(cell), name) for cell, name in zip(header, names, strict=True)]
    repeated = [name for cell, name in pairs if cell not in ("", name)]
    empty = [name for cell, name in pairs if not cell]
    notes = []
    if repeated:
        notes.append(f"Repeated column names got a number: {quote_first(repeated)}.")
    if empty:
        notes.append(f"{count_noun(len(empty), 'column')} had no name: {quote_first(empty)}.")
    return notes


def naming_hint(name: str, names: Sequence[str]) -> str:
    """What to do about a wrong name that a person can put right where it was given.

    Examples
    --------
    >>> naming_hint("anwser", ["id", "answer"])
    "Did you mean 'answer'?"
    """
    near = _near(name, names, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(map(quote, near))}?"
    return f"name one of its columns: {quote_first(names)}"


def renaming_hint(name: str, free: Sequence[str]) -> str:
    """What to do about a name that cannot change, so that one of the `free` columns must get it.

    Examples
    --------
    >>> renaming_hint("answer", ["id", "answers"])
    "rename the column 'answers' to 'answer' in the file, or use another file"
    """
    if not free:
        return f"add the column {quote(name)} to the file, or use another file"
    # To rename what only looks alike would code the wrong answers.
    near = _near(name, free, n=1, cutoff=0.8)
    if near:
        return (
            f"rename the column {quote(near[0])} to {quote(name)} in the file, or use another file"
        )
    return (
        f"rename the right column to {quote(name)} in the file, or use another file; this one also "
        f"has {quote_first(free)}"
    )


def _near(name: str, names: Sequence[str], n: int, cutoff: float) -> list[str]:
    folded = {known.casefold(): known for known in reversed(names)}
    keys = difflib.get_close_matches(name.strip().casefold(), folded, n=n, cutoff=cutoff)
    return [folded[key] for key in keys]
