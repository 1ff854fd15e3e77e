"""``nldd inspect``: what a model file holds."""

from pathlib import Path

import click

from nldd.cli._options import json_option, model_argument
from nldd.cli._printing import print_result


@click.command()
@model_argument
@json_option
def inspect(model: Path, as_json: bool) -> None:
    """Show what a model holds: codes, columns, coefficients, versions and history.

    \b
    Example:
      nldd inspect model.nldd
    """
    from nldd.coding import load_coding_model
    from nldd.io import read_manifest
    from nldd.reports import model_record, render_model

    manifest = read_manifest(model)
    loaded = load_coding_model(model)
    text = render_model(loaded, manifest, model)
    print_result(as_json, model_record(loaded, manifest), text)
