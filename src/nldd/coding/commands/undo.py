"""``nldd undo``: a model as it was before its last change."""

from pathlib import Path

import click

from nldd.coding.commands.options import model_argument
from nldd.present.console import print_notes, print_result, say
from nldd.present.options import json_option


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
    from nldd.coding.model_versions import undo_model
    from nldd.coding.report_page import is_fit_report
    from nldd.coding.report_text import render_undo, undo_record

    undone = undo_model(model, redo, say)
    report = model.with_suffix(".report.html")
    if is_fit_report(report, model):
        print_notes([f"{report.name} may be about another state of the model than this one."])
    text = render_undo(undone, model, redo)
    print_result(as_json, undo_record(undone), text, model=model)
