"""Names of columns: distinct ones, and the ones that are near a wrong one."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from nldd._wording import counted, listed, shown
from nldd.exceptions import InputError


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
        notes.append(f"Repeated column names got a number: {listed(repeated)}.")
    if empty:
        notes.append(f"{counted(len(empty), 'column')} had no name: {listed(empty)}.")
    return notes


def find_column(name: str, names: Sequence[str], path: Path) -> int:
    """Position of a column, or an error that says which names are like it."""
    if name in names:
        return names.index(name)
    folded = {known.casefold(): known for known in reversed(names)}
    near = difflib.get_close_matches(name.strip().casefold(), folded, n=3, cutoff=0.6)
    if near:
        hint = f"Did you mean {' or '.join(shown(folded[key]) for key in near)}?"
    else:
        hint = f"name one of its columns: {listed(names)}"
    raise InputError(f"{path.name} has no column {shown(name)}.", hint=hint)
