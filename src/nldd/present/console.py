"""How commands print: results as text or JSON, notes, questions, and a report that is missing."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from nldd._wording import printable
from nldd.exceptions import NLDDError
from nldd.present.text import KEPT


def show(text: str, err: bool = False) -> None:
    """Print text without the control characters that a terminal would obey."""
    click.echo(printable(text, KEPT), err=err)


# On standard error, so that it does not mix with data.
say = partial(show, err=True)


def print_json(value: Any) -> None:
    """Print a value as JSON, with null for what is not a number."""
    plain = json.loads(json.dumps(value, default=_as_plain), parse_constant=lambda name: None)
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    # JSON has codes of its own for what is not printable, and is read as UTF-8, whatever a system
    # writes to a file.
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    show(text if is_utf8 and printable(text, "\n") == text else json.dumps(plain, indent=2))


def _as_plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def print_result(
    as_json: bool, record: Any, text: str, advice: str = "", **written: Path | None
) -> None:
    """Print a result and the files written: as JSON for programs, or as text with advice."""
    if as_json:
        print_json({**written, **record} if written else record)
        return
    places = [f"{name.capitalize()}: {place}" for name, place in written.items() if place]
    show("\n".join([text, *[""][: len(places)], *places]))
    if advice:
        say(f"\n{advice}")


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        say(f"Note: {note}")


def make_asker() -> Callable[[str], bool] | None:
    """Return a function that asks for yes or no; None if nobody is at a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: click.confirm(printable(question, KEPT), err=True)


@contextmanager
def after_saving(model: Path) -> Iterator[None]:
    """Add to errors of the disk that the model itself is saved."""
    try:
        yield
    except OSError as error:
        if not error.strerror:
            raise
        message = f"{error.filename}: {error.strerror}. The model is saved: {model}."
        hint = "make room, then nldd triage and nldd inspect show what the report would have shown"
        raise NLDDError(message, hint=hint) from error
