"""``nldd frequencies``: the share of each code in all answers."""

from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result, try_report


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="CODED")
@click.option(
    "--checked",
    type=shared.FILE,
    multiple=True,
    metavar="FILE",
    help="Review or audit sample that people have filled in; may be given several times.",
)
@shared.file_option("-o", "--out", help="File for the shares (CSV, TSV, XLSX, JSONL).")
@shared.file_option("--report", help="File for a page with the shares (HTML).")
@shared.force_option
@shared.table_options
@shared.json_option
def frequencies(
    model: Path,
    table: Path,
    checked: tuple[Path, ...],
    out: Path | None,
    report: Path | None,
    force: bool,
    options: "tables.TableOptions",
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
    for place in (table, *checked):
        coding.check_places(model, place, out, report, hint="-o shares.csv --report shares.html")
    refuse_existing(out, report, force=force)
    options, _ = shared.taking_reviews(options, table, *checked, whole=True)
    loaded = coding.load_coding_model(model)
    found = coding.code_frequencies(loaded, table, checked, options)
    print_notes(found.notes)
    if out is not None:
        reports.write_frequencies(found, out, loaded.codebook)
    shown, record = reports.named(found, loaded.codebook), reports.frequencies_record(found)
    page = report and try_report(
        lambda: reports.write_frequencies_report(shown, table.name, report)
    )
    print_result(as_json, record, reports.render_frequencies(shown), shares=out, report=page)
