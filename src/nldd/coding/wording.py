"""What people read of models and results: numbers and guarantees in words, counts in tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nldd._wording import quote
from nldd.present.table import Row, Table, TableEntry, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

if TYPE_CHECKING:
    from nldd.coding.columns import Columns
    from nldd.coding.guarantee import Selection
    from nldd.coding.model import CodingModel, Event

# Of fewer checked answers no share is shown: it looks more certain than it is.
FEWEST_CHECKED = 20
MEASURED = {"subset": "answers with all codes right", "hamming": "labels that are right"}
SURE = {"chance": "chance from", "theta": "theta up to"}
MOST_CODES = 30
# What of a classifier is worth telling, where it has it.
CLASSIFIER_SAYS = ("chosen_", "regression_")
CHECKSUMS = "A checksum changes with every byte of a file: equal ones mean that it is the same."


def join_paragraphs(*parts: str) -> str:
    """Put an empty line between the parts that are there."""
    return "\n\n".join(filter(None, parts))


def name_list(names: Sequence[str], most: int = 12) -> str:
    """Quote the first names of a list, and count the others."""
    quoted = ", ".join(f'"{visible(name)}"' for name in names[:most])
    return f"{quoted} and {len(names) - most} more" if len(names) > most else quoted


def join_names(names: Sequence[str]) -> str:
    """Names in a row: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def exact_percent(share: float) -> str:
    """Write a share that somebody asked for in percent, not rounded."""
    return f"{100 * share:.6g} %"


def percent_range(low: float, high: float, digits: int = 1) -> str:
    """Write an interval in percent.

    >>> percent_range(0.868, 0.999)
    '86.8 to 99.9 %'
    """
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def checked_accuracy(n_right: int, n: int, low: float, high: float, so_far: str = "") -> str:
    """Write the result of checks: the 95 % interval and counts; from 20 checks on, interval first.

    >>> checked_accuracy(1, 1, 0.025, 1.0)
    '1 of 1 checked answers right (exact 95 % interval 2.5 to 100 %)'
    >>> checked_accuracy(39, 40, 0.868, 0.999)
    '86.8 to 99.9 % right (exact 95 % interval): 39 of 40 checked answers, 97.5 %'
    """
    interval, counts = percent_range(low, high), f"{n_right:,} of {n:,} checked answers"
    if n < FEWEST_CHECKED:
        return f"{counts} right{so_far} (exact 95 % interval {interval})"
    share = percent(n_right / n, 1)
    return f"{interval} right{so_far} (exact 95 % interval): {counts}, {share}"


def doubt_number(doubt: float, rank_by: str) -> str:
    """Write a doubt as people know it: the confidence score, or theta.

    >>> doubt_number(0.25, "chance"), doubt_number(0.25, "theta"), doubt_number(0.00012, "theta")
    ('0.7500', '0.2500', '0.00012')
    """
    if rank_by == "chance":
        return f"{1 - doubt:.4f}"
    return f"{doubt:.4f}" if doubt >= 0.01 else f"{Decimal(f'{doubt:.2g}'):f}"


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "percent_range": percent_range}
    environment.filters |= {"exact": exact_percent, "doubt": doubt_number, "count_noun": count_noun}
    environment.filters["grouped"] = "{:,}".format
    environment.globals |= {"MEASURED": MEASURED, "SURE": SURE}
    text = files("nldd.coding").joinpath("words.jinja").read_text(encoding="utf-8")
    return environment.from_string(text).module


def fill_words(macro: str, **values: Any) -> tuple[str, ...]:
    """The paragraphs of a macro of words.jinja."""
    paragraphs = getattr(_template(), macro)(**values).split("\n\n")
    return tuple(filter(None, (" ".join(text.split()) for text in paragraphs)))


def failed_refit_words(selection: "Selection") -> str:
    """Say in a sentence why a refitted model does not code automatically."""
    return " ".join(fill_words("failed_refit", found=selection))


def drawn_notes(model: "CodingModel") -> list[str]:
    """Say on which of its answers the guarantees of an updated model are tested."""
    last = model.history[-1].n_added if model.history else 0
    brought_none = last > 0 and not model.drawn[-last:].any()
    return list(fill_words("drawn", model=model, brought_none=brought_none))


@dataclass(frozen=True)
class CodeCounts:
    """Counts of coded answers: by code, codes an answer, and combinations (some seen once).

    Of the `n_rows` of a table, `n_coded` have codes and `n_set_aside` do not; `n_never_seen` have a
    combination that a model has never seen.
    """

    labels: dict[str, int]
    cardinality: float
    n_labelsets: int
    n_seen_once: int
    n_without_code: int
    n_coded: int
    n_rows: int
    n_set_aside: int
    n_never_seen: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("labels", "cardinality", "n_labelsets", "n_seen_once", "n_without_code")
        return {name: getattr(self, name) for name in names}


def count_codes(
    labels: Sequence[str],
    Y: NDArray[np.int8],
    n_rows: int = 0,
    n_set_aside: int = 0,
    n_never_seen: int | None = None,
) -> CodeCounts:
    """Count answers that carry the codes `labels` as `Y` says."""
    _, times = np.unique(Y, axis=0, return_counts=True)
    sizes = Y.sum(axis=1)
    by_code = dict(zip(labels, Y.sum(axis=0).tolist(), strict=True))
    n_seen_once, n_without_code = int((times == 1).sum()), int((sizes == 0).sum())
    counts = (float(sizes.mean()), len(times), n_seen_once, n_without_code, len(Y))
    return CodeCounts(by_code, *counts, n_rows, n_set_aside, n_never_seen)


def model_counts(model: "CodingModel") -> CodeCounts:
    """Count the answers of a model, and the rows of all of its tables."""
    n_set_aside = sum(event.n_set_aside for event in model.history)
    return count_codes(model.shown, model.Y, len(model.answers) + n_set_aside, n_set_aside)


def counts_table(answers: Mapping[str, CodeCounts], more: Sequence[Row] = ()) -> Table:
    """Numbers of answers, codes and combinations, in one column for each set of answers."""
    never = "answers with a combination that the model has never seen"
    counts: dict[str, Callable[[CodeCounts], str]] = {
        "rows": lambda a: f"{a.n_rows:,}",
        "coded answers": lambda a: f"{a.n_coded:,}",
        "rows set aside, as nobody has coded them": lambda a: f"{a.n_set_aside:,}",
        never: lambda a: "-" if a.n_never_seen is None else f"{a.n_never_seen:,}",
        "codes": lambda a: f"{len(a.labels):,}",
        "codes an answer, on average": lambda a: f"{a.cardinality:.2f}",
        "answers to which no code applies": lambda a: f"{a.n_without_code:,}",
        "distinct combinations of codes": lambda a: f"{a.n_labelsets:,}",
        "combinations seen once": lambda a: f"{a.n_seen_once:,}",
    }
    rows = ((name, *map(count, answers.values())) for name, count in counts.items())
    known = (row for row in rows if set(row[1:]) != {"-"})
    head = ("what", *answers) if len(answers) > 1 else ("what", "number")
    return Table("counts", "Answers, codes and combinations", head, (*known, *more))


def codes_table(answers: Mapping[str, CodeCounts]) -> Table:
    """How many answers carry each code, the most frequent code of the first column first."""
    first = next(iter(answers.values())).labels
    rows = []
    for name in sorted(first, key=lambda name: (-first[name], name)):
        counts = [(a.labels.get(name, 0), a.n_coded) for a in answers.values()]
        cells = [cell for count, n in counts for cell in (f"{count:,}", percent(count / n, 1))]
        rows.append((visible(name), *cells))
    head = ("code", *(text for name in answers for text in (name, "share")))
    return Table("code-counts", "Codes and how many answers carry them", head, tuple(rows))


def learned_text(columns: "Columns", counts: CodeCounts, *more: Row) -> str:
    """What a model reads, and the answers and codes that it has learned from."""
    read, answers = wrap([columns_sentence(columns)]), {"answers": counts}
    codes = to_text(codes_table(answers), most=MOST_CODES)
    return join_paragraphs(read, to_text(counts_table(answers, more)), codes)


def columns_sentence(columns: "Columns") -> str:
    """What a model reads and where its codes stood."""
    kinds = {"text": columns.text, "numbers": columns.numeric, "categories": columns.categorical}
    parts = [f"{kind} of {name_list(names)}" for kind, names in kinds.items() if names]
    if columns.n_extra:
        parts.append(f"{count_noun(columns.n_extra, 'extra feature')} from a file")
    names, separators = columns.codes.names, " or ".join(map(quote, columns.codes.separators))
    about = {"codes": columns.codes, "names": name_list(names), "separators": separators}
    return " ".join(fill_words("columns", read=parts, **about))


def history_table(history: Iterable["Event"]) -> Table:
    """The steps of a model, each with its file and the model after it."""
    columns: dict[str, Any] = {
        "time": lambda e: TableEntry(readable_time(e.time), under=f"nldd {visible(e.version)}"),
        "step": lambda e: visible(e.action),
        "file": lambda e: visible(e.file),
        "joined": lambda e: TableEntry(f"{e.n_added:,}", under=f"{e.n_set_aside:,} set aside"),
        "answers": lambda e: f"{e.n_answers:,}",
        "codes": lambda e: TableEntry(f"{e.n_labels:,}", under=f"{e.n_labelsets:,} combinations"),
        "all right": lambda e: percent(e.subset_accuracy, 1),
        "labels right": lambda e: percent(e.hamming_accuracy, 1),
    }
    title = "Steps in the life of the model, the first one first"
    right = "All right: answers with all codes right; labels right: decisions on single codes."
    note = f"{right} Both by cross-validation after the step."
    return tabulate("history", title, history, columns, note)


def readable_time(time: str) -> str:
    """A time of a model's history, such as 2024-05-17 08:30:00 UTC."""
    return visible(time.replace("T", " ").replace("Z", " UTC"))


def files_table(model: "CodingModel", files: Mapping[str, tuple[str, str]] = {}) -> Table:
    """Names and checksums of files, by what they are, and of those a model has learned from."""
    learned = ((f"read by nldd {visible(e.action)}", (e.file, e.sha256)) for e in model.history)
    rows = ((visible(n), what, visible(sha)) for what, (n, sha) in (*files.items(), *learned))
    head = ("file", "what it is", "sha256")
    return Table("files", "Files and their checksums", head, tuple(rows), notes=(CHECKSUMS,))


def versions_table(versions: Mapping[str, object]) -> Table:
    """Programs and their versions."""
    rows = tuple((visible(name), visible(str(version))) for name, version in versions.items())
    return Table("versions", "Programs and their versions", ("program", "version"), rows)


@dataclass(frozen=True, eq=False)
class ModelDescription:
    """All that a model file says about itself: its `model`, and the `manifest` of the file."""

    path: Path
    model: "CodingModel"
    manifest: Mapping[str, Any]

    def __str__(self) -> str:
        model, classifier = self.model, self.model.classifier
        weights = ", ".join(f"{weight:.3f}" for weight in classifier.weights_)
        rows = (
            ("answers drawn at random, on which thresholds are found", f"{len(model.tested):,}"),
            ("features", f"{classifier.n_features_in_:,}"),
            ("C of the classifiers, the larger the less shrunk", f"{classifier.estimator.C:g}"),
            ("weights of distance, probabilities, frequency and size", weights),
            ("expected share of new code combinations", percent(classifier.unseen_share_, 1)),
        )
        return join_paragraphs(
            f"Model {self.path}\n{learned_text(model.columns, model_counts(model), *rows)}",
            to_text(versions_table(self.manifest["versions"])),
            to_text(history_table(model.history), columns=(0, 1, 2, 3, 4, 6)),
            to_text(files_table(model)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        model, classifier = self.model, self.model.classifier
        return {
            "columns": asdict(model.columns),
            **count_codes(model.labels, model.Y).to_dict(),
            "drawn": len(model.tested),
            "weights": classifier.weights_._asdict(),
            "unseen_share": classifier.unseen_share_,
            "history": [asdict(event) for event in model.history],
            "manifest": dict(self.manifest),
        }


@dataclass(frozen=True, eq=False)
class ClassifierDescription:
    """What the file of a classifier of :func:`nldd.save_model` says about itself."""

    path: Path
    classifier: Any
    manifest: Mapping[str, Any]

    def __str__(self) -> str:
        found, labels = self.classifier, name_list([str(n) for n in self.classifier.label_names_])
        return join_paragraphs(
            f"Model {self.path}\n{found}",
            wrap([f"{count_noun(found.n_labels_, 'label')}: {labels}"]),
            *(str(getattr(found, name)) for name in CLASSIFIER_SAYS if hasattr(found, name)),
            to_text(versions_table(self.manifest["versions"])),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        said = {name: getattr(self.classifier, name, None) for name in CLASSIFIER_SAYS}
        return {
            "settings": str(self.classifier),
            "labels": [str(name) for name in self.classifier.label_names_],
            **{name.rstrip("_"): value and str(value) for name, value in said.items()},
            "manifest": dict(self.manifest),
        }


def describe_model(path: Path) -> ModelDescription | ClassifierDescription:
    """Describe a model file of ``nldd fit``, or of a classifier that was saved in Python."""
    # Here, as much that models are made of says something in these words.
    from nldd.coding.model_file import load_coding_model
    from nldd.persistence import KIND, load_model
    from nldd.persistence._archive import read_manifest

    manifest = read_manifest(path)
    if manifest["kind"] == KIND:
        return ClassifierDescription(path, load_model(path), manifest)
    return ModelDescription(path, load_coding_model(path), manifest)
