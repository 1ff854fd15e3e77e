"""A report as files: one HTML page, and every table and figure for use elsewhere."""

from pathlib import Path
from shlex import quote

from nldd._files import write_atomically
from nldd.exceptions import InputError
from nldd.experiments import CELLS, read_records
from nldd.reports import RENDERERS, render_page, save_figure
from nldd.reports._report import Report, make_report
from nldd.reports._summary import results

PAGE = "report.html"


def report(folder: Path, out: Path | None = None, protocol: str | None = None) -> list[Path]:
    """Write the report of the cells in `folder`.

    Parameters
    ----------
    folder : Path
        Of a benchmark; has ``cells.jsonl``.
    out : Path, default=None
        Where the report goes; None is `folder` itself.
    protocol : str, default=None
        Which protocol, where the folder has several.

    Returns
    -------
    list of Path
        The files: ``report.html`` first, then ``tables/`` as CSV, Markdown and LaTeX, and
        ``figures/`` as SVG and PNG.
    """
    cells = folder / CELLS
    if not cells.is_file():
        raise InputError(
            f"{folder} has no {CELLS}. Give the folder of a benchmark: "
            f"nldd benchmark --out {quote(str(folder))}"
        )
    made = make_report(results(read_records(cells), protocol))
    return write_report(made, out or folder)


def write_report(made: Report, out: Path) -> list[Path]:
    """Write all files, each of them whole or not at all; the page last, when all else is there."""
    _forget_problems(out)
    written: list[Path] = []
    for table in made.tables:
        for ending, render in RENDERERS.items():
            path = out / "tables" / f"{table.key}.{ending}"
            write_atomically(path, render(table).encode())
            written.append(path)
    for picture in made.pictures:
        written += save_figure(picture.figure, out / "figures", picture.key)
    page = out / PAGE
    write_atomically(page, render_page(made.page).encode())
    return [page, *written]


def _forget_problems(out: Path) -> None:
    """Take away what an earlier report said was missing; it may be there now."""
    for ending in RENDERERS:
        (out / "tables" / f"problems.{ending}").unlink(missing_ok=True)
