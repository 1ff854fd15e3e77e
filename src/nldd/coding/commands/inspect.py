"""``nldd inspect``: what a model file holds."""

from pathlib import Path

import click

from nldd.coding.commands.options import model_argument, show_result
from nldd.present.options import json_option


@click.command()
@model_argument
@json_option
def inspect(model: Path, as_json: bool) -> None:
    """Show what a model holds: codes, columns, coefficients, versions and history.

    A file that nldd.save_model wrote in Python is shown too: its classifier, labels and versions.

    \b
    Example:
      nldd inspect model.nldd
    """
    from nldd.coding.description import describe_model

    show_result(describe_model(model), as_json)
