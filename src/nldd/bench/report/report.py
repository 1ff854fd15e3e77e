"""The report of a benchmark: one HTML page, and its tables and figures for use elsewhere."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nldd._files import write_atomically
from nldd.bench.displays.critical_difference import CriticalDifferenceDisplay
from nldd.bench.displays.hypercube import HypercubeDisplay
from nldd.bench.displays.pairs import PairChoiceDisplay, PairsDisplay
from nldd.bench.displays.share import ShareDisplay
from nldd.bench.report import benchmark_tables as tables, run_tables as runs, score_tables as scores
from nldd.bench.report.paper_comparison import difference_tables, paper_part
from nldd.bench.report.results import ALL_MEASURES, Results, results
from nldd.bench.runner.benchmark import FACTS
from nldd.bench.runner.records import CELLS, CellRecord, read_records
from nldd.bench.statistics.comparison import nemenyi as nemenyi_test
from nldd.bench.statistics.ranks import average_ranks, complete_rows
from nldd.bench.statistics.significance import cliques, friedman, least_p, pairwise_holm
from nldd.datasets import load_yeast
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.metrics._measures import PAPER_MEASURES, Measure
from nldd.present.latex import RENDERERS
from nldd.present.page import Figure, Page, Section, draw, render_page, save_figure
from nldd.present.table import Table
from nldd.present.text import command_line, count_noun

PAGE = "report.html"
PAPER = (
    "H. Gweon, M. Schonlau and S. H. Steiner: Nearest labelset using double distances for "
    "multi-label classification (arXiv 1702.04684; PeerJ Computer Science 5:e242)"
)
# Sections that have something to say without a table or a figure: why there is none.
SPEAKING = ("scores", "differences")
# Tables and figures that a later report of the same folder may have no more.
PASSING_TABLES = (
    *("overview", "paper_differences", "paper_values", "coefficients", "shares", "datasets"),
    *("problems", "choices", "searches", "warnings"),
)
PASSING_FIGURES = ("shares", "hypercube", "pair_choice", "pairs")
# Three labels of which training has seen seven combinations: nearly all of the cube is in use.
LABELS = [0, 1, 2]
N_TRAIN, N_SHOWN = 1500, 40


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
    pairs = [scores.pair_table(results, measure, nemenyi) for measure in measures]
    told = (scores.ABOUT_PAIRS, *[scores.ABOUT_NEMENYI] * nemenyi)
    yield _section("pairs", "Pairs of methods", pairs, told)
    yield _section("paper", "Differences from the paper", difference_tables(results))


def _circumstances(
    results: Results, measures: Sequence[Measure], about: Mapping[str, Any]
) -> Iterator[Section]:
    """Sections that say how the values came about."""
    yield _section("times", "Running times", [tables.time_table(results)])
    yield _section("weights", "Weights of the distances", [tables.coefficient_table(results)])
    subsets = [tables.subset_table(results, measure) for measure in measures]
    told = (tables.about_subsets(results),)
    yield _section("subsets", "Labelsets that training has not seen", subsets, told)
    shares = results.shares
    some = [tables.share_table(shares)]
    yield _section("shares", "Shares of the training data", some, (), share_figures(shares))
    # They show the yeast data, so a report on other data or methods has no use for them.
    shared = paper_part(results)
    is_shown = "yeast" in shared.datasets and "NLDD" in shared.methods
    pictures = illustrations() if is_shown else ()
    yield _section("illustrations", "How NLDD works", figures=pictures)
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
    written = [out / PAGE]
    for table, (ending, render) in product(page.tables, RENDERERS.items()):
        written.append(out / "tables" / f"{table.key}.{ending}")
        write_atomically(written[-1], render(table).encode())
    for figure in page.figures:
        written += save_figure(figure.drawing, out / "figures", figure.key)
    write_atomically(out / PAGE, render_page(page).encode())
    # An earlier report may have had other measures, or problems that are gone.
    for path in {*_known_files(out)}.difference(written):
        path.unlink(missing_ok=True)
    return written


def _known_files(out: Path) -> Iterator[Path]:
    """Files that a report has for some measures and runs, and not for others."""
    keys = [f"{part}{key}" for part, key in product(("", "pairs_", "subsets_"), ALL_MEASURES)]
    for key, ending in product([*keys, *PASSING_TABLES], RENDERERS):
        yield out / "tables" / f"{key}.{ending}"
    drawn = (*(f"differences_{key}" for key in ALL_MEASURES), *PASSING_FIGURES)
    for key, ending in product(drawn, ("svg", "png")):
        yield out / "figures" / f"{key}.{ending}"


def about_differences(measures: Sequence[Measure], diagrams: Sequence[Figure]) -> Iterator[str]:
    """Why measures have no diagram."""
    drawn = {figure.key for figure in diagrams}
    if left_out := [m.name for m in measures if f"differences_{m.key}" not in drawn]:
        of = f"No diagram of {', '.join(left_out)}: methods" if diagrams else "Methods"
        yield f"{of} are compared from two of them and two complete data sets on."


def about_bars(n_datasets: int, n_methods: int) -> str:
    """What a diagram can show at all with so many data sets and methods."""
    n_pairs = n_methods * (n_methods - 1) // 2
    least = least_p(n_datasets, sided=2, n_tests=n_pairs)
    is_one = least >= scores.ALPHA
    end = ", so by these tests no pair can differ at 0.05 and a bar joins all" if is_one else ""
    return (
        f"With {n_datasets} data sets and {count_noun(n_pairs, 'pair')} of methods the smallest "
        f"p-value that Holm's correction can leave is {least:.2g}{end}."
    )


def difference_diagrams(
    results: Results, measures: Sequence[Measure] = PAPER_MEASURES, nemenyi: bool = False
) -> Iterator[Figure]:
    """One diagram a measure, from two methods and two complete data sets on."""
    for measure in measures:
        some = results.having(measure)
        methods, better = some.methods, measure.greater_is_better
        values = some.means(measure)
        if len(methods) < 2 or complete_rows(values).sum() < 2:
            continue
        averages = average_ranks(values, better)
        groups = cliques(averages, pairwise_holm(values), scores.ALPHA)
        distance, told = None, ""
        if nemenyi:
            distance = nemenyi_test(values, better, scores.ALPHA).critical_difference
            told = f" Bars without dots: Nemenyi's critical difference at 0.05, {distance:.2f}."
        test = friedman(values, better)
        name = measure.name
        yield draw(
            CriticalDifferenceDisplay(methods, averages.tolist(), groups, name, distance),
            f"differences_{measure.key}",
            f"{name}: average ranks, best on the left. Friedman's test over {test.n_datasets} data "
            f"sets: chi-square {test.statistic:.1f}, p = {test.p_value:.2g}. Bars join methods "
            f"that do not differ (two-sided Wilcoxon tests, Holm's correction, 0.05). "
            f"{about_bars(test.n_datasets, len(methods))}{told}",
            f"Average ranks on {name}: {methods[int(np.argmin(averages))]} is best with "
            f"{averages.min():.2f}.",
        )


def share_figures(records: list[CellRecord]) -> Iterator[Figure]:
    """Time and errors as curves, once the whole of the training rows is there to compare with."""
    if not any(record.train_share == 1 for record in records):
        return
    name = f"{records[0].method} on {records[0].dataset}"
    found = [(r.train_share, r.seconds, tables.mismatches(r)) for r in records]
    shares, seconds, wrong = map(list, zip(*found, strict=True))
    yield draw(
        ShareDisplay(shares, seconds, wrong, name),
        "shares",
        f"{name}: running time relative to all training rows, and the average "
        "number of wrong labels, against the share of the training rows.",
        "Two curves over the share of the training rows: time, and wrong labels.",
    )


def illustrations() -> Iterator[Figure]:
    """On yeast: the cube of labelsets, the choice of a pair, and all pairs with their weights."""
    X, Y, names = load_yeast()
    X_train, Y_train = X[:N_TRAIN], Y[:N_TRAIN]
    labelsets = [{names[j] for j in LABELS if row[j]} for row in Y_train]
    model = NLDDClassifier(random_state=0).fit(X_train, labelsets)
    yield draw(
        HypercubeDisplay.from_estimator(model, X[N_TRAIN : N_TRAIN + N_SHOWN]),
        "hypercube",
        "The label space of three labels of yeast. Vertices are labelsets, points inside are the "
        f"probabilities of {N_SHOWN} genes, and for one of them the distances Dy to the labelsets "
        "seen in training.",
        "A cube whose corners are labelsets, with points inside it.",
    )
    yield draw(
        PairChoiceDisplay.from_training(X_train, Y_train, random_state=0),
        "pair_choice",
        "How the pairs are chosen: both distances of one gene of T2 to all genes of T1, with its "
        "nearest in features and its nearest in labels.",
        "A scatter plot of two distances with two rows marked.",
    )
    yield draw(
        PairsDisplay.from_estimator(model),
        "pairs",
        f"All pairs of a fit to {N_TRAIN} genes and the three labels of the cube, by the number of "
        "labels in which they differ, with lines of equal theta from the regression.",
        "A scatter plot of pairs with lines of equal error probability.",
    )
