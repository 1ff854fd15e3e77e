"""``nldd fit``: learn from coded answers."""

from functools import partial
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._progress import progress
from nldd.cli import _options as shared
from nldd.cli._printing import asker, print_notes, print_result, say, try_report

_columns_option = partial(click.option, multiple=True, metavar="COLUMNS")
column_options = shared.bundle(
    "request",
    lambda **columns: coding.Request(**columns),
    _columns_option("--text", help="Columns with the answers; several with commas, or repeat it."),
    click.option(
        "--labels",
        default="",
        metavar="COLUMNS",
        help="Column that lists the codes; or several, with commas or as 'code*'.",
    ),
    click.option(
        "--label-columns",
        default="",
        metavar="PATTERN",
        help="Columns of 0 and 1, one a code, such as 'q1_*'; instead of --labels.",
    ),
    shared.sep_option(
        default=(";",), help='Between codes in a cell; repeatable.  [default: ";" and line breaks]'
    ),
    shared.no_code_option(help="Cell of --labels that means: looked at, and no code applies."),
    click.option(
        "--as-written",
        is_flag=True,
        help="Take codes as they are, even if they look like lists with another separator.",
    ),
    _columns_option("--features", help="Further columns to code from: numbers, or categories."),
    _columns_option(
        "--categorical", help="Features that are categories even though they hold numbers."
    ),
)


@click.command()
@click.argument("table", type=shared.FILE, metavar="ANSWERS")
@column_options
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
@shared.json_option
def fit(
    table: Path,
    request: "coding.Request",
    out: Path,
    report_place: shared.ReportPlace,
    promise: shared.Promise,
    folds: int | None,
    seed: int,
    jobs: int,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Learn from answers that people have coded.

    ANSWERS is a table with one answer a row: CSV, TSV, XLSX (also XLS, XLSB, ODS), JSONL, Parquet,
    or a file of SPSS, Stata or SAS. Rows without codes are set aside. Every coded answer is also
    predicted without itself, which tells how good the model is and how much of new answers it may
    code alone.

    \b
    Examples:
      nldd fit answers.csv --text answer --labels codes -o model.nldd
      nldd fit answers.csv --text answer --labels codes --features age,region
      nldd fit answers.xlsx --text answer --labels code1,code2,code3
      nldd fit answers.xlsx --text answer --label-columns "q1_*"
    """
    place = report_place(out)
    coding.check_places(table, out, place, hint="--report with another name")
    settings = coding.Settings(folds, seed, jobs)
    watch = partial(progress, title="cross-validation", show=True)
    step = coding.fit_table(table, out, request, settings, options, watch, say, asker())
    quality = coding.evaluate_evidence(step.model)
    table_of = coding.triage(step.model, *promise)
    print_notes(step.table.notes)
    written = place and try_report(
        lambda: reports.write_fit_report(step.model, quality, table_of, out, place)
    )
    record = reports.fit_record(step, quality, table_of)
    text = reports.render_fit(step, quality, table_of)
    print_result(as_json, record, text, model=out, report=written)
