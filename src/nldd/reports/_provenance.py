"""What was run: cells, settings, versions, machine, and all that went wrong."""

from collections import Counter
from collections.abc import Callable

from nldd.estimators import METHODS
from nldd.experiments import Record
from nldd.reports import Table
from nldd.reports._summary import Results


def facts(results: Results) -> tuple[tuple[str, str], ...]:
    """The run in a few names and values."""
    records = results.finished
    seconds = sum(record.seconds for record in records)
    return (
        ("protocol", results.protocol),
        ("finished cells", str(len(records))),
        ("failed cells", str(len(results.failed))),
        ("processor time", f"{seconds / 3600:.2f} h" if seconds >= 600 else f"{seconds:.0f} s"),
        ("versions", _distinct(records + results.failed, _versions)),
        ("machine", _distinct(records + results.failed, _machine)),
    )


def problems_table(results: Results) -> Table | None:
    """Every cell that failed and every method that is not finished; None if all is well."""
    rows = [
        (dataset, method, f"{there} of {wanted} folds are there")
        for dataset, method, there, wanted in results.incomplete
    ]
    rows += [
        (record.dataset, record.method, f"{_which(record)} failed: {record.error}")
        for record in results.failed
    ]
    if not rows:
        return None
    return Table(
        key="problems",
        title="Cells that are missing or failed",
        head=("data set", "method", "what"),
        rows=tuple(rows),
        notes=("The same `nldd benchmark` command runs them.",),
    )


def _which(record: Record) -> str:
    if record.train_share is None:
        return f"fold {record.fold + 1}"
    return f"share {record.train_share:.0%}"


def settings_table(results: Results) -> Table:
    """Each method's estimator, and the data sets on which it was that one."""
    found: dict[tuple[str, str], list[str]] = {}
    for method in results.methods:
        for dataset in results.datasets:
            if cells := results.cells(dataset, method):
                found.setdefault((method, cells[0].settings), []).append(dataset)

    def said(datasets: list[str]) -> str:
        return "all" if datasets == list(results.datasets) else ", ".join(datasets)

    return Table(
        key="settings",
        title="Methods and their settings",
        head=("method", "name", "settings", "data sets"),
        rows=tuple(
            (method, METHODS[method].name if method in METHODS else "", text, said(datasets))
            for (method, text), datasets in found.items()
        ),
        notes=("Seeds are those of the first fold; the one of fold k is larger by k.",),
    )


def warnings_table(results: Results) -> Table | None:
    """The warnings that came up, counted; None if there were none."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for record in results.finished:
        for text, count in record.details.get("warnings", {}).items():
            counts[record.method, record.dataset, text] += count
    if not counts:
        return None
    return Table(
        key="warnings",
        title="Warnings that came up",
        head=("method", "data set", "warning", "times"),
        rows=tuple((*key, str(count)) for key, count in sorted(counts.items())),
    )


def _distinct(records: list[Record], say: Callable[[Record], str]) -> str:
    return "; ".join(dict.fromkeys(say(record) for record in records))


def _versions(record: Record) -> str:
    names = {"nldd": "nldd", "scikit-learn": "scikit-learn", "python": "Python"}
    return ", ".join(f"{said} {record.versions.get(name, '?')}" for name, said in names.items())


def _machine(record: Record) -> str:
    machine = record.machine
    return f"{machine.get('system')} {machine.get('processor')}, {machine.get('cores')} cores"
