"""``nldd agreement``: how far people agree who coded the same answers."""

from pathlib import Path
from typing import Any

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_notes, print_result


def _request(text: tuple[str, ...], **columns: Any) -> "coding.Request":
    return coding.Request(text=text, **columns)


_column_options = shared.bundle(
    "request",
    _request,
    click.option(
        "--text", multiple=True, required=True, metavar="COLUMNS", help="Columns with the answers."
    ),
    click.option("--labels", default="", metavar="COLUMN", help="Column that lists the codes."),
    click.option(
        "--label-columns",
        default="",
        metavar="PATTERN",
        help="Columns of 0 and 1, one a code, such as 'q1_*'; instead of --labels.",
    ),
    shared.default_option(
        "--sep", "separator", default=";", help="Between the codes in the column of --labels."
    ),
    click.option(
        "--no-code",
        "none",
        default="",
        metavar="TEXT",
        help="Cell of --labels that means: looked at, and no code applies.",
    ),
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

    CODED are tables of the same answers, each coded by another person. For each code there is
    Cohen's kappa, for whole combinations of codes Krippendorff's alpha. An answer without codes in
    a table was not coded by that person.

    \b
    Examples:
      nldd agreement ann.csv bob.csv --text answer --labels codes --id id
      nldd agreement ann.csv bob.csv --text answer --labels codes -o disagreements.csv
    """
    for place in tables_of_coders:
        coding.check_places(place, out, hint="-o disagreements.csv")
    refuse_existing(out, force=force)
    found = coding.agreement_of_tables(tables_of_coders, request, name, options)
    print_notes(found.notes)
    if out is not None:
        reports.write_disagreements(found, out, request.separator)
    where = f"\n\nDisagreements: {out}" if out else ""
    record = {"out": out, **reports.agreement_record(found)}
    print_result(as_json, record, reports.render_agreement(found) + where)
