"""``nldd inspect``: what a model file holds."""

from pathlib import Path

import click

from nldd import coding, io, reports
from nldd.cli._options import json_option, model_argument
from nldd.cli._printing import print_result


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
    manifest = io.read_manifest(model)
    if manifest["kind"] in io.CLASSIFIER_KINDS:
        classifier = io.load_model(model)
        text = reports.render_classifier(classifier, manifest, model)
        return print_result(as_json, reports.classifier_record(classifier, manifest), text)
    loaded = coding.load_coding_model(model)
    text = reports.render_model(loaded, manifest, model)
    print_result(as_json, reports.model_record(loaded, manifest), text)
