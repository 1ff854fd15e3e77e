"""What fit, update and evaluate report: text, JSON, and one HTML page of the same results."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from nldd import __version__
from nldd._files import file_sha256, write_atomically
from nldd._labels import as_label_sets
from nldd._package import library_versions
from nldd.coding import evaluation, wording
from nldd.coding.answers import Answers
from nldd.coding.automation import Triage, triage_rows, triage_table
from nldd.coding.calibration import CalibrationDisplay, RiskCoverageDisplay
from nldd.coding.columns import Columns
from nldd.coding.evaluation import Evaluation, GuaranteeCheck
from nldd.coding.frequencies import Frequencies, bias_table, code_bias
from nldd.coding.guarantee import Selection
from nldd.coding.model import CodingModel, current_time
from nldd.coding.predictions import Predictions
from nldd.coding.suspects import find_suspects
from nldd.coding.training import FitResult
from nldd.estimators._explanation import theta_in_words
from nldd.present.page import Figure, Page, Section, draw, render_page
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import percent, visible, wrap

FIT_SCORES = ("subset_accuracy", "hamming_loss", "multilabel_accuracy", "f_measure", "micro_f")
LONGEST_ANSWER, LONGEST_NOTE = 200, 400
N_EXAMPLES, N_SUSPECTS = 3, 15
EXAMPLES = {
    "surest": "The surest of those that are right",
    "unsure": "The least sure of all: for people to look at",
    "wrong": "The surest of those that are wrong",
}
FOOT = f"Made by nldd {__version__}."

StudyFile = tuple[str, str]  # its name and its checksum
StudyFiles = Mapping[str, StudyFile]  # by what they are
Reached = Selection | GuaranteeCheck  # on answers of the model, and on others


@dataclass(frozen=True, eq=False)
class FitReport:
    """What a model has learned, how good it is, and how much it may code automatically.

    `step` is what made the model, if that is to be told.
    """

    model: CodingModel
    triage: Triage
    step: FitResult | None = None

    @cached_property
    def quality(self) -> Evaluation:
        """How good the predictions of its own answers are, each without itself."""
        return evaluation.evaluate_evidence(self.model)

    @property
    def is_update(self) -> bool:
        """True if answers have joined a model that was there."""
        return bool(self.model.history) and self.model.history[-1].action == "update"

    def __str__(self) -> str:
        said = self._joined() if self.is_update else self._learned()
        return wording.join_paragraphs(*said, str(self.triage))

    def _joined(self) -> Iterator[str]:
        """What joined the model."""
        *_, before, event = (self.model.history[0], *self.model.history)
        yield wrap(wording.fill_words("joined", event=event, before=before))

    def _learned(self) -> Iterator[str]:
        """What was understood of the table, and how good the model is."""
        model, step = self.model, self.step
        rows = (step.n_rows, step.n_set_aside) if step else ()
        yield wording.learned_text(model.columns, wording.count_codes(model.shown, model.Y, *rows))
        scores = {score.key: score for score in self.quality.scores}
        yield to_text(evaluation.measures_table(scores[key] for key in FIT_SCORES), columns=(0, 1))
        yield wrap(wording.fill_words("cross_validated", n_left_out=len(model.repeated)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        model, triage, step = self.model, self.triage.to_dict(), self.step
        if self.is_update:
            return {**triage, "history": [asdict(event) for event in model.history]}
        read = step and {"rows": step.n_rows, "coded": step.n_added, "set_aside": step.n_set_aside}
        return {
            "columns": asdict(model.columns),
            **(read or {}),
            "notes": step.notes if step else [],
            **wording.count_codes(model.labels, model.Y).to_dict(),
            "scores": [asdict(score) for score in self.quality.scores],
            "triage": triage,
        }

    def write(self, model_path: Path, path: Path) -> Path:
        """Write it as one HTML file, which is whole or as it was before."""
        return _write(self.page(_study_file(model_path)), path)

    def page(self, model_file: StudyFile) -> Page:
        """Make the page on a model of that name and checksum."""
        model, triage, quality = self.model, self.triage, self.quality
        selection, n = triage.selection, len(model.answers)
        share = "none yet" if selection.threshold is None else percent(selection.share, 1)
        facts = {
            "target accuracy": wording.exact_percent(selection.target),
            "coded automatically": share,
            "confidence": wording.exact_percent(selection.confidence),
            "coded answers": f"{n:,}",
            "codes": f"{len(model.labels):,}",
        }
        (targets, rows), notes = triage.tables(), wording.drawn_notes(model)
        about = _section("answer", [targets] * bool(targets.rows), triage=triage, notes=notes)
        measures = _section("fit_measures", id="measures", n_folds=model.n_folds)
        study: dict[str, Any] = {"model": model, "quality": quality, "found": selection}
        bias = [replace(b, code=model.codebook.shown(b.code)) for b in code_bias(model)]
        sections = (
            about,
            _data_section(model, {"answers": wording.model_counts(model)}),
            *_quality_sections(quality, measures, rows, selection, selection),
            _section("bias", [bias_table(bias)]),
            _suspects_section(model),
            _examples_section(quality, model, selection.rank_by),
            _section("methods", version=__version__, **study),
            *_provenance_sections(model, {"the model": model_file}),
        )
        (subtitle,) = wording.fill_words("about_fit", n=n)
        return Page(_fit_title(model_file[0]), subtitle, tuple(facts.items()), sections, FOOT)


def _write(page: Page, path: Path) -> Path:
    write_atomically(path, render_page(page).encode("utf-8"))
    return path


def _fit_title(model_name: str) -> str:
    return f"Coding by machine: {visible(model_name)}"


def is_fit_report(path: Path, model_path: Path) -> bool:
    """True if a file is the page of :class:`FitReport` about a model of that name."""
    try:
        found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
    return found is not None and unescape(found[1]) == _fit_title(model_path.name)


def write_evaluation_report(
    model: CodingModel, quality: Evaluation, model_path: Path, table_path: Path, path: Path
) -> Path:
    """Write how good a model's codes are on a table as one HTML file, whole or as it was before."""
    files = {"the model": _study_file(model_path), "the answers evaluated": _study_file(table_path)}
    return _write(evaluation_page(model, quality, files), path)


def _study_file(path: Path) -> StudyFile:
    return path.name, file_sha256(path)


def evaluation_page(model: CodingModel, quality: Evaluation, files: StudyFiles) -> Page:
    """Make the page on answers that people have coded, and the model has not learned from."""
    assert quality.check is not None
    check, selection, n = quality.check, quality.check.selection, len(quality.Y)
    model_name, name = (visible(name) for name, _ in files.values())
    known = set(map(bytes, np.pad(model.Y, ((0, 0), (0, len(quality.labels) - quality.n_known)))))
    here = quality.counts(n_never_seen=sum(bytes(row) not in known for row in quality.Y))
    counts = {"here": here, "the model's own": wording.model_counts(model)}
    notes = [*(visible(n, LONGEST_NOTE) for n in quality.notes), *quality.unknown_words()]
    doubt, right = quality.predictions.doubt(selection.rank_by), quality.right(selection.measure)
    # A limit that lets nothing through has no line of its own.
    rows = triage_rows(doubt, right, chosen=selection.limit if check.n_auto else None)
    facts = {
        "coded automatically": percent(check.share, 1),
        "of these right": "-" if check.accuracy is None else percent(check.accuracy, 1),
        "promised accuracy": wording.exact_percent(selection.target),
        "coded answers": f"{n:,}",
        "evaluated": wording.readable_time(current_time()),
    }
    measures = _section("evaluation_measures", id="measures", n=n, table=name)
    sections = (
        _section("check", id="answer", check=check),
        _data_section(model, counts, notes),
        *_quality_sections(quality, measures, triage_table(rows, selection), selection, check),
        _examples_section(quality, model, selection.rank_by, quality.answers.rows),
        *_provenance_sections(model, files),
    )
    (subtitle,) = wording.fill_words("about_evaluation", n=n, model=model_name)
    title = f"Codes of machine and people: {name}"
    return Page(title, subtitle, tuple(facts.items()), sections, FOOT)


def write_frequencies_report(found: Frequencies, coded: Path, path: Path) -> Path:
    """Write the shares of codes in a table as one HTML file, whole or as it was before."""
    people = percent(found.n_people / found.n_answers, 1) if found.n_answers else "-"
    facts = (("answers", f"{found.n_answers:,}"), ("coded by people", people))
    shares = _section("frequencies_shares", [found.table()], id="section-1", found=found)
    methods = _section("frequencies_methods", id="section-2", found=found)
    (subtitle,) = wording.fill_words("about_frequencies")
    title = f"Shares of the codes: {visible(coded.name)}"
    return _write(Page(title, subtitle, facts, (shares, methods), FOOT), path)


def _section(
    macro: str, tables: Sequence[Table] = (), *figures: Figure, id: str = "", **values: Any
) -> Section:
    """A section whose heading and paragraphs are those of a macro."""
    title, *paragraphs = wording.fill_words(macro, **values)
    return Section(title, tuple(paragraphs), tuple(tables), figures, id or macro)


def risk_coverage(
    found: Predictions, Y: Any, promise: Selection, reached: Reached
) -> RiskCoverageDisplay:
    """Accuracy against the share that is coded automatically, with what a threshold reached."""
    doubt, right = found.doubt(promise.rank_by), found.right(Y, promise.measure)
    chosen = None if reached.accuracy is None else (reached.share, reached.accuracy)
    about: dict[str, Any] = {"target": promise.target, "measure": wording.MEASURED[promise.measure]}
    return RiskCoverageDisplay.from_predictions(doubt, right, chosen=chosen, **about)


def _data_section(
    model: CodingModel, counts: Mapping[str, wording.CodeCounts], notes: Sequence[str] = ()
) -> Section:
    tables = (wording.counts_table(counts), wording.codes_table(counts))
    return _section("data", tables, columns=wording.columns_sentence(model.columns), notes=notes)


def _quality_sections(
    quality: Evaluation, measures: Section, triage: Table, promise: Selection, reached: Reached
) -> Iterator[Section]:
    """Measures and how they came about, triage, calibration, and the codes one by one."""
    yield replace(measures, tables=evaluation.measures_tables(quality.scores))
    display = risk_coverage(quality.predictions, quality.Y, promise, reached)
    caption, alt = wording.fill_words("coverage", measure=display.measure)
    figure = draw(display, "coverage", caption, alt)
    yield _section("triage", [triage], figure, rank_by=promise.rank_by)
    found = quality.calibration
    caption, alt = wording.fill_words("bins")
    figure = draw(CalibrationDisplay(found), "calibration", caption, alt)
    words, table = evaluation.calibration_words(found), evaluation.calibration_table(found)
    yield _section("calibration", [table], figure, words=words)
    yield _section("labels", [quality.labels_table()])
    pairs = [quality.confusions_table()] * bool(quality.confusions)
    yield _section("confusions", pairs, pairs=pairs)


def _suspects_section(model: CodingModel) -> Section:
    found = find_suspects(model)
    n, tables = len(found.items), [found.table(N_SUSPECTS)] * bool(found.items)
    return _section("suspects", tables, n=n, n_shown=N_SUSPECTS)


def _provenance_sections(model: CodingModel, files: StudyFiles) -> tuple[Section, Section]:
    """What happened to a model; and files and versions, by which a report can be checked."""
    history = [wording.history_table(model.history)] * bool(model.history)
    origin = wording.files_table(model, files), wording.versions_table(library_versions())
    return _section("history", history, events=history), _section("provenance", origin)


def _examples_section(
    quality: Evaluation, model: CodingModel, rank_by: str, numbers: Sequence[int] = ()
) -> Section:
    """Predictions with what speaks for them; `numbers` are those of the rows in their table."""
    found, answers, n_labels = quality.predictions, quality.answers, len(quality.labels)
    machine, people = as_label_sets(found.Y, model.shown), as_label_sets(quality.Y, quality.shown)
    n_wrong = np.rint((1 - quality.right("hamming")) * n_labels).astype(int)

    def sureness(row: int) -> TableEntry:
        # Words for a theta that was rounded to zero would divide by it.
        theta = theta_in_words(max(float(found.theta[row]), 1e-6), quality.n_known)
        if found.chance is None:
            return TableEntry("", under=theta)
        return TableEntry(f"{percent(float(found.chance[row]), 1)} likely right", under=theta)

    def machine_codes(row: int) -> TableEntry:
        wrong = f"{n_wrong[row]} wrong of {n_labels} labels" if n_wrong[row] else "all right"
        return TableEntry(_code_list(machine[row]), under=wrong)

    columns: dict[str, Any] = {
        "how sure": sureness,
        "answer": lambda row: _answer_entry(
            answers, row, model.columns, *(f"row {n}" for n in numbers[row : row + 1])
        ),
        "codes of the machine": machine_codes,
        "codes of people": lambda row: _code_list(people[row]),
        "taken from": lambda row: _answer_entry(model.answers, int(found.row[row]), model.columns),
    }
    examples = example_rows(quality, rank_by).items()
    tables = [tabulate(f"examples-{k}", EXAMPLES[k], rows, columns) for k, rows in examples if rows]
    return _section("examples", tables)


def example_rows(quality: Evaluation, rank_by: str) -> dict[str, list[int]]:
    """Answers to show: the surest right ones, the least sure, and wrong ones that seemed sure.

    Those that say the same are shown once: a short answer may come a hundred times.
    """
    right, answers = quality.right("subset") == 1, quality.answers
    order = np.argsort(quality.predictions.doubt(rank_by), kind="stable")
    found = {"surest": order[right[order]], "unsure": order[::-1], "wrong": order[~right[order]]}
    shown: dict[str, list[int]] = {}
    for key, rows in found.items():
        first: dict[object, int] = {}
        for row in rows.tolist():
            content = answers.texts[row] or (answers.categories[row], bytes(answers.numbers[row]))
            first.setdefault(content, row)
        shown[key] = list(first.values())[:N_EXAMPLES]
    return shown


def _code_list(names: Sequence[str]) -> str:
    return "; ".join(map(visible, names)) or "no code"


def _answer_entry(answers: Answers, row: int, columns: Columns, *place: str) -> TableEntry:
    """The text of an answer, with its place and its other features in the second line."""
    numbers = zip(columns.numeric, answers.numbers[row].tolist(), strict=True)
    categories = zip(columns.categorical, answers.categories[row], strict=True)
    facts = [*place]
    facts += [f"{visible(name)} {value:g}" for name, value in numbers if not np.isnan(value)]
    facts += [f"{visible(name)} {visible(value)}" for name, value in categories if value]
    text = visible(answers.texts[row], LONGEST_ANSWER) or "(no text)"
    return TableEntry(text, under=", ".join(facts))
