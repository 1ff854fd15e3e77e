"""``nldd inspect``: what a model file holds."""

from pathlib import Path

import click

from nldd.coding.commands.options import model_argument
from nldd.present.console import print_result
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
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.report_text import (
        classifier_record,
        model_record,
        render_classifier,
        render_model,
    )
    from nldd.persistence._archive import read_manifest
    from nldd.persistence._models import KIND, load_model

    manifest = read_manifest(model)
    if manifest["kind"] == KIND:
        classifier = load_model(model)
        text = render_classifier(classifier, manifest, model)
        return print_result(as_json, classifier_record(classifier, manifest), text)
    loaded = load_coding_model(model)
    text = render_model(loaded, manifest, model)
    print_result(as_json, model_record(loaded, manifest), text)
