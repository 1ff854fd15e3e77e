"""``nldd fit``: learn from coded answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd.cli._coding_options import (
    EXISTING_FILE,
    fold_watch,
    json_option,
    print_json,
    print_notes,
    promise_options,
    table_options,
    try_report,
)
from nldd.cli._fit_options import column_options, setting_options
from nldd.cli._options import report_options

if TYPE_CHECKING:
    from nldd.coding import Request, Settings
    from nldd.tables import TableOptions


@click.command(short_help="Learn from coded answers.")
@click.argument("table", type=EXISTING_FILE, metavar="ANSWERS")
@column_options
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("model.nldd"),
    show_default=True,
    help="File for the model.",
)
@report_options("the model")
@promise_options
@setting_options
@table_options
@json_option
def fit(
    table: Path,
    request: "Request",
    out: Path,
    report_path: Path | None,
    no_report: bool,
    target: float,
    confidence: float,
    measure: str,
    settings: "Settings",
    options: "TableOptions",
    as_json: bool,
) -> None:
    """Learn from answers that people have coded.

    ANSWERS is a table with one answer a row: CSV, TSV, XLSX, JSONL or Parquet. Rows without codes
    are set aside. Every coded answer is also predicted without itself, which tells how good the
    model is and how much of new answers it may code alone.

    \b
    Examples:
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd fit answers.csv --text answer --labels codes --features age,region
      nldd fit answers.xlsx --text answer --label-columns "q1_*"
    """
    from nldd.coding import check_places, evaluate_evidence, fit_table, triage
    from nldd.reports import fit_record, render_fit, write_fit_report

    place = report_path or out.with_suffix(".report.html")
    check_places(table, out, None if no_report else place, hint="--report with another name")
    step = fit_table(table, out, request, settings, options, fold_watch("cross-validation"))
    quality = evaluate_evidence(step.model)
    table_of = triage(step.model, target, confidence, measure)
    print_notes(step.table.notes)
    written = None
    if not no_report:
        written = try_report(lambda: write_fit_report(step.model, quality, table_of, out, place))
    if as_json:
        record: dict[str, Any] = fit_record(step, quality, table_of)
        print_json({"model": out, "report": written, **record})
        return
    click.echo(render_fit(step, quality, table_of))
    click.echo(f"\nModel: {out}" + (f"\nReport: {written}" if written else ""))
