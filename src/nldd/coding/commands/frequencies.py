"""``nldd frequencies``: the share of each code in all answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing, write_atomically
from nldd.coding.commands.options import model_argument, show_result, table_options
from nldd.present.console import print_notes
from nldd.present.options import FILE, file_option, force_option, json_option

if TYPE_CHECKING:
    from nldd.coding.tables.reading import TableOptions


@click.command()
@model_argument
@click.argument("table", type=FILE, metavar="CODED")
@click.option(
    "--checked",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Review or audit sample that people have filled in; may be given several times.",
)
@file_option("-o", "--out", help="File for the shares (CSV, TSV, XLSX, JSONL).")
@file_option("--report", help="File for a page with the shares (HTML).")
@force_option
@table_options
@json_option
def frequencies(
    model: Path,
    table: Path,
    checked: tuple[Path, ...],
    out: Path | None,
    report: Path | None,
    force: bool,
    options: "TableOptions",
    as_json: bool,
) -> None:
    """Tell the share of each code in all answers, corrected for the errors of the machine.

    CODED is what `nldd predict` wrote, or a review of `nldd review` with all that is decided there
    (by what the model said first). Codes of people count as they are. Where the machine alone
    coded, a random part that people checked tells its errors: a sample of `nldd audit`, with the
    right codes where it says no, or the answers that `nldd predict --random` put into a review.
    Without such, the coded answers of the model stand in, which is an assumption.

    \b
    Examples:
      nldd frequencies model.nldd coded.csv
      nldd frequencies model.nldd coded.csv --checked review.csv -o shares.csv --report shares.html
      nldd frequencies model.nldd new.review.db
    """
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.frequencies import code_frequencies
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.tables.writing import write_table
    from nldd.present.page import render_page

    for place in (table, *checked):
        check_paths_differ(model, place, out, report, hint="-o shares.csv --report shares.html")
    refuse_existing(out, report, force=force)
    found = code_frequencies(load_coding_model(model), table, checked, options)
    print_notes(found.notes)
    if out is not None:
        write_table(out, found.to_frame())
    if report is not None:
        write_atomically(report, render_page(found.page(table.name)).encode("utf-8"))
    show_result(found, as_json, shares=out, report=report)
