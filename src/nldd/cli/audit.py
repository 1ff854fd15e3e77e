"""``nldd audit``: check automatic codes by hand, and what that proves."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd.cli._coding_options import EXISTING_FILE, json_option, print_json, table_options

if TYPE_CHECKING:
    from nldd.tables import TableOptions


@click.command(short_help="Check automatic codes by hand.")
@click.argument("table", type=EXISTING_FILE, metavar="CODED")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="How many automatic codes to check.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the sample.  [default: CODED with .audit in its name]",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Random seed."
)
@click.option(
    "--raw", is_flag=True, help="Write cells that a spreadsheet would run as formulas unchanged."
)
@table_options
@json_option
def audit(
    table: Path,
    sample: int,
    out: Path | None,
    seed: int,
    raw: bool,
    options: "TableOptions",
    as_json: bool,
) -> None:
    """Draw automatic codes to check by hand; given back checked, tell their accuracy.

    CODED is what `nldd predict` wrote. The sample has a column nldd_check: write yes where all
    codes of the answer are right, no where one is wrong or missing. The same command on the
    checked sample prints the verified accuracy with its 95 % interval.

    \b
    Examples:
      nldd audit coded.csv --sample 200
      nldd audit coded.audit.csv
    """
    from nldd.coding import draw_sample, is_checked, read_audit
    from nldd.reports import render_audit, render_sample

    if is_checked(table, options):
        found = read_audit(table, options)
        if as_json:
            print_json(asdict(found))
        else:
            click.echo(render_audit(found))
        return
    ending = table.suffix if table.suffix.lower() in (".csv", ".tsv", ".xlsx", ".jsonl") else ".csv"
    place = out or table.with_name(f"{table.stem}.audit{ending}")
    drawn = draw_sample(table, place, sample, seed, options, raw)
    if as_json:
        print_json({"out": place, **asdict(drawn)})
        return
    click.echo(render_sample(drawn, place))
