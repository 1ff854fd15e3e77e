"""``nldd evaluate`` and ``nldd audit``: check codes against those of people."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing
from nldd.coding.commands.options import (
    ReportPlace,
    answer_options,
    guarantee_options,
    listing_options,
    model_argument,
    raw_option,
    report_option,
    share_option,
    show_result,
    table_options,
)
from nldd.exceptions import InputError
from nldd.present.console import print_notes
from nldd.present.options import (
    FILE,
    default_option,
    file_option,
    force_option,
    json_option,
    seed_option,
)

if TYPE_CHECKING:
    from nldd.coding.columns import CodeFormat
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.review.views import CheckedAccuracy
    from nldd.coding.tables.reading import TableOptions


@click.command()
@model_argument
@click.argument("table", type=FILE, metavar="CODED")
@listing_options
@report_option("CODED")
@guarantee_options
@answer_options
@force_option
@json_option
def evaluate(
    model: Path,
    table: Path,
    listing: "CodeFormat",
    report_place: ReportPlace,
    promise: "GuaranteeTarget",
    options: "TableOptions",
    force: bool,
    as_json: bool,
) -> None:
    """Compare a model's codes with those that people gave to the same answers.

    Prints all measures with 95 % intervals, how well theta is calibrated, the codes that are
    predicted worst and those that are confused. The answers should be new to the model.

    \b
    Example:
      nldd evaluate model.nldd coded-by-people.csv
    """
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.evaluation import evaluate_table
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.predictions import PER_CODE
    from nldd.coding.report import write_evaluation_report

    if promise.measure == PER_CODE:
        raise click.UsageError("evaluate compares whole answers; --measure subset or hamming.")
    place = report_place(table)
    check_paths_differ(table, model, place, hint="--report with another name")
    refuse_existing(place, force=force)
    loaded = load_coding_model(model)
    quality = evaluate_table(loaded, table, options, listing, promise)
    print_notes(quality.notes)
    written = place and write_evaluation_report(loaded, quality, model, table, place)
    show_result(quality, as_json, report=written)


@click.command()
@click.argument("coded", nargs=-1, required=True, type=FILE, metavar="CODED...")
@default_option(
    "--sample", type=click.IntRange(min=1), default=200, help="How many automatic codes to check."
)
@file_option("-o", "--out", help="File for the sample.  [default: CODED with .audit in its name]")
@click.option(
    "--besides",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Earlier sample, of which no row is drawn again; may be given several times.",
)
@share_option(
    "--target-accuracy",
    "target",
    default=None,
    help="Accuracy of whole answers to test.  [default: that of nldd_guarantee, else 0.9]",
)
@force_option
@seed_option
@raw_option
@table_options
@json_option
def audit(
    coded: tuple[Path, ...],
    sample: int,
    out: Path | None,
    besides: tuple[Path, ...],
    target: float | None,
    force: bool,
    seed: int,
    raw: bool,
    options: "TableOptions",
    as_json: bool,
) -> None:
    """Draw automatic codes to check by hand; given back checked, tell their accuracy.

    CODED is what `nldd predict` wrote. The sample has a column nldd_check: write yes where all
    codes of the answer are right, no where one is wrong or missing (or y/n, j/n, ja/nein, oui/non,
    si/no, 1/0, +/-; x is right). Where it is no, the right codes may go into nldd_right_codes, in
    the way of nldd_codes. The same command on the checked sample prints the verified accuracy with
    its 95 % interval, and whether the target is kept, broken, or cannot be told yet. If it cannot,
    draw a second sample besides the first, and give both back: rows that are in both count once.
    The target is that of nldd_guarantee, a column that `nldd predict` writes into the coded table,
    unless --target-accuracy names another one. If the guarantee is by the measure hamming or
    per-code, checks of whole answers give their accuracy and no verdict.
    Of a review that `nldd review` made, the answers that were drawn there tell the same of the
    codes as first given, before the machine learned; the verdict comes once all are decided.

    \b
    Examples:
      nldd audit coded.csv --sample 200
      nldd audit coded.audit.csv
      nldd audit coded.audit.csv --target-accuracy 0.9
      nldd audit coded.csv --besides coded.audit.csv -o second.csv
      nldd audit coded.audit.csv second.csv
      nldd audit new.review.db
    """
    from nldd.coding.audit import draw_sample, is_check_sample, read_audit
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.review.store import is_store

    if any(map(is_store, coded)):
        show_result(_audit_of_review(coded, besides or out, target), as_json)
        return
    unchecked = [path for path in coded if not is_check_sample(path, options)]
    if not unchecked and not besides:
        show_result(read_audit(*coded, options=options, target=target), as_json)
        return
    if len(coded) > 1 or not unchecked:
        message = (
            "A sample is drawn from one coded table; checked samples are told of by themselves."
        )
        hint = "nldd audit coded.csv --besides first.csv -o second.csv, or nldd audit first.csv"
        raise InputError(message, hint=hint)
    (table,) = coded
    ending = table.suffix if table.suffix.lower() in (".csv", ".tsv", ".xlsx", ".jsonl") else ".csv"
    place = out or table.with_name(f"{table.stem}.audit{ending}")
    for earlier in (table, *besides):
        check_paths_differ(earlier, place, hint="-o sample.csv")
    refuse_existing(place, force=force)
    show_result(draw_sample(table, place, sample, seed, options, raw, besides), as_json)


def _audit_of_review(
    coded: tuple[Path, ...], drawing: object, target: float | None
) -> "CheckedAccuracy":
    from nldd.coding.review.store import Store
    from nldd.coding.review.views import audit_of

    if len(coded) > 1 or drawing:
        hint = "nldd audit new.review.db; nldd review merge makes one review of several"
        raise InputError("A review of the page is judged by itself.", hint=hint)
    with Store.open(coded[0], write=False) as store:
        return audit_of(store, target)
