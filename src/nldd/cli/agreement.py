"""``nldd agreement``: how far people agree who coded the same answers."""

from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result

_column_options = shared.bundle(
    "request",
    lambda **columns: coding.Request(**columns),
    shared.text_option(required=True),
    *shared.code_options,
    *shared.coder_options,
)


@click.command()
@click.argument("tables_of_coders", nargs=-1, required=True, type=shared.FILE, metavar="CODED...")
@_column_options
@click.option(
    "--id", "name", metavar="COLUMN", help="Column to match rows by; by their order if left out."
)
@shared.file_option("-o", "--out", help="File for the answers that were coded differently.")
@shared.force_option
@shared.table_options
@shared.json_option
def agreement(
    tables_of_coders: tuple[Path, ...],
    request: "coding.Request",
    name: str | None,
    out: Path | None,
    force: bool,
    options: "tables.TableOptions",
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
    for place in tables_of_coders:
        coding.check_places(place, out, hint="-o disagreements.csv")
    refuse_existing(out, force=force)
    found = coding.agreement_of_tables(tables_of_coders, request, name, options)
    print_notes(found.notes)
    if out is not None:
        reports.write_disagreements(found, out, request.separators[0])
    where = f"\n\nDisagreements: {out}" if out else ""
    record = {"out": out, **reports.agreement_record(found)}
    print_result(as_json, record, reports.render_agreement(found) + where)
