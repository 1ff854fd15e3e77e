"""``nldd frequencies``: the share of each code in all answers."""

from pathlib import Path

import click

from nldd._files import write_atomically
from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import print_notes


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="CODED")
@click.option(
    "--checked",
    type=common.FILE,
    multiple=True,
    metavar="FILE",
    help="Review or audit sample that people have filled in; may be given several times.",
)
@common.file_option("-o", "--out", help="File for the shares (CSV, TSV, XLSX, JSONL).")
@common.file_option("--report", help="File for a page with the shares (HTML).")
@common.force_option
@shared.table_options
@common.json_option
def frequencies(
    model: Path,
    table: Path,
    checked: tuple[Path, ...],
    out: Path | None,
    report: Path | None,
    force: bool,
    options: "shared.TableOptions",
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
    from nldd.coding.frequencies import code_frequencies
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.tables.writing import write_table
    from nldd.present.page import render_page

    shared.check_places(model, table, *checked, to=[out, report], force=force)
    found = code_frequencies(load_coding_model(model), table, checked, options)
    print_notes(found.notes)
    if out is not None:
        write_table(out, found.to_frame())
    if report is not None:
        write_atomically(report, render_page(found.page(table.name)).encode("utf-8"))
    shared.show_result(found, as_json, shares=out, report=report)
