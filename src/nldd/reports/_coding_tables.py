"""Tables of the coding reports: counts, measures, triage, codes, history, files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nldd._wording import count_noun, percent
from nldd.coding import Confusion, Event, LabelScore, Score, Summary, TriageRow
from nldd.displays import Calibration
from nldd.metrics import MEASURES
from nldd.reports import Entry, Row, Table
from nldd.reports._coding_words import (
    interval_words,
    readable_time,
    shown,
    theta_number,
)

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


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A file that a report is about.

    Attributes
    ----------
    name : str
    sha256 : str
    """

    name: str
    sha256: str


def counts_table(
    summaries: Mapping[str, Summary], facts: Sequence[tuple[str, Sequence[str]]]
) -> Table:
    """Numbers of answers, codes and combinations, in one column for each summary.

    The `facts` are further rows, which come first.
    """
    lines: list[tuple[str, list[str]]] = [
        ("codes", [f"{len(s.labels):,}" for s in summaries.values()]),
        ("codes an answer, on average", [f"{s.cardinality:.2f}" for s in summaries.values()]),
        ("answers to which no code applies", [f"{s.n_without_code:,}" for s in summaries.values()]),
        ("distinct combinations of codes", [f"{s.n_labelsets:,}" for s in summaries.values()]),
        ("combinations seen once", [f"{s.n_seen_once:,}" for s in summaries.values()]),
    ]
    rows = [*((name, *values) for name, values in facts), *((name, *v) for name, v in lines)]
    return Table("counts", "Answers, codes and combinations", ("what", *summaries), tuple(rows))


def codes_table(summaries: Mapping[str, tuple[Summary, int]]) -> Table:
    """How many answers carry each code, by summaries with their numbers of answers."""
    first = next(iter(summaries.values()))[0].labels
    ordered = sorted(first, key=lambda name: (-first[name], name))
    rows = []
    for name in ordered:
        counts = [(summary.labels.get(name, 0), n) for summary, n in summaries.values()]
        cells = [cell for count, n in counts for cell in (f"{count:,}", percent(count / n, 1))]
        rows.append((shown(name), *cells))
    return Table(
        key="code-counts",
        title="Codes and how many answers carry them",
        head=("code", *(head for name in summaries for head in (name, "share"))),
        rows=tuple(rows),
    )


def measures_table(scores: Iterable[Score]) -> Table:
    """Every measure with its interval and its meaning."""
    return Table(
        key="measures",
        title="Measures, with their 95 % intervals",
        head=("measure", "value", "what it is"),
        rows=tuple(
            (
                Entry(score.name, under=MEASURES[score.key].direction),
                Entry(f"{score.value:.3f}", under=f"{score.low:.3f} to {score.high:.3f}"),
                MEANINGS[score.key],
            )
            for score in scores
        ),
        notes=(
            "A label is the decision whether a code applies to an answer; it is right if people "
            "decided the same.",
            "Intervals come from drawing the answers again a thousand times: with other answers of "
            "the same kind, values like these could have come out.",
        ),
    )


def triage_table(rows: Iterable[TriageRow], title: str, notes: tuple[str, ...]) -> Table:
    """What is coded automatically up to which theta, and how well; the chosen line is bold."""
    return Table(
        key="triage",
        title=title,
        head=("theta up to", "auto", "right", "combined"),
        rows=tuple(_triage_cells(row) for row in rows),
        notes=notes,
    )


def _triage_cells(row: TriageRow) -> Row:
    bold = row.chosen
    return (
        Entry(theta_number(row.threshold), bold, "chosen" if bold else ""),
        Entry(percent(row.share, 1), bold, f"{row.n_auto:,}"),
        Entry(percent(row.accuracy, 1), bold, interval_words(row.low, row.high)),
        Entry(percent(row.combined, 1), bold),
    )


def calibration_table(found: Calibration) -> Table:
    """Expected and observed wrong labels of each group of answers."""
    columns = (found.expected, found.observed, found.counts, found.lower, found.upper)
    return Table(
        key="calibration",
        title="Wrong labels that theta expects, and those observed with 95 % intervals",
        head=("expected", "observed", "agree"),
        rows=tuple(
            (
                Entry(percent(expected, 2), under=count_noun(count, "answer")),
                Entry(percent(observed, 2), under=interval_words(low, high, 2)),
                "yes" if low <= expected <= high else "no",
            )
            for expected, observed, count, low, high in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ),
        notes=(
            "Each line is a group of answers of similar theta. Expected: their mean theta. Agree: "
            "whether what is expected lies in the interval of what is observed.",
        ),
    )


def labels_table(scores: Iterable[LabelScore], unknown: Iterable[str]) -> Table:
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
                Entry(shown(score.name), under="unknown to the model" * (score.name in strange)),
                f"{score.n_true:,}",
                f"{score.n_pred:,}",
                f"{score.n_both:,}",
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


def confusions_table(found: Iterable[Confusion]) -> Table:
    """Codes that were given instead of others."""
    return Table(
        key="confusions",
        title="Codes given in place of others, the most frequent first",
        head=("people gave", "the machine gave instead", "answers"),
        rows=tuple(
            (shown(pair.missed), shown(pair.predicted), f"{pair.count:,}") for pair in found
        ),
    )


def history_table(history: Iterable[Event]) -> Table:
    """What happened to a model."""
    return Table(
        key="history",
        title="Steps in the life of the model, the first one first",
        head=("time", "step", "file", "joined", "answers", "codes", "all right", "labels right"),
        rows=tuple(
            (
                Entry(readable_time(event.time), under=f"nldd {shown(event.version)}"),
                shown(event.action),
                shown(event.file),
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


def files_table(files: Iterable[tuple[str, StudyFile]]) -> Table:
    """Checksums of files, each with what it is."""
    return Table(
        key="files",
        title="Files and their checksums",
        head=("file", "what it is", "sha256"),
        rows=tuple((shown(file.name), what, shown(file.sha256)) for what, file in files),
        notes=(
            "A checksum changes with every byte of a file: equal ones mean that it is the same.",
        ),
    )
