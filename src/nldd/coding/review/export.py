"""The coded table of a review: all rows, with the codes of people and of the machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from nldd.coding.own_columns import unique_column_names
from nldd.coding.review.decisions import written_format
from nldd.coding.review.log import SKIPPED, LogEntry, Standing, outcome, standings
from nldd.coding.review.records import Item, Round, Study, Suggestion
from nldd.coding.review.store import Store
from nldd.coding.tables.cells import Cell
from nldd.coding.tables.writer import create_table
from nldd.exceptions import InputError

KINDS = ("csv", "xlsx", "jsonl", "label-studio")
# What became of an answer; one that only the machine coded has the status that it got there.
PEOPLE, DISAGREE, SKIPPED_STATUS, BEFORE, OPEN = "people", "disagree", "skipped", "coded", "review"
ADDED = (
    *("codes", "status", "machine", "chance", "theta", "why", "coder", "time", "flag", "note"),
    *("drawn", "model", "people", "guarantee"),
)
DESCRIPTIONS = {
    "nldd_codes": "Codes: of people where they have decided, else of the machine",
    "nldd_status": "people, auto: coded; review, part, skipped, disagree: open; coded: before",
    "nldd_machine": "Codes by the machine",
    "nldd_chance": "Chance that all codes of the machine are right",
    "nldd_theta": "Probability that a code of the machine is wrong",
    "nldd_why": "Why the answer is for people",
    "nldd_coder": "Who has decided",
    "nldd_time": "When that was",
    "nldd_people": "Codes by each of several coders",
    "nldd_guarantee": "Accuracy guarantee: target, confidence level and threshold",
}


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
    told = sorted(found.by.values(), key=lambda entry: entry.id)
    codes: AbstractSet[str] = frozenset(() if said is None else said.codes)
    status = OPEN if said is None else said.status
    if found.codes is not None:
        codes, status = found.codes, PEOPLE
        told = told if found.settling is None else [found.settling]
    elif found.disagree:
        status = DISAGREE
    elif item.given is not None:
        codes, status = item.given, BEFORE
    elif skipped := [entry for entry in by.values() if entry.after.state == SKIPPED]:
        told, status = sorted(skipped, key=lambda entry: entry.id), SKIPPED_STATUS
    model = "" if round is None or said is None else round.model[:12]
    return CodedItem(item, codes, status, said, model, by, told)


def write_export(store: Store, path: Path, kind: str = "", raw: bool = False) -> int:
    r"""Write all answers of a review with their codes: those of people, else the machine's.

    Parameters
    ----------
    store : Store
        An open review.
    path : Path
        File for the answers.
    kind : {"csv", "xlsx", "jsonl", "label-studio"}, optional
        By default the ending of the name says which, where ``.json`` is for Label Studio.
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
    >>> from nldd.coding import prepare_review
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
    >>> prepared = prepare_review(model, new, store, (0.8, 0.9, "subset", "theta"), n_audit=3)
    >>> from nldd.coding.tables.opening import open_table
    >>> coded = Path(folder.name, "coded.csv")
    >>> with Store.open(store, write=False) as opened:
    ...     n = write_export(opened, coded)
    >>> with open_table(coded) as table:
    ...     rows = [row[:3] for block in table.blocks() for row in block.rows]
    >>> n, rows[0]
    (3, ('cheaper rents', 'housing costs', 'auto'))
    >>> folder.cleanup()
    """
    kind = kind or ("label-studio" if path.suffix.lower() == ".json" else path.suffix[1:].lower())
    if kind == "label-studio":
        from nldd.coding.review.label_studio import write_tasks

        return write_tasks(store, path)
    with store.snapshot():
        study = store.study
        facts = [found.facts for found in store.rounds()[-1:]]
        guarantee = "".join(found.get("guarantee") or "" for found in facts)
        writer = _Rows(study, store.setting("codes") or (), guarantee)
        like, about = written_format(study), writer.descriptions
        with create_table(path, writer.header, like=like, raw=raw, descriptions=about) as table:
            table.write(map(writer.row, coded_items(store)))
    return table.n_rows


class _Rows:
    """Rows of a coded table: those of the answers, and what the review adds to them."""

    def __init__(self, study: Study, new_codes: Iterable[str], guarantee: str) -> None:
        self._guarantee = guarantee
        codes = dict.fromkeys([*(code for code, *_ in study.codes), *new_codes])
        self._order = {code: i for i, code in enumerate(codes)}
        self._separator = study.separator
        self._none = study.none
        # Codes that are names of columns may hold the separator: each gets its mark besides.
        self._marks = list(codes) if study.marks else []
        names = [f"nldd_{name}" for name in (*ADDED, *self._marks)]
        added = unique_column_names(names, set(study.header))
        self.header = (*study.header, *added)
        self.descriptions = {
            new: DESCRIPTIONS[name]
            for name, new in zip(names, added, strict=True)
            if name in DESCRIPTIONS
        }

    def row(self, found: CodedItem) -> tuple[Cell, ...]:
        """The cells of an answer, in the order of the header."""
        said, by = found.said, found.by.values()
        details = {} if said is None else said.details
        people = [f"{entry.coder}: {self._join(entry.after.codes or ())}" for entry in found.told]
        notes = [entry for entry in by if entry.after.note]
        named = len(found.by) > 1
        cells: list[Cell] = [
            self._join(found.codes),
            found.status,
            "" if said is None else self._join(said.codes),
            _number(details.get("chance")),
            _number(details.get("theta")),
            str(details.get("why") or ""),
            ", ".join(entry.coder for entry in found.told),
            found.told[-1].time if found.told else "",
            "yes" if any(entry.after.flag for entry in by) else "no",
            "\n".join(f"{e.coder}: {e.after.note}" if named else e.after.note for e in notes),
            "yes" if found.item.drawn else "no",
            found.model,
            "\n".join(people) if len(people) > 1 else "",
            self._guarantee,
        ]
        return (*found.item.cells, *cells, *(int(code in found.codes) for code in self._marks))

    def _join(self, codes: Iterable[str]) -> str:
        """Codes as one cell, in the order of the codebook."""
        known = sorted(codes, key=lambda code: (self._order.get(code, len(self._order)), code))
        return self._separator.join(known) if known else self._none


def _number(value: float | None) -> Cell:
    return "" if value is None else float(f"{value:.6g}")


def check_kind(path: Path, kind: str) -> None:
    """Refuse a name whose ending is that of another kind of file, before anything is written."""
    endings = {"csv": (".csv", ".tsv", ".txt"), "label-studio": (".json",)}
    expected = endings.get(kind, (f".{kind}",))
    if kind and path.suffix.lower() not in expected:
        hint = f"-o {path.with_suffix(expected[0]).name}, or leave out --format"
        raise InputError(f"{path} is no name for a file of the kind {kind}.", hint=hint)
