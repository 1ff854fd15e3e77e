"""What fit, update and evaluate report: text, JSON, and one HTML page of the same results."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from nldd import __version__
from nldd._files import write_atomically
from nldd._labels import as_label_sets
from nldd._versions import library_versions
from nldd.coding import description, wording
from nldd.coding.answers import Answers
from nldd.coding.automation import Triage, triage_rows, triage_table
from nldd.coding.calibration import CalibrationDisplay, RiskCoverageDisplay
from nldd.coding.columns import Columns
from nldd.coding.evaluation import (
    Evaluation,
    calibration_table,
    calibration_words,
    evaluate_evidence,
    measures_table,
    measures_tables,
)
from nldd.coding.frequencies import bias_table, code_bias
from nldd.coding.model import CodingModel, checksum, current_time
from nldd.coding.selective import Selection
from nldd.coding.suspects import find_suspects
from nldd.coding.training import FitResult
from nldd.estimators._explanation import theta_in_words
from nldd.present.page import Page, Section, draw, render_page, save_figure
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

FIT_SCORES = ("subset_accuracy", "hamming_loss", "multilabel_accuracy", "f_measure", "micro_f")
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

StudyFile = tuple[str, str]  # its name and its checksum


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
        return evaluate_evidence(self.model)

    @property
    def is_update(self) -> bool:
        """True if answers have joined a model that was there."""
        return bool(self.model.history) and self.model.history[-1].action == "update"

    def __str__(self) -> str:
        return wording.join_paragraphs(*(self._joined() if self.is_update else self._learned()))

    def _joined(self) -> Iterator[str]:
        """What joined the model."""
        *_, before, event = (self.model.history[0], *self.model.history)
        yield (
            f"{count_noun(event.n_added, 'coded answer')} joined the model, "
            f"{event.n_set_aside:,} set aside, which nobody has decided\n"
            f"Now {count_noun(event.n_answers, 'answer')}, {count_noun(event.n_labels, 'code')}, "
            f"{count_noun(event.n_labelsets, 'distinct combination')}\n"
            f"All codes right, by cross-validation: {percent(event.subset_accuracy, 1)} "
            f"(before: {percent(before.subset_accuracy, 1)})"
        )
        yield str(self.triage)

    def _learned(self) -> Iterator[str]:
        """What was understood of the table, and how good the model is."""
        model, step = self.model, self.step
        rows = (step.n_rows, step.n_set_aside) if step else ()
        yield description.learned_text(
            model.columns, description.count_codes(model.shown, model.Y, *rows)
        )
        scores = {score.key: score for score in self.quality.scores}
        yield to_text(measures_table(scores[key] for key in FIT_SCORES), columns=(0, 1))
        how = "These come from cross-validation: each answer was coded by a model that had not "
        apart = ""
        if n := len(model.repeated):
            apart = (
                f" {count_noun(n, 'answer')} with the words of another one left out: no ids (--id) "
                "tell whether they are copies."
            )
        yield wrap([f"{how}seen it.{apart}"])
        yield str(self.triage)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        model, triage = self.model, self.triage.to_dict()
        if self.is_update:
            return {**triage, "history": [asdict(event) for event in model.history]}
        step = self.step
        read = step and {"rows": step.n_rows, "coded": step.n_added, "set_aside": step.n_set_aside}
        return {
            "columns": asdict(model.columns),
            **(read or {}),
            "notes": step.notes if step else [],
            **description.count_codes(model.labels, model.Y).to_dict(),
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
        promised = selection.threshold is not None
        how = (
            "Each coded answer was coded by a model that had not seen it: the answers were dealt "
            f"into {model.n_folds} parts, and each part was coded by a model that learned from the "
            "others (cross-validation). So the numbers tell what to expect of new answers."
        )
        promise = (*triage.paragraphs(), *[ASSUMED] * promised, *wording.drawn_notes(model))
        targets, rows = triage.tables()
        words = methods_paragraph(model, quality, triage)
        return Page(
            _fit_title(model_file[0]),
            f"What a model learned from {n:,} coded answers, and how far it can be trusted. "
            f"{PRIVATE}",
            (
                ("target accuracy", wording.exact_percent(selection.target)),
                ("coded automatically", percent(selection.share, 1) if promised else "none yet"),
                ("confidence", wording.exact_percent(selection.confidence)),
                ("coded answers", f"{n:,}"),
                ("codes", f"{len(model.labels):,}"),
            ),
            (
                Section(
                    "What can be coded automatically",
                    promise,
                    (targets,) if targets.rows else (),
                    id="answer",
                ),
                _data_section(model, {"answers": description.model_counts(model)}),
                *_quality_sections(quality, how, rows, curve(model, triage), selection.rank_by),
                _bias_section(model),
                _suspects_section(model),
                _examples_section(quality, model, selection.rank_by),
                Section("For the methods section of a paper", (CITED, words), id="methods"),
                *provenance_sections(model, {"the model": model_file}),
            ),
            FOOT,
        )


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
    return _write(evaluation_page(model, quality, files, current_time()), path)


def _study_file(path: Path) -> StudyFile:
    return path.name, checksum(path)


def evaluation_page(
    model: CodingModel, quality: Evaluation, files: Mapping[str, StudyFile], time: str
) -> Page:
    """Make the page on answers that people have coded, and the model has not learned from."""
    assert quality.check is not None
    check, selection = quality.check, quality.check.selection
    n, ranking, (model_file, table_file) = len(quality.Y), selection.rank_by, files.values()
    name = visible(table_file[0])
    how = (
        f"The model coded the {n:,} answers of {name} that people have coded; its codes are "
        "compared with theirs."
    )
    here = quality.counts(n_never_seen(model, quality))
    counts = {"here": here, "the model's own": description.model_counts(model)}
    notes = [*(visible(note, LONGEST_NOTE) for note in quality.notes), *quality.unknown_words()]
    doubt, right = quality.predictions.doubt(ranking), quality.right(selection.measure)
    # A limit that lets nothing through has no line of its own.
    rows = triage_rows(doubt, right, chosen=selection.limit if check.n_auto else None)
    display = _curve(doubt, right, selection, check.share, check.accuracy)
    return Page(
        f"Codes of machine and people: {name}",
        f"How well the model {visible(model_file[0])} codes {n:,} answers that people have coded. "
        f"{PRIVATE}",
        (
            ("coded automatically", percent(check.share, 1)),
            ("of these right", "-" if check.accuracy is None else percent(check.accuracy, 1)),
            ("promised accuracy", wording.exact_percent(selection.target)),
            ("coded answers", f"{n:,}"),
            ("evaluated", description.readable_time(time)),
        ),
        (
            Section("Whether the promise held", check.paragraphs(), id="answer"),
            _data_section(model, counts, notes),
            *_quality_sections(quality, how, triage_table(rows, selection), display, ranking),
            _examples_section(quality, model, ranking, quality.answers.rows),
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
    tested, found = model.evidence[model.tested], triage.selection
    right = tested.right(model.Y[model.tested], found.measure)
    return _curve(tested.doubt(found.rank_by), right, found, found.share, found.accuracy)


def _curve(
    doubt: Any, right: Any, promise: Selection, share: float, accuracy: float | None
) -> RiskCoverageDisplay:
    chosen = None if accuracy is None else (share, accuracy)
    about: dict[str, Any] = {"target": promise.target, "measure": wording.MEASURED[promise.measure]}
    return RiskCoverageDisplay.from_predictions(doubt, right, chosen=chosen, **about)


def methods_paragraph(model: CodingModel, quality: Evaluation, triage: Triage) -> str:
    """What was done, as the methods section of a paper would say it."""
    found, n_tested = triage.selection, len(model.tested)
    cardinality = model.Y.sum(axis=1).mean()
    drawn = ""
    if n_tested < len(model.answers):
        drawn = f" on the {n_tested:,} of them that were drawn at random"
    sure = {"chance": "chance of being entirely correct", "theta": "expected share of errors"}
    right = {"subset": "entirely correct", "hamming": "correct label by label"}[
        triage.selection.measure
    ]
    target, confidence = map(wording.exact_percent, (found.target, found.confidence))
    learned = (
        f"Open-ended answers were coded semi-automatically by NLDD (Gweon, Schonlau and Steiner; "
        f"nldd {__version__}), a model that predicts whole sets of codes, trained on "
        f"{count_noun(len(model.answers), 'answer')} that people had coded with "
        f"{count_noun(len(model.labels), 'code')} ({cardinality:.2f} codes an answer on average). "
    )
    tested = (
        f"In {model.n_folds}-fold cross-validation{drawn}, "
        f"{percent(quality.value('subset_accuracy'), 1)} of the answers received exactly the "
        f"codes that people gave (Hamming loss {quality.value('hamming_loss'):.3f}, micro-averaged "
        f"F {quality.value('micro_f'):.3f}). "
    )
    if found.threshold is None or found.limit is None:
        return (
            f"{learned}{tested}No threshold held a target of {target} {right} with {confidence} "
            "confidence, so that all new answers were coded by people."
        )
    side = "at least" if found.rank_by == "chance" else "at most"
    return (
        f"{learned}{tested}New answers whose {sure[found.rank_by]} was {side} "
        f"{wording.doubt_number(found.limit, found.rank_by)} were coded automatically, the others "
        "by people. This threshold was chosen by a fixed sequence of binomial tests so that, with "
        f"{confidence} confidence, at least {target} of the automatic codings are {right}. In the "
        f"cross-validation, {percent(found.share, 1)} of the answers passed, of which "
        f"{percent(found.accuracy or 0.0, 1)} were {right}."
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
    model: CodingModel, counts: Mapping[str, description.CodeCounts], notes: Sequence[str] = ()
) -> Section:
    about = (description.columns_sentence(model.columns), *notes)
    return Section(
        "The coded answers",
        about,
        (description.counts_table(counts), description.codes_table(counts)),
        id="data",
    )


def _quality_sections(
    quality: Evaluation, how: str, triage: Table, display: RiskCoverageDisplay, rank_by: str
) -> Iterator[Section]:
    """Measures and how they came about, triage, calibration, and the codes one by one."""
    measures = measures_tables(quality.scores)
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
    words, table = (calibration_words(found), INDEPENDENT), calibration_table(found)
    yield Section("Whether theta can be believed", words, (table,), (figure,), "calibration")
    yield Section("Code by code", tables=(quality.labels_table(),), id="labels")
    pairs = (quality.confusions_table(),) if quality.confusions else ()
    about = (ABOUT_CONFUSIONS if pairs else NO_CONFUSIONS,)
    yield Section("Codes taken for others", about, pairs, id="confusions")


def _bias_section(model: CodingModel) -> Section:
    found = [replace(b, code=model.codebook.shown(b.code)) for b in code_bias(model)]
    return Section(
        "What the machine does to shares", (ABOUT_BIAS,), (bias_table(found),), id="bias"
    )


def _suspects_section(model: CodingModel) -> Section:
    found = find_suspects(model)
    n = len(found.items)
    said = ABOUT_SUSPECTS if n else "No answer is coded unlike its likes."
    more = f"The first {N_SUSPECTS} of {n:,}; nldd suspects lists all of them."
    rest = (more,) if n > N_SUSPECTS else ()
    first = (found.table(N_SUSPECTS),) if n else ()
    return Section("Where people may have slipped", (said, *rest), first, id="suspects")


def provenance_sections(
    model: CodingModel, files: Mapping[str, StudyFile]
) -> tuple[Section, Section]:
    """What happened to a model; and files and versions, by which a report can be checked."""
    history = (description.history_table(model.history),) if model.history else ()
    empty = () if history else ("No step is recorded in it.",)
    origin = description.files_table(model, files), description.versions_table(library_versions())
    return (
        Section("History of the model", empty, history, id="history"),
        Section("Versions and checksums", tables=origin, id="provenance"),
    )


def _examples_section(
    quality: Evaluation, model: CodingModel, rank_by: str, numbers: Sequence[int] = ()
) -> Section:
    """Predictions with what speaks for them; `numbers` are those of the rows in their table."""
    found, answers, n_labels = quality.predictions, quality.answers, len(quality.labels)
    machine, people = as_label_sets(found.Y, model.shown), as_label_sets(quality.Y, quality.shown)
    n_wrong = np.rint((1 - quality.right("hamming")) * n_labels).astype(int)

    def sureness(row: int) -> TableEntry:
        # Words for a theta that was rounded to zero would divide by it.
        theta = max(float(found.theta[row]), 1e-6)
        in_words = theta_in_words(theta, quality.n_known)
        if found.chance is not None:
            return TableEntry(_chance_in_words(float(found.chance[row])), under=in_words)
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
        for key, rows in example_rows(quality, rank_by).items()
        if rows
    )
    return Section("Examples", (ABOUT_EXAMPLES,), tuple(examples), id="examples")


def example_rows(quality: Evaluation, rank_by: str) -> dict[str, list[int]]:
    """Answers to show: the surest right ones, the least sure, and wrong ones that seemed sure."""
    right = quality.right("subset") == 1
    order = np.argsort(quality.predictions.doubt(rank_by), kind="stable")
    found = {"surest": order[right[order]], "unsure": order[::-1], "wrong": order[~right[order]]}
    return {key: _distinct(rows.tolist(), quality.answers) for key, rows in found.items()}


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


def _chance_in_words(chance: float) -> str:
    """Say how likely all codes of an answer are right: 9 in 10, for example."""
    for total in (10, 100):
        if round(total * chance) < total:
            likely = round(total * chance)
            return f"right as a whole: {likely or 'less than 1'} in {total}"
    return "right as a whole: more than 99 in 100"
