"""What all commands print in the same way: JSON, notes, progress, and that a report is missing."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click


def print_json(value: Any) -> None:
    """A value as JSON on standard output."""
    click.echo(json.dumps(_as_json(value), indent=2, ensure_ascii=False, allow_nan=False))


def _as_json(value: Any) -> Any:
    """A value of plain kinds; JSON has no number for what is not one."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def print_result(as_json: bool, record: Any, text: str) -> None:
    """What a command found, for programs or for people."""
    if as_json:
        print_json(record)
    else:
        click.echo(text)


def print_notes(notes: Iterable[str]) -> None:
    """What a person should know, on standard error."""
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def watch_folds(folds: Iterable[Any], total: int) -> Iterable[Any]:
    """The folds of a cross-validation, under a progress bar."""
    from nldd._progress import progress

    return progress(folds, total, "cross-validation", show=True)


def watch_blocks(blocks: Iterable[Any], share: Callable[[], float]) -> Iterable[Any]:
    """The blocks of a table that is coded, under a progress bar."""
    from nldd._progress import progress_of_share

    return progress_of_share(blocks, share, "coding", show=True)


def try_report(write: Callable[[], Path]) -> Path | None:
    """Write a report where its extra is installed, and else say why there is none."""
    from nldd.exceptions import MissingExtraError

    try:
        return write()
    except MissingExtraError as error:
        click.echo(f"Note: no report: {error} {error.hint}".rstrip(), err=True)
        return None
