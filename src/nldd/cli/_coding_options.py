"""Options and messages that the coding commands share."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from nldd._wording import quote

Command = Callable[..., Any]

EXISTING_FILE = click.Path(dir_okay=False, path_type=Path)

model_argument = click.argument("model", type=EXISTING_FILE, metavar="MODEL")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")


def bundle(
    name: str, make: Callable[..., Any], *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """Options whose values reach the command as one argument `name`: `make` takes them by name."""
    keys = tuple(signature(make).parameters)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def bundled(**given: Any) -> Any:
            made = make(**{key: given.pop(key) for key in keys})
            return command(**given, **{name: made})

        decorated: Command = bundled
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _table_options(encoding: str | None, delimiter: str | None, sheet: str | None) -> Any:
    from nldd.tables import TableOptions

    tab = {"tab": "\t", "\\t": "\t"}
    return TableOptions(
        encoding, None if delimiter is None else tab.get(delimiter, delimiter), sheet
    )


table_options = bundle(
    "options",
    _table_options,
    click.option("--encoding", metavar="NAME", help="Of a text file; else found out."),
    click.option(
        "--delimiter", metavar="CHARACTER", help="Between the cells of a CSV file; else found out."
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of an XLSX file; the first if left out."),
)


class Share(click.FloatRange):
    """A number between 0 and 1; who gives a percentage is told how to write it."""

    def __init__(self) -> None:
        super().__init__(0, 1, min_open=True, max_open=True)

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number that a text stands for."""
        text = " ".join(str(value).split())
        number = _float(text)
        if 0 < number < 1:
            return number
        share = _likely_share(text)
        if 0 < share < 1:
            self.fail(
                f"{text} is not a number between 0 and 1; write {share:.12g} for "
                f"{100 * share:.12g} %.",
                param,
                ctx,
            )
        self.fail(
            f"{quote(text)} is not a number above 0 and below 1; write 0.9 for 90 %, say.",
            param,
            ctx,
        )


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _likely_share(text: str) -> float:
    """What a person may mean by a number above 1, a percent sign or a decimal comma."""
    number = _float(text.rstrip("% ").replace(",", "."))
    return number / 100 if text.endswith("%") or number > 1 else number


def promise_options(command: Command) -> Command:
    """``--target-accuracy``, ``--confidence`` and ``--measure``."""
    share = Share()
    for option in (
        click.option(
            "--measure",
            type=click.Choice(["subset", "hamming"]),
            default="subset",
            show_default=True,
            help="An answer is right if all its codes are (subset), or code by code (hamming).",
        ),
        click.option(
            "--confidence",
            type=share,
            default=0.9,
            show_default=True,
            help="How sure the promise shall be.",
        ),
        click.option(
            "--target-accuracy",
            "target",
            type=share,
            default=0.9,
            show_default=True,
            help="Accuracy that the automatic codes shall have.",
        ),
    ):
        command = option(command)
    return command


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


def print_notes(notes: Iterable[str]) -> None:
    """What a person should know, on standard error."""
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def fold_watch(title: str) -> Callable[[Iterable[Any], int], Iterable[Any]]:
    """A progress bar over the folds of a cross-validation."""
    from nldd._progress import progress

    return lambda folds, total: progress(folds, total, title, show=True)


def block_watch(title: str) -> Callable[[Iterable[Any], Callable[[], float]], Iterable[Any]]:
    """A progress bar over the blocks of a table."""
    from nldd._progress import progress_of_share

    return lambda blocks, share: progress_of_share(blocks, share, title, show=True)


def records(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Dataclasses as dictionaries."""
    return [asdict(value) for value in values]


def try_report(write: Callable[[], Path]) -> Path | None:
    """Write a report where its extra is installed, and else say why there is none."""
    from nldd.exceptions import MissingExtraError

    try:
        return write()
    except MissingExtraError as error:
        click.echo(f"Note: no report: {error} {error.hint}".rstrip(), err=True)
        return None
