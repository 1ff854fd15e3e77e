"""``nldd audit``: check automatic codes by hand, and what that proves."""

from dataclasses import asdict
from pathlib import Path

import click

from nldd import coding, reports, tables
from nldd._files import refuse_existing
from nldd.cli import _options as shared
from nldd.cli._printing import print_result


@click.command()
@click.argument("table", type=shared.FILE, metavar="CODED")
@shared.default_option(
    "--sample", type=click.IntRange(min=1), default=200, help="How many automatic codes to check."
)
@shared.file_option(
    "-o", "--out", help="File for the sample.  [default: CODED with .audit in its name]"
)
@shared.share_option(
    "--target-accuracy", "target", help="Accuracy that the automatic codes shall have."
)
@shared.force_option
@shared.seed_option
@shared.raw_option
@shared.table_options
@shared.json_option
def audit(
    table: Path,
    sample: int,
    out: Path | None,
    target: float,
    force: bool,
    seed: int,
    raw: bool,
    options: "tables.TableOptions",
    as_json: bool,
) -> None:
    """Draw automatic codes to check by hand; given back checked, tell their accuracy.

    CODED is what `nldd predict` wrote. The sample has a column nldd_check: write yes where all
    codes of the answer are right, no where one is wrong or missing (or y/n, j/n, ja/nein, oui/non,
    si/no, 1/0, +/-; x is right). Where it is no, the right codes may go into nldd_right_codes, in
    the way of nldd_codes. The same command on the checked sample prints the verified accuracy with
    its 95 % interval, and whether the target is kept, broken, or cannot be told yet.

    \b
    Examples:
      nldd audit coded.csv --sample 200
      nldd audit coded.audit.csv --target-accuracy 0.9
    """
    if coding.is_checked(table, options):
        found = coding.read_audit(table, options, target)
        print_result(as_json, asdict(found), reports.render_audit(found))
        return
    ending = table.suffix if table.suffix.lower() in (".csv", ".tsv", ".xlsx", ".jsonl") else ".csv"
    place = out or table.with_name(f"{table.stem}.audit{ending}")
    coding.check_places(table, place, hint="-o sample.csv")
    refuse_existing(place, force=force)
    drawn = coding.draw_sample(table, place, sample, seed, options, raw)
    print_result(as_json, {"out": place, **asdict(drawn)}, reports.render_sample(drawn, place))
