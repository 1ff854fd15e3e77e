"""``nldd suspects``: answers that people may have miscoded."""

from pathlib import Path

import click

from nldd.coding.commands import options as shared
from nldd.present import console as common


@click.command()
@shared.model_argument
@common.file_option("-o", "--out", help="File for all of them, with the evidence.")
@common.force_option
@common.json_option
def suspects(model: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Find answers that people may have miscoded, among those that a model has learned from.

    Suspicious are answers to which the model, without having seen them, gives other codes, the more
    so the surer it is and the more codes differ; and identical answers with different codes.

    \b
    Examples:
      nldd suspects model.nldd
      nldd suspects model.nldd -o suspects.csv
    """
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.suspects import find_suspects
    from nldd.coding.tables.writing import write_table

    shared.check_places(model, to=[out], force=force)
    found = find_suspects(load_coding_model(model))
    if out is not None:
        write_table(out, found.to_frame())
    shared.show_result(found, as_json, out=out)
