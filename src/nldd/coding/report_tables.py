"""Tables of the coding reports, for terminals and pages: counts, measures, triage, codes, files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nldd.coding.calibration import Calibration
from nldd.coding.codebook import Codebook
from nldd.coding.evaluation import (
    AnswerScore,
    Confusion,
    EvaluatedAnswers,
    LabelScore,
    ScoreSummary,
    Triage,
    TriageRow,
    summarise,
)
from nldd.coding.guarantee_text import MEASURED, SURE
from nldd.coding.model import CodingModel, Event
from nldd.coding.training import FitResult
from nldd.coding.wording import doubt_number, exact_percent, percent_range
from nldd.metrics._measures import MEASURES
from nldd.present.table import Row, Table, TableEntry, tabulate
from nldd.present.text import count_noun, percent, visible

LONGEST_DESCRIPTION = 60
NONE_NOTE = (
    "None: not proven. The test begins with the surest answers and ends where it fails, so that a "
    "few errors among the very first are enough, even if more looks right further down."
)
FEW_MEASURES = ("subset_accuracy", "hamming_loss", "f_measure", "micro_f")
MORE_MEASURES = "All other measures, with their 95 % intervals"
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
}
for name, over in (("micro", f"over {MICRO}"), ("macro", f"of {MACRO}")):
    MEANINGS[f"{name}_f"] = f"balance of precision and recall {over}"
    MEANINGS[f"{name}_precision"] = f"share of given codes that are right, {over}"
    MEANINGS[f"{name}_recall"] = f"share of people's codes that were found, {over}"


CHANCE_NOTE = {
    "chance": (
        "Chance: how likely the machine takes it that all codes of an answer are right. It learned "
        "that from answers that it had coded rightly and wrongly.",
    ),
    "theta": (),
}


class Answered(NamedTuple):
    """Coded answers of a table or of a model, in numbers."""

    summary: ScoreSummary
    n_rows: int
    n_coded: int
    n_set_aside: int
    n_never_seen: int | None = None


def answers_of_model(model: CodingModel) -> Answered:
    n, n_set_aside = len(model.answers), sum(event.n_set_aside for event in model.history)
    return Answered(summarise(model.shown, model.Y), n + n_set_aside, n, n_set_aside)


def answers_of_table(
    summary: ScoreSummary, table: EvaluatedAnswers | FitResult, n_never_seen: int | None = None
) -> Answered:
    return Answered(summary, table.n_rows, table.n_coded, table.n_set_aside, n_never_seen)


def counts_table(answers: Mapping[str, Answered], more: Sequence[Row] = ()) -> Table:
    """Numbers of answers, codes and combinations, in one column for each set of answers."""
    counts: dict[str, Callable[[Answered], str]] = {
        "rows": lambda a: f"{a.n_rows:,}",
        "coded answers": lambda a: f"{a.n_coded:,}",
        "rows set aside, as nobody has coded them": lambda a: f"{a.n_set_aside:,}",
        "answers with a combination that the model has never seen": lambda a: (
            "-" if a.n_never_seen is None else f"{a.n_never_seen:,}"
        ),
        "codes": lambda a: f"{len(a.summary.labels):,}",
        "codes an answer, on average": lambda a: f"{a.summary.cardinality:.2f}",
        "answers to which no code applies": lambda a: f"{a.summary.n_without_code:,}",
        "distinct combinations of codes": lambda a: f"{a.summary.n_labelsets:,}",
        "combinations seen once": lambda a: f"{a.summary.n_seen_once:,}",
    }
    rows = ((name, *map(count, answers.values())) for name, count in counts.items())
    known = (row for row in rows if set(row[1:]) != {"-"})
    head = ("what", *answers) if len(answers) > 1 else ("what", "number")
    return Table("counts", "Answers, codes and combinations", head, (*known, *more))


def codes_table(answers: Mapping[str, Answered]) -> Table:
    """How many answers carry each code, the most frequent code of the first column first."""
    first = next(iter(answers.values())).summary.labels
    rows = []
    for name in sorted(first, key=lambda name: (-first[name], name)):
        counts = [(a.summary.labels.get(name, 0), a.n_coded) for a in answers.values()]
        cells = [cell for count, n in counts for cell in (f"{count:,}", percent(count / n, 1))]
        rows.append((visible(name), *cells))
    head = ("code", *(text for name in answers for text in (name, "share")))
    return Table("code-counts", "Codes and how many answers carry them", head, tuple(rows))


def codebook_table(book: Codebook, counts: Mapping[str, int]) -> Table:
    """Codes in their order, those that have become others last."""
    return tabulate(
        "codebook",
        "Codes, what they are called and what they mean",
        book.entries,
        {
            "code": lambda e: visible(e.code),
            "name": lambda e: visible(e.name),
            "description": lambda e: visible(e.description, LONGEST_DESCRIPTION),
            "merged into": lambda e: visible(e.merged_into),
            "answers": lambda e: f"{counts.get(e.code, 0):,}",
        },
    )


def measures_tables(scores: Iterable[AnswerScore]) -> tuple[Table, Table]:
    """The few measures that most people need, and the others folded away."""
    scores = list(scores)
    few = measures_table(score for score in scores if score.key in FEW_MEASURES)
    more = measures_table(score for score in scores if score.key not in FEW_MEASURES)
    return few, replace(more, key="more-measures", title=MORE_MEASURES, notes=(), folded=True)


def measures_table(scores: Iterable[AnswerScore], digits: int = 3) -> Table:
    def value(score: AnswerScore) -> TableEntry:
        found, low, high = (f"{x:.{digits}f}" for x in (score.value, score.low, score.high))
        return TableEntry(found, under=f"{low} to {high}")

    return tabulate(
        "measures",
        "Measures, with their 95 % intervals",
        scores,
        {
            "measure": lambda s: TableEntry(s.name, under=MEASURES[s.key].direction),
            "value": value,
            "what it is": lambda s: MEANINGS.get(s.key, ""),  # a measure may be new
        },
        "A label is the decision whether a code applies to an answer; it is right if people "
        "decided the same.",
        "Intervals come from drawing the answers again a thousand times: with other answers of "
        "the same kind, values like these could have come out.",
    )


def targets_table(triage: Triage) -> Table:
    """How much can be coded automatically at which target, for people to choose from."""
    confidence = exact_percent(triage.selection.confidence)
    return tabulate(
        "targets",
        "How much can be coded automatically, by the accuracy that is promised",
        triage.targets,
        {
            "promised": lambda t: TableEntry(
                exact_percent(t.target), t.chosen, "chosen" * t.chosen
            ),
            "auto": lambda t: TableEntry(percent(t.share, 1) if t.n_auto else "none", t.chosen),
            "of the tested answers": lambda t: TableEntry(
                f"{t.n_auto:,} of {t.n_answers:,}", t.chosen
            ),
        },
        f"Promised: {MEASURED[triage.measure]}, with {confidence} confidence in each line by "
        "itself. That one of the lines is wrong is more likely, so where you can, name the target "
        "before you look.",
        *[NONE_NOTE] * any(not t.n_auto for t in triage.targets),
    )


def triage_table(
    rows: Iterable[TriageRow], measure: str, rank_by: str, human_accuracy: float = 1.0
) -> Table:
    """What is coded automatically up to which doubt, and how well; the chosen line is bold."""
    rows = list(rows)
    target = " Chosen: the line that holds the target." * any(row.chosen for row in rows)
    return tabulate(
        "triage",
        "Triage: the share of the machine and its accuracy",
        rows,
        {
            SURE[rank_by]: lambda r: TableEntry(
                doubt_number(r.threshold, rank_by), r.chosen, "chosen" * r.chosen
            ),
            "auto": lambda r: TableEntry(percent(r.share, 1), r.chosen, f"{r.n_auto:,}"),
            "right": lambda r: TableEntry(
                percent(r.accuracy, 1), r.chosen, percent_range(r.low, r.high)
            ),
            "combined": lambda r: TableEntry(percent(r.combined, 1), r.chosen),
        },
        f"Auto: answers that the machine codes. Right: {MEASURED[measure]}, among these; its "
        "95 % interval holds the true share in 95 of 100 such cases.",
        "Combined: the same among all answers, if people are right in "
        f"{exact_percent(human_accuracy)} of the rest.{target}",
        *CHANCE_NOTE[rank_by],
    )


def calibration_table(found: Calibration) -> Table:
    arrays = (found.expected, found.observed, found.counts, found.lower, found.upper)
    rows = (
        (
            TableEntry(percent(expected, 2), under=count_noun(count, "answer")),
            TableEntry(percent(observed, 2), under=percent_range(low, high, 2)),
            "yes" if low <= expected <= high else "no",
        )
        for expected, observed, count, low, high in zip(*(a.tolist() for a in arrays), strict=True)
    )
    title = "Wrong labels that theta expects, and those observed with 95 % intervals"
    note = (
        "Each line is a group of answers of similar theta. Expected: their mean theta. Agree: "
        "whether what is expected lies in the interval of what is observed."
    )
    head = ("expected", "observed", "agree")
    return Table("calibration", title, head, tuple(rows), notes=(note,))


def labels_table(scores: Iterable[LabelScore], unknown: Iterable[str]) -> Table:
    """How well each code is predicted, from the worst to the best."""
    remark = dict.fromkeys(unknown, "unknown to the model")
    return tabulate(
        "labels",
        "Codes, those that are predicted worst first",
        # A code that nobody gave was not predicted badly: it goes to the end.
        sorted(scores, key=lambda s: s.n_true + s.n_pred == 0),
        {
            "code": lambda s: TableEntry(visible(s.name), under=remark.get(s.name, "")),
            "people": lambda s: f"{s.n_true:,}",
            "machine": lambda s: f"{s.n_pred:,}",
            "both": lambda s: f"{s.n_both:,}",
            "precision": lambda s: f"{s.precision:.3f}" if s.n_pred else "-",
            "recall": lambda s: f"{s.recall:.3f}" if s.n_true else "-",
            "F": lambda s: f"{s.f:.3f}" if s.n_true + s.n_pred else "-",
        },
        "People, machine, both: answers to which people gave the code, the machine did, and "
        "both did.",
        "Precision: of the answers that got the code from the machine, the share that people "
        "gave it to. Recall: of the answers that people gave the code to, the share that the "
        "machine found. F: a balance of both, 1 if all is right.",
    )


def confusions_table(found: Iterable[Confusion]) -> Table:
    return tabulate(
        "confusions",
        "Codes given in place of others, the most frequent first",
        found,
        {
            "people gave": lambda pair: visible(pair.missed),
            "the machine gave instead": lambda pair: visible(pair.predicted),
            "answers": lambda pair: f"{pair.count:,}",
        },
    )


def history_table(history: Iterable[Event]) -> Table:
    return tabulate(
        "history",
        "Steps in the life of the model, the first one first",
        history,
        {
            "time": lambda e: TableEntry(readable_time(e.time), under=f"nldd {visible(e.version)}"),
            "step": lambda e: visible(e.action),
            "file": lambda e: visible(e.file),
            "joined": lambda e: TableEntry(f"{e.n_added:,}", under=f"{e.n_set_aside:,} set aside"),
            "answers": lambda e: f"{e.n_answers:,}",
            "codes": lambda e: TableEntry(
                f"{e.n_labels:,}", under=f"{e.n_labelsets:,} combinations"
            ),
            "all right": lambda e: percent(e.subset_accuracy, 1),
            "labels right": lambda e: percent(e.hamming_accuracy, 1),
        },
        "All right: answers with all codes right; labels right: decisions on single codes. "
        "Both by cross-validation after the step.",
    )


def readable_time(time: str) -> str:
    """A time of a model's history, such as 2024-05-17 08:30:00 UTC."""
    return visible(time.replace("T", " ").replace("Z", " UTC"))


def files_table(model: CodingModel, files: Mapping[str, tuple[str, str]] = {}) -> Table:
    """Names and checksums of files, by what they are, and of those a model has learned from."""
    learned = ((f"read by nldd {visible(e.action)}", (e.file, e.sha256)) for e in model.history)
    rows = ((visible(n), what, visible(sha)) for what, (n, sha) in (*files.items(), *learned))
    note = "A checksum changes with every byte of a file: equal ones mean that it is the same."
    head = ("file", "what it is", "sha256")
    return Table("files", "Files and their checksums", head, tuple(rows), notes=(note,))


def versions_table(versions: Mapping[str, object]) -> Table:
    rows = tuple((visible(name), visible(str(version))) for name, version in versions.items())
    return Table("versions", "Programs and their versions", ("program", "version"), rows)
