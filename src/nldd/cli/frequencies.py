"""``nldd frequencies``: the share of each code in all answers."""

from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result


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
@shared.force_option
@shared.table_options
@shared.json_option
def frequencies(
    model: Path,
    table: Path,
    checked: tuple[Path, ...],
    out: Path | None,
    force: bool,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Tell the share of each code in all answers, corrected for the errors of the machine.

    CODED is what `nldd predict` wrote. Codes of people count as they are. Where the machine alone
    coded, a random part that people checked tells its errors: a sample of `nldd audit`, with the
    right codes where it says no, or the answers that `nldd predict --random` put into a review.
    Without such, the coded answers of the model stand in, which is an assumption.

    \b
    Examples:
      nldd frequencies model.nldd coded.csv
      nldd frequencies model.nldd coded.csv --checked review.csv -o shares.csv
    """
    for place in (table, *checked):
        coding.check_places(place, out, hint="-o shares.csv")
    refuse_existing(out, force=force)
    loaded = coding.load_coding_model(model)
    found = coding.code_frequencies(loaded, table, checked, options)
    print_notes(found.notes)
    if out is not None:
        reports.write_frequencies(found, out)
    text, record = reports.render_frequencies(found), reports.frequencies_record(found)
    print_result(as_json, record, text, shares=out)
