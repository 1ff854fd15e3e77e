"""Options that several commands have; those that belong together reach a command as one value."""

import math
import os
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nldd._wording import quote

if TYPE_CHECKING:
    from nldd.tables import TableOptions as TableOptions

default_option = partial(click.option, show_default=True)
Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

# Whether a file can be read is found out when it is read, with a better message than click's.
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


class Promise(NamedTuple):
    """The accuracy that automatic codes shall have, how surely, and by which measure."""

    target: float
    confidence: float
    measure: str


class Share(click.FloatRange):
    """A number between 0 and 1; who gives a percentage is told how to write it."""

    def __init__(self) -> None:
        super().__init__(0, 1, min_open=True, max_open=True)

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number that a text stands for."""
        text = " ".join(str(value).split())
        number = _as_float(text)
        if 0 < number < 1:
            return number
        share = _likely_share(text)
        advice = (
            f"{text} is not a number between 0 and 1; write {share:.12g} for {100 * share:.12g} %."
            if 0 < share < 1
            else f"{quote(text)} is not a number above 0 and below 1; write 0.9 for 90 %, say."
        )
        self.fail(advice, param, ctx)


def _as_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _likely_share(text: str) -> float:
    """What a person may mean by a number above 1, a percent sign or a decimal comma."""
    number = _as_float(text.rstrip("% ").replace(",", "."))
    return number / 100 if text.endswith("%") or number > 1 else number


def bundle(name: str, build: Callable[..., Any], *options: Decorator) -> Decorator:
    """Options whose values reach the command as one argument `name`, which `build` makes."""
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
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def split_names(context: click.Context, parameter: click.Parameter, value: Any) -> list[str]:
    """Names from options that were repeated or separated by commas; a file may have commas."""
    return [
        name.strip()
        for given in value
        for name in ([given] if os.path.exists(given) else given.split(","))
        if name.strip()
    ]


names_option = partial(click.option, multiple=True, callback=split_names, metavar="NAMES")


def jobs_option(help: str) -> Decorator:
    """``--jobs``: how many workers, of which there must be some."""
    return default_option("--jobs", type=int, default=-1, callback=_refuse_zero, help=help)


def _refuse_zero(context: click.Context, parameter: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("0 workers cannot work; give 1 or more, or -1.")
    return value


def folds_option(help: str) -> Decorator:
    """``--folds``."""
    return default_option("--folds", type=click.IntRange(2, 100), default=10, help=help)


def report_option(beside: str) -> Decorator:
    """``--report`` and ``--no-report``: a function from the default place to the place or None."""

    def build(report_path: Path | None, no_report: bool) -> Callable[[Path], Path | None]:
        return lambda default: None if no_report else report_path or default

    help = f"File for the report.  [default: beside {beside}]"
    return bundle(
        "report_place",
        build,
        click.option("--report", "report_path", type=FILE, help=help),
        click.option("--no-report", is_flag=True, help="Write no report."),
    )


def _table_options(encoding: str | None, delimiter: str | None, sheet: str | None) -> Any:
    from nldd.tables import TableOptions

    tab = {"tab": "\t", "\\t": "\t"}
    return TableOptions(encoding, tab.get(delimiter or "", delimiter), sheet)


model_argument = click.argument("model", type=FILE, metavar="MODEL")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
raw_option = click.option(
    "--raw", is_flag=True, help="Write cells that a spreadsheet would run as formulas unchanged."
)
seed_option = default_option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Random seed."
)
data_dir_option = click.option(
    "--data-dir",
    type=FOLDER,
    help="Folder of the data sets; else NLDD_DATA, else the user's cache folder.",
)
table_options = bundle(
    "options",
    _table_options,
    click.option("--encoding", metavar="NAME", help="Of a text file; else found out."),
    click.option(
        "--delimiter", metavar="CHARACTER", help="Between the cells of a CSV file; else found out."
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook; the first if left out."),
)
promise_options = bundle(
    "promise",
    Promise,
    default_option(
        "--target-accuracy",
        "target",
        type=Share(),
        default=0.9,
        help="Accuracy that the automatic codes shall have.",
    ),
    default_option(
        "--confidence", type=Share(), default=0.9, help="How sure the promise shall be."
    ),
    default_option(
        "--measure",
        type=click.Choice(["subset", "hamming"]),
        default="subset",
        help="An answer is right if all its codes are (subset), or code by code (hamming).",
    ),
)
