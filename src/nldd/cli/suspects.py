"""``nldd suspects``: answers that people may have miscoded."""

from pathlib import Path

import click

from nldd import coding, reports
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_result


@click.command()
@shared.model_argument
@shared.file_option("-o", "--out", help="File for all of them, with the evidence.")
@shared.force_option
@shared.json_option
def suspects(model: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Find answers that people may have miscoded, among those that a model has learned from.

    Suspicious are answers to which the model, without having seen them, gives other codes, the more
    so the surer it is and the more codes differ; and identical answers with different codes.

    \b
    Examples:
      nldd suspects model.nldd
      nldd suspects model.nldd -o suspects.csv
    """
    coding.check_places(model, out, hint="-o suspects.csv")
    refuse_existing(out, force=force)
    loaded = coding.load_coding_model(model)
    found, n_answers = coding.find_suspects(loaded), len(loaded.answers)
    if out is not None:
        coding.write_suspects(loaded, found, out)
    where = f"\n\nSuspects: {out}" if out else ""
    record = {"out": out, **reports.suspects_record(found, n_answers)}
    text = reports.render_suspects(found, n_answers, loaded.codebook)
    print_result(as_json, record, text + where)
