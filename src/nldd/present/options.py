"""Options that commands of both applications have."""

import os
from collections.abc import Callable
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
# Files are checked when they are read, with better messages than click's.
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

default_option = partial(click.option, show_default=True)
file_option = partial(click.option, type=FILE)
folder_option = partial(click.option, type=FOLDER)


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
