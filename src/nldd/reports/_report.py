"""The report of a benchmark: one HTML page, and its tables and figures for use elsewhere."""

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from shlex import quote

import numpy as np

from nldd import displays, statistics
from nldd._files import write_atomically
from nldd._wording import count_noun
from nldd.datasets import load_yeast
from nldd.estimators import NLDDClassifier
from nldd.exceptions import InputError
from nldd.experiments import CELLS, Record, read_records
from nldd.metrics import PAPER_MEASURES
from nldd.reports import _benchmark_tables as tables
from nldd.reports._latex import RENDERERS
from nldd.reports._page import Figure, Page, Section, draw, render_page, save_figure
from nldd.reports._results import Results, results
from nldd.reports._table import Table

PAGE = "report.html"
PAPER = (
    "H. Gweon, M. Schonlau and S. H. Steiner: Nearest labelset using double distances for "
    "multi-label classification (arXiv 1702.04684; PeerJ Computer Science 5:e242)"
)
ABOUT_SCORES = (
    "Means over the folds; the best of a row is bold. In the second line of a cell is the paper's "
    "value and, in parentheses, how far ours is from it in standard errors of ours. These come "
    "from the spread between test rows; the paper's value has an error of about the same size.",
    statistics.WILCOXON_RULE,
)
ABOUT_SUBSETS = (
    "NLDD, SMBR and LP can only predict labelsets of the training rows. Subset A has the test rows "
    "whose labelset occurs there, B the others.",
)

ALPHA = 0.05
# Three labels of which training has seen seven combinations: nearly all of the cube is in use.
LABELS = [0, 1, 2]
N_TRAIN, N_SHOWN = 1500, 40


def report(folder: Path, out: Path | None = None, protocol: str | None = None) -> list[Path]:
    """Write the report of the cells of a benchmark's folder, into it or to `out`.

    `protocol` says which one, where the folder has several. Returns the page, then the files of its
    tables and figures.
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
    scores = [tables.score_table(results, measure) for measure in PAPER_MEASURES]
    subsets = [tables.subset_table(results, measure) for measure in PAPER_MEASURES]
    of_run = ("problems", "settings", "choice", "warnings")
    run = [getattr(tables, f"{name}_table")(results) for name in of_run]
    # They show the yeast data, so a report on other data has no use for them.
    pictures = illustrations() if "yeast" in results.datasets else ()
    shares, shares_drawn = tables.share_table(results.shares), share_figures(results.shares)
    differ, diagrams = (about_differences(results),), difference_diagrams(results)
    sections = (
        _section("scores", "Scores", scores, ABOUT_SCORES),
        _section("differences", "Critical differences", (), differ, diagrams),
        _section("times", "Running times", [tables.time_table(results)]),
        _section("weights", "Weights of the distances", [tables.coefficient_table(results)]),
        _section("subsets", "Labelsets that training has not seen", subsets, ABOUT_SUBSETS),
        _section("shares", "Shares of the training data", [shares], (), shares_drawn),
        _section("illustrations", "How NLDD works", figures=pictures),
        _section("run", "What was run", run),
    )
    return Page(
        f"Benchmark of multi-label methods: {results.protocol}",
        f"{count_noun(len(results.methods), 'method')} on "
        f"{count_noun(len(results.datasets), 'data set')}",
        tables.run_facts(results),
        tuple(s for s in sections if s.paragraphs or s.tables or s.figures),
        f"Made by nldd from the records of finished cells. The paper: {PAPER}.",
    )


def _section(
    id: str,
    title: str,
    tables: Iterable[Table | None] = (),
    paragraphs: tuple[str, ...] = (),
    figures: Iterable[Figure] = (),
) -> Section:
    return Section(title, paragraphs, tuple(filter(None, tables)), tuple(figures), id)


def write_report(page: Page, out: Path) -> list[Path]:
    """Write all files, each of them whole or not at all; the page last, when all else is there."""
    for ending in RENDERERS:
        # What an earlier report said was missing may be there now.
        (out / "tables" / f"problems.{ending}").unlink(missing_ok=True)
    written = [out / PAGE]
    for table, (ending, render) in product(page.tables, RENDERERS.items()):
        written.append(out / "tables" / f"{table.key}.{ending}")
        write_atomically(written[-1], render(table).encode())
    for figure in page.figures:
        written += save_figure(figure.drawing, out / "figures", figure.key)
    write_atomically(out / PAGE, render_page(page).encode())
    return written


def about_differences(results: Results) -> str:
    """What the diagrams can show at all with so many data sets and methods."""
    n_pairs = len(results.methods) * (len(results.methods) - 1) // 2
    n = int(statistics.complete_rows(results.means(PAPER_MEASURES[0])).sum())
    if n < 2 or not n_pairs:
        return "Methods are compared from two of them and two complete data sets on."
    least = min(1.0, n_pairs * 2 / 2**n)
    end = ", so no pair can differ at 0.05 and one bar joins all methods" if least >= ALPHA else ""
    return (
        f"With {n} data sets and {count_noun(n_pairs, 'pair')} of methods the smallest p-value "
        f"that Holm's correction can leave is {least:.2g}{end}."
    )


def difference_diagrams(results: Results) -> Iterator[Figure]:
    """One diagram a measure, from two methods and two complete data sets on."""
    methods = results.methods
    for measure in PAPER_MEASURES:
        values, better = results.means(measure), measure.greater_is_better
        if len(methods) < 2 or statistics.complete_rows(values).sum() < 2:
            continue
        averages = statistics.average_ranks(values, better)
        groups = statistics.cliques(averages, statistics.pairwise_holm(values), ALPHA)
        test = statistics.friedman(values, better)
        yield draw(
            displays.CriticalDifferenceDisplay(methods, averages.tolist(), groups, measure.name),
            f"differences_{measure.key}",
            f"{measure.name}: average ranks, best on the left. Friedman's test over "
            f"{test.n_datasets} data sets: chi-square {test.statistic:.1f}, p = "
            f"{test.p_value:.2g}. Bars join methods that do not differ (two-sided Wilcoxon tests, "
            "Holm's correction, 0.05).",
            f"Average ranks on {measure.name}: {methods[int(np.argmin(averages))]} is best with "
            f"{averages.min():.2f}.",
        )


def share_figures(records: list[Record]) -> Iterator[Figure]:
    """Time and errors as curves, once the whole of the training rows is there to compare with."""
    if not any(record.train_share == 1 for record in records):
        return
    name = f"{records[0].method} on {records[0].dataset}"
    found = [(r.train_share, r.seconds, tables.mismatches(r)) for r in records]
    shares, seconds, wrong = map(list, zip(*found, strict=True))
    yield draw(
        displays.ShareDisplay(shares, seconds, wrong, name),
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
        displays.HypercubeDisplay.from_estimator(model, X[N_TRAIN : N_TRAIN + N_SHOWN]),
        "hypercube",
        "The label space of three labels of yeast. Vertices are labelsets, points inside are the "
        f"probabilities of {N_SHOWN} genes, and for one of them the distances Dy to the labelsets "
        "seen in training.",
        "A cube whose corners are labelsets, with points inside it.",
    )
    yield draw(
        displays.PairChoiceDisplay.from_training(X_train, Y_train, random_state=0),
        "pair_choice",
        "How the pairs are chosen: both distances of one gene of T2 to all genes of T1, with its "
        "nearest in features and its nearest in labels.",
        "A scatter plot of two distances with two rows marked.",
    )
    yield draw(
        displays.PairsDisplay.from_estimator(model),
        "pairs",
        f"All pairs of a fit to {N_TRAIN} genes and the three labels of the cube, by the number of "
        "labels in which they differ, with lines of equal theta from the regression.",
        "A scatter plot of pairs with lines of equal error probability.",
    )
