"""Options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def jobs_option(help: str) -> Callable[[Any], Any]:
    """``--jobs``: how many workers, of which there must be some."""
    return click.option(
        "--jobs", type=int, default=-1, show_default=True, callback=_nonzero, help=help
    )


def report_options(beside: str) -> Callable[[Any], Any]:
    """``--report`` and ``--no-report``."""
    file = click.Path(dir_okay=False, path_type=Path)
    named = click.option(
        "--report",
        "report_path",
        type=file,
        help=f"File for the report.  [default: beside {beside}]",
    )
    none = click.option("--no-report", is_flag=True, help="Write no report.")
    return lambda command: named(none(command))


def _nonzero(context: click.Context, parameter: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("0 workers cannot work; give 1 or more, or -1.")
    return value
