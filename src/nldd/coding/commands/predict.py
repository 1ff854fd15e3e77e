"""``nldd triage``, ``predict`` and ``frequencies``: code new answers, and count the codes."""

from pathlib import Path

import click

from nldd._files import refuse_existing
from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import print_json, print_notes, print_result, progress, show


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
@shared.count_option(
    "--random", "n_random", help="Answers drawn at random for the review, sure ones among them."
)
@common.seed_option
@common.force_option
@shared.guarantee_options
@click.option(
    "--max-theta",
    type=click.FloatRange(0, 1),
    help="Code answers up to this theta, whatever accuracy that gives; instead of a target.",
)
@click.option("--explain", is_flag=True, help="Write the evidence and the next best codes as well.")
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


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="CODED")
@shared.files_option(
    "--checked",
    help="Review or audit sample that people have filled in; may be given several times.",
)
@common.file_option("-o", "--out", help="File for the shares (CSV, TSV, XLSX, JSONL).")
@common.file_option("--report", help="File for a page with the shares (HTML).")
@common.force_option
@shared.table_options
@common.json_option
def frequencies(
    model: Path,
    table: Path,
    checked: tuple[Path, ...],
    out: Path | None,
    report: Path | None,
    force: bool,
    options: "shared.TableOptions",
    as_json: bool,
) -> None:
    """Tell the share of each code in all answers, corrected for the errors of the machine.

    CODED is what `nldd predict` wrote, or a review of `nldd review` with all that is decided there
    (by what the model said first). Codes of people count as they are. Where the machine alone
    coded, a random part that people checked tells its errors: a sample of `nldd audit`, with the
    right codes where it says no, or the answers that `nldd predict --random` put into a review.
    Without such, the coded answers of the model stand in, which is an assumption.

    \b
    Examples:
      nldd frequencies model.nldd coded.csv
      nldd frequencies model.nldd coded.csv --checked review.csv -o shares.csv --report shares.html
      nldd frequencies model.nldd new.review.db
    """
    from nldd.coding.frequencies import code_frequencies
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.report import write_frequencies_report
    from nldd.coding.tables.writing import write_table

    shared.check_places(model, table, *checked, to=[out, report], force=force)
    found = code_frequencies(load_coding_model(model), table, checked, options)
    print_notes(found.notes)
    if out is not None:
        write_table(out, found.to_frame())
    if report is not None:
        write_frequencies_report(found, table, report)
    shared.show_result(found, as_json, shares=out, report=report)
