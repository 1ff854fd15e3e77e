"""Tables of the coding reports, for terminals and pages: counts, measures, triage, codes, files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nldd import coding
from nldd._wording import count_noun, percent
from nldd.displays import Calibration
from nldd.metrics import MEASURES
from nldd.reports._promise import MEASURED
from nldd.reports._table import Entry, Row, Table
from nldd.reports._text import exact_percent, percent_range, theta_number, visible

MICRO = "all codes of all answers together, so that frequent codes count most"
MACRO = (
    "each code by itself, then the mean over the codes: rare ones count as much as frequent ones"
)
MEANINGS = {
    "hamming_loss": "share of labels that are wrong: codes given that people did not give, and "
    "codes left out that they gave",
    "zero_one_loss": "share of answers with at least one wrong label",
    "multilabel_accuracy": "of the codes that machine or people gave to an answer, the share that "
    "both gave; mean over the answers",
    "f_measure": "balance of precision and recall within an answer; mean over the answers",
    "subset_accuracy": "share of answers that got exactly the codes that people gave",
    "precision": "share of the codes given to an answer that are right; mean over the answers",
    "recall": "share of the codes that people gave to an answer that were found; mean over the "
    "answers",
    "micro_f": f"balance of precision and recall over {MICRO}",
    "micro_precision": f"share of given codes that are right, over {MICRO}",
    "micro_recall": f"share of people's codes that were found, over {MICRO}",
    "macro_f": f"balance of precision and recall of {MACRO}",
    "macro_precision": f"share of given codes that are right, of {MACRO}",
    "macro_recall": f"share of people's codes that were found, of {MACRO}",
}
NEVER_SEEN = "answers with a combination that the model has never seen"


class StudyFile(NamedTuple):
    """A file that a report is about."""

    name: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "StudyFile":
        """The name of a file and its checksum."""
        return cls(path.name, coding.checksum(path))


class Answered(NamedTuple):
    """Coded answers of a table or of a model, in numbers."""

    summary: coding.Summary
    n_rows: int
    n_coded: int
    n_set_aside: int
    n_never_seen: int | None = None


def answers_of_model(model: coding.CodingModel) -> Answered:
    """The answers that a model has learned from."""
    n, n_set_aside = len(model.answers), sum(event.n_set_aside for event in model.history)
    return Answered(coding.summarise(model.labels, model.Y), n + n_set_aside, n, n_set_aside)


def answers_of_table(quality: coding.Evaluation, table: coding.CodedAnswers) -> Answered:
    """The answers of a table on which a model was evaluated."""
    summary = coding.summarise(quality.labels, quality.Y)
    return Answered(summary, table.n_rows, len(table.codes), table.n_set_aside)


def counts_table(columns: Mapping[str, Answered], more: Sequence[Row] = ()) -> Table:
    """Numbers of answers, codes and combinations, in one column for each set of answers."""
    found = columns.values()
    counts: dict[str, Callable[[Answered], str]] = {
        "rows": lambda a: f"{a.n_rows:,}",
        "coded answers": lambda a: f"{a.n_coded:,}",
        "rows set aside, as nobody has coded them": lambda a: f"{a.n_set_aside:,}",
        NEVER_SEEN: lambda a: "-" if a.n_never_seen is None else f"{a.n_never_seen:,}",
        "codes": lambda a: f"{len(a.summary.labels):,}",
        "codes an answer, on average": lambda a: f"{a.summary.cardinality:.2f}",
        "answers to which no code applies": lambda a: f"{a.summary.n_without_code:,}",
        "distinct combinations of codes": lambda a: f"{a.summary.n_labelsets:,}",
        "combinations seen once": lambda a: f"{a.summary.n_seen_once:,}",
    }
    if all(a.n_never_seen is None for a in found):
        del counts[NEVER_SEEN]
    rows = ((name, *map(count, found)) for name, count in counts.items())
    head = ("what", *columns) if len(columns) > 1 else ("what", "number")
    return Table("counts", "Answers, codes and combinations", head, (*rows, *more))


def codes_table(columns: Mapping[str, Answered]) -> Table:
    """How many answers carry each code, the most frequent code of the first column first."""
    first = next(iter(columns.values())).summary.labels
    rows = []
    for name in sorted(first, key=lambda name: (-first[name], name)):
        counts = [(a.summary.labels.get(name, 0), a.n_coded) for a in columns.values()]
        cells = [cell for count, n in counts for cell in (f"{count:,}", percent(count / n, 1))]
        rows.append((visible(name), *cells))
    head = ("code", *(text for name in columns for text in (name, "share")))
    return Table("code-counts", "Codes and how many answers carry them", head, tuple(rows))


def measures_table(scores: Iterable[coding.Score], digits: int = 3) -> Table:
    """Every measure with its interval and its meaning."""
    rows = []
    for score in scores:
        value, low, high = (f"{x:.{digits}f}" for x in (score.value, score.low, score.high))
        name = Entry(score.name, under=MEASURES[score.key].direction)
        rows.append((name, Entry(value, under=f"{low} to {high}"), MEANINGS[score.key]))
    return Table(
        key="measures",
        title="Measures, with their 95 % intervals",
        head=("measure", "value", "what it is"),
        rows=tuple(rows),
        notes=(
            "A label is the decision whether a code applies to an answer; it is right if people "
            "decided the same.",
            "Intervals come from drawing the answers again a thousand times: with other answers of "
            "the same kind, values like these could have come out.",
        ),
    )


def triage_table(
    rows: Iterable[coding.TriageRow], measure: str, human_accuracy: float = 1.0
) -> Table:
    """What is coded automatically up to which theta, and how well; the chosen line is bold."""
    rows = list(rows)
    target = " Chosen: the line that holds the target." * any(row.chosen for row in rows)
    return Table(
        key="triage",
        title="Triage: the share of the machine and its accuracy",
        head=("theta up to", "auto", "right", "combined"),
        rows=tuple(
            (
                Entry(theta_number(row.threshold), row.chosen, "chosen" if row.chosen else ""),
                Entry(percent(row.share, 1), row.chosen, f"{row.n_auto:,}"),
                Entry(percent(row.accuracy, 1), row.chosen, percent_range(row.low, row.high)),
                Entry(percent(row.combined, 1), row.chosen),
            )
            for row in rows
        ),
        notes=(
            f"Auto: answers that the machine codes. Right: {MEASURED[measure]}, among these; its "
            "95 % interval holds the true share in 95 of 100 such cases.",
            "Combined: the same among all answers, if people are right in "
            f"{exact_percent(human_accuracy)} of the rest.{target}",
        ),
    )


def calibration_table(found: Calibration) -> Table:
    """Expected and observed wrong labels of each group of answers."""
    arrays = (found.expected, found.observed, found.counts, found.lower, found.upper)
    groups = zip(*(array.tolist() for array in arrays), strict=True)
    return Table(
        key="calibration",
        title="Wrong labels that theta expects, and those observed with 95 % intervals",
        head=("expected", "observed", "agree"),
        rows=tuple(
            (
                Entry(percent(expected, 2), under=count_noun(count, "answer")),
                Entry(percent(observed, 2), under=percent_range(low, high, 2)),
                "yes" if low <= expected <= high else "no",
            )
            for expected, observed, count, low, high in groups
        ),
        notes=(
            "Each line is a group of answers of similar theta. Expected: their mean theta. Agree: "
            "whether what is expected lies in the interval of what is observed.",
        ),
    )


def labels_table(scores: Iterable[coding.LabelScore], unknown: Iterable[str]) -> Table:
    """How well each code is predicted, from the worst to the best."""
    strange = set(unknown)
    # A code that nobody gave was not predicted badly: it goes to the end.
    ordered = sorted(scores, key=lambda score: score.n_true + score.n_pred == 0)
    return Table(
        key="labels",
        title="Codes, those that are predicted worst first",
        head=("code", "people", "machine", "both", "precision", "recall", "F"),
        rows=tuple(
            (
                Entry(visible(score.name), under="unknown to the model" * (score.name in strange)),
                *(f"{count:,}" for count in (score.n_true, score.n_pred, score.n_both)),
                f"{score.precision:.3f}" if score.n_pred else "-",
                f"{score.recall:.3f}" if score.n_true else "-",
                f"{score.f:.3f}" if score.n_true + score.n_pred else "-",
            )
            for score in ordered
        ),
        notes=(
            "People, machine, both: answers to which people gave the code, the machine did, and "
            "both did.",
            "Precision: of the answers that got the code from the machine, the share that people "
            "gave it to. Recall: of the answers that people gave the code to, the share that the "
            "machine found. F: a balance of both, 1 if all is right.",
        ),
    )


def confusions_table(found: Iterable[coding.Confusion]) -> Table:
    """Codes that were given instead of others."""
    title = "Codes given in place of others, the most frequent first"
    head = ("people gave", "the machine gave instead", "answers")
    rows = ((visible(pair.missed), visible(pair.predicted), f"{pair.count:,}") for pair in found)
    return Table("confusions", title, head, tuple(rows))


def history_table(history: Iterable[coding.Event]) -> Table:
    """What happened to a model."""
    return Table(
        key="history",
        title="Steps in the life of the model, the first one first",
        head=("time", "step", "file", "joined", "answers", "codes", "all right", "labels right"),
        rows=tuple(
            (
                Entry(readable_time(event.time), under=f"nldd {visible(event.version)}"),
                visible(event.action),
                visible(event.file),
                Entry(f"{event.n_added:,}", under=f"{event.n_set_aside:,} set aside"),
                f"{event.n_answers:,}",
                Entry(f"{event.n_labels:,}", under=f"{event.n_labelsets:,} combinations"),
                percent(event.subset_accuracy, 1),
                percent(event.hamming_accuracy, 1),
            )
            for event in history
        ),
        notes=(
            "All right: answers with all codes right; labels right: decisions on single codes. "
            "Both by cross-validation after the step.",
        ),
    )


def readable_time(time: str) -> str:
    """A time of a model's history, such as 2024-05-17 08:30:00 UTC."""
    return visible(time.replace("T", " ").replace("Z", " UTC"))


def files_table(model: coding.CodingModel, files: Iterable[tuple[str, StudyFile]] = ()) -> Table:
    """Checksums of files, each with what it is, and of those that a model has learned from."""
    learned = (
        (f"answers of nldd {visible(event.action)}", StudyFile(event.file, event.sha256))
        for event in model.history
    )
    rows = ((visible(f.name), what, visible(f.sha256)) for what, f in (*files, *learned))
    note = "A checksum changes with every byte of a file: equal ones mean that it is the same."
    head = ("file", "what it is", "sha256")
    return Table("files", "Files and their checksums", head, tuple(rows), notes=(note,))


def versions_table(versions: Mapping[str, object]) -> Table:
    """Programs that a model or a report was made with."""
    rows = tuple((visible(name), visible(str(version))) for name, version in versions.items())
    return Table("versions", "Programs and their versions", ("program", "version"), rows)
