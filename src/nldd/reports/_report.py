"""The report of a benchmark: one HTML page, and its tables and figures for use elsewhere."""

from collections.abc import Iterable
from pathlib import Path
from shlex import quote

from nldd._files import write_atomically
from nldd._wording import count_noun
from nldd.exceptions import InputError
from nldd.experiments import CELLS, read_records
from nldd.metrics import PAPER_MEASURES
from nldd.reports._benchmark_figures import (
    about_differences,
    difference_diagrams,
    illustrations,
    share_figures,
)
from nldd.reports._benchmark_tables import (
    coefficient_table,
    problems_table,
    run_facts,
    settings_table,
    share_table,
    subset_table,
    time_table,
    warnings_table,
)
from nldd.reports._figures import save_figure
from nldd.reports._page import Figure, Page, Section, render_page
from nldd.reports._results import Results, results
from nldd.reports._score_table import score_table
from nldd.reports._table import RENDERERS, Table
from nldd.statistics import WILCOXON_RULE

PAGE = "report.html"
PAPER = (
    "H. Gweon, M. Schonlau and S. H. Steiner: Nearest labelset using double distances for "
    "multi-label classification (arXiv 1702.04684; PeerJ Computer Science 5:e242)"
)
ABOUT_SCORES = (
    "Means over the folds; the best of a row is bold. In the second line of a cell is the paper's "
    "value and, in parentheses, how far ours is from it in standard errors of ours. These come "
    "from the spread between test rows; the paper's value has an error of about the same size.",
    WILCOXON_RULE,
)
ABOUT_SUBSETS = (
    "NLDD, SMBR and LP can only predict labelsets of the training rows. Subset A has the test rows "
    "whose labelset occurs there, B the others.",
)


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
    return write_report(make_report(results(read_records(cells), protocol)), out or folder)


def make_report(results: Results) -> Page:
    """The report as a page; sections with nothing in them are left out."""
    scores = (score_table(results, measure) for measure in PAPER_MEASURES)
    subsets = (subset_table(results, measure) for measure in PAPER_MEASURES)
    shares, diagrams = [share_table(results.shares)], difference_diagrams(results)
    # They show the yeast data, so a report on other data has no use for them.
    pictures = illustrations() if "yeast" in results.datasets else ()
    run = [problems_table(results), settings_table(results), warnings_table(results)]
    differ = (about_differences(results),)
    sections = (
        _section("scores", "Scores", ABOUT_SCORES, scores),
        _section("differences", "Critical differences", differ, figures=diagrams),
        _section("times", "Running times", tables=[time_table(results)]),
        _section("weights", "Weights of the distances", tables=[coefficient_table(results)]),
        _section("subsets", "Labelsets that training has not seen", ABOUT_SUBSETS, subsets),
        _section(
            "shares", "Shares of the training data", (), shares, share_figures(results.shares)
        ),
        _section("illustrations", "How NLDD works", figures=pictures),
        _section("run", "What was run", tables=run),
    )
    return Page(
        f"Benchmark of multi-label methods: {results.protocol}",
        f"{count_noun(len(results.methods), 'method')} on "
        f"{count_noun(len(results.datasets), 'data set')}",
        run_facts(results),
        tuple(s for s in sections if s.paragraphs or s.tables or s.figures),
        f"Made by nldd from the records of finished cells. The paper: {PAPER}.",
    )


def _section(
    id: str,
    title: str,
    paragraphs: tuple[str, ...] = (),
    tables: Iterable[Table | None] = (),
    figures: Iterable[Figure] = (),
) -> Section:
    present = tuple(table for table in tables if table is not None)
    return Section(title, paragraphs, present, tuple(figures), id)


def write_report(page: Page, out: Path) -> list[Path]:
    """Write all files, each of them whole or not at all; the page last, when all else is there."""
    for ending in RENDERERS:
        # What an earlier report said was missing may be there now.
        (out / "tables" / f"problems.{ending}").unlink(missing_ok=True)
    written: list[Path] = []
    for table in page.tables:
        for ending, render in RENDERERS.items():
            path = out / "tables" / f"{table.key}.{ending}"
            write_atomically(path, render(table).encode())
            written.append(path)
    for figure in page.figures:
        written += save_figure(figure.drawing, out / "figures", figure.key)
    write_atomically(out / PAGE, render_page(page).encode())
    return [out / PAGE, *written]
