"""``nldd demo``: BR against NLDD on yeast, and a coding study from end to end."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shutil import copyfile

import click

from nldd import datasets, displays, experiments, reports, tables
from nldd._progress import progress
from nldd._wording import command_line
from nldd.cli import _options as shared, review
from nldd.cli._printing import say, show
from nldd.exceptions import InputError, MissingExtraError

N_CODED = 1200
STEPS = (
    f"Learn from {N_CODED} answers that people have coded.",
    "How much may be coded automatically, if 9 in 10 answers shall be right?",
    "Code {n_new} new answers: the sure ones automatically, the rest for people.",
    "People code the rest (here the generator does), and these answers join the model.",
    "The shares of the codes in the new answers, corrected for the machine's errors.",
)
# What the walk through a survey leaves in its folder.
TABLES = ("answers.csv", "new.csv", "coded.csv", "review.csv", "corrected.csv", "shares.csv")
MODELS = ("model.nldd", "model.nldd.bak1", "before.nldd")
WRITTEN = (*TABLES, *MODELS, "curve.svg", "curve.png", "model.report.html")


@click.group(invoke_without_command=True)
@shared.default_option(
    "--base",
    type=click.Choice(["logistic", "svm"]),
    default="logistic",
    help="Base classifier; svm is the paper's and takes a few minutes.",
)
@shared.folds_option(default=10, show_default=True, help="Number of folds.")
@shared.seed_option
@shared.threads_option
@shared.default_option(
    "--out", type=shared.FOLDER, default=Path("nldd-demo"), help="Folder for the picture."
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
    # Before the work rather than after it: a folder that cannot be made is better known now.
    out.mkdir(parents=True, exist_ok=True)
    watch = partial(progress, title="BR and NLDD on yeast", show=True)
    result = experiments.run_demo(
        base=base, n_folds=folds, n_jobs=jobs, random_state=seed, watch=watch
    )
    show(reports.render_demo(result))
    try:
        figure = displays.PairsDisplay.from_estimator(result.model).plot().figure_
    except MissingExtraError as error:
        say(f"\nNo picture: {error}")
        return
    picture = out / "pairs.png"
    figure.savefig(picture, dpi=150)
    show(f"\nPicture of the pairs behind the weights of the first fold: {picture}")


@demo.command(short_help="A whole study on a made-up survey, from fit to frequencies.")
@shared.default_option(
    "--out", type=shared.FOLDER, default=Path("nldd-survey"), help="Folder for the files."
)
@shared.seed_option
@click.option("--force", is_flag=True, help="Replace the files of an earlier walk in the folder.")
@click.pass_context
def survey(context: click.Context, out: Path, seed: int, force: bool) -> None:
    """Code a survey from end to end: fit, triage, predict, update and frequencies.

    The answers are synthetic, made up by a program; the seed decides which of them people have
    coded. All files stay in the folder, and every command that is run is shown, so that you can run
    it on answers of your own.

    \b
    Example:
      nldd demo survey --out survey
    """
    _make_room(out, force)
    answers = datasets.load_survey()
    n_new = _write_tables(out, answers, seed)
    show(f"{len(answers.rows)} answers to: {answers.question}\n{answers.note}\nFiles: {out}")
    for number, (title, arguments) in enumerate(zip(STEPS, _commands(out), strict=True), 1):
        if arguments[0] == "update":
            _correct(out / "review.csv", out / "corrected.csv", answers)
            copyfile(out / "model.nldd", out / "before.nldd")
        show(f"\n{number}. {title.format(n_new=n_new)}\n\n$ {command_line('nldd', *arguments)}\n")
        # Not by `run`: an error is to end this command too, with its traceback if --debug is on.
        root = context.find_root().command
        root.main(args=arguments, prog_name="nldd", standalone_mode=False)
    report, coded = out / WRITTEN[-1], out / "coded.csv"
    page = f"{report} in a browser, " if report.exists() else ""
    show(f"\nRead {page}{coded} in a spreadsheet.")
    _show_review(out)


def _show_review(out: Path) -> None:
    """The command that opens the review page, and first the one that installs its libraries."""
    # By the model before people helped: the new one knows the answers that it would ask about.
    words = ("review", out / MODELS[-1], out / "new.csv", "--show", "age,region")
    install = "" if review.has_libraries() else '$ pip install "nldd[review]"\n'
    title = "To decide on a page in the browser what the machine is not sure of:"
    show(f"\n{title}\n\n{install}$ {command_line('nldd', *words)}")


def _commands(out: Path) -> list[list[str]]:
    """The words of the command of each step."""
    answers, new, coded, review, corrected, shares = (str(out / name) for name in TABLES)
    model, curve = str(out / "model.nldd"), str(out / "curve")
    columns = ["--text", "answer", "--labels", "codes", "--features", "age,region"]
    target = ["--target-accuracy", "0.9"]
    return [
        ["fit", answers, *columns, "-o", model],
        ["triage", model, *target, "--figure", curve],
        ["predict", model, new, *target, "-o", coded, "--review", review, "--random", "50"],
        ["update", model, corrected],
        ["frequencies", model, coded, "--checked", corrected, "-o", shares],
    ]


def _make_room(out: Path, force: bool) -> None:
    """A folder in which nothing is replaced unasked."""
    there = [name for name in WRITTEN if (out / name).exists()]
    if there and not force:
        hint = "--out with another folder, or --force if the files are those of an earlier walk"
        raise InputError(f"{out} has a file {there[0]}, which this would replace.", hint=hint)
    out.mkdir(parents=True, exist_ok=True)
    for name in there:
        (out / name).unlink()


def _write_tables(out: Path, answers: "datasets.Survey", seed: int) -> int:
    """Write the coded answers and the new ones, without their codes; how many are new."""
    from numpy.random import default_rng

    # The answers come in no order, so that seed 0 may take them as they are.
    n = len(answers.rows)
    order = default_rng(seed).permutation(n) if seed else range(n)
    rows = [answers.rows[i] for i in order]
    codes = answers.header.index("codes")
    header, *new = [(*row[:codes], *row[codes + 1 :]) for row in (answers.header, *rows[N_CODED:])]
    _write(out / "answers.csv", answers.header, rows[:N_CODED])
    _write(out / "new.csv", header, new)
    return len(new)


def _correct(review: Path, out: Path, answers: "datasets.Survey") -> None:
    """Fill in the codes of a review file, as people would."""
    truth = {row[0]: row[answers.header.index("codes")] for row in answers.rows}
    with tables.open_table(review) as table:
        person, place, header = table.column("id"), table.column("codes"), table.header
        looked_at = table.column("nldd_ok")
        rows = [list(map(tables.cell_text, row)) for block in table.blocks() for row in block.rows]
    for row in rows:
        row[place], row[looked_at] = truth[row[person]], "x"
    _write(out, header, rows)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with tables.create_table(path, header, raw=True) as writer:
        writer.write(rows)
