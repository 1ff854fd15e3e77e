"""``nldd update``: corrected answers join a model."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd.cli._coding_options import (
    EXISTING_FILE,
    fold_watch,
    json_option,
    model_argument,
    print_json,
    print_notes,
    promise_options,
    table_options,
    try_report,
)
from nldd.cli._options import jobs_option, report_options

if TYPE_CHECKING:
    from nldd.tables import TableOptions


@click.command(short_help="Let hand-coded answers join a model.")
@model_argument
@click.argument("table", type=EXISTING_FILE, metavar="CORRECTED")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the new model; the old one is replaced if left out.",
)
@click.option("--again", is_flag=True, help="Take a file that the model has had already.")
@click.option(
    "--new-codes", is_flag=True, help="Take new codes even if they look like known ones misspelt."
)
@report_options("the model")
@jobs_option("Threads; -1 is one per core.")
@promise_options
@table_options
@json_option
def update(
    model: Path,
    table: Path,
    out: Path | None,
    again: bool,
    new_codes: bool,
    report_path: Path | None,
    no_report: bool,
    jobs: int,
    target: float,
    confidence: float,
    measure: str,
    options: "TableOptions",
    as_json: bool,
) -> None:
    """Let hand-coded answers join a model; its threshold is estimated again.

    CORRECTED has the columns that the model was fitted with; those that `nldd predict --review`
    wrote, with the codes filled in, will do. Rows without codes are set aside.

    \b
    Example:
      nldd update model.nldd corrected.csv
    """
    from nldd.coding import (
        UPDATED,
        check_places,
        evaluate_evidence,
        triage as make_triage,
        update_model,
    )
    from nldd.reports import render_update, triage_record, write_fit_report

    new = out or model
    place = report_path or new.with_suffix(".report.html")
    check_places(table, new, None if no_report else place, hint="--report with another name")
    watch, tell = fold_watch("cross-validation"), partial(click.echo, err=True)
    step = update_model(model, table, out, options, watch, again, new_codes, jobs, tell)
    made = make_triage(step.model, target, confidence, measure)
    print_notes([*step.table.notes, UPDATED])
    written = None
    if not no_report:
        quality = evaluate_evidence(step.model)
        written = try_report(lambda: write_fit_report(step.model, quality, made, new, place))
    if as_json:
        history = [event.__dict__ for event in step.model.history]
        print_json({"model": new, "report": written, **triage_record(made), "history": history})
        return
    click.echo(render_update(step, made))
    click.echo(f"\nModel: {new}" + (f"\nReport: {written}" if written else ""))
