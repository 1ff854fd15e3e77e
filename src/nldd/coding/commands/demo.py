"""``nldd demo survey``: a coding study from end to end."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

import click

from nldd.exceptions import InputError
from nldd.present.console import show
from nldd.present.options import FOLDER, default_option, seed_option
from nldd.present.text import command_line

if TYPE_CHECKING:
    from nldd.datasets import Survey

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
MODELS = ("model.nldd", "model.nldd.bak", "before.nldd")
WRITTEN = (*TABLES, *MODELS, "curve.svg", "curve.png", "model.report.html")


@click.command(short_help="A whole study on a made-up survey, from fit to frequencies.")
@default_option("--out", type=FOLDER, default=Path("nldd-survey"), help="Folder for the files.")
@seed_option
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
    from nldd.datasets import load_survey

    _make_room(out, force)
    answers = load_survey()
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
    """Show the command that opens the review page."""
    # By the model before people helped: the new one knows the answers that it would ask about.
    words = ("review", out / MODELS[-1], out / "new.csv", "--show", "age,region")
    title = "To decide on a page in the browser what the machine is not sure of:"
    show(f"\n{title}\n\n$ {command_line('nldd', *words)}")


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


def _write_tables(out: Path, answers: "Survey", seed: int) -> int:
    """Write the coded answers and the new ones, without their codes; how many are new."""
    from numpy.random import default_rng

    # The answers come in no order, so that seed 0 may take them as they are.
    n = len(answers.rows)
    order = default_rng(seed).permutation(n) if seed else range(n)
    rows = [answers.rows[i] for i in order]
    codes = answers.header.index("codes")
    answers.write(out / "answers.csv", rows[:N_CODED])
    header, *new = [(*row[:codes], *row[codes + 1 :]) for row in (answers.header, *rows[N_CODED:])]
    replace(answers, header=header).write(out / "new.csv", new)
    return len(new)


def _correct(review: Path, out: Path, answers: "Survey") -> None:
    """Fill in the codes of a review sheet, as people would."""
    from nldd.coding.own_columns import OK
    from nldd.coding.tables.reading import read_table
    from nldd.coding.tables.writing import write_table

    truth = {row[0]: row[answers.header.index("codes")] for row in answers.rows}
    table = read_table(review)
    codes = [truth[person] for person in table.texts("id")]
    write_table(out, table.frame.assign(**{"codes": codes, OK: "x"}), raw=True)
