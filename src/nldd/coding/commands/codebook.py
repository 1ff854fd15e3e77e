"""``nldd codebook``: what codes are called and mean, and which shall be one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing
from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import after_saving, print_notes, progress, say

if TYPE_CHECKING:
    from nldd.coding.model import CodingModel


def _renew_report(found: "CodingModel", model: Path) -> None:
    """What nldd wrote about this model changes with it."""
    from nldd.coding.automation import triage
    from nldd.coding.report import FitReport, is_fit_report

    place = model.with_suffix(".report.html")
    if is_fit_report(place, model):
        with after_saving(model):
            FitReport(found, triage(found)).write(model, place)


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="[CODEBOOK]", required=False)
@common.file_option("-o", "--out", help="File for the codebook (CSV, TSV, XLSX, JSONL).")
@common.force_option
@common.threads_option
@shared.table_options
@common.json_option
def codebook(
    model: Path,
    table: Path | None,
    out: Path | None,
    force: bool,
    jobs: int,
    options: "shared.TableOptions",
    as_json: bool,
) -> None:
    """Show or write the codebook of a model; or let the model take over a changed one.

    A codebook is a table with the columns code (as in your data), name, description, merged_into
    and order; value is read as code, and label or text as name. Names appear in reports. A code
    with another one in merged_into becomes that one in all answers of the model, and in all tables
    that still have it; with a new word there, it is renamed. What must be fitted again is fitted
    again.

    \b
    Examples:
      nldd codebook model.nldd
      nldd codebook model.nldd -o codebook.csv
      nldd codebook model.nldd codebook.csv
    """
    from nldd.coding.codebook import CodebookUse, apply_codebook, write_codebook
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.wording import count_codes

    refuse_existing(out, force=force)
    if table is None:
        found = load_coding_model(model)
    else:
        found, changes = apply_codebook(model, table, options, progress, jobs, say)
        print_notes(changes or ["The codebook of the model is the same as before."])
        _renew_report(found, model)
    counts = count_codes(found.labels, found.Y).labels
    used = CodebookUse(found.codebook.for_labels(found.labels), counts)
    if out is not None:
        write_codebook(out, used.codebook, counts)
    shared.show_result(used, as_json, codebook=out)
