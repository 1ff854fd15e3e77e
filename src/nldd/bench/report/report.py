"""The report of a benchmark: one HTML page, and its tables and figures for use elsewhere."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nldd._files import write_atomically
from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.bench.report import benchmark_tables as tables, run_tables as runs, score_tables as scores
from nldd.bench.report.published import difference_tables, paper_part
from nldd.bench.report.results import Results, results
from nldd.bench.runner.benchmark import FACTS
from nldd.bench.runner.records import CELLS, read_records
from nldd.exceptions import InputError
from nldd.metrics import PAPER_MEASURES, Measure
from nldd.present.page import Figure, Page, Section, draw, render_page, save_figure
from nldd.present.table import RENDERERS, Table
from nldd.present.text import command_line, count_noun

PAGE = "report.html"
PAPER = (
    "H. Gweon, M. Schonlau and S. H. Steiner: Nearest labelset using double distances for "
    "multi-label classification (arXiv 1702.04684; PeerJ Computer Science 5:e242)"
)
# Sections that have something to say without a table or a figure: why there is none.
SPEAKING = ("scores", "differences")
ENDINGS = {"table": tuple(RENDERERS), "figure": ("svg", "png")}


def write_report(
    folder: str | Path,
    out: str | Path | None = None,
    protocol: str | None = None,
    measures: Iterable[str] | None = None,
    nemenyi: bool = False,
) -> list[Path]:
    r"""Write the report of the cells of a benchmark's folder.

    Parameters
    ----------
    folder : str or Path
        Of :func:`nldd.bench.run_benchmark` or ``nldd benchmark``.
    out : str or Path, optional
        Folder for the report; by default the same.
    protocol : str, optional
        Which one, where the folder has several.
    measures : iterable of str, optional
        Keys of those to be tabled, or "all"; by default the paper's four.
    nemenyi : bool
        Whether diagrams and pairs have Nemenyi's test beside Wilcoxon's.

    Returns
    -------
    list of Path
        The page, then the files of its tables and figures.

    Examples
    --------
    >>> import json
    >>> from dataclasses import asdict
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench.runner.records import CellRecord
    >>> from nldd.metrics import PAPER_MEASURES
    >>> from nldd.bench import write_report
    >>> scores = dict.fromkeys((measure.key for measure in PAPER_MEASURES), 0.2)
    >>> about = {"n_folds": 1, "n_train": 75, "n_test": 25, "n_labels": 3, "standard_errors": {}}
    >>> about |= {"observed": {"n": 0}, "unobserved": {"n": 0}}
    >>> cells = [
    ...     CellRecord("mine", "songs", method, 0, 0, None, "", scores, 1, 0.1, about)
    ...     for method in ("BR", "MLKNN")
    ... ]
    >>> with TemporaryDirectory() as folder:
    ...     lines = (json.dumps(asdict(cell)) + "\n" for cell in cells)
    ...     _ = Path(folder, "cells.jsonl").write_text("".join(lines))
    ...     written = write_report(folder, measures=["hamming_loss"])
    >>> [path.name for path in written][:3]
    ['report.html', 'hamming_loss.csv', 'hamming_loss.tex']
    """
    folder = Path(folder)
    cells = folder / CELLS
    if not cells.is_file():
        raise InputError(
            f"{folder} has no {CELLS}. Give the folder of a benchmark: "
            f"{command_line('nldd', 'benchmark', '--out', folder)}"
        )
    chosen = scores.choose_measures(measures)
    found = results(read_records(cells), protocol, folder)
    page = make_report(found, chosen, _read_datasets(folder / FACTS), nemenyi)
    return save_report(page, Path(out or folder))


def _read_datasets(path: Path) -> dict[str, Any]:
    """What the benchmark wrote down of its data sets."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
    except ValueError as error:
        how = "Remove it, and the same `nldd benchmark` command writes it again."
        raise InputError(f"{path} does not hold the facts of data sets as JSON. {how}") from error
    return found


def make_report(
    results: Results,
    measures: Sequence[Measure] = PAPER_MEASURES,
    about: Mapping[str, Any] = MappingProxyType({}),
    nemenyi: bool = False,
) -> Page:
    """Make the report of a benchmark as a page; sections with nothing in them are left out.

    Parameters
    ----------
    results : Results
        Of :func:`nldd.bench.report.results.results`.
    measures : sequence of Measure
        To be tabled; by default the paper's four.
    about : mapping from str to dict
        Facts and notes of the data sets by name.
    nemenyi : bool
        Whether diagrams and pairs have Nemenyi's test beside Wilcoxon's.

    Returns
    -------
    Page
        Its `tables` can be rendered one by one, by :func:`to_latex` for instance.

    Examples
    --------
    >>> from nldd.metrics import MEASURES
    >>> from nldd.bench.runner.records import CellRecord
    >>> from nldd.bench.report.report import make_report
    >>> from nldd.bench.report.results import results
    >>> from nldd.present.table import to_text
    >>> about = {"n_folds": 1, "n_train": 75, "n_test": 25, "n_labels": 3, "standard_errors": {}}
    >>> about |= {"observed": {"n": 0}, "unobserved": {"n": 0}}
    >>> rest = 1, 0.1, about
    >>> found = results(
    ...     CellRecord("mine", "songs", method, 0, 0, None, "", {"hamming_loss": loss}, *rest)
    ...     for method, loss in {"BR": 0.21, "MLKNN": 0.19}.items()
    ... )
    >>> page = make_report(found, [MEASURES["hamming_loss"]])
    >>> print(to_text(page.tables[0]))
    Hamming loss (lower is better), ranks in parentheses
      data set              BR       MLKNN
      songs         0.2100 (2)  0.1900 (1)
      average rank        2.00        1.00
    """
    shared = paper_part(results)
    sections = (
        *_comparisons(results, measures, nemenyi),
        *_circumstances(results, measures, about),
    )
    made = "Made by nldd from the records of finished cells."
    return Page(
        f"Benchmark of multi-label methods: {results.protocol}",
        f"{count_noun(len(results.methods), 'method')} on "
        f"{count_noun(len(results.datasets), 'data set')}",
        runs.run_facts(results),
        tuple(s for s in sections if s.tables or s.figures or s.id in SPEAKING),
        f"{made} The paper: {PAPER}." if shared.datasets else made,
    )


def _comparisons(results: Results, measures: Sequence[Measure], nemenyi: bool) -> Iterator[Section]:
    """Sections that say which method is better."""
    found = [scores.score_table(results, measure) for measure in measures]
    told = tuple(scores.about_scores(results, measures))
    yield _section("scores", "Scores", found, told)
    yield _section("overview", "All measures", [scores.overview_table(results)])
    diagrams = list(difference_diagrams(results, measures, nemenyi))
    told = tuple(about_differences(measures, diagrams))
    yield _section("differences", "Critical differences", (), told, diagrams)
    pairs = scores.pair_table(results, measures, nemenyi)
    yield _section("pairs", "Pairs of methods", [pairs])
    yield _section("paper", "Differences from the paper", difference_tables(results))


def _circumstances(
    results: Results, measures: Sequence[Measure], about: Mapping[str, Any]
) -> Iterator[Section]:
    """Sections that say how the values came about."""
    yield _section("times", "Running times", [tables.time_table(results)])
    learned = [tables.coefficient_table(results), tables.theta_table(results)]
    learned.append(tables.posterior_table(results))
    told = tuple(tables.about_theta(results))
    yield _section("weights", "Weights of the distances, and theta", learned, told)
    subsets = [tables.subset_table(results, measure) for measure in measures]
    told = (tables.about_subsets(results),)
    yield _section("subsets", "Labelsets that training has not seen", subsets, told)
    some = [tables.share_table(results.shares)]
    yield _section("shares", "Shares of the training data", some)
    of_data = [runs.dataset_table(results, about), runs.split_table(results)]
    yield _section("datasets", "Data sets", of_data)
    of_run = ("problems", "settings", "choice", "search", "warnings")
    run = [getattr(runs, f"{name}_table")(results) for name in of_run]
    yield _section("run", "What was run", run)


def _section(
    id: str,
    title: str,
    tables: Iterable[Table | None] = (),
    paragraphs: tuple[str, ...] = (),
    figures: Iterable[Figure] = (),
) -> Section:
    return Section(title, paragraphs, tuple(filter(None, tables)), tuple(figures), id)


def save_report(page: Page, out: Path) -> list[Path]:
    """Write all files of a report, each of them whole or not at all; the page last.

    Parameters
    ----------
    page : Page
        Of :func:`make_report`.
    out : Path
        Folder: ``report.html``, every table in ``tables`` as CSV and LaTeX, and every
        figure in ``figures`` as SVG and PNG.

    Returns
    -------
    list of Path
        The page, then the files of its tables and figures.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench.report.report import save_report
    >>> from nldd.present.page import Page
    >>> with TemporaryDirectory() as folder:
    ...     (page,) = save_report(Page("Losses & gains"), Path(folder))
    ...     text = page.read_text("utf-8")
    >>> page.name, "<title>Losses &amp; gains</title>" in text
    ('report.html', True)
    """
    # An earlier report may have had other measures, or problems that are gone.
    earlier = set(_files_of_page(out))
    written = [out / PAGE]
    for table, (ending, render) in product(page.tables, RENDERERS.items()):
        written.append(out / "tables" / f"{table.key}.{ending}")
        write_atomically(written[-1], render(table).encode())
    for figure in page.figures:
        written += save_figure(figure.drawing, out / "figures", figure.key)
    write_atomically(out / PAGE, render_page(page).encode())
    for path in earlier.difference(written):
        path.unlink(missing_ok=True)
    return written


def _files_of_page(out: Path) -> Iterator[Path]:
    """Files of the tables and figures that the report of a folder shows."""
    page = out / PAGE
    text = page.read_text("utf-8", errors="replace") if page.is_file() else ""
    for kind, key in re.findall(r'<(?:div|figure)\b[^>]* id="(table|figure)-([\w.-]+)"', text):
        yield from (out / f"{kind}s" / f"{key}.{ending}" for ending in ENDINGS[kind])


def about_differences(measures: Sequence[Measure], diagrams: Sequence[Figure]) -> Iterator[str]:
    """Why measures have no diagram."""
    drawn = {figure.key for figure in diagrams}
    if left_out := [m.name for m in measures if f"differences_{m.key}" not in drawn]:
        of = f"No diagram of {', '.join(left_out)}: methods" if diagrams else "Methods"
        yield f"{of} are compared from two of them and two complete data sets on."


def difference_diagrams(
    results: Results, measures: Sequence[Measure] = PAPER_MEASURES, nemenyi: bool = False
) -> Iterator[Figure]:
    """One diagram per measure, from two methods and two complete data sets on."""
    for measure in measures:
        found = scores.comparison(results, measure)
        if not found.pairs:
            continue
        name, averages, distance = measure.name, found.average_ranks, found.critical_difference
        caption = [
            f"{name}: average ranks, best on the left.",
            f"Friedman's test: {found.friedman}.",
            f"Bars join methods that do not differ ({found.how}).",
        ]
        if least := found.least_p():
            caption.append(f"{least.capitalize()}, so a bar joins all.")
        if nemenyi:
            words = "Bars without dots: Nemenyi's critical difference at 0.05"
            caption.append(f"{words}, {distance:.2f}.")
        ruler = distance if nemenyi else None
        display = CriticalDifferenceDisplay(found.methods, averages, found.groups, name, ruler)
        best = averages.index(min(averages))
        alt = f"Average ranks on {name}: {found.methods[best]} is best with {averages[best]:.2f}."
        yield draw(display, f"differences_{measure.key}", " ".join(caption), alt)
