"""Data sets of the catalogue as text and as records for JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nldd.datasets import EMBEDDED, Entry, FileState
from nldd.reports._text import aligned

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
            entry.name,
            entry.domain,
            str(entry.n_samples),
            str(entry.n_features),
            str(entry.n_labels),
            f"{entry.cardinality:.2f}",
            str(entry.n_labelsets),
            _where(entry, here[entry.name]),
        )
        for entry in entries
    ]
    return aligned([head, *rows], right=range(2, 7))


def _where(entry: Entry, here: bool) -> str:
    if here:
        return "yes"
    return "with nldd" if entry.name == EMBEDDED else "no"


def render_entry(entry: Entry, folder: Path, here: bool) -> str:
    """All that the catalogue knows about a data set."""
    facts = [
        ("domain", entry.domain),
        ("format", FORMATS[entry.format]),
        ("rows", str(entry.n_samples)),
        ("features", str(entry.n_features)),
        ("labels", str(entry.n_labels)),
        ("labels a row", f"{entry.cardinality:.2f} (cardinality)"),
        ("labelsets", f"{entry.n_labelsets} distinct"),
        ("here", _where(entry, here)),
        ("folder", str(folder)),
        ("in Python", f"nldd.datasets.load_dataset({entry.name!r})"),
    ]
    lines = [entry.name, _indented(facts), "\nFiles"]
    for file in entry.files:
        lines += [f"  {file.file}  {file.n_bytes} bytes", f"    {file.url}"]
        lines += [f"    sha256 {file.sha256}"]
    return "\n".join(lines)


def render_facts(facts: "Facts", *, counts: bool = True) -> str:
    """Facts measured on the data; `counts` are those that the catalogue states already."""
    counted = [
        ("rows", str(facts.n_samples)),
        ("features", f"{facts.n_features}{' (sparse)' if facts.sparse else ''}"),
        ("labels", str(facts.n_labels)),
        ("labels a row", f"{facts.cardinality:.2f} (cardinality)"),
        ("labelsets", f"{facts.n_labelsets} distinct"),
    ]
    # Names come from a file: what is not printable is shown by its code.
    names = [name if name.isprintable() else repr(name) for name, _ in facts.frequent]
    shares = [_percent(share) for _, share in facts.frequent]
    frequent = ", ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))
    measured = [
        ("density", f"{facts.density:.3f} (labels a row / labels)"),
        ("seen once", f"{_percent(facts.seen_once)} of the rows have a labelset of their own"),
        ("no label", f"{_percent(facts.unlabelled)} of the rows"),
        ("missing values", f"{facts.n_missing} in the features"),
        ("frequent labels", frequent),
    ]
    return _indented([*counted, *measured] if counts else measured)


def render_fetched(states: Sequence[FileState]) -> str:
    """One line a data set: what was fetched of it."""
    rows = []
    for name in dict.fromkeys(state.dataset for state in states):
        files = [state.file for state in states if state.dataset == name and state.state != "ok"]
        n_kib = sum(file.n_bytes for file in files) / 1024
        n_files = "1 file" if len(files) == 1 else f"{len(files)} files"
        said = f"fetched {n_files}, {n_kib:.0f} KiB" if files else "was there already"
        rows.append((name, said))
    return aligned(rows)


def render_states(states: Iterable[FileState]) -> str:
    """One line a file: whether it is right, and else what was expected and found."""
    return aligned([(state.dataset, state.path.name, _judgement(state)) for state in states])


def _judgement(state: FileState) -> str:
    if state.state != "damaged":
        return state.state
    if state.sha256 is None:
        return f"damaged: {state.n_bytes} bytes instead of {state.file.n_bytes}"
    return f"damaged: sha256 {state.sha256} instead of {state.file.sha256}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _indented(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"  {name:<17}{value}" for name, value in pairs)
