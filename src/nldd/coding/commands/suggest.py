"""``nldd suggest``: a draft of a codebook, before anybody has coded."""

from dataclasses import replace
from pathlib import Path

import click

from nldd._wording import quote_first
from nldd.coding.commands import options as shared
from nldd.exceptions import InputError
from nldd.present import console as common
from nldd.present.console import print_notes
from nldd.present.text import command_line


@click.command()
@click.argument("path", type=common.FILE, metavar="ANSWERS")
@shared.text_option()
@click.option(
    "--groups",
    type=click.IntRange(2, 200),
    help="How many groups.  [default: by the number of answers, 30 at most]",
)
@common.file_option("-o", "--out", required=True, help="File for the draft of the codebook.")
@common.file_option("--assign", help="File for the answers with their groups, to code from.")
@common.force_option
@common.seed_option
@shared.raw_option
@shared.table_options
@common.json_option
def suggest(
    path: Path,
    text: tuple[str, ...],
    groups: int | None,
    out: Path,
    assign: Path | None,
    force: bool,
    seed: int,
    raw: bool,
    options: "shared.TableOptions",
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
    from nldd.coding.columns import DRAFT, CodeColumns, Columns, split_names
    from nldd.coding.rows import read_answers
    from nldd.coding.suggestions import suggest_codes
    from nldd.coding.tables.reading import read_table
    from nldd.coding.tables.spreadsheet import unique_column_names
    from nldd.coding.tables.writing import write_table

    shared.check_places(path, to=[out, assign], force=force)
    table = read_table(path, options)
    columns = tuple(map(table.find, split_names(text, table.names)))
    if not columns:
        hint = f"--text NAME; {path.name} has the columns {quote_first(table.names)}"
        raise InputError("No column with the answers was named.", hint=hint)
    answers = read_answers(table, Columns(columns, CodeColumns(())))
    found = replace(suggest_codes(answers, groups, seed), notes=tuple(table.notes))
    print_notes(found.notes)
    write_table(out, found.to_frame(), raw=raw)
    advice = f"Read the examples in {out}; --assign draft.csv gives each answer its groups."
    if assign is not None:
        (column,) = unique_column_names([DRAFT], table.names)
        frame, header = table.frame.assign(**{column: found.drafted}), (*table.header, column)
        write_table(assign, frame, header=header, like=table.format, raw=raw)
        words = ("--text", "...", "--labels", column, "-o", "model.nldd")
        fit = command_line("nldd", "fit", assign, *words)
        advice = f"Correct the column {column} of {assign}, then\n  {fit}"
    shared.show_result(found, as_json, advice, codebook=out, draft=assign)
