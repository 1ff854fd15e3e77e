"""``nldd demo``: BR against NLDD on yeast, and a coding study from end to end."""

from pathlib import Path

import click

from nldd.cli._options import jobs_option
from nldd.cli._survey import survey

PICTURE = "pairs.png"


@click.group(invoke_without_command=True, short_help="See it work: on yeast, or on a survey.")
@click.option(
    "--base",
    type=click.Choice(["logistic", "svm"]),
    default="logistic",
    show_default=True,
    help="Base classifier; svm is the paper's and takes a few minutes.",
)
@click.option(
    "--folds", type=click.IntRange(2, 100), default=10, show_default=True, help="Number of folds."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Random seed."
)
@jobs_option("Threads; -1 is one per core.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("nldd-demo"),
    show_default=True,
    help="Folder for the picture.",
)
@click.pass_context
def demo(context: click.Context, base: str, folds: int, seed: int, jobs: int, out: Path) -> None:
    """Compare BR and NLDD on yeast by cross-validation, and explain five predictions.

    Prints the four measures and the weights next to the paper's, five predictions with the
    evidence behind them, and draws the pairs that the weights were learned from. `nldd demo survey`
    shows the coding of open-ended answers instead.

    \b
    Examples:
      nldd demo --folds 5 --out demo
      nldd demo survey
    """
    if context.invoked_subcommand is not None:
        return
    from nldd._progress import progress
    from nldd.displays import PairsDisplay
    from nldd.exceptions import MissingExtraError
    from nldd.experiments import run_demo
    from nldd.reports import render_demo

    # Before the work rather than after it: a folder that cannot be made is better known now.
    out.mkdir(parents=True, exist_ok=True)
    result = run_demo(
        base=base,
        n_folds=folds,
        n_jobs=jobs,
        random_state=seed,
        watch=lambda cells, total: progress(cells, total, "BR and NLDD on yeast", show=True),
    )
    click.echo(render_demo(result))
    try:
        figure = PairsDisplay.from_estimator(result.model).plot().figure_
    except MissingExtraError as error:
        click.echo(f"\nNo picture: {error}", err=True)
        return
    figure.savefig(out / PICTURE, dpi=150)
    click.echo(f"\nPicture of the pairs behind the weights of the first fold: {out / PICTURE}")


demo.add_command(survey)
