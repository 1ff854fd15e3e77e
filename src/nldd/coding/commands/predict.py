"""``nldd predict``: code new answers."""

from pathlib import Path

import click

from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import print_json, print_notes, progress, show


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="ANSWERS")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="File for the coded answers (CSV, TSV, XLSX, JSONL), or - for standard output.",
)
@common.file_option(
    "--review", help="File for the answers that people must code; XLSX has choices in its cells."
)
@common.default_option(
    "--random",
    "n_random",
    type=click.IntRange(min=0),
    default=0,
    help="Answers drawn at random for the review, sure ones among them.",
)
@common.seed_option
@common.force_option
@shared.guarantee_options
@click.option(
    "--max-theta",
    type=click.FloatRange(0, 1),
    help="Code answers up to this theta, whatever accuracy that gives; instead of a target.",
)
@click.option("--explain", is_flag=True, help="Write distances and the next best codes as well.")
@shared.raw_option
@shared.answer_options
@common.json_option
@click.pass_context
def predict(
    context: click.Context,
    model: Path,
    table: Path,
    out: Path,
    review: Path | None,
    n_random: int,
    seed: int,
    force: bool,
    promise: "shared.GuaranteeTarget",
    max_theta: float | None,
    explain: bool,
    raw: bool,
    options: "shared.TableOptions",
    as_json: bool,
) -> None:
    """Code new answers: the sure ones automatically, the rest marked for people.

    All rows and columns of ANSWERS are kept, in order. Added are the codes, the status (auto,
    review, or coded where people have coded an answer already), the chance that all codes are
    right, theta, the coded answer that is nearest, and why an answer is left to people.

    The review shows a suggestion for each answer: correct the codes, or mark it with x in nldd_ok
    if it is right, then give the file to `nldd update`. Answers of --random come without one; the
    more of them people have coded, the more exactly the model knows how right it is.

    By --measure per-code, codes that are sure are settled one by one, and people decide only those
    of nldd_ask (status: part).

    \b
    Examples:
      nldd predict model.nldd new.csv -o coded.csv
      nldd predict model.nldd new.csv -o coded.csv --review review.xlsx --random 50
      nldd predict model.nldd new.csv -o coded.xlsx --target-accuracy 0.85 --review review.csv
      nldd predict model.nldd new.csv -o coded.csv --review review.xlsx --measure per-code
      nldd predict model.nldd new.csv -o coded.csv --max-theta 0.02 --explain
    """
    from nldd.coding.coded_answers import CodingOptions
    from nldd.coding.coded_table import code_table
    from nldd.coding.model_file import load_coding_model

    to_stdout = str(out) == "-"
    if as_json and to_stdout:
        raise click.UsageError("--json and -o - would both write to standard output.")
    sources = map(context.get_parameter_source, promise._fields)
    if max_theta is not None and click.core.ParameterSource.COMMANDLINE in sources:
        raise click.UsageError("--max-theta goes without --target-accuracy and its options.")
    if n_random and review is None:
        raise click.UsageError("--random puts answers into a review; name one with --review.")
    shared.check_places(table, to=[out, review], force=force)
    loaded = load_coding_model(model)
    coding = CodingOptions(max_theta, explain, raw, n_random=n_random, seed=seed)
    if max_theta is None:
        from nldd.coding.automation import apply_guarantee

        coding, notes = apply_guarantee(loaded, promise, coding)
        print_notes(notes)
    counts = code_table(loaded, table, out, coding, review, options, progress)
    print_notes(counts.notes)
    if as_json:
        print_json({"out": out, "review": review, **counts.to_dict()})
        return
    show(str(counts), err=to_stdout)
    if not to_stdout:
        show(f"Coded answers: {out}")
    if review is not None:
        show(f"For review: {review}", err=to_stdout)
