"""The coded table of a review: all rows, with the codes of people and of the machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from nldd.coding import columns as own
from nldd.coding.review.decisions import stored_table
from nldd.coding.review.log import SKIPPED, LogEntry, Standing, outcome, standings
from nldd.coding.review.records import Item, Round, Study, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.tables.spreadsheet import Cell
from nldd.coding.tables.writing import write_table

# What became of an answer; one that only the machine coded has the status that it got there.
PEOPLE, DISAGREE, SKIPPED_STATUS, BEFORE, OPEN = "people", "disagree", "skipped", "coded", "review"
ADDED = (
    *(own.CODES, own.STATUS, own.MACHINE, own.CHANCE, own.THETA, own.WHY, own.CODER, own.TIME),
    *(own.FLAG, own.NOTE, own.DRAWN, own.MODEL, own.PEOPLE),
)


@dataclass(frozen=True)
class CodedItem:
    """An answer at the end of a review: its codes, and how it came to them.

    `said` is what the machine suggested last, in a round of the `model`; `by` has the last entries
    of all coders who did something with it, `told` those of them that count.
    """

    item: Item
    codes: AbstractSet[str]
    status: str
    said: Suggestion | None
    model: str
    by: Mapping[str, LogEntry]
    told: Sequence[LogEntry]


def coded_items(store: Store) -> Iterator[CodedItem]:
    """All answers in the order of the table, with what people and the machine have made of them."""
    by_item, rounds = standings(store.entries()), {r.round: r for r in store.rounds()}
    last = max(rounds, default=0)
    first = store.suggested_items()
    later = store.suggested_items(last) if last else repeat((None, None))
    for (item, before), (_, since) in zip(first, later, strict=False):
        said, number = (before, 0) if since is None else (since, last)
        yield _coded(item, said, rounds.get(number), by_item.get(item.item, {}))


def _coded(
    item: Item, said: Suggestion | None, round: Round | None, standing: Mapping[str, Standing]
) -> CodedItem:
    found, by = outcome(standing), {coder: stood.last for coder, stood in standing.items()}
    told, codes = found.deciding, frozenset(() if said is None else said.codes)
    status = OPEN if said is None else said.status
    if found.codes is not None:
        codes, status = found.codes, PEOPLE
    elif found.disagree:
        status = DISAGREE
    elif item.given is not None:
        codes, status = item.given, BEFORE
    elif skipped := [entry for entry in by.values() if entry.after.state == SKIPPED]:
        told, status = sorted(skipped, key=lambda entry: entry.id), SKIPPED_STATUS
    model = "" if round is None or said is None else round.model[:12]
    return CodedItem(item, codes, status, said, model, by, told)


def write_export(store: Store, path: Path, raw: bool = False) -> int:
    r"""Write all answers of a review with their codes: those of people, else the machine's.

    Parameters
    ----------
    store : Store
        An open review.
    path : Path
        File for the answers, in the format that its ending says; ``.json`` is for Label Studio.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.

    Returns
    -------
    int
        How many answers were written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> from nldd.coding.review.export import write_export
    >>> from nldd.coding.review.store import Store
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> from nldd.coding.tables.reading import read_table
    >>> coded = Path(folder.name, "coded.csv")
    >>> with Store.open(store, write=False) as opened:
    ...     n = write_export(opened, coded)
    >>> n, read_table(coded).frame.iloc[0, :3].tolist()
    (3, ['cheaper rents', 'housing costs', 'auto'])
    >>> folder.cleanup()
    """
    if path.suffix.lower() == ".json":
        from nldd.coding.review.label_studio import write_tasks

        return write_tasks(store, path)
    study = store.study
    with store.snapshot():
        codes = [code for code, *_ in study.codes] + (store.setting("codes") or [])
        order = {code: place for place, code in enumerate(dict.fromkeys(codes))}
        guarantee = "".join(last.facts.get("guarantee") or "" for last in store.rounds()[-1:])
        # Codes that are names of columns may hold the separator: each gets its mark besides.
        marks = [*order] if study.marks else []
        items, rows = [], []
        for found in coded_items(store):
            items.append(found.item)
            own_marks = (int(code in found.codes) for code in marks)
            rows.append((*_added_cells(found, study, order), guarantee, *own_marks))
    names = [*ADDED, own.GUARANTEE, *(own.PREFIX + code for code in marks)]
    table = stored_table(store, items, added=names, cells=rows)
    new = zip(table.header[len(study.header) :], names, strict=True)
    about = {n: own.EXPORT_DESCRIPTIONS[p] for n, p in new if p in own.EXPORT_DESCRIPTIONS}
    how: dict[str, Any] = {"like": table.format, "raw": raw, "descriptions": about}
    write_table(path, table.frame, header=table.header, **how)
    return len(items)


def _added_cells(found: CodedItem, study: Study, order: Mapping[str, int]) -> tuple[Cell, ...]:
    """What the review adds to the row of an answer; codes stand in the order of the codebook."""

    def join(given: Iterable[str]) -> str:
        known = sorted(given, key=lambda code: (order.get(code, len(order)), code))
        return study.separator.join(known) if known else study.none

    said, entries = found.said, found.by.values()
    details = {} if said is None else said.details
    notes = [(e.coder, e.after.note) for e in entries if e.after.note]
    people = [f"{e.coder}: {join(e.after.codes or ())}" for e in found.told]
    return (
        join(found.codes),
        found.status,
        "" if said is None else join(said.codes),
        _six_digits(details.get("chance")),
        _six_digits(details.get("theta")),
        str(details.get("why") or ""),
        ", ".join(entry.coder for entry in found.told),
        found.told[-1].time if found.told else "",
        "yes" if any(entry.after.flag for entry in entries) else "no",
        "\n".join(f"{who}: {note}" if len(found.by) > 1 else note for who, note in notes),
        "yes" if found.item.drawn else "no",
        found.model,
        "\n".join(people) if len(people) > 1 else "",
    )


def _six_digits(value: float | None) -> Cell:
    return "" if value is None else float(f"{value:.6g}")
