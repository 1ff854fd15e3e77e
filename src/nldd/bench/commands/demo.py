"""``nldd demo yeast``: compare BR and NLDD on yeast."""

from functools import partial
from pathlib import Path

import click

from nldd.present.console import show
from nldd.present.options import FOLDER, default_option, folds_option, seed_option, threads_option
from nldd.present.progress import progress


@click.command()
@default_option(
    "--base",
    type=click.Choice(["logistic", "svm"]),
    default="logistic",
    help="Base classifier; svm is the paper's and takes a few minutes.",
)
@folds_option(default=10, show_default=True, help="Number of folds.")
@seed_option
@threads_option
@default_option("--out", type=FOLDER, default=Path("nldd-demo"), help="Folder for the picture.")
def yeast(base: str, folds: int, seed: int, jobs: int, out: Path) -> None:
    """Compare BR and NLDD on yeast by cross-validation, and explain five predictions.

    Prints the four measures and the weights next to the paper's, five predictions with the
    evidence behind them, and draws the pairs that the weights were learned from.

    \b
    Examples:
      nldd demo yeast
      nldd demo yeast --folds 5 --out demo
    """
    from nldd.bench.demo import render_demo, run_demo
    from nldd.bench.displays import PairsDisplay

    # Before the work rather than after it: a folder that cannot be made is better known now.
    out.mkdir(parents=True, exist_ok=True)
    watch = partial(progress, title="BR and NLDD on yeast")
    result = run_demo(base=base, n_folds=folds, n_jobs=jobs, random_state=seed, watch=watch)
    show(render_demo(result))
    picture = out / "pairs.png"
    PairsDisplay.from_estimator(result.model).plot().figure_.savefig(picture, dpi=150)
    show(f"\nPicture of the pairs behind the weights of the first fold: {picture}")
