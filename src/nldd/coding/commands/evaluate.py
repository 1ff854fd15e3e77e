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
    show_result,
)
from nldd.present.console import print_notes
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
    from nldd.coding.evaluation import evaluate_table
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.predictions import PER_CODE
    from nldd.coding.report import write_evaluation_report

    if promise.measure == PER_CODE:
        raise click.UsageError("evaluate compares whole answers; --measure subset or hamming.")
    place = report_place(table)
    check_paths_differ(table, model, place, hint="--report with another name")
    refuse_existing(place, force=force)
    loaded = load_coding_model(model)
    quality = evaluate_table(loaded, table, options, listing, promise)
    print_notes(quality.notes)
    written = place and write_evaluation_report(loaded, quality, model, table, place)
    show_result(quality, as_json, report=written)
