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
)

if TYPE_CHECKING:
    from nldd.coding import TableOptions


@click.command(short_help="Let hand-coded answers join a model.")
@model_argument
@click.argument("table", type=EXISTING_FILE, metavar="CORRECTED")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the new model; the old one is replaced if left out.",
)
@click.option("--again", is_flag=True, help="Take answers that the model has had already.")
@promise_options
@table_options
@json_option
def update(
    model: Path,
    table: Path,
    out: Path | None,
    again: bool,
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
    from nldd.cli._coding_text import render_update, triage_record
    from nldd.coding import triage as make_triage
    from nldd.coding import update_model

    step = update_model(
        model,
        table,
        out,
        options,
        fold_watch("cross-validation"),
        again,
        partial(click.echo, err=True),
    )
    made = make_triage(step.model, target, confidence, measure)
    print_notes(step.table.notes)
    if as_json:
        record = {"model": out or model, **triage_record(made)}
        print_json({**record, "history": [event.__dict__ for event in step.model.history]})
        return
    click.echo(render_update(step, made))
    click.echo(f"\nModel: {out or model}")
