"""``nldd triage``: how much may be coded automatically, at which accuracy."""

from pathlib import Path

import click

from nldd import coding, reports
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result, try_report


@click.command()
@shared.model_argument
@shared.promise_options
@shared.default_option(
    "--human-accuracy",
    type=click.FloatRange(0, 1),
    default=1.0,
    help="Accuracy of the codes that people give to the rest.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="NAME",
    help="Draw the risk-coverage curve as NAME.svg and NAME.png.",
)
@shared.force_option
@shared.json_option
def triage(
    model: Path,
    promise: shared.Promise,
    human_accuracy: float,
    figure: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Tell how much may be coded automatically, at which accuracy.

    The table shows what would be right if the surest answers, down to a chance of being right, were
    coded by the machine, by predictions of answers that the model had not seen. The threshold for
    the target accuracy is tested, not just estimated: the promise holds with the stated confidence.

    \b
    Examples:
      nldd triage model.nldd
      nldd triage model.nldd --target-accuracy 0.85 --confidence 0.95 --figure curve
    """
    refuse_existing(*(reports.curve_places(figure) if figure else ()), force=force)
    loaded = coding.load_coding_model(model)
    print_notes(reports.drawn_notes(loaded))
    found = coding.triage(loaded, *promise, human_accuracy)
    drawn = figure and try_report(lambda: reports.save_curve(loaded, found, figure), what="figure")
    where = f"\n\nCurve: {drawn} and {drawn.with_suffix('.png').name}" if drawn else ""
    record = {**reports.triage_record(found), "figure": drawn}
    print_result(as_json, record, reports.render_triage(found) + where)
