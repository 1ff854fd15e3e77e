"""Tables of what was run: data sets, splits, settings, choices, warnings and what went wrong."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from nldd.bench.report.results import Results
from nldd.estimators._registry import METHODS
from nldd.present.table import Table

# Heads of columns, with the fact of a data set below and how it is written.
FACTS = {
    "rows": ("n_samples", ",d"),
    "features": ("n_features", ",d"),
    "labels": ("n_labels", ",d"),
    "cardinality": ("cardinality", ".3f"),
    "density": ("density", ".4f"),
    "labelsets": ("n_labelsets", ",d"),
    "MeanIR": ("mean_ir", ".2f"),
    "SCUMBLE": ("scumble", ".3f"),
    "TCS": ("tcs", ".2f"),
}
ABOUT_FACTS = (
    "Cardinality: labels of a row on average; density: the same over the number of labels. MeanIR: "
    "how many times as often as a label the most frequent one occurs, on average. SCUMBLE: how far "
    "frequent labels stand beside rare ones, from 0 to 1. TCS: logarithm of features times labels "
    "times labelsets."
)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
Words = tuple[str, ...]
PROGRAMS = ("nldd", "scikit-learn", "python")
SHORT = {method.factory.__name__: key for key, method in METHODS.items() if not method.given}


def run_facts(results: Results) -> tuple[tuple[str, str], ...]:
    seconds = sum(record.seconds for record in results.finished)
    title = next((r.details["title"] for r in results.finished if "title" in r.details), "")
    versions: dict[str, None] = {}
    machines: dict[str, None] = {}
    for record in results.finished + results.failed:
        nldd, sklearn, python = (record.versions.get(name, "?") for name in PROGRAMS)
        versions[f"nldd {nldd}, scikit-learn {sklearn}, Python {python}"] = None
        system, processor, cores = map(record.machine.get, ("system", "processor", "cores"))
        machines[f"{system} {processor}, {cores} cores"] = None
    return (
        ("protocol", results.protocol),
        *([("title", title)] if title not in ("", results.protocol) else []),
        ("finished cells", str(len(results.finished))),
        ("failed cells", str(len(results.failed))),
        ("processor time", f"{seconds / 3600:.2f} h" if seconds >= 600 else f"{seconds:.0f} s"),
        ("versions", "; ".join(versions)),
        ("machine", "; ".join(machines)),
    )


def dataset_table(results: Results, about: Mapping[str, Any]) -> Table | None:
    """Facts of the data sets, with the notes on them; None without any.

    `about` is what a benchmark has written down of its data sets: facts and notes by name.
    """
    known = {d: about[d] for d in results.datasets if d in about and _is_of(results, d, about[d])}
    if not known:
        return None
    facts = {name: entry.get("facts", {}) for name, entry in known.items()}
    rows = [
        (name, *(_fact(facts.get(name, {}).get(key), how) for key, how in FACTS.values()))
        for name in results.datasets
    ]
    notes = [f"{name}: {note}" for name, entry in known.items() for note in entry.get("notes", ())]
    if texts := [name for name, fact in facts.items() if fact.get("text")]:
        notes.insert(0, f"Texts, which have one feature and no TCS: {', '.join(texts)}.")
    missing = (f"{d} {fact['n_missing']:,}" for d, fact in facts.items() if fact.get("n_missing"))
    if counts := ", ".join(missing):
        notes.insert(0, f"Missing values of features: {counts}.")
    keys = (*(key for key, _ in FACTS.values()), "n_missing")
    data = tuple((d, *(facts.get(d, {}).get(key) for key in keys)) for d in results.datasets)
    head, told = ("data set", *FACTS), (ABOUT_FACTS, *notes)
    return Table("datasets", "Data sets", head, tuple(rows), (), told, ("dataset", *keys), data)


def _is_of(results: Results, dataset: str, entry: Mapping[str, Any]) -> bool:
    """Whether an entry is about the data of these cells."""
    cells = (cell for method in results.methods for cell in results.cells(dataset, method))
    return next(cells).details.get("data") == entry.get("data")


def _fact(value: Any, how: str) -> str:
    return "-" if value is None else format(value, how)


def split_table(results: Results) -> Table:
    """How the rows of each data set were split, and how many there are to train and to test."""
    rows, data = [], []
    for dataset in results.datasets:
        cells = next(filter(None, (results.cells(dataset, m) for m in results.methods)))
        first = cells[0].details
        n_folds, n_labels = first["n_folds"], first["n_labels"]
        whole = "one split" if n_folds == 1 else f"{n_folds}-fold cross-validation"
        split = str(first.get("split", whole))
        n_train, n_test = ([c.details[key] for c in cells] for key in ("n_train", "n_test"))
        ranges = (_range(n_train), _range(n_test))
        rows.append((dataset, f"{n_train[0] + n_test[0]:,}", str(n_labels), split, *ranges))
        data += [
            (dataset, n_labels, split, cell.fold, a, b)
            for cell, a, b in zip(cells, n_train, n_test, strict=True)
        ]
    title, notes = "How the rows were split", ("The splits are the same for all methods.",)
    head = ("data set", "rows", "labels", "split", "training rows", "test rows")
    data_head = ("dataset", "n_labels", "split", "fold", "n_train", "n_test")
    return Table("splits", title, head, tuple(rows), (), notes, data_head, tuple(data))


def _range(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def problems_table(results: Results) -> Table | None:
    """Every cell that failed and every method that is not finished; None if all is well."""
    rows = [
        (dataset, method, f"{n_finished} of {n_folds} folds are there")
        for dataset, method, n_finished, n_folds in results.incomplete
    ]
    # What fails in one fold mostly fails in all of them, and for the same reason.
    folds: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for record in results.failed:
        share, error = record.train_share, f"failed: {record.error}"
        if share is None:
            folds[record.dataset, record.method, error].append(str(record.fold + 1))
        else:
            rows.append((record.dataset, record.method, f"share {share:.0%} {error}"))
    for (dataset, method, error), numbers in folds.items():
        which = f"fold{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
        rows.append((dataset, method, f"{which} {error}"))
    head = ("data set", "method", "what")
    notes = ("The same `nldd benchmark` command runs them.",)
    return _words("problems", "Cells that are missing or failed", head, rows, notes)


def _words(
    key: str,
    title: str,
    head: Words,
    rows: Sequence[Words],
    notes: Words,
    data: Sequence[Words] = (),
) -> Table | None:
    """A table of words, whose CSV file has heads like those of the other files; None if empty."""
    csv_head = tuple(name.replace("data set", "dataset").replace(" ", "_") for name in head)
    long_form = tuple(data or rows)
    return Table(key, title, head, tuple(rows), (), notes, csv_head, long_form) if rows else None


def settings_table(results: Results) -> Table | None:
    """Each method's settings in short, and the data sets on which it had them."""
    found = defaultdict(list)
    for method, dataset in product(results.methods, results.datasets):
        if cells := results.cells(dataset, method):
            found[method, cells[0].settings].append(dataset)
    rows, data = [], []
    for (method, settings), datasets in found.items():
        name = METHODS[method].name if method in METHODS else ""
        where = "all" if datasets == list(results.datasets) else ", ".join(datasets)
        rows.append((method, name, short_settings(settings), where))
        data.append((method, name, settings, where))
    head = ("method", "name", "settings", "data sets")
    notes = (
        "What differs from the defaults; steps of preparation come before an arrow. The CSV file "
        "has the settings in full, with the seeds of the first fold; those of fold k are k larger.",
    )
    return _words("settings", "Methods and their settings", head, rows, notes, data)


def short_settings(settings: str) -> str:
    """Settings of a record by short names, without seeds.

    >>> short_settings("Pipeline(steps=[('a', StandardScaler()), ('b', NLDDClassifier(k=2))])")
    'StandardScaler → NLDD(k=2)'
    """
    try:
        return _short(ast.parse(settings, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return settings


def _short(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    name = ast.unparse(node.func)
    values = {str(part.arg): part.value for part in node.keywords if part.arg != "random_state"}
    match name, values:
        case "Pipeline", {"steps": ast.List(elts)}:
            return " → ".join(_short(step.elts[-1]) for step in elts if isinstance(step, ast.Tuple))
        case "GridSearchCV", {"estimator": estimator, "param_grid": grid}:
            return f"{_short(estimator)}, searched: {ast.unparse(grid).replace('method__', '')}"
    inside = [*map(_short, node.args), *(f"{key}={_short(value)}" for key, value in values.items())]
    return SHORT.get(name, name) + (f"({', '.join(inside)})" if inside else "")


def choice_table(results: Results) -> Table | None:
    """Which base classifier the methods have chosen, and how often; None where none was open."""
    rows = []
    for dataset in results.datasets:
        counts: Counter[str] = Counter()
        for method in results.methods:
            found = (cell.details.get("chosen") for cell in results.cells(dataset, method))
            counts.update(chosen["name"] for chosen in found if chosen is not None)
        shares = (f"{name} {n / counts.total():.0%}" for name, n in counts.most_common())
        rows += [(dataset, ", ".join(shares))] if counts else []
    notes = ("Of all cells: every method chooses in every fold, from its training rows alone.",)
    head = ("data set", "base classifier chosen")
    return _words("choices", "Base classifiers chosen by the data", head, rows, notes)


def search_table(results: Results) -> Table | None:
    """Which parameters the searches have chosen, and in how many folds; None without a search."""
    rows: list[tuple[str, ...]] = []
    measures: dict[str, None] = {}
    for method, dataset in product(results.methods, results.datasets):
        cells = results.cells(dataset, method)
        searched = [cell.details["searched"] for cell in cells if "searched" in cell.details]
        counts = Counter(
            ", ".join(f"{name} = {value}" for name, value in each["best"].items())
            for each in searched
        )
        measures |= {str(each.get("scoring", "")): None for each in searched}
        rows += [(method, dataset, best, str(count)) for best, count in counts.most_common()]
    notes = (
        "Chosen in every fold from its training rows alone, by the mean over inner folds of "
        f"{', '.join(measures)}.",
    )
    head = ("method", "data set", "parameters chosen", "folds")
    return _words("searches", "Parameters chosen by a search", head, rows, notes)


def warnings_table(results: Results) -> Table | None:
    """The warnings that came up and in how many cells; None if there were none.

    Warnings that differ in their numbers alone are one.
    """
    n_cells = Counter((record.method, record.dataset) for record in results.finished)
    texts: dict[tuple[str, str, str], str] = {}
    times: Counter[tuple[str, str, str]] = Counter()
    where: Counter[tuple[str, str, str]] = Counter()
    for record in results.finished:
        told = record.details.get("warnings", {})
        kinds = {text: (record.method, record.dataset, NUMBER.sub("#", text)) for text in told}
        for text, kind in kinds.items():
            texts.setdefault(kind, text)
            times[kind] += told[text]
        where.update(set(kinds.values()))
    rows = [
        (*key[:2], texts[key], f"{where[key]} of {n_cells[key[:2]]}", str(times[key]))
        for key in sorted(texts)
    ]
    head = ("method", "data set", "warning", "cells", "times")
    notes = (
        "Warnings that differ in their numbers alone are one, with the numbers of the first. A "
        "method that fits many models, such as those of a search, can warn of each.",
    )
    return _words("warnings", "Warnings that came up", head, rows, notes)
