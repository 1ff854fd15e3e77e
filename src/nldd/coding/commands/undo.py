"""``nldd undo``: a model as it was before its last change."""

from pathlib import Path

import click

from nldd.coding.commands.options import model_argument, show_result
from nldd.present.console import print_notes, say
from nldd.present.options import json_option


@click.command()
@model_argument
@json_option
def undo(model: Path, as_json: bool) -> None:
    """Take back the last change of a model: an update, or a fit in its place.

    Each change of a model keeps the file that was there before as MODEL.bak, which takes its place
    again. Nothing is lost: a second time, this command brings back what it took.

    \b
    Example:
      nldd undo model.nldd
    """
    from nldd.coding.model_file import undo_model
    from nldd.coding.report import is_fit_report

    undone = undo_model(model, say)
    report = model.with_suffix(".report.html")
    if is_fit_report(report, model):
        print_notes([f"{report.name} may be about another state of the model than this one."])
    show_result(undone, as_json, model=model)
