"""Sections that the coding reports share."""

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version

import numpy as np

from nldd import __version__
from nldd._wording import count_noun
from nldd.coding import (
    Answers,
    CodedAnswers,
    CodingModel,
    Columns,
    Evaluation,
    TriageRow,
    summarise,
)
from nldd.displays import Calibration, CalibrationDisplay, RiskCoverageDisplay
from nldd.reports import Figure, Section, Table, svg
from nldd.reports._coding_curve import MEASURED
from nldd.reports._coding_examples import example_rows, examples_table
from nldd.reports._coding_tables import (
    StudyFile,
    calibration_table,
    codes_table,
    confusions_table,
    counts_table,
    files_table,
    history_table,
    labels_table,
    measures_table,
    triage_table,
)
from nldd.reports._coding_words import (
    calibration_words,
    listed_names,
    short_percent,
    shown,
)

LONGEST_NOTE = 400
ASIDE = "rows set aside, as nobody has coded them"
NEVER_SEEN = "answers with a combination that the model has never seen"
LIBRARIES = ("numpy", "scipy", "scikit-learn")
EXAMPLES = {
    "surest": "The surest of those that are right",
    "unsure": "The least sure of all: for people to look at",
    "wrong": "The surest of those that are wrong",
}


def learned_answers_section(model: CodingModel) -> Section:
    """What the answers of a model look like."""
    summary, n = summarise(model.labels, model.Y), len(model.answers)
    aside = sum(event.n_set_aside for event in model.history)
    facts = [
        ("rows", [f"{n + aside:,}"]),
        ("coded answers", [f"{n:,}"]),
        (ASIDE, [f"{aside:,}"]),
    ]
    return Section(
        "The coded answers",
        (_read_columns(model.columns),),
        (counts_table({"number": summary}, facts), codes_table({"answers": (summary, n)})),
        id="data",
    )


def evaluated_answers_section(
    model: CodingModel, quality: Evaluation, answers: CodedAnswers, name: str
) -> Section:
    """What evaluated answers look like, beside those of the model."""
    # The counts are those of codes alone.
    here = summarise(quality.labels, quality.Y)
    learned, n, n_learned = summarise(model.labels, model.Y), len(answers.codes), len(model.answers)
    aside = sum(event.n_set_aside for event in model.history)
    facts = [
        ("rows", [f"{answers.n_rows:,}", f"{n_learned + aside:,}"]),
        ("coded answers", [f"{n:,}", f"{n_learned:,}"]),
        (ASIDE, [f"{answers.n_set_aside:,}", f"{aside:,}"]),
        (NEVER_SEEN, [f"{n_never_seen(model, quality):,}", "-"]),
    ]
    said = [_read_columns(model.columns), *(shown(note, LONGEST_NOTE) for note in answers.notes)]
    if quality.unknown_labels:
        said.append(
            "Codes that the model does not know, so that it cannot give them: "
            f"{listed_names(quality.unknown_labels)}. They count as missed."
        )
    return Section(
        "The coded answers",
        tuple(said),
        (
            counts_table({"here": here, "the model's own": learned}, facts),
            codes_table({"here": (here, n), "the model's own": (learned, n_learned)}),
        ),
        id="data",
    )


def n_never_seen(model: CodingModel, quality: Evaluation) -> int:
    """Answers with a combination of codes that no answer of the model has."""
    unknown = len(quality.labels) - quality.n_known
    known = {row.tobytes() for row in np.pad(model.Y, ((0, 0), (0, unknown)))}
    return sum(row.tobytes() not in known for row in quality.Y)


def _read_columns(columns: Columns) -> str:
    parts = [
        (f"text of {listed_names(columns.text)}", columns.text),
        (f"numbers of {listed_names(columns.numeric)}", columns.numeric),
        (f"categories of {listed_names(columns.categorical)}", columns.categorical),
    ]
    read = ", the ".join(said for said, names in parts if names)
    codes = columns.codes
    where = (
        f"the column {listed_names(codes.names)}"
        if codes.listed
        else f"{count_noun(len(codes.names), 'column')} of yes and no, one for each code"
    )
    return f"The model reads the {read}. The codes that people gave stand in {where}."


def measures_section(quality: Evaluation, how: str) -> Section:
    """All measures, after a sentence on where they come from."""
    tables = (measures_table(quality.scores),)
    return Section("How good the codes are", (how,), tables, id="measures")


def triage_section(
    rows: Iterable[TriageRow],
    display: RiskCoverageDisplay,
    measure: str,
    human_accuracy: float = 1.0,
) -> Section:
    """What may be coded automatically: as a table and as a curve."""
    said = (
        "The surest answers go to the machine and the others to people. The further down the "
        "table, the more the machine codes, and as a rule the more errors it makes. Theta says how "
        "sure it is of an answer: the share of labels that it expects to be wrong, so that a small "
        "theta is a sure one.",
    )
    notes = (
        f"Auto: answers that the machine codes. Right: {MEASURED[measure]}, among these; the 95 % "
        "interval below it holds the true share in 95 of 100 such cases.",
        "Combined: the same among all answers, if people are right in "
        f"{short_percent(human_accuracy)} of the rest.",
    )
    caption = (
        "Accuracy of the automatic codes against their share. At each point so many of the "
        "answers, the surest first, are coded automatically, and so many of these are right. The "
        "left end stands on a few answers, so it may jump."
    )
    alt = (
        f"Risk-coverage curve: {MEASURED[measure]} falls or rises with the share of answers coded "
        "automatically; the numbers are in the table above."
    )
    picture = Figure("coverage", caption, svg(display.plot().figure_, "coverage"), alt)
    table = triage_table(rows, "Triage: the share of the machine and its accuracy", notes)
    return Section("By machine or by people", said, (table,), (picture,), "triage")


def calibration_section(found: Calibration) -> Section:
    """Whether theta keeps its word, as a sentence, a table and a plot."""
    display = CalibrationDisplay(
        found.expected, found.observed, found.counts, found.lower, found.upper
    )
    caption = (
        "Wrong labels observed against those expected. Each point is a group of answers of similar "
        "theta, with its 95 % interval. On the dashed line as many labels are wrong as theta "
        "expects."
    )
    alt = "Observed against expected share of wrong labels; the numbers are in the table above."
    picture = Figure("calibration", caption, svg(display.plot().figure_, "calibration"), alt)
    return Section(
        "Whether theta can be believed",
        calibration_words(found),
        (calibration_table(found),),
        (picture,),
        "calibration",
    )


def codes_sections(quality: Evaluation) -> tuple[Section, Section]:
    """How well each code is predicted, and what is taken for what."""
    table = labels_table(quality.by_label, quality.unknown_labels)
    confused = (
        "Where people gave one code and the machine another one to the same answer, the two may "
        "mean nearly the same, or one may be the better choice: such answers are worth a look."
        if quality.confusions
        else "In no answer did the machine give one code in place of another."
    )
    pairs = (confusions_table(quality.confusions),) if quality.confusions else ()
    return (
        Section("Code by code", tables=(table,), id="labels"),
        Section("Codes taken for others", (confused,), pairs, id="confusions"),
    )


def examples_section(
    quality: Evaluation,
    answers: Answers,
    model: CodingModel,
    numbers: Sequence[int] | None = None,
) -> Section:
    """Predictions with what speaks for them; `numbers` are those of the rows in their table."""
    said = (
        "The machine gives an answer the codes of a coded answer that is near to it in words and "
        "whose codes fit. The last column shows that answer: it is the reason for the codes.",
    )
    tables: list[Table] = []
    for key, rows in example_rows(quality, answers).items():
        if rows:
            title = EXAMPLES[key]
            tables.append(examples_table(key, title, rows, quality, answers, model, numbers))
    return Section("Examples", said, tuple(tables), id="examples")


def provenance_sections(
    model: CodingModel, files: Sequence[tuple[str, StudyFile]]
) -> tuple[Section, Section]:
    """What happened to a model; and files and versions, by which a report can be checked."""
    history = (
        Section("History of the model", tables=(history_table(model.history),), id="history")
        if model.history
        else Section("History of the model", ("No step is recorded in it.",), id="history")
    )
    learned = [
        (f"answers of nldd {shown(event.action)}", StudyFile(event.file, event.sha256))
        for event in model.history
    ]
    versions = Table(
        key="versions",
        title="Programs and their versions",
        head=("program", "version"),
        rows=(
            ("nldd", __version__),
            ("Python", platform.python_version()),
            *((name, version(name)) for name in LIBRARIES),
        ),
    )
    return (
        history,
        Section(
            "Versions and checksums",
            tables=(files_table([*files, *learned]), versions),
            id="provenance",
        ),
    )
