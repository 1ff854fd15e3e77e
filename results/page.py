"""Tables and diagrams of docs/results.md and docs/results-tables.md from the records.

The text of the pages is written by hand; between ``<!-- PROTOCOL TABLE -->`` and ``<!-- end -->``
stands a table of the report of that protocol, or of what NLDD's settings make of it. Any measure
can be marked, such as ``<!-- default macro_auroc -->``; ``<!-- default ranks -->`` stands for the
average rank of NLDD among the ten methods without NLDD-P and what differs from it, and ``<!-- paper
paper_differences -->`` for the values that are far from the paper's.
"""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import marks
import numpy as np
from posterior import DECIDED, PAPER, ranks_of
from record_files import cells

from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.bench.ranks import average_ranks, nemenyi
from nldd.bench.report.benchmark_tables import POSTERIOR
from nldd.bench.report.published import paper_differences, published
from nldd.bench.report.report import make_report
from nldd.bench.report.results import results
from nldd.bench.report.score_tables import choose_measures
from nldd.bench.statistics import one_sided_wilcoxon
from nldd.metrics._measures import MEASURES, PAPER_MEASURES
from nldd.present.table import Table, TableEntry, as_entry, one_line, right_aligned

PAGES = ("results", "results-tables", "methods", "index", "../README")
# Diagrams of average ranks, each method with the base that suits the data.
DIAGRAMS = {"f_measure": "ranks-f-measure", "hamming_loss": "ranks-hamming-loss"}
PROTOCOLS = {
    "default": "the same base",
    "best": "the base that suits the data",
    "paper": "the paper's machine",
}
# NLDD with some settings: the protocol, and the method.
SETTINGS = {
    "NLDD, logistic regression (`None`)": ("default", "NLDD"),
    "NLDD, `auto`": ("best", "NLDD"),
    "NLDD-P, `auto`: for each measure the decision that aims at it": ("best", "NLDD-P"),
}
# Its accuracy is above its F-measure for most methods, which cannot be.
NO_TARGET = ("scene", "multilabel_accuracy")


@cache
def every(protocol: str):
    """The results of a protocol."""
    return results(cells(protocol))


@cache
def found(protocol: str):
    """Those of the ten methods among which NLDD is the paper's."""
    here = every(protocol)
    return replace(here, methods=tuple(m for m in here.methods if m != POSTERIOR))


@cache
def report(protocol: str) -> dict[str, Table]:
    """Tables of a protocol's report by key, with those of all measures that the page has."""
    marked = [mark.split()[1] for mark in own_marks() if mark.startswith(f"{protocol} ")]
    measures = [
        measure
        for measure in choose_measures(["all"])
        if any(key == measure.key or key.endswith(f"_{measure.key}") for key in marked)
    ]
    page = make_report(every(protocol), measures or PAPER_MEASURES)
    return {table.key: table for table in page.tables}


@cache
def values(run: tuple[str, str], measure) -> dict[str, float]:
    """A method's mean of a measure by data set, under a protocol."""
    here = every(run[0])
    means = here.means(measure)[:, here.methods.index(run[1])]
    return dict(zip(here.datasets, means.tolist(), strict=True))


def targets(run) -> list[tuple[str, Any]]:
    """Data sets and measures that can be compared: NLDD has a value, and the paper one to beat."""
    return [
        (dataset, measure)
        for measure in PAPER_MEASURES
        for dataset, value in values(run, measure).items()
        if not np.isnan(value) and (dataset, measure.key) != NO_TARGET
    ]


def n_beaten(run, without=()) -> int:
    """Cells in which NLDD is better than the best value that the paper prints."""
    count = 0
    for dataset, measure in targets(run):
        paper, sign = published(measure.key), 1 if measure.greater_is_better else -1
        methods = [method for method in paper.methods if method not in without]
        best = max(sign * paper.value(dataset, method) for method in methods)
        count += sign * values(run, measure)[dataset] > best
    return count


def beaten() -> str:
    """What each setting of NLDD reaches, on average and against the paper's best."""
    head = "  | Hamming loss | 0/1 loss | accuracy | F-measure "
    head += "| better than the best of the paper's seven | of six, without CBM"
    rows = []
    for name, run in SETTINGS.items():
        means = (np.mean(list(values(run, measure).values())) for measure in PAPER_MEASURES)
        counts = n_beaten(run), n_beaten(run, without=("CBM",))
        total = len(targets(run))
        cells = (*(f"{mean:.4f}" for mean in means), *(f"{count} of {total}" for count in counts))
        rows.append([name, *cells])
    return marks.table(head, rows)


def told() -> dict[str, str]:
    """Numbers that are told in sentences."""
    better, worse, apart = zip(
        *(differing(name, measure) for name in PROTOCOLS for measure in PAPER_MEASURES), strict=True
    )
    verdicts = Counter(difference.verdict for difference in paper_differences(found("paper")))
    times = [float(row[4].text) for row in report("default")["running_time"].rows]
    counts = [n_beaten(run) for run in SETTINGS.values()]
    seconds = {name: sum(r.seconds for r in every(name).finished) for name in PROTOCOLS}
    return {
        "worse than NLDD": f"{min(better)} to {max(better)}",
        "better than NLDD": "none" if not max(worse) else f"up to {max(worse)}",
        "told apart": f"{max(apart)}",
        "values": f"{verdicts.total()}",
        "values within": f"{verdicts['within']}",
        "values explained": f"{verdicts['explained']}",
        "values unexplained": f"{verdicts['unexplained']}",
        "beaten by auto": f"{counts[1]} of {len(targets(('best', 'NLDD')))}",
        "beaten by logistic": f"{counts[0]}",
        "beaten by posterior": f"{counts[2]}",
        **{f"minutes of {name}": f"{total / 60:.0f}" for name, total in seconds.items()},
        "time of NLDD": f"{min(times):.1f} to {max(times):.1f}",
    }


def ranks(protocol: str) -> str:
    """NLDD's average rank by each of the paper's measures, who is ahead, and who differs."""
    here = found(protocol)
    rows = []
    for measure in PAPER_MEASURES:
        printed, means = published(measure.key), here.means(measure)
        greater = measure.greater_is_better
        methods = [method for method in printed.methods if method in here.methods]
        shared = [here.methods.index(method) for method in methods]
        targets = [
            [printed.value(dataset, method) for method in methods] for dataset in here.datasets
        ]
        own, p_values = here.methods.index("NLDD"), one_sided_wilcoxon(means, greater)
        cells = [
            _place(here.methods, average_ranks(means, greater)),
            _place(methods, average_ranks(means[:, shared], greater)),
            _place(methods, average_ranks(targets, greater)),
            *(
                ", ".join(np.array(here.methods)[p < 0.05]) or "-"
                for p in (p_values[own], p_values[:, own])
            ),
        ]
        rows.append([measure.name, *cells])
    head = " | among all but NLDD-P | among the paper's | in the paper | NLDD better than "
    note = "Significance: one-sided Wilcoxon tests at 0.05, uncorrected, as in the paper."
    return f"{marks.table(head + '| better than NLDD', rows)}\n\n{note}"


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
    rows = [
        [measure.name, *(cell for name in names for cell in _rank_cells(found(name), measure))]
        for measure in PAPER_MEASURES
    ]
    return marks.table(f"average rank | {head}", rows)


def in_short() -> str:
    """The same with the base that suits the data, in words, and NLDD-P in the place of NLDD."""
    here, columns = found("best"), []
    for measure in PAPER_MEASURES:
        posterior = ranks_of("best", measure, (PAPER, *DECIDED))
        first = min(posterior.values()) == posterior[POSTERIOR]
        averages = average_ranks(here.means(measure), measure.greater_is_better).tolist()
        by_method = dict(zip(here.methods, averages, strict=True))
        own = by_method.pop("NLDD")
        ahead = ("first", "second", "third", "fourth")[sum(x < own for x in by_method.values())]
        equal = [method for method, rank in by_method.items() if rank == own]
        place = f"{own:.1f} ({', with '.join([ahead, *equal])})"
        other = min(by_method, key=by_method.__getitem__)
        named = f"{other.replace('RAKEL', 'RAkEL')} {by_method[other]:.1f}"
        shown = f"**{place}**" if ahead == "first" else place
        in_place = f"{posterior[POSTERIOR]:.1f}" + " (first)" * first
        in_place = f"**{in_place}**" if first else in_place
        columns.append((in_place, shown, named, f"{by_method['BR']:.1f}"))
    heads = "**NLDD-P** in place of NLDD", "**NLDD**", "best other", "independent classifiers (BR)"
    rows = zip(heads, *columns, strict=True)
    return marks.table("average rank | Hamming loss | 0/1 loss | accuracy | F-measure", rows)


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
    values = here.means(measure)
    p, apart = one_sided_wilcoxon(values, greater), nemenyi(values, greater)
    return tuple(int((some < 0.05).sum()) for some in (p[own], p[:, own], apart.p_values[own]))


def proof() -> str:
    """How many of the other methods differ from NLDD, without correction and with one."""
    n_others = len(found("best").methods) - 1
    rows = []
    for measure in PAPER_MEASURES:
        cells = []
        for name in PROTOCOLS:
            better, worse, apart = differing(name, measure)
            cells.append(f"{better} worse, {worse} better; corrected: {apart}")
        rows.append([measure.name, *cells])
    return marks.table(f"of {n_others} others | {' | '.join(PROTOCOLS.values())}", rows)


def agreement() -> str:
    """How many of the paper's values are near ours, by data set."""
    differences, rows = paper_differences(found("paper")), []
    for name in (*dict.fromkeys(d.dataset for d in differences), "all"):
        counts = Counter(d.verdict for d in differences if name in (d.dataset, "all"))
        cells = [counts[verdict] for verdict in ("within", "explained", "unexplained")]
        rows.append([name, *map(str, (sum(cells), *cells))])
    head = "data set | values | within three standard errors | further, known why | unexplained"
    return marks.table(head, rows)


def pictures() -> dict[str, Any]:
    """The diagrams of ranks."""
    return {name: draw(key) for key, name in DIAGRAMS.items()}


def draw(key: str) -> Any:
    """Average ranks by one measure, and how far apart they must be, as a figure."""
    here, measure = every("best"), MEASURES[key]
    values, greater = here.means(measure), measure.greater_is_better
    distance = nemenyi(values, greater).critical_difference
    title = f"{measure.name}: average ranks on nine data sets, the base chosen by the data"
    ranked = average_ranks(values, greater).tolist()
    return CriticalDifferenceDisplay(here.methods, ranked, (), title, distance).plot().figure_


OF_NLDD = {
    **{"beaten": beaten, "place": place, "in-short": in_short},
    **{"proof": proof, "agreement": agreement},
}


@cache
def own_marks() -> list[str]:
    """The marks of the pages that begin with the name of a protocol."""
    every = (mark for page in PAGES for mark in marks.names(marks.DOCS / f"{page}.md"))
    return [mark for mark in every if mark.split()[0] in PROTOCOLS]


def tables() -> dict[str, str]:
    """What stands between the marks."""
    texts = {f"nldd {key}": make() for key, make in OF_NLDD.items()}
    for mark in own_marks():
        protocol, key = mark.split()
        is_rank = key == "ranks"
        texts[mark] = ranks(protocol) if is_rank else to_markdown(report(protocol)[key])
    return {mark: marks.wrapped(text) for mark, text in texts.items()} | told()


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
