"""``nldd demo survey``: a coding study from end to end, on made-up answers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nldd.datasets import Survey

N_CODED = 1200
REPORT = "model.report.html"
STEPS = {
    "fit": "Learn from {n_coded} answers that people have coded.",
    "triage": "How much may be coded automatically, if 9 in 10 answers shall be right?",
    "predict": "Code {n_new} new answers: the sure ones automatically, the rest for people.",
    "update": "People code the rest (their codes are known here), and the answers join the model.",
}


@click.command(short_help="Fit, triage, predict and update on a made-up survey.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("nldd-survey"),
    show_default=True,
    help="Folder for the files.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Which answers are coded first.",
)
def survey(out: Path, seed: int) -> None:
    """Code a survey from end to end: fit, triage, predict and update.

    The answers are synthetic: a program made them up. All files stay in the folder, and
    every command that is run is shown, so that you can run it on answers of your own.

    \b
    Example:
      nldd demo survey --out survey
    """
    from nldd.datasets import load_survey

    made = load_survey()
    if seed:
        made = replace(made, rows=_shuffled(made.rows, seed))
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.nldd").unlink(missing_ok=True)  # of an earlier walk
    n_new = len(made.rows) - N_CODED
    place = made.header.index("codes")
    _write(out / "answers.csv", made.header, made.rows[:N_CODED])
    new = [(*row[:place], *row[place + 1 :]) for row in made.rows[N_CODED:]]
    _write(out / "new.csv", (*made.header[:place], *made.header[place + 1 :]), new)
    click.echo(f"{len(made.rows)} answers to: {made.question}\n{made.note}\nFiles: {out}")
    for number, (name, title) in enumerate(STEPS.items(), 1):
        if name == "update":
            _correct(out / "review.csv", out / "corrected.csv", made)
        click.echo(f"\n{number}. {title.format(n_coded=N_CODED, n_new=n_new)}\n")
        _run([name, *_words(name, out)])
    click.echo(f"\nRead {out / REPORT} in a browser, {out / 'coded.csv'} in a spreadsheet.")


def _shuffled(rows: Sequence[tuple[str, ...]], seed: int) -> list[tuple[str, ...]]:
    from numpy.random import default_rng

    return [rows[i] for i in default_rng(seed).permutation(len(rows))]


def _words(step: str, out: Path) -> list[str]:
    """Arguments and options of a step."""
    model, new, coded, review = (
        str(out / name) for name in ("model.nldd", "new.csv", "coded.csv", "review.csv")
    )
    if step == "fit":
        columns = ["--text", "answer", "--labels", "codes", "--features", "age,region"]
        return [str(out / "answers.csv"), *columns, "-o", model]
    if step == "triage":
        return [model, "--target-accuracy", "0.9", "--figure", str(out / "curve")]
    if step == "predict":
        return [model, new, "--target-accuracy", "0.9", "-o", coded, "--review", review]
    return [model, str(out / "corrected.csv")]


def _run(arguments: Sequence[str]) -> None:
    from nldd.cli import run

    click.echo(f"$ nldd {join(arguments)}\n")
    code = run(arguments)
    if code:
        raise click.exceptions.Exit(code)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from nldd.tables import create_table

    with create_table(path, header, raw=True) as writer:
        writer.write(rows)


def _correct(review: Path, out: Path, made: "Survey") -> None:
    """Fill in the codes of a review file, as people would."""
    from nldd.tables import cell_text, open_table

    truth = {row[0]: row[made.header.index("codes")] for row in made.rows}
    with open_table(review) as table:
        person, place = table.column("id"), table.column("codes")
        header = table.header
        rows = [
            [*row[:place], truth[cell_text(row[person])], *row[place + 1 :]]
            for block in table.blocks()
            for row in block.rows
        ]
    _write(out, header, [[cell_text(cell) for cell in row] for row in rows])
