"""Options of ``nldd fit``: what the columns of a table mean, and how a model is fitted."""

from typing import TYPE_CHECKING

import click

from nldd.cli._coding_options import bundle
from nldd.cli._options import jobs_option

if TYPE_CHECKING:
    from nldd.coding import Request, Settings


def _request(
    text: tuple[str, ...],
    labels: str,
    label_columns: str,
    sep: str,
    no_code: str,
    features: tuple[str, ...],
    categorical: tuple[str, ...],
) -> "Request":
    from nldd.coding import Request

    if not sep:
        raise click.UsageError("--sep must be at least one character, such as ';'.")
    return Request(text, labels, label_columns, sep, no_code, features, categorical)


column_options = bundle(
    "request",
    _request,
    click.option(
        "--text",
        multiple=True,
        metavar="COLUMNS",
        help="Columns with the answers; several with commas, or repeat it.",
    ),
    click.option("--labels", default="", metavar="COLUMN", help="Column that lists the codes."),
    click.option(
        "--label-columns",
        default="",
        metavar="PATTERN",
        help="Columns of 0 and 1, one a code, such as 'q1_*'; instead of --labels.",
    ),
    click.option(
        "--sep",
        default=";",
        show_default=True,
        help="Between the codes in the column of --labels.",
    ),
    click.option(
        "--no-code",
        default="",
        metavar="TEXT",
        help="Cell of --labels that means: looked at, and no code applies.",
    ),
    click.option(
        "--features",
        multiple=True,
        metavar="COLUMNS",
        help="Further columns to code from: numbers, or categories.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMNS",
        help="Features that are categories even though they hold numbers.",
    ),
)


def _settings(folds: int, seed: int, jobs: int) -> "Settings":
    from nldd.coding import Settings

    return Settings(folds, seed, jobs)


setting_options = bundle(
    "settings",
    _settings,
    click.option(
        "--folds",
        type=click.IntRange(2, 100),
        default=10,
        show_default=True,
        help="Folds of the cross-validation.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Random seed.",
    ),
    jobs_option("Threads; -1 is one per core."),
)
