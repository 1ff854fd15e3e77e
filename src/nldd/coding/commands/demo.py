"""``nldd demo survey``: a coding study from end to end."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

import click

from nldd.exceptions import InputError
from nldd.present.console import FOLDER, default_option, seed_option, show
from nldd.present.text import command_line

if TYPE_CHECKING:
    from nldd.datasets import Survey

N_CODED = 1200
# What each step does, and its command, which runs in the folder of the study.
STEPS = {
    f"Learn from {N_CODED} answers that people have coded.": (
        "fit answers.csv --text answer --labels codes --features age,region -o model.nldd"
    ),
    "How much may be coded automatically, if 9 in 10 answers shall be right?": (
        "triage model.nldd --target-accuracy 0.9 --figure curve"
    ),
    "Code new answers: the sure ones automatically, the rest for people.": (
        "predict model.nldd new.csv -o coded.csv --review review.csv --random 50"
    ),
    "People code the rest (here the generator does), and these answers join the model.": (
        "update model.nldd corrected.csv"
    ),
    "The shares of the codes in the new answers, corrected for the machine's errors.": (
        "frequencies model.nldd coded.csv --checked corrected.csv -o shares.csv"
    ),
}
TABLES = ("answers.csv", "new.csv", "coded.csv", "review.csv", "corrected.csv", "shares.csv")
MODELS = ("model.nldd", "model.nldd.bak", "before.nldd", "model.report.html")
WRITTEN = (*TABLES, *MODELS, "curve.svg", "curve.png")


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

    there = [name for name in WRITTEN if (out / name).exists()]
    if there and not force:
        hint = "--out with another folder, or --force if the files are those of an earlier walk"
        raise InputError(f"{out} has a file {there[0]}, which this would replace.", hint=hint)
    out.mkdir(parents=True, exist_ok=True)
    answers, root = load_survey(), context.find_root().command
    show(f"{len(answers.rows)} answers to: {answers.question}\n{answers.note}")
    show(f"The files are in {out}, where the commands run.")
    with chdir(out):
        for name in there:
            Path(name).unlink()
        _write_tables(answers, seed)
        for number, (title, command) in enumerate(STEPS.items(), 1):
            if command.startswith("update"):
                _correct_review(answers)
                copyfile("model.nldd", "before.nldd")
            show(f"\n{number}. {title}\n\n$ nldd {command}\n")
            # Not by `run`: an error is to end this command too, by --debug with its traceback.
            root.main(args=command.split(), prog_name="nldd", standalone_mode=False)
    show("\nRead model.report.html in a browser, and coded.csv in a spreadsheet.")
    # By the model before people helped: the new one knows the answers that it would ask about.
    files = (out / "before.nldd", out / "new.csv")
    page = command_line("nldd", "review", *files, "--show", "age,region")
    show(f"To decide on a page in the browser what the machine is not sure of:\n\n$ {page}")


def _write_tables(answers: "Survey", seed: int) -> None:
    """Write the coded answers and the new ones, without their codes."""
    from numpy.random import default_rng

    # The answers come in no order, so that seed 0 may take them as they are.
    n = len(answers.rows)
    order = default_rng(seed).permutation(n) if seed else range(n)
    rows = [answers.rows[i] for i in order]
    codes = answers.header.index("codes")
    answers.write(Path("answers.csv"), rows[:N_CODED])
    header, *new = [(*row[:codes], *row[codes + 1 :]) for row in (answers.header, *rows[N_CODED:])]
    replace(answers, header=header).write(Path("new.csv"), new)


def _correct_review(answers: "Survey") -> None:
    """Fill in the codes of the review sheet, as people would."""
    from nldd.coding.columns import OK
    from nldd.coding.tables.reading import read_table
    from nldd.coding.tables.writing import write_table

    truth = {row[0]: row[answers.header.index("codes")] for row in answers.rows}
    table = read_table("review.csv")
    codes = [truth[person] for person in table.texts("id")]
    write_table(Path("corrected.csv"), table.frame.assign(**{"codes": codes, OK: "x"}), raw=True)
