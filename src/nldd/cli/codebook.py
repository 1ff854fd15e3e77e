"""``nldd codebook``: what codes are called and mean, and which shall be one."""

from dataclasses import asdict
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd._progress import stage
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result, say, try_report


def _renew_report(found: "coding.CodingModel", model: Path) -> None:
    """What nldd wrote about this model changes with it."""
    place = model.with_suffix(".report.html")
    if reports.is_fit_report(place, model):
        about = (coding.evaluate_evidence(found), coding.triage(found))
        try_report(lambda: reports.write_fit_report(found, *about, model, place), model)


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="[CODEBOOK]", required=False)
@shared.file_option("-o", "--out", help="File for the codebook (CSV, TSV, XLSX, JSONL).")
@shared.force_option
@shared.threads_option
@shared.table_options
@shared.json_option
def codebook(
    model: Path,
    table: Path | None,
    out: Path | None,
    force: bool,
    jobs: int,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Show or write the codebook of a model; or let the model take over a changed one.

    A codebook is a table with the columns code (as in your data), name, description, merged_into
    and order. Names appear in reports. A code with another one in merged_into becomes that one in
    all answers of the model, and in all tables that still have it; with a new word there, it is
    renamed. What must be fitted again is fitted again.

    \b
    Examples:
      nldd codebook model.nldd
      nldd codebook model.nldd -o codebook.csv
      nldd codebook model.nldd codebook.csv
    """
    refuse_existing(out, force=force)
    if table is None:
        found = coding.load_coding_model(model)
    else:
        found, changes = coding.apply_codebook(model, table, options, stage, jobs, say)
        print_notes(changes or ["The codebook of the model is the same as before."])
        _renew_report(found, model)
    book = found.codebook.for_labels(found.labels)
    counts = coding.summarise(found.labels, found.Y).labels
    if out is not None:
        coding.write_codebook(out, book, counts)
    record = {"codes": [{**asdict(e), "answers": counts.get(e.code, 0)} for e in book.entries]}
    print_result(as_json, record, reports.render_codebook(book, counts), codebook=out)
