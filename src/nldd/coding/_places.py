"""Files that a step reads and writes: different ones, in places that can be written to."""

import os
from pathlib import Path

from nldd.exceptions import InputError


def check_places(*places: Path | str | None, hint: str) -> None:
    """Refuse a step that would write over what it reads; ``-`` is standard output."""
    named = [Path(place) for place in places if place is not None and str(place) != "-"]
    seen: dict[Path, Path] = {}
    for place in named:
        if place.resolve() in seen:
            raise InputError(
                f"{place} is named twice; what is read and what is written must differ.",
                hint=hint,
            )
        seen[place.resolve()] = place


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written to, before hours of work rather than after."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fits = path.parent.is_dir() and not path.is_dir() and os.access(path.parent, os.W_OK)
    except OSError:
        fits = False
    if not fits:
        raise InputError(
            f"{path}: cannot be written.",
            hint="Check the name of its folder, and whether you may write there",
        )
