"""``nldd suggest``: a draft of a codebook, before anybody has coded."""

from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result


@click.command()
@click.argument("table", type=shared.FILE, metavar="ANSWERS")
@shared.text_option()
@click.option(
    "--groups",
    type=click.IntRange(2, 200),
    help="How many groups.  [default: by the number of answers, 30 at most]",
)
@shared.file_option("-o", "--out", required=True, help="File for the draft of the codebook.")
@shared.file_option("--assign", help="File for the answers with their groups, to code from.")
@shared.force_option
@shared.seed_option
@shared.raw_option
@shared.table_options
@shared.json_option
def suggest(
    table: Path,
    text: tuple[str, ...],
    groups: int | None,
    out: Path,
    assign: Path | None,
    force: bool,
    seed: int,
    raw: bool,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Group answers that share words into a draft of a codebook; no codes are needed.

    It knows words, not what they mean: read the examples, merge, split and rename groups, and
    leave out what is none. With --assign each answer gets its groups in a column of its own;
    correct these, then `nldd fit` learns from them.

    \b
    Examples:
      nldd suggest answers.csv --text answer -o codebook.csv
      nldd suggest answers.csv --text answer --groups 12 -o codebook.csv --assign draft.csv
    """
    coding.check_places(table, out, assign, hint="-o codebook.csv --assign draft.csv")
    refuse_existing(out, assign, force=force)
    found = coding.suggest_codes(table, text, groups, options, seed)
    print_notes(found.notes)
    coding.write_suggestion(found, out, raw)
    column = coding.write_draft(found, table, assign, options, raw) if assign else ""
    shown = reports.render_suggestion(found)
    advice = reports.suggestion_advice(out, assign, column)
    record = reports.suggestion_record(found)
    print_result(as_json, record, shown, "" if as_json else advice, codebook=out, draft=assign)
