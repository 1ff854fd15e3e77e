"""``nldd agreement``: how far people agree who coded the same answers."""

from pathlib import Path

import click

from nldd.coding.commands import options as shared
from nldd.present import console as common
from nldd.present.console import print_notes

_columns = (shared.text_option(required=True), *shared.code_options)


@click.command()
@click.argument("tables_of_coders", nargs=-1, required=True, type=common.FILE, metavar="CODED...")
@common.bundle("request", shared.make_column_spec, *_columns)
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
