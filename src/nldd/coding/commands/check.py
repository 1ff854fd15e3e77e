"""``nldd evaluate``, ``audit``, ``suspects`` and ``agreement``: check codes."""

from pathlib import Path

import click

from nldd.coding.commands import options as shared
from nldd.exceptions import InputError
from nldd.present import console as common
from nldd.present.console import print_notes


@click.command()
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="CODED")
@shared.listing_options
@shared.report_option("CODED")
@shared.guarantee_options
@shared.answer_options
@common.force_option
@common.json_option
def evaluate(
    model: Path,
    table: Path,
    listing: "shared.CodeFormat",
    report_place: shared.ReportPlace,
    promise: "shared.GuaranteeTarget",
    options: "shared.TableOptions",
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
    from nldd.coding.evaluation import evaluate_table
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.predictions import PER_CODE
    from nldd.coding.report import write_evaluation_report

    if promise.measure == PER_CODE:
        raise click.UsageError("evaluate compares whole answers; --measure subset or hamming.")
    place = report_place(table)
    shared.check_places(model, table, to=[place], force=force)
    loaded = load_coding_model(model)
    quality = evaluate_table(loaded, table, options, listing, promise)
    print_notes(quality.notes)
    written = place and write_evaluation_report(loaded, quality, model, table, place)
    shared.show_result(quality, as_json, report=written)


@click.command()
@click.argument("coded", nargs=-1, required=True, type=common.FILE, metavar="CODED...")
@common.default_option(
    "--sample", type=click.IntRange(min=1), default=200, help="How many automatic codes to check."
)
@common.file_option(
    "-o", "--out", help="File for the sample.  [default: CODED with .audit in its name]"
)
@shared.files_option(
    "--besides", help="Earlier sample, of which no row is drawn again; may be given several times."
)
@shared.share_option(
    "--target-accuracy",
    "target",
    default=None,
    help="Accuracy of whole answers to test.  [default: that of nldd_guarantee, else 0.9]",
)
@common.force_option
@common.seed_option
@shared.raw_option
@shared.table_options
@common.json_option
def audit(
    coded: tuple[Path, ...],
    sample: int,
    out: Path | None,
    besides: tuple[Path, ...],
    target: float | None,
    force: bool,
    seed: int,
    raw: bool,
    options: "shared.TableOptions",
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
    from nldd.coding.review.store import Store, is_store
    from nldd.coding.review.views import audit_of

    if any(map(is_store, coded)):
        if len(coded) > 1 or besides or out:
            hint = "nldd audit new.review.db; nldd review merge makes one review of several"
            raise InputError("A review of the page is judged by itself.", hint=hint)
        with Store.open(coded[0], write=False) as store:
            judged = audit_of(store, target)
        shared.show_result(judged, as_json)
        return
    unchecked = [path for path in coded if not is_check_sample(path, options)]
    if not unchecked and not besides:
        shared.show_result(read_audit(*coded, options=options, target=target), as_json)
        return
    if len(coded) > 1 or not unchecked:
        message = "A sample is drawn from one coded table; checked samples are given alone."
        hint = "nldd audit coded.csv --besides first.csv -o second.csv, or nldd audit first.csv"
        raise InputError(message, hint=hint)
    (table,) = coded
    ending = table.suffix if table.suffix.lower() in (".csv", ".tsv", ".xlsx", ".jsonl") else ".csv"
    place = out or table.with_name(f"{table.stem}.audit{ending}")
    shared.check_places(table, *besides, to=[place], force=force)
    shared.show_result(draw_sample(table, place, sample, seed, options, raw, besides), as_json)


@click.command()
@shared.model_argument
@common.file_option("-o", "--out", help="File for all of them, with the evidence.")
@common.force_option
@common.json_option
def suspects(model: Path, out: Path | None, force: bool, as_json: bool) -> None:
    """Find answers that people may have miscoded, among those that a model has learned from.

    Suspicious are answers to which the model, without having seen them, gives other codes, the more
    so the surer it is and the more codes differ; and identical answers with different codes.

    \b
    Examples:
      nldd suspects model.nldd
      nldd suspects model.nldd -o suspects.csv
    """
    from nldd.coding.model_file import load_coding_model
    from nldd.coding.suspects import find_suspects
    from nldd.coding.tables.writing import write_table

    shared.check_places(model, to=[out], force=force)
    found = find_suspects(load_coding_model(model))
    if out is not None:
        write_table(out, found.to_frame())
    shared.show_result(found, as_json, out=out)


@click.command()
@click.argument("tables_of_coders", nargs=-1, required=True, type=common.FILE, metavar="CODED...")
@common.bundle(
    "request", shared.make_column_spec, shared.text_option(required=True), *shared.code_options
)
@click.option(
    "--id", "name", metavar="COLUMN", help="Column to match rows by; by their order if left out."
)
@common.file_option("-o", "--out", help="File for the answers that were coded differently.")
@common.force_option
@shared.table_options
@common.json_option
def agreement(
    tables_of_coders: tuple[Path, ...],
    request: "shared.ColumnSpec",
    name: str | None,
    out: Path | None,
    force: bool,
    options: "shared.TableOptions",
    as_json: bool,
) -> None:
    """Tell how far two or more people agree who coded the same answers.

    CODED are tables of the same answers, each coded by another person; or one table with a row for
    each coder and answer, which has columns of coders and of ids. For each code there is
    Cohen's kappa, for whole combinations of codes Krippendorff's alpha. An answer without codes in
    a table was not coded by that person.

    \b
    Examples:
      nldd agreement ann.csv bob.csv --text answer --labels codes --id id
      nldd agreement ann.csv bob.csv --text answer --labels codes -o disagreements.csv
      nldd agreement all.csv --text answer --labels codes --id id --coder-column coder
    """
    from nldd.coding.agreement import agreement_of_tables
    from nldd.coding.tables.writing import write_table

    shared.check_places(*tables_of_coders, to=[out], force=force)
    found = agreement_of_tables(tables_of_coders, request, name, options)
    print_notes(found.notes)
    if out is not None:
        write_table(out, found.to_frame(request.separators[0]))
    shared.show_result(found, as_json, out=out)
