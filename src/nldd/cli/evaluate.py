"""``nldd evaluate``: how good a model's codes are on answers that people have coded."""

from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result, try_report


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="CODED")
@shared.listing_options
@shared.report_option("CODED")
@shared.promise_options
@shared.answer_options
@shared.force_option
@shared.json_option
def evaluate(
    model: Path,
    table: Path,
    listing: "coding.Listing",
    report_place: shared.ReportPlace,
    promise: shared.Promise,
    options: "tables.TableOptions",
    force: bool,
    as_json: bool,
) -> None:
    """Compare a model's codes with those that people gave to the same answers.

    Prints all measures with 95 % intervals, how well theta is calibrated, the codes that are
    predicted worst and those that are confused. The answers should be new to the model.

    \b
    Example:
      nldd evaluate model.nldd coded-by-people.csv
    """
    if promise.measure == coding.PER_CODE:
        raise click.UsageError("evaluate compares whole answers; --measure subset or hamming.")
    place = report_place(table)
    coding.check_places(table, model, place, hint="--report with another name")
    refuse_existing(place, force=force)
    loaded = coding.load_coding_model(model)
    quality, answers = coding.evaluate_table(loaded, table, options, listing)
    kept = coding.promise_kept(loaded, quality, *promise)
    print_notes(answers.notes)
    found = (quality, kept, answers)
    written = place and try_report(
        lambda: reports.write_evaluation_report(loaded, *found, model, table, place)
    )
    record, text = (
        reports.evaluation_record(*found),
        reports.render_evaluation(quality.named(loaded.codebook), kept, answers),
    )
    print_result(as_json, record, text, report=written)
