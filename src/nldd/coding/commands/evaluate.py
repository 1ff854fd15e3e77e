"""``nldd evaluate``: how good a model's codes are on answers that people have coded."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing
from nldd.coding.commands.options import (
    ReportPlace,
    answer_options,
    guarantee_options,
    listing_options,
    model_argument,
    report_option,
)
from nldd.present.console import print_notes, print_result
from nldd.present.options import FILE, force_option, json_option

if TYPE_CHECKING:
    from nldd.coding.columns import CodeFormat
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.tables.reading import TableOptions


@click.command()
@model_argument
@click.argument("table", type=FILE, metavar="CODED")
@listing_options
@report_option("CODED")
@guarantee_options
@answer_options
@force_option
@json_option
def evaluate(
    model: Path,
    table: Path,
    listing: "CodeFormat",
    report_place: ReportPlace,
    promise: "GuaranteeTarget",
    options: "TableOptions",
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
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.evaluation import check_guarantee, evaluate_table
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.predictions import PER_CODE
    from nldd.coding.report_page import write_evaluation_report
    from nldd.coding.report_text import evaluation_record, render_evaluation

    if promise.measure == PER_CODE:
        raise click.UsageError("evaluate compares whole answers; --measure subset or hamming.")
    place = report_place(table)
    check_paths_differ(table, model, place, hint="--report with another name")
    refuse_existing(place, force=force)
    loaded = load_coding_model(model)
    quality, answers = evaluate_table(loaded, table, options, listing)
    kept = check_guarantee(loaded, quality, promise)
    print_notes(answers.notes)
    found = (quality, kept, answers)
    written = place and write_evaluation_report(loaded, *found, model, table, place)
    record, text = (
        evaluation_record(*found),
        render_evaluation(quality.named(loaded.codebook), kept, answers),
    )
    print_result(as_json, record, text, report=written)
