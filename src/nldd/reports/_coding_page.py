"""The reports of ``nldd fit`` and ``nldd evaluate``: one HTML file each.

Overview
--------
Records become words (``_page_words``) and tables (``_page_tables``, ``_page_examples``), these
become the sections that both reports share (``_page_sections``), and the sections a page.
"""

from pathlib import Path

from nldd import __version__
from nldd._files import write_atomically
from nldd.coding import (
    UPDATED,
    CodedAnswers,
    CodingModel,
    Evaluation,
    Kept,
    Triage,
    checksum,
    n_learned,
    now,
    triage_rows,
)
from nldd.displays import RiskCoverageDisplay
from nldd.reports import Page, Section, render_page
from nldd.reports._coding_curve import MEASURED, curve
from nldd.reports._coding_sections import (
    calibration_section,
    codes_sections,
    evaluated_answers_section,
    examples_section,
    learned_answers_section,
    measures_section,
    provenance_sections,
    triage_section,
)
from nldd.reports._coding_tables import StudyFile
from nldd.reports._coding_words import (
    kept_paragraphs,
    promise_paragraphs,
    readable_time,
    short_percent,
    shown,
)

PRIVATE = "This page holds answers of respondents: keep it as you keep the answers themselves."
FOOT = f"Made by nldd {__version__}."


def write_fit_report(
    model: CodingModel, quality: Evaluation, made: Triage, model_path: Path, place: Path
) -> Path:
    """Write what a model has learned and how good it is as one HTML file.

    Parameters
    ----------
    model : CodingModel
    quality : Evaluation
        Of its out-of-fold predictions.
    made : Triage
    model_path, place : Path
        The saved model, and the file for the report.

    Returns
    -------
    Path
        `place`, where the file is whole or as it was before.
    """
    return _write(fit_page(model, quality, made, _study_file(model_path)), place)


def write_evaluation_report(
    model: CodingModel,
    quality: Evaluation,
    kept: Kept,
    answers: CodedAnswers,
    model_path: Path,
    table_path: Path,
    place: Path,
) -> Path:
    """Write how good a model's codes are on the coded answers of a table as one HTML file.

    Parameters
    ----------
    model : CodingModel
    quality : Evaluation
        Of the answers.
    kept : Kept
    answers : CodedAnswers
    model_path, table_path, place : Path
        The saved model, the table of the answers, and the file for the report.

    Returns
    -------
    Path
        `place`, where the file is whole or as it was before.
    """
    files = _study_file(model_path), _study_file(table_path)
    return _write(evaluation_page(model, quality, kept, answers, *files, now()), place)


def _study_file(path: Path) -> StudyFile:
    return StudyFile(path.name, checksum(path))


def _write(page: Page, place: Path) -> Path:
    write_atomically(place, render_page(page).encode("utf-8"))
    return place


def fit_page(model: CodingModel, quality: Evaluation, made: Triage, model_file: StudyFile) -> Page:
    """What a model has learned from and how good it is, as a page."""
    selection, n = made.selection, len(model.answers)
    automatic = "none yet" if selection.threshold is None else short_percent(selection.share)
    promise = (*promise_paragraphs(made), *((UPDATED,) if model.updated else ()))
    return Page(
        title=f"Coding by machine: {shown(model_file.name)}",
        subtitle=f"What a model learned from {n:,} coded answers, and how far it can be trusted. "
        f"{PRIVATE}",
        facts=(
            ("coded automatically", automatic),
            ("promised accuracy", short_percent(selection.target)),
            ("confidence", short_percent(selection.confidence)),
            ("coded answers", f"{n:,}"),
            ("codes", f"{len(model.labels):,}"),
        ),
        sections=(
            Section("What can be coded automatically", promise, id="answer"),
            learned_answers_section(model),
            measures_section(quality, _cross_validated(model)),
            triage_section(made.rows, curve(model, made), made.measure, made.human_accuracy),
            calibration_section(quality.calibration),
            *codes_sections(quality),
            examples_section(quality, model.answers, model),
            *provenance_sections(model, [("the model", model_file)]),
        ),
        foot=FOOT,
    )


def _cross_validated(model: CodingModel) -> str:
    n_folds = min(model.settings.n_folds, len(model.answers))
    return (
        "Each coded answer was coded by a model that had not seen it: the answers were dealt into "
        f"{n_folds} parts, and each part was coded by a model that learned from the others "
        "(cross-validation). So the numbers tell what to expect of new answers."
    )


def evaluation_page(
    model: CodingModel,
    quality: Evaluation,
    kept: Kept,
    answers: CodedAnswers,
    model_file: StudyFile,
    table_file: StudyFile,
    time: str,
) -> Page:
    """How good a model's codes are on the coded answers of a table, as a page."""
    n, name = len(answers.codes), shown(table_file.name)
    learned = n_learned(model, answers, table_file.sha256) > 0
    # A threshold that lets nothing through has no line of its own.
    chosen = kept.selection.threshold if kept.n_auto else None
    theta, right = quality.predictions.theta, quality.right(kept.measure)
    files = [("the model", model_file), ("the answers evaluated", table_file)]
    return Page(
        title=f"Codes of machine and people: {name}",
        subtitle=f"How well the model {shown(model_file.name)} codes {n:,} answers that people "
        f"have coded. {PRIVATE}",
        facts=(
            ("coded automatically", short_percent(kept.share)),
            ("of these right", "-" if kept.accuracy is None else short_percent(kept.accuracy)),
            ("promised accuracy", short_percent(kept.selection.target)),
            ("coded answers", f"{n:,}"),
            ("evaluated", readable_time(time)),
        ),
        sections=(
            Section("Whether the promise held", kept_paragraphs(kept, learned), id="answer"),
            evaluated_answers_section(model, quality, answers, name),
            measures_section(
                quality,
                f"The model coded the {n:,} answers of {name} that people have coded; its codes "
                "are compared with theirs.",
            ),
            triage_section(
                triage_rows(theta, right, chosen=chosen),
                evaluated_curve(quality, kept),
                kept.measure,
            ),
            calibration_section(quality.calibration),
            *codes_sections(quality),
            examples_section(quality, answers.answers, model, answers.rows),
            *provenance_sections(model, files),
        ),
        foot=FOOT,
    )


def evaluated_curve(quality: Evaluation, kept: Kept) -> RiskCoverageDisplay:
    """Accuracy of the evaluated answers against the share of them coded automatically."""
    return RiskCoverageDisplay.from_predictions(
        quality.predictions.theta,
        quality.right(kept.measure),
        target=kept.selection.target,
        chosen=None if kept.accuracy is None else (kept.share, kept.accuracy),
        measure=MEASURED[kept.measure],
    )
