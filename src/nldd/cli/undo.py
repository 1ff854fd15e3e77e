"""``nldd undo``: a model as it was before its last change."""

from pathlib import Path

import click

from nldd import coding, reports
from nldd.cli._options import json_option, model_argument
from nldd.cli._printing import print_notes, print_result, say


@click.command()
@model_argument
@click.option("--redo", is_flag=True, help="Bring back what was undone last.")
@json_option
def undo(model: Path, redo: bool, as_json: bool) -> None:
    """Take back the last change of a model: an update, or a fit in its place.

    Each change of a model keeps the file that was there before as MODEL.bak1, MODEL.bak2 and so on,
    the last five of them. Nothing is lost by this command either: what it takes back is kept, too.

    \b
    Examples:
      nldd undo model.nldd
      nldd undo model.nldd --redo
    """
    undone = coding.undo_model(model, redo, say)
    report = model.with_suffix(".report.html")
    if reports.is_fit_report(report, model):
        print_notes([f"{report.name} may be about another state of the model than this one."])
    text = reports.render_undo(undone, model, redo)
    print_result(as_json, reports.undo_record(undone), text, model=model)
