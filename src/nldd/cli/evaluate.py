"""``nldd evaluate``: how good a model's codes are on answers that people have coded."""

from collections.abc import Callable
from pathlib import Path

import click

from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result, try_report


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="CODED")
@shared.report_option("CODED")
@shared.promise_options
@shared.table_options
@shared.json_option
def evaluate(
    model: Path,
    table: Path,
    report_place: Callable[[Path], Path | None],
    promise: shared.Promise,
    options: "shared.TableOptions",
    as_json: bool,
) -> None:
    """Compare a model's codes with those that people gave to the same answers.

    Prints all measures with 95 % intervals, how well theta is calibrated, the codes that are
    predicted worst and those that are confused. The answers should be new to the model.

    \b
    Example:
      nldd evaluate model.nldd coded-by-people.csv
    """
    from nldd.coding import (
        check_places,
        checksum,
        evaluate_table,
        load_coding_model,
        n_learned,
        promise_kept,
    )
    from nldd.reports import evaluation_record, render_evaluation, write_evaluation_report

    place = report_place(table.with_suffix(".report.html"))
    check_places(table, model, place, hint="--report with another name")
    loaded = load_coding_model(model)
    quality, answers = evaluate_table(loaded, table, options)
    kept = promise_kept(loaded, quality, *promise)
    print_notes(answers.notes)
    seen = n_learned(loaded, answers, checksum(table))
    if seen:
        print_notes([f"The model has learned from {seen} of these answers: they look too good."])
    written = place and try_report(
        lambda: write_evaluation_report(loaded, quality, kept, answers, model, table, place)
    )
    record = {"report": written, **evaluation_record(quality, kept, answers)}
    where = f"\n\nReport: {written}" if written else ""
    print_result(as_json, record, render_evaluation(quality, kept, answers) + where)
