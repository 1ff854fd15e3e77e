"""``nldd fit``: learn from coded answers."""

from functools import partial
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd._progress import stage
from nldd.cli import _options as shared
from nldd.cli._printing import asker, print_notes, print_result, say, try_report

_columns_option = partial(click.option, multiple=True, metavar="COLUMNS")
column_options = shared.bundle(
    "request",
    lambda **columns: coding.Request(**columns),
    shared.text_option(),
    *shared.code_options,
    click.option(
        "--as-written",
        is_flag=True,
        help="Take codes as they are, even if they look like lists with another separator.",
    ),
    click.option(
        "--id",
        default="",
        metavar="COLUMN",
        help="Column that identifies respondents; answers of one respondent are tested together. "
        "[default: found by its name]",
    ),
    *shared.coder_options,
    click.option("--coder", default="", metavar="NAME", help="Use the codes of this coder only."),
    _columns_option("--features", help="Further columns to code from: numbers, or categories."),
    _columns_option(
        "--categorical", help="Features that are categories even though they hold numbers."
    ),
)


@click.command()
@click.argument("table", type=shared.FILE, metavar="ANSWERS")
@column_options
@shared.file_option(
    "--codebook", help="Table of codes with names, merges and order; see nldd codebook."
)
@shared.file_option(
    "-o", "--out", default=Path("model.nldd"), show_default=True, help="File for the model."
)
@shared.report_option("the model")
@shared.promise_options
@shared.folds_option(
    help="Folds of the cross-validation.  [default: 20; 10 of more than 5,000 answers]"
)
@shared.seed_option
@shared.threads_option
@shared.answer_options
@shared.force_option
@shared.json_option
def fit(
    table: Path,
    request: "coding.Request",
    codebook: Path | None,
    out: Path,
    report_place: shared.ReportPlace,
    promise: shared.Promise,
    folds: int | None,
    seed: int,
    jobs: int,
    options: "tables.TableOptions",
    force: bool,
    as_json: bool,
) -> None:
    """Learn from answers that people have coded.

    ANSWERS is a table with one answer a row: CSV, TSV, XLSX (also XLS, XLSB, ODS), JSONL, Parquet,
    or a file of SPSS, Stata or SAS. Rows without codes are set aside. Every coded answer is also
    predicted without itself, which tells how good the model is and how much of new answers it may
    code alone. A model that is there already is replaced by --force only; `nldd undo` brings it
    back.

    \b
    Examples:
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd fit answers.csv --text answer --labels codes --features age,region
      nldd fit answers.xlsx --text answer --labels code1,code2,code3
      nldd fit answers.xlsx --text answer --label-columns "q1_*"
    """
    place = report_place(out)
    coding.check_places(table, out, place, hint="--report with another name")
    refuse_existing(out, place, force=force)
    settings = coding.Settings(folds, seed, jobs)
    book = coding.read_codebook(codebook) if codebook else coding.Codebook()
    step = coding.fit_table(
        *(table, out, request, settings, options),
        watch=stage,
        tell=say,
        ask=asker(),
        codebook=book,
        force=force,
    )
    quality = coding.evaluate_evidence(step.model)
    table_of = coding.triage(step.model, *promise)
    print_notes(step.table.notes)
    written = place and try_report(
        lambda: reports.write_fit_report(step.model, quality, table_of, out, place), out
    )
    record = reports.fit_record(step, quality, table_of)
    text = reports.render_fit(step, quality, table_of)
    before = step.predecessor
    print_result(as_json, record, text, model=out, before=before, report=written)
