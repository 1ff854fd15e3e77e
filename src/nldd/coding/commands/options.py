"""Options that several commands have; those that belong together reach a command as one value."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd._files import refuse_existing
from nldd._wording import quote
from nldd.present.console import FILE, Decorator, bundle, default_option, file_option, print_result

if TYPE_CHECKING:  # what the options of a bundle become, for the signatures of commands
    from nldd.coding.columns import CodeFormat as CodeFormat, ColumnSpec as ColumnSpec
    from nldd.coding.guarantee import GuaranteeTarget as GuaranteeTarget
    from nldd.coding.tables.reading import TableOptions as TableOptions

# From the file that a report is about to the place of the report, if there shall be one.
ReportPlace = Callable[[Path], Path | None]

# A tab or a line break, as people write them where the shell would take them for a space.
TABS = {"tab": "\t", "\\t": "\t"}
BREAKS = {**TABS, "\\n": "\n", "\\r\\n": "\n"}


def build_late(module: str, name: str) -> Callable[..., Any]:
    """Make values of a class that is imported when there are options, so that help needs none."""
    return lambda **given: getattr(import_module(module), name)(**given)


make_column_spec = build_late("nldd.coding.columns", "ColumnSpec")


class Proportion(click.FloatRange):
    """A number between 0 and 1; who gives a percentage is told how to write it."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        with suppress(ValueError):
            if 0 < (number := float(value)) < 1:
                return number
        message = f"{quote(str(value))} is not a number above 0 and below 1; write 0.9 for 90 %."
        self.fail(message, param, ctx)


def report_option(beside: str) -> Decorator:
    """``--report`` and ``--no-report``, which reach the command as a `ReportPlace`."""

    def build(report_path: Path | None, no_report: bool) -> ReportPlace:
        return lambda file: None if no_report else report_path or file.with_suffix(".report.html")

    help = f"File for the report.  [default: beside {beside}]"
    return bundle(
        "report_place",
        build,
        file_option("--report", "report_path", help=help),
        click.option("--no-report", is_flag=True, help="Write no report."),
    )


def _read_separators(context: Any, parameter: Any, given: tuple[str, ...]) -> tuple[str, ...]:
    if "" in given:
        raise click.UsageError("--sep must be at least one character, such as ';'.")
    return tuple(dict.fromkeys(BREAKS.get(separator, separator) for separator in given))


sep_option = partial(
    click.option, "--sep", "separators", multiple=True, callback=_read_separators, metavar="TEXT"
)
no_code_option = partial(click.option, "--no-code", "none", default="", metavar="TEXT")
column_option = partial(click.option, default="", metavar="COLUMN")
columns_option = partial(click.option, multiple=True, metavar="COLUMNS")
files_option = partial(click.option, type=FILE, multiple=True, metavar="FILE")
count_option = partial(default_option, type=click.IntRange(min=0), default=0)
text_option = partial(
    columns_option, "--text", help="Columns with the answers; several with commas, or repeat it."
)
code_options = (
    column_option(
        "--labels", help="Column that lists the codes; or several, with commas or as 'code*'."
    ),
    column_option(
        "--label-columns",
        metavar="PATTERN",
        help="Columns of 0 and 1, one a code, such as 'q1_*'; instead of --labels.",
    ),
    sep_option(
        default=(";",), help='Between codes in a cell; repeatable.  [default: ";" and line breaks]'
    ),
    no_code_option(help="Cell of --labels that means: looked at, and no code applies."),
    column_option(
        "--coder-column", help="Column that says who coded a row.  [default: found by its name]"
    ),
)


listing_options = bundle(
    "listing",
    build_late("nldd.coding.columns", "CodeFormat"),
    sep_option(help="Between the codes in this file, if not as in the model's table; repeatable."),
    no_code_option(help="Cell of this file that means: looked at, and no code applies."),
)


def show_result(result: Any, as_json: bool, advice: str = "", **written: Path | None) -> None:
    """Print a result as JSON, or in its own words, with the files written."""
    print_result(as_json, result.to_dict() if as_json else {}, str(result), advice, **written)


def check_places(*sources: Path, to: Sequence[Path | None], force: bool) -> None:
    """Refuse to write over what is read, and over files that exist, unless by force."""
    from nldd.coding.coded_table import check_paths_differ

    for source in sources:
        check_paths_differ(source, *to, hint="another name for the file that is written")
    refuse_existing(*to, force=force)


model_argument = click.argument("model", type=FILE, metavar="MODEL")
raw_option = click.option(
    "--raw", is_flag=True, help="Write cells that a spreadsheet would run as formulas unchanged."
)
_table_options = (
    click.option("--encoding", metavar="NAME", help="Of a text file; else found out."),
    click.option(
        "--delimiter",
        "separator",
        metavar="CHARACTER",
        callback=lambda context, parameter, given: TABS.get(given or "", given),
        help="Between the cells of a CSV file; else found out.",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook; the first if left out."),
    click.option(
        "--header-row",
        type=click.IntRange(1),
        default=1,
        metavar="N",
        help="Row of the sheet, or line of a CSV file, with the names of the columns.",
    ),
    click.option(
        "--skip-rows",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Rows below the header that are no answers; those of Qualtrics are known.",
    ),
)


_make_options = build_late("nldd.coding.tables.reading", "TableOptions")
table_options = bundle("options", _make_options, *_table_options)
answer_options = bundle(
    "options",
    _make_options,
    *_table_options,
    file_option(
        "--extra-features",
        "numbers",
        metavar="FILE.npy",
        help="Numbers to code from as well, such as embeddings: a row for each row of the table.",
    ),
)
share_option = partial(
    default_option, type=Proportion(0, 1, min_open=True, max_open=True), default=0.9
)


guarantee_options = bundle(
    "promise",
    build_late("nldd.coding.guarantee", "GuaranteeTarget"),
    share_option(
        "--target-accuracy", "target", help="Accuracy that the automatic codes shall have."
    ),
    share_option("--confidence", help="How sure the promise shall be."),
    default_option(
        "--measure",
        type=click.Choice(["subset", "hamming", "per-code"]),
        default="subset",
        help="An answer is right if all its codes are (subset), or code by code (hamming); or "
        "single codes are settled and the others asked about (per-code).",
    ),
    default_option(
        "--rank-by",
        type=click.Choice(["chance", "theta"]),
        default="chance",
        help="The surest answers: most likely right as a whole, or of the least theta.",
    ),
)
