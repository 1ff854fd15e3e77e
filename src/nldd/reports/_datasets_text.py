"""Data sets of the catalogue as text and as records for JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nldd._wording import count_noun, percent
from nldd.datasets import EMBEDDED, Entry, FileState
from nldd.reports._text import align, align_facts, visible

if TYPE_CHECKING:
    from nldd.datasets import Facts

FORMATS = {"mulan": "Mulan (ARFF, and XML that names the labels)", "meka": "MEKA (ARFF)"}


def as_record(entry: Entry, here: bool) -> dict[str, Any]:
    """An entry for JSON."""
    return asdict(entry) | {"here": here, "embedded": entry.name == EMBEDDED}


def render_list(entries: Iterable[Entry], here: Mapping[str, bool]) -> str:
    """A table with one line a data set."""
    head = ("name", "domain", "rows", "features", "labels", "cardinality", "labelsets", "here")
    rows = [
        (
            *(e.name, e.domain, str(e.n_samples), str(e.n_features), str(e.n_labels)),
            *(f"{e.cardinality:.2f}", str(e.n_labelsets), _where(e, here[e.name])),
        )
        for e in entries
    ]
    return align([head, *rows], right=range(2, 7))


def _where(entry: Entry, here: bool) -> str:
    return "yes" if here else "with nldd" if entry.name == EMBEDDED else "no"


def render_entry(entry: Entry, folder: Path, here: bool) -> str:
    """All that the catalogue knows about a data set."""
    facts = [
        ("domain", entry.domain),
        ("format", FORMATS[entry.format]),
        *_counts(entry),
        ("here", _where(entry, here)),
        ("folder", str(folder)),
        ("in Python", f"nldd.datasets.load_dataset({entry.name!r})"),
    ]
    files = [
        f"  {file.file}  {file.n_bytes} bytes\n    {file.url}\n    sha256 {file.sha256}"
        for file in entry.files
    ]
    return "\n".join([entry.name, align_facts(facts), "\nFiles", *files])


def _counts(of: "Entry | Facts", kind: str = "") -> list[tuple[str, str]]:
    return [
        ("rows", str(of.n_samples)),
        ("features", f"{of.n_features}{kind}"),
        ("labels", str(of.n_labels)),
        ("labels a row", f"{of.cardinality:.2f} (cardinality)"),
        ("labelsets", f"{of.n_labelsets} distinct"),
    ]


def render_facts(facts: "Facts", *, counts: bool = True) -> str:
    """Facts measured on the data; `counts` are those that the catalogue states already."""
    frequent = (f"{visible(name)} {percent(share, 1)}" for name, share in facts.frequent)
    measured = [
        ("density", f"{facts.density:.3f} (labels a row / labels)"),
        ("seen once", f"{percent(facts.seen_once, 1)} of the rows have a labelset of their own"),
        ("no label", f"{percent(facts.unlabelled, 1)} of the rows"),
        ("missing values", f"{facts.n_missing} in the features"),
        ("frequent labels", ", ".join(frequent)),
    ]
    return align_facts(
        [*_counts(facts, " (sparse)" * facts.sparse), *measured] if counts else measured
    )


def render_fetched(states: Sequence[FileState]) -> str:
    """One line a data set: what was fetched of it."""
    rows = []
    for name in dict.fromkeys(state.dataset for state in states):
        files = [state.file for state in states if state.dataset == name and state.state != "ok"]
        n_kib = sum(file.n_bytes for file in files) / 1024
        news = f"fetched {count_noun(len(files), 'file')}, {n_kib:.0f} KiB"
        rows.append((name, news if files else "was there already"))
    return align(rows)


def render_states(states: Iterable[FileState]) -> str:
    """One line a file: whether it is right, and else what was expected and found."""
    return align([(state.dataset, state.path.name, _judge(state)) for state in states])


def _judge(state: FileState) -> str:
    if state.state != "damaged":
        return state.state
    if state.sha256 is None:
        return f"damaged: {state.n_bytes} bytes instead of {state.file.n_bytes}"
    return f"damaged: sha256 {state.sha256} instead of {state.file.sha256}"
