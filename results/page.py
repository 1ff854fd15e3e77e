"""Write the tables and diagrams of docs/results.md and docs/results-tables.md from the records.

The text of the pages is written by hand; between ``<!-- PROTOCOL TABLE -->`` and ``<!-- end -->``
stands a table of the report of that protocol, or of what NLDD's settings make of it. Any measure
can be marked, such as ``<!-- default macro_auroc -->``; ``<!-- default ranks -->`` stands for the
average rank of NLDD and what differs from it, ``<!-- nldd place -->`` and the other words of
`OF_NLDD` for what the findings say, and ``<!-- paper paper_differences -->`` for the values that
are far from the paper's.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import marks
import numpy as np

from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.bench.report.published import paper_differences, published
from nldd.bench.report.report import make_report
from nldd.bench.report.results import results
from nldd.bench.report.score_tables import choose_measures
from nldd.bench.runner.records import CELLS, read_records
from nldd.bench.statistics.ranks import average_ranks, complete_rows, nemenyi
from nldd.bench.statistics.significance import one_sided_wilcoxon
from nldd.metrics._measures import MEASURES, PAPER_MEASURES
from nldd.present.table import Table, TableEntry, as_entry, one_line, right_aligned

FOLDER = Path(__file__).parent
PAGES = marks.DOCS / "results.md", marks.DOCS / "results-tables.md"
# Diagrams of average ranks, each method with the base that suits the data.
DIAGRAMS = {"f_measure": "ranks-f-measure.svg", "hamming_loss": "ranks-hamming-loss.svg"}
PROTOCOLS = {
    "default": "the same base",
    "best": "the base that suits the data",
    "paper": "the paper's machine",
}
# Settings of NLDD, and the records with its values: of Hamming and 0/1 loss, accuracy and F.
SETTINGS = {
    "logistic regression (`None`)": ("default",) * 4,
    "`auto`": ("best",) * 4,
    "`auto`, for each measure the decision that aims at it": (
        *("best", "best", "auto-accuracy", "auto-f"),
    ),
    "`auto+trees`": ("trees-nearest",) * 4,
    "`auto+trees`, for each measure its decision": (
        *("trees-nearest", "trees-nearest", "trees-accuracy", "trees-f"),
    ),
}
# Its accuracy is above its F-measure for most methods, which cannot be.
NO_TARGET = ("scene", "multilabel_accuracy")


@cache
def found(protocol: str):
    """The results of a protocol."""
    folder = FOLDER / protocol
    return results(read_records(folder / CELLS), folder=folder)


def marked_parts() -> list[str]:
    """The marks of both pages."""
    return [mark for page in PAGES for mark in marks.names(page)]


@cache
def tables(protocol: str) -> dict[str, Table]:
    """Tables of a protocol's report by key, with those of all measures that the page has."""
    marked = [mark.split()[1] for mark in marked_parts() if mark.startswith(f"{protocol} ")]
    measures = [
        measure
        for measure in choose_measures(["all"])
        if any(key == measure.key or key.endswith(f"_{measure.key}") for key in marked)
    ]
    page = make_report(found(protocol), measures or PAPER_MEASURES)
    return {table.key: table for table in page.tables}


@cache
def values(protocol: str, measure) -> dict[str, float]:
    """NLDD's mean of a measure by data set."""
    here = found(protocol)
    means = here.means(measure)[:, here.methods.index("NLDD")]
    return dict(zip(here.datasets, means.tolist(), strict=True))


def targets(protocols) -> list[tuple[str, int]]:
    """Data sets and measures that can be compared: NLDD has a value, and the paper one to beat."""
    return [
        (dataset, i)
        for i, (protocol, measure) in enumerate(zip(protocols, PAPER_MEASURES, strict=True))
        for dataset, value in values(protocol, measure).items()
        if not np.isnan(value) and (dataset, measure.key) != NO_TARGET
    ]


def n_beaten(protocols, without=()) -> int:
    """Cells in which NLDD is better than the best value that the paper prints."""
    count = 0
    for dataset, i in targets(protocols):
        measure = PAPER_MEASURES[i]
        paper, sign = published(measure.key), 1 if measure.greater_is_better else -1
        methods = [method for method in paper.methods if method not in without]
        best = max(sign * paper.value(dataset, method) for method in methods)
        count += sign * values(protocols[i], measure)[dataset] > best
    return count


def beaten() -> str:
    """What each setting of NLDD reaches, on average and against the paper's best."""
    head = ("NLDD with", "Hamming loss", "0/1 loss", "accuracy", "F-measure")
    lines = [
        f"| {' | '.join(head)} | better than the best of the paper's seven | of six, without CBM |",
        "|---" * 7 + "|",
    ]
    shown = {
        name: protocols
        for name, protocols in SETTINGS.items()
        if all((FOLDER / protocol / CELLS).exists() for protocol in protocols)
    }
    common = _common_datasets(shown.values())
    for name, protocols in shown.items():
        each = zip(protocols, PAPER_MEASURES, strict=True)
        means = [np.mean([values(*run)[dataset] for dataset in common]) for run in each]
        counts = n_beaten(protocols), n_beaten(protocols, without=("CBM",))
        total = len(targets(protocols))
        cells = [*(f"{mean:.4f}" for mean in means), *(f"{count} of {total}" for count in counts)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if len(common) < len(published("f_measure").datasets):
        lines += ["", f"Means over {', '.join(common)}, on which all of these runs are complete."]
    return "\n".join(lines)


def _common_datasets(settings) -> list[str]:
    """Data sets on which NLDD has a value in every run."""
    runs = {run for protocols in settings for run in zip(protocols, PAPER_MEASURES, strict=True)}
    complete = [{d for d, value in values(*run).items() if not np.isnan(value)} for run in runs]
    return [name for name in published("f_measure").datasets if all(name in c for c in complete)]


def decisions() -> str:
    """NLDD's scores by data set and decision."""
    runs = {"nearest": "best", "accuracy": "auto-accuracy", "f": "auto-f"}
    lines = [
        "| data set | 0/1 loss: nearest, accuracy, f | accuracy: the same | F-measure: the same |",
        "|---|---|---|---|",
    ]
    for dataset in found("best").datasets:
        cells = [
            ", ".join(f"{values(run, measure)[dataset]:.4f}" for run in runs.values())
            for measure in PAPER_MEASURES[1:]
        ]
        lines.append(f"| {dataset} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ranks(protocol: str) -> str:
    """NLDD's average rank by each of the paper's measures, who is ahead, and who differs."""
    here = found(protocol)
    head = ("", "among all methods", "among the paper's", "in the paper", "NLDD better than")
    lines = [f"| {' | '.join(head)} | better than NLDD |", "|---" * 6 + "|"]
    for measure in PAPER_MEASURES:
        printed, means, greater = (
            published(measure.key),
            here.means(measure),
            measure.greater_is_better,
        )
        complete = complete_rows(means)
        datasets = [name for name, whole in zip(here.datasets, complete, strict=True) if whole]
        methods = [method for method in printed.methods if method in here.methods]
        shared = [here.methods.index(method) for method in methods]
        targets = [[printed.value(dataset, method) for method in methods] for dataset in datasets]
        means, own = means[complete], here.methods.index("NLDD")
        p_values = one_sided_wilcoxon(means, greater)
        cells = [
            _place(here.methods, average_ranks(means, greater)),
            _place(methods, average_ranks(means[:, shared], greater)),
            _place(methods, average_ranks(targets, greater)),
            *(
                ", ".join(np.array(here.methods)[p < 0.05]) or "-"
                for p in (p_values[own], p_values[:, own])
            ),
        ]
        lines.append(f"| {measure.name} | {' | '.join(cells)} |")
    note = "Significance: one-sided Wilcoxon tests at 0.05, uncorrected, as in the paper."
    if len(datasets) < len(here.datasets):
        note += f" All of it is over the data sets that are complete: {', '.join(datasets)}."
    return "\n".join([*lines, "", note])


def _place(methods, averages) -> str:
    """NLDD's average rank, and those that are smaller."""
    by_method = dict(zip(methods, averages.tolist(), strict=True))
    own = by_method.pop("NLDD")
    ahead = sorted((rank, method) for method, rank in by_method.items() if rank < own)
    if not ahead:
        equal = [method for method, rank in by_method.items() if rank == own]
        return f"**{own:.2f}, first{' with ' * bool(equal)}{', '.join(equal)}**"
    return f"{own:.2f} behind {', '.join(f'{method} {rank:.2f}' for rank, method in ahead)}"


def place() -> str:
    """Average ranks of NLDD, of the best other method and of BR, with one base and the best."""
    names = list(PROTOCOLS)[:2]
    head = " | ".join(f"NLDD, {PROTOCOLS[name]} | best other | BR" for name in names)
    lines = [f"| average rank | {head} |", "|---" * 7 + "|"]
    for measure in PAPER_MEASURES:
        cells = [cell for name in names for cell in _rank_cells(found(name), measure)]
        lines.append(f"| {measure.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _rank_cells(here, measure) -> list[str]:
    averages = average_ranks(here.means(measure), measure.greater_is_better).tolist()
    by_method = dict(zip(here.methods, averages, strict=True))
    own, br = by_method.pop("NLDD"), by_method["BR"]
    other = min(by_method, key=by_method.__getitem__)
    is_first = own < by_method[other]
    cell = f"{other} {by_method[other]:.2f}"
    return [f"**{own:.2f}**" if is_first else f"{own:.2f}", cell, f"{br:.2f}"]


def differing(protocol: str, measure) -> tuple[int, int, int]:
    """Methods that NLDD is better than, that are better than NLDD, and that Nemenyi tells apart."""
    here = found(protocol)
    own, greater = here.methods.index("NLDD"), measure.greater_is_better
    values = here.means(measure)[complete_rows(here.means(measure))]
    p, apart = one_sided_wilcoxon(values, greater), nemenyi(values, greater)
    return tuple(int((some < 0.05).sum()) for some in (p[own], p[:, own], apart.p_values[own]))


def proof() -> str:
    """How many of the other methods differ from NLDD, without correction and with one."""
    n_others = len(found("best").methods) - 1
    lines = [f"| of {n_others} others | {' | '.join(PROTOCOLS.values())} |", "|---" * 4 + "|"]
    for measure in PAPER_MEASURES:
        cells = []
        for name in PROTOCOLS:
            better, worse, apart = differing(name, measure)
            cells.append(f"{better} worse, {worse} better; corrected: {apart}")
        lines.append(f"| {measure.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def agreement() -> str:
    """How many of the paper's values are near ours, by data set."""
    differences = paper_differences(found("paper"))
    lines = [
        "| data set | values | within three standard errors | further, known why | unexplained |",
        "|---|---|---|---|---|",
    ]
    for name in (*dict.fromkeys(d.dataset for d in differences), "all"):
        counts = Counter(d.verdict for d in differences if name in (d.dataset, "all"))
        cells = [counts[verdict] for verdict in ("within", "explained", "unexplained")]
        lines.append(f"| {name} | {sum(cells)} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def draw(key: str):
    """Average ranks by one measure, and how far apart they must be, as a figure."""
    here, measure = found("best"), MEASURES[key]
    values, greater = here.means(measure), measure.greater_is_better
    distance = nemenyi(values, greater).critical_difference
    title = f"{measure.name}: average ranks on nine data sets, the base chosen by the data"
    ranked = average_ranks(values, greater).tolist()
    return CriticalDifferenceDisplay(here.methods, ranked, (), title, distance).plot().figure_


OF_NLDD = {
    **{"beaten": beaten, "decisions": decisions},
    **{"place": place, "proof": proof, "agreement": agreement},
}


def section(mark: str) -> str:
    """What stands between a mark and its end."""
    protocol, key = mark.split()
    if protocol == "nldd":
        return marks.wrapped(OF_NLDD[key]())
    if key == "ranks":
        return marks.wrapped(ranks(protocol))
    return marks.wrapped(to_markdown(tables(protocol)[key]))


def to_markdown(table: Table) -> str:
    """The rows of a table in GitHub's Markdown, and its notes below; the page has headings."""
    rule = ["---:" if number else ":---" for number in right_aligned(table)]
    rows = [table.head, rule, *(map(_cell, row) for row in (*table.rows, *table.foot))]
    lines = "\n".join(f"| {' | '.join(row)} |".replace("  ", " ") for row in rows)
    return "\n\n".join([lines, *map(_escape, table.notes)])


def _cell(cell: TableEntry | str) -> str:
    entry = as_entry(cell)
    text, under = _escape(entry.text), "<br>".join(map(_escape, entry.under.splitlines()))
    text = f"**{text}**" if entry.bold and text else text
    return f"{text}<br><small>{under}</small>" if under else text


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|~&#$])", r"\\\1", one_line(text))


def main() -> None:
    """Write the pages and their diagrams."""
    for page in PAGES:
        marks.fill(page, {mark: section(mark) for mark in marks.names(page)})
    for key, name in DIAGRAMS.items():
        marks.save_light(draw(key), marks.DOCS / name)


if __name__ == "__main__":
    main()
