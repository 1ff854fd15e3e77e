"""``nldd predict``: code new answers."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._progress import progress_of_share
from nldd.cli import _options as shared
from nldd.cli._printing import print_json, print_notes, show


@click.command()
@shared.model_argument
@click.argument("table", type=shared.FILE, metavar="ANSWERS")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="File for the coded answers (CSV, TSV, XLSX, JSONL), or - for standard output.",
)
@shared.file_option("--review", help="File for the answers that people must code.")
@shared.promise_options
@click.option(
    "--max-theta",
    type=click.FloatRange(0, 1),
    help="Code answers up to this theta, whatever accuracy that gives; instead of a target.",
)
@click.option("--explain", is_flag=True, help="Write distances and the next best codes as well.")
@shared.raw_option
@shared.answer_options
@shared.json_option
@click.pass_context
def predict(
    context: click.Context,
    model: Path,
    table: Path,
    out: Path,
    review: Path | None,
    promise: shared.Promise,
    max_theta: float | None,
    explain: bool,
    raw: bool,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Code new answers: the sure ones automatically, the rest marked for people.

    All rows and columns of ANSWERS are kept, in order. Added are the codes, the status (auto,
    review, or coded where people have coded an answer already), the chance that all codes are
    right, theta, the coded answer that is nearest, and why an answer is left to people.

    \b
    Examples:
      nldd predict model.nldd new.csv -o coded.csv
      nldd predict model.nldd new.csv -o coded.xlsx --target-accuracy 0.85 --review review.csv
      nldd predict model.nldd new.csv -o coded.csv --max-theta 0.02 --explain
    """
    to_stdout = str(out) == "-"
    if as_json and to_stdout:
        raise click.UsageError("--json and -o - would both write to standard output.")
    sources = map(context.get_parameter_source, promise._fields)
    if max_theta is not None and click.core.ParameterSource.COMMANDLINE in sources:
        raise click.UsageError("--max-theta goes without --target-accuracy and its options.")
    loaded = coding.load_coding_model(model)
    selection = loaded.select(*promise) if max_theta is None else None
    if selection is not None and selection.threshold is None:
        print_notes([reports.render_unsupported(selection, promise.measure)])
    policy = coding.Policy(max_theta, explain, raw)
    if selection is not None:
        policy = replace(policy, threshold=selection.limit, rank_by=selection.rank_by)
    watch = partial(progress_of_share, title="coding", show=True)
    counts = coding.code_table(loaded, table, out, policy, review, options, watch)
    print_notes([*counts.notes, *(reports.drawn_notes(loaded) if selection else [])])
    if as_json:
        record = reports.counts_record(counts, policy, selection)
        print_json({"out": out, "review": review, **record})
        return
    text = reports.render_counts(counts, policy, selection, promise.measure)
    show(text, err=to_stdout)
    if not to_stdout:
        show(f"Coded answers: {out}")
    if review is not None:
        show(f"For review: {review}", err=to_stdout)
