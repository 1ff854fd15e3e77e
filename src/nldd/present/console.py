"""The command line of both applications: options, results as text or JSON, questions, progress."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from nldd._wording import printable
from nldd.exceptions import NLDDError
from nldd.present.text import KEPT

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
# Files are checked when they are read, with better messages than click's.
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

default_option = partial(click.option, show_default=True)
file_option = partial(click.option, type=FILE)
folder_option = partial(click.option, type=FOLDER)
T = TypeVar("T")

ONE_FORMAT = "{desc} ... [{elapsed}]"
COUNT_FORMAT = "{desc} |{bar:30}| {n_fmt}/{total_fmt} [{elapsed}, {remaining} left]"


def bundle(name: str, build: Callable[..., Any], *options: Decorator) -> Decorator:
    """Pass the values of some options to the command as one argument `name`, made by `build`."""
    probe = click.Command(None)
    for option in options:
        option(probe)
    keys = [str(parameter.name) for parameter in probe.params]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def bundled(**given: Any) -> Any:
            value = build(**{key: given.pop(key) for key in keys})
            return command(**given, **{name: value})

        decorated: Command = bundled
        return reduce(lambda inner, option: option(inner), reversed(options), decorated)

    return decorate


def split_names(context: click.Context, parameter: click.Parameter, value: Any) -> list[str]:
    """Read names from repeated options or between commas; a file name may contain commas."""
    return [
        name.strip()
        for given in value
        for name in ([given] if os.path.exists(given) else given.split(","))
        if name.strip()
    ]


names_option = partial(click.option, multiple=True, callback=split_names, metavar="NAMES")


def _refuse_zero(context: click.Context, parameter: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("0 workers cannot work; give 1 or more, or -1.")
    return value


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")
seed_option = default_option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Random seed."
)
folds_option = partial(click.option, "--folds", type=click.IntRange(2, 100))
jobs_option = partial(default_option, "--jobs", type=int, default=-1, callback=_refuse_zero)
threads_option = jobs_option(help="Threads; -1 is one per core.")


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


def progress(steps: Iterable[T], total: int, title: str, *, show: bool = True) -> Iterator[T]:
    """Pass `steps` through, drawing how many of `total` have gone by.

    On a terminal the line is redrawn in place; of a single step it says that it is being done. In a
    log file a line is written at the end, for a single step only if it took a second or more.
    """
    from tqdm import tqdm

    out, start, done = sys.stderr, time.monotonic(), 0
    looks = {"bar_format": ONE_FORMAT if total == 1 else COUNT_FORMAT, "dynamic_ncols": True}
    try:
        # None: drawn on a terminal only.
        for step in tqdm(steps, title, total, file=out, disable=None if show else True, **looks):
            yield step
            done += 1
    finally:
        seconds = time.monotonic() - start
        if show and not out.isatty() and (total != 1 or (done and seconds >= 1)):
            counted = "" if total == 1 else f"{done} of {total} in "
            print(f"{title}: {counted}{clock(seconds)}", file=out, flush=True)


def clock(seconds: float) -> str:
    """Write minutes and seconds, and hours if there are any.

    >>> clock(61.7), clock(3723)
    ('01:02', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
