"""The reports of ``nldd fit`` and ``nldd evaluate``: one HTML file each, from shared sections."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd import __version__
from nldd._files import write_atomically
from nldd._labels import as_label_sets
from nldd._versions import library_versions
from nldd.coding import report_tables as tables
from nldd.coding.agreement_text import suspects_table
from nldd.coding.answers import Answers
from nldd.coding.calibration import CalibrationDisplay, RiskCoverageDisplay
from nldd.coding.columns import Columns
from nldd.coding.evaluation import (
    EvaluatedAnswers,
    Evaluation,
    GuaranteeCheck,
    Triage,
    summarise,
    triage_rows,
)
from nldd.coding.frequencies_text import bias_table
from nldd.coding.frequency_estimates import code_bias
from nldd.coding.guarantee_text import MEASURED, check_paragraphs, drawn_notes, guarantee_paragraphs
from nldd.coding.model import CodingModel, checksum, current_time
from nldd.coding.report_text import (
    calibration_sentence,
    columns_sentence,
    methods_paragraph,
    unknown_codes,
)
from nldd.coding.selective import Selection
from nldd.coding.suspects import find_suspects
from nldd.coding.wording import chance_in_words, exact_percent
from nldd.estimators._explanation import theta_in_words
from nldd.present.page import Page, Section, draw, render_page, save_figure
from nldd.present.table import Table, TableEntry, tabulate
from nldd.present.text import percent, visible

LONGEST_ANSWER, LONGEST_NOTE = 200, 400
N_EXAMPLES, N_SUSPECTS = 3, 15
EXAMPLES = {
    "surest": "The surest of those that are right",
    "unsure": "The least sure of all: for people to look at",
    "wrong": "The surest of those that are wrong",
}
PRIVATE = "This page holds answers of respondents: keep it as you keep the answers themselves."
FOOT = f"Made by nldd {__version__}."
ASSUMED = (
    "This holds for answers to the same question, of the same kind of people, coded by the same "
    "rules: as if the new answers and these had been drawn at random from all of them."
)
ABOUT_BIAS = (
    "Counting the machine's codes gives shares that are too large for some codes and too small for "
    "others. nldd frequencies corrects them by answers that people have checked."
)
ABOUT_SUSPECTS = (
    "Answers that people coded unlike others that say much the same. Where they slipped, the model "
    "has learned the slip: correct the codes, and let it learn again."
)
CITED = (
    "As these numbers are. Cite the paper of the method, and say who coded the answers, by which "
    "rules, and how far two people agree."
)
ABOUT_TRIAGE = (
    "The surest answers go to the machine and the others to people. The further down the table, "
    "the more the machine codes, and as a rule the more errors it makes. "
)
ABOUT_RANKING = {
    "chance": "How sure it is of an answer is told by the chance that all codes are right, which "
    "it has learned from its own right and wrong predictions.",
    "theta": "Theta says how sure it is of an answer: the share of labels that it expects to be "
    "wrong, so that a small theta is a sure one.",
}
ABOUT_CURVE = (
    "Accuracy of the automatic codes against their share. At each point so many of the answers, "
    "the surest first, are coded automatically, and so many of these are right. The left end "
    "stands on a few answers, so it may jump."
)
ABOUT_CALIBRATION = (
    "Wrong labels observed against those expected. Each point is a group of answers of similar "
    "theta, with its 95 % interval. On the dashed line as many labels are wrong as theta expects."
)
INDEPENDENT = (
    "What may be coded automatically does not depend on this: that comes from counting errors."
)
ABOUT_CONFUSIONS = (
    "Where people gave one code and the machine another one to the same answer, the two may "
    "mean nearly the same, or one may be the better choice: such answers are worth a look."
)
NO_CONFUSIONS = "In no answer did the machine give one code in place of another."
ABOUT_EXAMPLES = (
    "The machine gives an answer the codes of a coded answer that is near to it in words and "
    "whose codes fit. The last column shows that answer: it is the reason for the codes."
)

FloatArray = NDArray[np.float64]
StudyFile = tuple[str, str]  # its name and its checksum


def write_fit_report(
    model: CodingModel, quality: Evaluation, triage: Triage, model_path: Path, path: Path
) -> Path:
    """Write what a model has learned and how good it is as one HTML file.

    `quality` is that of its out-of-fold predictions. Returns `path`, where the file is whole or as
    it was before.
    """
    page = fit_page(model, quality.named(model.codebook), triage, _study_file(model_path))
    write_atomically(path, render_page(page).encode("utf-8"))
    return path


def _fit_title(model_name: str) -> str:
    return f"Coding by machine: {visible(model_name)}"


def is_fit_report(path: Path, model_path: Path) -> bool:
    """Whether a file is what :func:`write_fit_report` wrote about a model of that name."""
    try:
        found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
    return found is not None and unescape(found[1]) == _fit_title(model_path.name)


def write_evaluation_report(
    model: CodingModel,
    quality: Evaluation,
    kept: GuaranteeCheck,
    answers: EvaluatedAnswers,
    model_path: Path,
    table_path: Path,
    path: Path,
) -> Path:
    """Write how good a model's codes are on a table as one HTML file, whole or as it was before."""
    files = {"the model": _study_file(model_path), "the answers evaluated": _study_file(table_path)}
    named = quality.named(model.codebook)
    page = evaluation_page(model, named, kept, answers, files, current_time())
    write_atomically(path, render_page(page).encode("utf-8"))
    return path


def _study_file(path: Path) -> StudyFile:
    return path.name, checksum(path)


def fit_page(
    model: CodingModel, quality: Evaluation, triage: Triage, model_file: StudyFile
) -> Page:
    selection, n = triage.selection, len(model.answers)
    promised = selection.threshold is not None
    how = (
        "Each coded answer was coded by a model that had not seen it: the answers were dealt into "
        f"{model.n_folds} parts, and each part was coded by a model that learned "
        "from the others (cross-validation). So the numbers tell what to expect of new answers."
    )
    remarks = [ASSUMED] * promised + drawn_notes(model)
    promise = (*guarantee_paragraphs(triage), *remarks)
    targets = (tables.targets_table(triage),) if triage.targets else ()
    ranking, words = selection.rank_by, methods_paragraph(model, quality, triage)
    table = tables.triage_table(triage.rows, triage.measure, ranking, triage.human_accuracy)
    return Page(
        _fit_title(model_file[0]),
        f"What a model learned from {n:,} coded answers, and how far it can be trusted. {PRIVATE}",
        (
            ("target accuracy", exact_percent(selection.target)),
            ("coded automatically", percent(selection.share, 1) if promised else "none yet"),
            ("confidence", exact_percent(selection.confidence)),
            ("coded answers", f"{n:,}"),
            ("codes", f"{len(model.labels):,}"),
        ),
        (
            Section("What can be coded automatically", promise, targets, id="answer"),
            _data_section(model, {"answers": tables.answers_of_model(model)}),
            *_quality_sections(quality, how, table, curve(model, triage), ranking),
            _bias_section(model),
            _suspects_section(model),
            _examples_section(quality, model.answers[model.tested], model, ranking),
            Section("For the methods section of a paper", (CITED, words), id="methods"),
            *provenance_sections(model, {"the model": model_file}),
        ),
        FOOT,
    )


def evaluation_page(
    model: CodingModel,
    quality: Evaluation,
    kept: GuaranteeCheck,
    answers: EvaluatedAnswers,
    files: Mapping[str, StudyFile],
    time: str,
) -> Page:
    n, (model_file, table_file) = len(answers.codes), files.values()
    name, promise = visible(table_file[0]), kept.selection
    how = (
        f"The model coded the {n:,} answers of {name} that people have coded; its codes are "
        "compared with theirs."
    )
    summary = summarise(quality.labels, quality.Y)
    here = tables.answers_of_table(summary, answers, n_never_seen(model, quality))
    counts = {"here": here, "the model's own": tables.answers_of_model(model)}
    notes = [*(visible(note, LONGEST_NOTE) for note in answers.notes), *unknown_codes(quality)]
    # A limit that lets nothing through has no line of its own.
    limit, ranking = promise.limit if kept.n_auto else None, promise.rank_by
    doubt, right = quality.predictions.doubt(ranking), quality.right(kept.measure)
    rows = triage_rows(doubt, right, chosen=limit)
    table = tables.triage_table(rows, kept.measure, ranking)
    display = _curve(doubt, right, kept, kept)
    return Page(
        f"Codes of machine and people: {name}",
        f"How well the model {visible(model_file[0])} codes {n:,} answers that people have coded. "
        f"{PRIVATE}",
        (
            ("coded automatically", percent(kept.share, 1)),
            ("of these right", "-" if kept.accuracy is None else percent(kept.accuracy, 1)),
            ("promised accuracy", exact_percent(promise.target)),
            ("coded answers", f"{n:,}"),
            ("evaluated", tables.readable_time(time)),
        ),
        (
            Section("Whether the promise held", check_paragraphs(kept), id="answer"),
            _data_section(model, counts, notes),
            *_quality_sections(quality, how, table, display, ranking),
            _examples_section(quality, answers.answers, model, ranking, answers.answers.rows),
            *provenance_sections(model, files),
        ),
        FOOT,
    )


def n_never_seen(model: CodingModel, quality: Evaluation) -> int:
    """Answers with a combination of codes that no answer of the model has."""
    unknown = len(quality.labels) - quality.n_known
    known = {row.tobytes() for row in np.pad(model.Y, ((0, 0), (0, unknown)))}
    return sum(row.tobytes() not in known for row in quality.Y)


def curve(model: CodingModel, triage: Triage) -> RiskCoverageDisplay:
    """Accuracy against the share that is coded automatically, with the chosen threshold."""
    tested = model.evidence[model.tested]
    right = tested.right(model.Y[model.tested], triage.measure)
    doubt = tested.doubt(triage.selection.rank_by)
    return _curve(doubt, right, triage, triage.selection)


def _curve(
    doubt: FloatArray,
    right: FloatArray,
    promise: Triage | GuaranteeCheck,
    reached: Selection | GuaranteeCheck,
) -> RiskCoverageDisplay:
    chosen = None if reached.accuracy is None else (reached.share, reached.accuracy)
    target, measure = promise.selection.target, MEASURED[promise.measure]
    return RiskCoverageDisplay.from_predictions(
        doubt, right, target=target, chosen=chosen, measure=measure
    )


def save_curve(model: CodingModel, triage: Triage, path: Path) -> Path:
    """Draw the curve as SVG and PNG; `path` is their name, with or without one of the endings."""
    place, _ = curve_places(path)
    return save_figure(curve(model, triage).plot().figure_, place.parent, place.stem)[0]


def curve_places(path: Path) -> tuple[Path, Path]:
    """The files that :func:`save_curve` writes."""
    stem = path.with_suffix("") if path.suffix.lower() in (".svg", ".png") else path
    return stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")


def _data_section(
    model: CodingModel, answers: Mapping[str, tables.Answered], notes: Sequence[str] = ()
) -> Section:
    counts = tables.counts_table(answers), tables.codes_table(answers)
    about = (columns_sentence(model.columns), *notes)
    return Section("The coded answers", about, counts, id="data")


def _quality_sections(
    quality: Evaluation, how: str, triage: Table, display: RiskCoverageDisplay, rank_by: str
) -> Iterator[Section]:
    """Measures and how they came about, triage, calibration, and the codes one by one."""
    measures = tables.measures_tables(quality.scores)
    yield Section("How good the codes are", (how,), measures, id="measures")
    alt = (
        f"Risk-coverage curve: {display.measure} falls or rises with the share of answers coded "
        "automatically; the numbers are in the table above."
    )
    figure = draw(display, "coverage", ABOUT_CURVE, alt)
    about = (ABOUT_TRIAGE + ABOUT_RANKING[rank_by],)
    yield Section("By machine or by people", about, (triage,), (figure,), "triage")
    found = quality.calibration
    alt = "Observed against expected share of wrong labels; the numbers are in the table above."
    figure = draw(CalibrationDisplay(found), "calibration", ABOUT_CALIBRATION, alt)
    words, table = (calibration_sentence(found), INDEPENDENT), tables.calibration_table(found)
    yield Section("Whether theta can be believed", words, (table,), (figure,), "calibration")
    labels = tables.labels_table(quality.by_label, quality.unknown_labels)
    yield Section("Code by code", tables=(labels,), id="labels")
    pairs = (tables.confusions_table(quality.confusions),) if quality.confusions else ()
    about = (ABOUT_CONFUSIONS if pairs else NO_CONFUSIONS,)
    yield Section("Codes taken for others", about, pairs, id="confusions")


def _bias_section(model: CodingModel) -> Section:
    found = [replace(b, code=model.codebook.shown(b.code)) for b in code_bias(model)]
    return Section(
        "What the machine does to shares", (ABOUT_BIAS,), (bias_table(found),), id="bias"
    )


def _suspects_section(model: CodingModel) -> Section:
    found = find_suspects(model)
    said = ABOUT_SUSPECTS if found else "No answer is coded unlike its likes."
    first = (suspects_table(found[:N_SUSPECTS], model.codebook),) if found else ()
    more = f"The first {N_SUSPECTS} of {len(found):,}; nldd suspects lists all of them."
    rest = (more,) if len(found) > N_SUSPECTS else ()
    return Section("Where people may have slipped", (said, *rest), first, id="suspects")


def provenance_sections(
    model: CodingModel, files: Mapping[str, StudyFile]
) -> tuple[Section, Section]:
    """What happened to a model; and files and versions, by which a report can be checked."""
    history = (tables.history_table(model.history),) if model.history else ()
    empty = () if history else ("No step is recorded in it.",)
    origin = tables.files_table(model, files), tables.versions_table(library_versions())
    return (
        Section("History of the model", empty, history, id="history"),
        Section("Versions and checksums", tables=origin, id="provenance"),
    )


def _examples_section(
    quality: Evaluation,
    answers: Answers,
    model: CodingModel,
    rank_by: str,
    numbers: Sequence[int] | None = None,
) -> Section:
    """Predictions with what speaks for them; `numbers` are those of the rows in their table."""
    found, n_labels = quality.predictions, len(quality.labels)
    machine, people = as_label_sets(found.Y, model.shown), as_label_sets(quality.Y, quality.labels)
    n_wrong = np.rint((1 - quality.right("hamming")) * n_labels).astype(int)

    def sureness(row: int) -> TableEntry:
        # Words for a theta that was rounded to zero would divide by it.
        theta = max(float(found.theta[row]), 1e-6)
        in_words = theta_in_words(theta, quality.n_known)
        if found.chance is not None:
            return TableEntry(chance_in_words(float(found.chance[row])), under=in_words)
        number, words = in_words.split(": ", 1)
        return TableEntry(number, under=words)

    def machine_codes(row: int) -> TableEntry:
        wrong = f"{n_wrong[row]} wrong of {n_labels} labels" if n_wrong[row] else "all right"
        return TableEntry(_code_list(machine[row]), under=wrong)

    columns: dict[str, Callable[[int], TableEntry | str]] = {
        "how sure": sureness,
        "answer": lambda row: _answer_entry(
            answers, row, model.columns, [f"row {numbers[row]}"] if numbers else []
        ),
        "codes of the machine": machine_codes,
        "codes of people": lambda row: _code_list(people[row]),
        "taken from": lambda row: _answer_entry(model.answers, int(found.row[row]), model.columns),
    }
    examples = (
        tabulate(f"examples-{key}", EXAMPLES[key], rows, columns)
        for key, rows in example_rows(quality, answers, rank_by).items()
        if rows
    )
    return Section("Examples", (ABOUT_EXAMPLES,), tuple(examples), id="examples")


def example_rows(quality: Evaluation, answers: Answers, rank_by: str) -> dict[str, list[int]]:
    """Answers to show: the surest right ones, the least sure, and wrong ones that seemed sure."""
    right = quality.right("subset") == 1
    order = np.argsort(quality.predictions.doubt(rank_by), kind="stable")
    found = {"surest": order[right[order]], "unsure": order[::-1], "wrong": order[~right[order]]}
    return {key: _distinct(rows.tolist(), answers) for key, rows in found.items()}


def _distinct(rows: Sequence[int], answers: Answers) -> list[int]:
    """The first rows that do not say the same: a short answer may come a hundred times."""
    found: dict[object, int] = {}
    for row in rows:
        content = answers.texts[row] or (answers.categories[row], answers.numbers[row].tobytes())
        found.setdefault(content, row)
    return list(found.values())[:N_EXAMPLES]


def _code_list(names: Sequence[str]) -> str:
    return "; ".join(map(visible, names)) or "no code"


def _answer_entry(
    answers: Answers, row: int, columns: Columns, place: Sequence[str] = ()
) -> TableEntry:
    """The text of an answer, with its place and its other features in the second line."""
    numbers = zip(columns.numeric, answers.numbers[row].tolist(), strict=True)
    categories = zip(columns.categorical, answers.categories[row], strict=True)
    facts = [*place]
    facts += [f"{visible(name)} {value:g}" for name, value in numbers if not np.isnan(value)]
    facts += [f"{visible(name)} {visible(value)}" for name, value in categories if value]
    text = visible(answers.texts[row], LONGEST_ANSWER) or "(no text)"
    return TableEntry(text, under=", ".join(facts))
