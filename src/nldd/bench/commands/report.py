"""``nldd report``: tables, tests and figures from the cells of a benchmark."""

from pathlib import Path
from typing import Any

import click

from nldd.present.console import FOLDER, print_result


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--protocol", help="Which protocol, if the folder has cells of several.")
@click.option(
    "--measures",
    default="",
    help="Which measures, separated by commas, or all.  [default: the paper's four]",
)
@click.option("--nemenyi", is_flag=True, help="Nemenyi's test beside Wilcoxon's.")
@click.option("--out", type=FOLDER, help="Folder for the report.  [default: FOLDER]")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def report(folder: Path, measures: str, as_json: bool, **options: Any) -> None:
    """Make report.html, tables (CSV, LaTeX) and figures (SVG, PNG) in FOLDER.

    FOLDER is the one that `nldd benchmark` wrote to; the benchmark may still be running.

    \b
    Example:
      nldd report nldd-results/default
      nldd report nldd-results/default --measures f_measure,macro_f,macro_auroc
    """
    from nldd.bench.report.report import write_report

    names = [name for name in measures.split(",") if name.strip()]
    files = write_report(folder, measures=names, **options)
    place, endings = files[0].parent, [file.suffix for file in files]
    lines = [
        f"{files[0]}: the report, one file that opens anywhere.",
        f"{endings.count('.csv')} tables in {place / 'tables'} as CSV and LaTeX.",
    ]
    if n_figures := endings.count(".svg"):
        lines.append(f"{n_figures} figures in {place / 'figures'} as SVG and PNG.")
    print_result(as_json, files, "\n".join(lines))
