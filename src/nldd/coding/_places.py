"""Files that a step reads and writes must not be one and the same."""

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
