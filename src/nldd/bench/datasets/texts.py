"""Data sets of the catalogue as text and as records for JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nldd.bench.datasets.catalogue import EMBEDDED, CatalogueEntry, FileState
from nldd.present.text import align, count_noun, percent, visible

if TYPE_CHECKING:
    from nldd.bench.datasets.facts import Facts
    from nldd.present.table import Table

FORMATS = {"mulan": "Mulan (ARFF, and XML that names the labels)", "meka": "MEKA (ARFF)"}


def as_record(entry: CatalogueEntry, here: bool) -> dict[str, Any]:
    """An entry for JSON."""
    return asdict(entry) | {"here": here, "embedded": entry.name == EMBEDDED}


def render_list(entries: Iterable[CatalogueEntry], here: Mapping[str, bool]) -> str:
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


def _where(entry: CatalogueEntry, here: bool) -> str:
    return "yes" if here else "with nldd" if entry.name == EMBEDDED else "no"


def render_entry(entry: CatalogueEntry, folder: Path, here: bool) -> str:
    """All that the catalogue knows about a data set."""
    facts = [
        ("domain", entry.domain),
        ("format", FORMATS[entry.format]),
        *_counts(entry),
        ("here", _where(entry, here)),
        ("folder", str(folder)),
        ("in Python", f"nldd.bench.load_dataset({entry.name!r})"),
    ]
    files = [
        f"  {file.file}  {file.n_bytes} bytes\n    {file.url}\n    sha256 {file.sha256}"
        for file in entry.files
    ]
    return "\n".join([entry.name, _align_facts(facts), "\nFiles", *files])


def _counts(of: "CatalogueEntry | Facts", kind: str = "") -> list[tuple[str, str]]:
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
        ("distinct", f"{facts.distinct:.3f} (labelsets / rows, PDIV)"),
        ("seen once", f"{percent(facts.seen_once, 1)} of the rows have a labelset of their own"),
        ("no label", f"{percent(facts.unlabelled, 1)} of the rows"),
        ("imbalance", _imbalance(facts)),
        ("SCUMBLE", f"{facts.scumble:.4f} (frequent labels beside rare ones)"),
    ]
    if not facts.text:
        measured.append(("TCS", f"{facts.tcs:.3f} (ln of features x labels x labelsets)"))
    missing = "empty texts" if facts.text else "in the features"
    measured += [
        ("missing values", f"{facts.n_missing} {missing}"),
        ("frequent labels", ", ".join(frequent)),
    ]
    if facts.n_train is not None:
        rest = facts.n_samples - facts.n_train
        measured.insert(0, ("given split", f"{facts.n_train} rows to train on, {rest} to test on"))
    return _align_facts([*_counts(facts, _kind(facts)), *measured] if counts else measured)


def _align_facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"  {name:<17}{value}" for name, value in facts)


def _kind(facts: "Facts") -> str:
    if facts.text:
        return " (texts)"
    kinds = ["sparse"] * facts.sparse
    if facts.n_binary:
        kinds.append(
            "all 0 or 1"
            if facts.n_binary == facts.n_features
            else f"{facts.n_binary} of them 0 or 1"
        )
    return f" ({', '.join(kinds)})" if kinds else ""


def _imbalance(facts: "Facts") -> str:
    if facts.n_absent == facts.n_labels:
        return "no row has a label"
    ratios = f"MeanIR {facts.mean_ir:.3f}, MaxIR {facts.max_ir:.3f}, CVIR {facts.cv_ir:.3f}"
    left_out = f"; {count_noun(facts.n_absent, 'label')} without rows left out"
    return ratios + left_out * bool(facts.n_absent)


# Columns of the table of data sets: head, the fact below it, and how it is printed.
_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("Data set", "name", ""),
    ("Rows", "n_samples", "d"),
    ("Features", "n_features", "d"),
    ("Labels", "n_labels", "d"),
    ("Card.", "cardinality", ".3f"),
    ("Dens.", "density", ".3f"),
    ("Labelsets", "n_labelsets", "d"),
    ("PDIV", "distinct", ".3f"),
    ("Single", "n_single", "d"),
    ("MeanIR", "mean_ir", ".3f"),
    ("MaxIR", "max_ir", ".3f"),
    ("CVIR", "cv_ir", ".3f"),
    ("SCUMBLE", "scumble", ".4f"),
    ("TCS", "tcs", ".3f"),
)
_LEGEND = (
    "Card.: labels a row; Dens.: the same over the number of labels; PDIV: distinct labelsets over "
    "rows; Single: labelsets of one row; IR of a label: how many times as often as the label the "
    "most frequent label occurs (mean, maximum, coefficient of variation); SCUMBLE: how unequal "
    "the IR of the labels of a row are; TCS: ln(features x labels x labelsets)."
)


def datasets_table(described: "Mapping[str, tuple[Facts, Sequence[str]]]") -> "Table":
    """What reviewers ask about data sets, with the facts and the notes of each by its name."""
    # Not at the top: commands that only list data sets do without it.
    from nldd.present.table import Table

    facts = [of for of, _ in described.values()]
    rows = [tuple(_cell(of, fact, form) for _, fact, form in _COLUMNS) for of in facts]
    notes = [f"{name}: {note}" for name, (_, told) in described.items() for note in told]
    remarks = [
        f"{name}: {remark}" for name, (of, _) in described.items() for remark in _remarks(of)
    ]
    plain = [field.name for field in fields(facts[0]) if field.name != "frequent"]
    return Table(
        "datasets",
        "Data sets",
        tuple(head for head, _, _ in _COLUMNS),
        tuple(rows),
        notes=(_LEGEND, *remarks, *notes),
        data_head=tuple(plain),
        data=tuple(tuple(getattr(of, fact) for fact in plain) for of in facts),
    )


def _remarks(facts: "Facts") -> Iterator[str]:
    if facts.text:
        yield "Texts, of which features are made inside of the folds."
    if facts.n_missing:
        what = "empty text" if facts.text else "missing value"
        yield f"{count_noun(facts.n_missing, what)}."
    if facts.n_absent:
        yield f"{count_noun(facts.n_absent, 'label')} without rows left out of the IR."


def _cell(facts: "Facts", fact: str, form: str) -> str:
    value = getattr(facts, fact)
    is_unknown = value != value or (facts.text and fact == "n_features")
    return "-" if is_unknown else format(value, form)


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
