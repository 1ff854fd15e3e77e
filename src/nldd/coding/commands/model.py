"""``nldd triage``, ``inspect`` and ``undo``: what a model can do, holds, and was before."""

from pathlib import Path

import click

from nldd._files import refuse_existing
from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import print_notes, print_result, say


@click.command()
@shared.model_argument
@shared.guarantee_options
@common.default_option(
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
@common.force_option
@common.json_option
def triage(
    model: Path,
    promise: "shared.GuaranteeTarget",
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
    from nldd.coding.automation import triage
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.report import risk_coverage
    from nldd.coding.wording import drawn_notes
    from nldd.present.page import save_figure

    if figure is not None and figure.suffix.lower() in (".svg", ".png"):
        figure = figure.with_suffix("")
    endings = (".svg", ".png") if figure else ()
    refuse_existing(*(Path(f"{figure}{ending}") for ending in endings), force=force)
    loaded = load_coding_model(model)
    print_notes(drawn_notes(loaded))
    found = triage(loaded, promise, human_accuracy)
    where, drawn = "", None
    if figure is not None:
        tested, rule = loaded.tested, found.selection
        curve = risk_coverage(loaded.evidence[tested], loaded.Y[tested], rule, rule)
        drawn, other = save_figure(curve.plot().figure_, figure.parent, figure.name)
        where = f"\n\nCurve: {drawn} and {other.name}"
    print_result(as_json, {**found.to_dict(), "figure": drawn}, f"{found}{where}")


@click.command()
@shared.model_argument
@common.json_option
def inspect(model: Path, as_json: bool) -> None:
    """Show what a model holds: codes, columns, coefficients, versions and history.

    A file that nldd.save_model wrote in Python is shown too: its classifier, labels and versions.

    \b
    Example:
      nldd inspect model.nldd
    """
    from nldd.coding.wording import describe_model

    shared.show_result(describe_model(model), as_json)


@click.command()
@shared.model_argument
@common.json_option
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
    shared.show_result(undone, as_json, model=model)
