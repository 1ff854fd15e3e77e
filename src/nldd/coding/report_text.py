"""What the coding commands print: text from the tables and words of the reports, and JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nldd import __version__
from nldd._wording import quote
from nldd.coding import report_tables as tables
from nldd.coding.audit import Audit, Sample
from nldd.coding.calibration import Calibration
from nldd.coding.codebook import Codebook
from nldd.coding.columns import Columns
from nldd.coding.evaluation import EvaluatedAnswers, Evaluation, GuaranteeCheck, Triage, summarise
from nldd.coding.guarantee_text import check_paragraphs, guarantee_paragraphs, selection_record
from nldd.coding.model import CodingModel, Event
from nldd.coding.suggestions import CodeSuggestions
from nldd.coding.training import FitResult
from nldd.coding.wording import checked_accuracy, doubt_number, exact_percent, name_list
from nldd.present.table import Row, to_text
from nldd.present.text import count_noun, percent, visible, wrap

FIT_SCORES = ("subset_accuracy", "hamming_loss", "multilabel_accuracy", "f_measure", "micro_f")
MOST_CODES, MOST_WORST = 30, 10
# What of a classifier is worth telling, where it has it.
CLASSIFIER_SAYS = ("chosen_", "regression_")


def render_fit(step: FitResult, quality: Evaluation, triage: Triage) -> str:
    """What fit understood, how good the model is, and the triage table."""
    model, by_key = step.model, {score.key: score for score in quality.scores}
    summary = summarise(model.shown, model.Y)
    return _paragraphs(
        *_learned(model, tables.answers_of_table(summary, step)),
        to_text(tables.measures_table(by_key[key] for key in FIT_SCORES), columns=(0, 1)),
        wrap(["".join(_tested_how(model))]),
        render_triage(triage),
    )


def _tested_how(model: CodingModel) -> Iterator[str]:
    yield "These come from cross-validation: each answer was coded by a model that had not seen it."
    if n := len(model.repeated):
        yield (
            f" {count_noun(n, 'answer')} with the words of another one left out: no ids (--id) "
            "tell whether they are copies."
        )


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _learned(model: CodingModel, found: tables.Answered, *more: Row) -> Iterator[str]:
    """What a model reads, and the answers and codes that it has learned from."""
    yield wrap([columns_sentence(model.columns)])
    yield to_text(tables.counts_table({"answers": found}, more))
    yield to_text(tables.codes_table({"answers": found}), most=MOST_CODES)


def columns_sentence(columns: Columns) -> str:
    """What a model reads and where its codes stood."""
    kinds = {"text": columns.text, "numbers": columns.numeric, "categories": columns.categorical}
    parts = [f"{kind} of {name_list(names)}" for kind, names in kinds.items() if names]
    if columns.n_extra:
        parts.append(f"{count_noun(columns.n_extra, 'extra feature')} from a file")
    read = ", the ".join(parts)
    return f"The model reads the {read}. The codes that people gave stand in {_place(columns)}."


def _place(columns: Columns) -> str:
    """Where codes stood, and what was between them."""
    codes, n = columns.codes, len(columns.codes.names)
    if not codes.listed:
        return f"{count_noun(n, 'column')} of yes and no, one for each code"
    separated = f"separated by {' or '.join(map(quote, codes.separators))}"
    if n > 1:
        return f"the columns {name_list(codes.names)}, one in each, or several {separated}"
    return f"the column {name_list(codes.names)}, {separated}"


def render_triage(triage: Triage) -> str:
    """What each target allows, then the table, then the promise."""
    first = tables.targets_table(triage)
    table = tables.triage_table(
        triage.rows, triage.measure, triage.selection.rank_by, triage.human_accuracy
    )
    return _paragraphs(
        *(f"{to_text(each)}\n{wrap(each.notes)}" for each in (first, table) if each.rows),
        wrap(guarantee_paragraphs(triage)),
    )


def render_update(step: FitResult, triage: Triage) -> str:
    """What joined the model, and the new triage table."""
    event = step.model.history[-1]
    before = step.model.history[-2] if len(step.model.history) > 1 else event
    return _paragraphs(
        f"{count_noun(event.n_added, 'coded answer')} joined the model, "
        f"{event.n_set_aside:,} set aside, which nobody has decided\n"
        f"Now {count_noun(event.n_answers, 'answer')}, {count_noun(event.n_labels, 'code')}, "
        f"{count_noun(event.n_labelsets, 'distinct combination')}\n"
        f"All codes right, by cross-validation: {percent(event.subset_accuracy, 1)} "
        f"(before: {percent(before.subset_accuracy, 1)})",
        render_triage(triage),
    )


def render_evaluation(quality: Evaluation, kept: GuaranteeCheck, table: EvaluatedAnswers) -> str:
    """Whether the promise held, all measures, calibration, the worst codes and confusions."""
    here = tables.answers_of_table(summarise(quality.labels, quality.Y), table)
    confusions, found = tables.confusions_table(quality.confusions), quality.calibration
    return _paragraphs(
        to_text(tables.counts_table({"here": here})),
        wrap(unknown_codes(quality)),
        to_text(tables.measures_table(quality.scores, digits=4), columns=(0, 1)),
        wrap(check_paragraphs(kept)),
        f"{to_text(tables.calibration_table(found))}\n{wrap([calibration_sentence(found)])}",
        to_text(tables.labels_table(quality.by_label, quality.unknown_labels), most=MOST_WORST),
        to_text(confusions, most=MOST_WORST) if quality.confusions else "",
    )


def unknown_codes(quality: Evaluation) -> Iterable[str]:
    """A sentence on codes that people gave and the model cannot give, if there are any."""
    if quality.unknown_labels:
        yield (
            "Codes that the model does not know, so that it cannot give them: "
            f"{name_list(quality.unknown_labels)}. They count as missed."
        )


def calibration_sentence(found: Calibration) -> str:
    from scipy.stats import binom

    n, n_more = len(found.counts), int((found.expected < found.lower).sum())
    n_fewer = int((found.expected > found.upper).sum())
    n_inside = n - n_more - n_fewer
    expected, observed = (
        percent(float(np.average(shares, weights=found.counts)), 2)
        for shares in (found.expected, found.observed)
    )
    # Of a calibrated theta, fewer intervals than that hold it in less than one of twenty cases.
    good = n_inside >= binom.ppf(0.05, n, 0.95)
    verdict = "calibrated as far as these answers can tell" if good else "not calibrated"
    return (
        f"Theta is {verdict}: in {n_inside} of {count_noun(n, 'group')} of answers, the share of "
        "wrong labels that it expects lies in the 95 % interval of the share observed. In "
        f"{n_fewer} fewer are wrong than it expects, in {n_more} more. Expected and observed share "
        f"are {100 * found.error:.2g} percentage points apart on average; over all answers it "
        f"expects {expected} and {observed} are wrong."
    )


def render_model(model: CodingModel, manifest: Mapping[str, Any], path: Path) -> str:
    """All that a model file says about itself."""
    classifier = model.classifier
    features = ("features", f"{classifier.n_features_in_:,}")
    strength = ("C of the classifiers, the larger the less shrunk", f"{classifier.estimator.C:g}")
    drawn = ("answers drawn at random, on which thresholds are found", f"{len(model.tested):,}")
    rows = (drawn, features, strength)
    learned = "\n\n".join(_learned(model, tables.answers_of_model(model), *rows))
    return _paragraphs(
        f"Model {path}\n{learned}",
        f"Weights of the two distances\n{classifier.regression_}",
        to_text(tables.versions_table(manifest["versions"])),
        to_text(tables.history_table(model.history), columns=(0, 1, 2, 3, 4, 6)),
        to_text(tables.files_table(model)),
    )


def render_classifier(model: Any, manifest: Mapping[str, Any], path: Path) -> str:
    """What the file of a classifier of :func:`nldd.save_model` says about itself."""
    labels = name_list([str(name) for name in model.label_names_])
    known = [str(getattr(model, name)) for name in CLASSIFIER_SAYS if hasattr(model, name)]
    return _paragraphs(
        f"Model {path}\n{model}",
        wrap([f"{count_noun(model.n_labels_, 'label')}: {labels}"]),
        *known,
        to_text(tables.versions_table(manifest["versions"])),
    )


def render_codebook(book: Codebook, counts: Mapping[str, int]) -> str:
    """The codes with their names, and how many answers carry them."""
    return to_text(tables.codebook_table(book, counts))


def render_sample(sample: Sample, out: Path, earlier: Sequence[Path] = ()) -> str:
    """What was drawn, and what to do with it and with `earlier` samples."""
    besides = f" besides the {sample.n_besides:,} of earlier samples" if sample.n_besides else ""
    return (
        f"{sample.n_sample:,} of {count_noun(sample.n_auto, 'automatic code')}{besides} drawn at "
        f"random: {out}\nWrite yes or no in the column nldd_check of each row, and the right codes "
        f"into nldd_right_codes where it is no; then run\n  nldd audit "
        f"{' '.join(map(str, (*earlier, out)))}"
    )


def render_audit(audit: Audit) -> str:
    """The verified accuracy, and what it says of the target."""
    lines = [
        checked_accuracy(audit.n_right, audit.n_checked, audit.low, audit.high),
        wrap([_audit_verdict(audit)]),
    ]
    if audit.n_open:
        lines.append(f"{count_noun(audit.n_open, 'row')} not checked yet")
    if audit.n_crosses:
        lines.append(f"{count_noun(audit.n_crosses, 'row')} marked with x: read as right")
    return "\n".join(lines)


def _audit_verdict(audit: Audit) -> str:
    target = exact_percent(audit.target)
    if audit.verdict is None:
        measure = f"the guarantee of {target} is by the measure {audit.measure}"
        return f"No verdict: {measure}, the checks are of whole answers. Try: --target-accuracy."
    if audit.verdict == "kept":
        return f"Kept: the whole interval lies at or above the target of {target}."
    if audit.verdict == "broken":
        return (
            f"Broken: the whole interval lies below the target of {target}. Let people code the "
            "rest, and the sample join the model by nldd update, with the right codes of the wrong "
            "ones."
        )
    verdict = f"Cannot tell yet: the target of {target} lies within the interval."
    if audit.needed is None:
        return f"{verdict} No number of checks would tell, if as many of them are right."
    more = audit.needed - audit.n_checked
    return (
        f"{verdict} About {more:,} more checks would tell, if as many of them are right: "
        f"{audit.needed:,} in all. To draw more of them: nldd audit --besides. If the table has "
        "fewer automatic codes, check all of them."
    )


def methods_paragraph(model: CodingModel, quality: Evaluation, triage: Triage) -> str:
    """What was done, as the methods section of a paper would say it."""
    found, n_tested = triage.selection, len(model.tested)
    scores = {score.key: score.value for score in quality.scores}
    cardinality = model.Y.sum(axis=1).mean()
    some = f" on the {n_tested:,} of them that were drawn at random"
    drawn = some if n_tested < len(model.answers) else ""
    sure = {"chance": "chance of being entirely correct", "theta": "expected share of errors"}
    right = {"subset": "entirely correct", "hamming": "correct label by label"}[triage.measure]
    target, confidence = exact_percent(found.target), exact_percent(found.confidence)
    learned = (
        f"Open-ended answers were coded semi-automatically by NLDD (Gweon, Schonlau and Steiner; "
        f"nldd {__version__}), a model that predicts whole sets of codes, trained on "
        f"{count_noun(len(model.answers), 'answer')} that people had coded with "
        f"{count_noun(len(model.labels), 'code')} ({cardinality:.2f} codes an answer on average). "
    )
    tested = (
        f"In {model.n_folds}-fold cross-validation{drawn}, "
        f"{percent(scores['subset_accuracy'], 1)} of the answers received exactly the codes that "
        f"people gave (Hamming loss {scores['hamming_loss']:.3f}, micro-averaged F "
        f"{scores['micro_f']:.3f}). "
    )
    if found.threshold is None or found.limit is None:
        return (
            f"{learned}{tested}No threshold held a target of {target} {right} with {confidence} "
            "confidence, so that all new answers were coded by people."
        )
    side = "at least" if found.rank_by == "chance" else "at most"
    return (
        f"{learned}{tested}New answers whose {sure[found.rank_by]} was {side} "
        f"{doubt_number(found.limit, found.rank_by)} were coded automatically, the others by "
        "people. This threshold was chosen by a fixed sequence of binomial tests so that, with "
        f"{confidence} confidence, at least {target} of the automatic codings are {right}. In the "
        f"cross-validation, {percent(found.share, 1)} of the answers passed, of which "
        f"{percent(found.accuracy or 0.0, 1)} were {right}."
    )


def render_suggestion(found: CodeSuggestions) -> str:
    """The groups of a draft with their words and an example each, and what they are not."""
    left = f" {count_noun(found.n_left, 'answer')} in none of them." if found.n_left else ""
    n_groups = count_noun(len(found.groups), "group")
    said = f"{count_noun(found.n_answers, 'answer')} in {n_groups} that share words.{left}"
    honest = (
        "This is a draft: words that occur together, found without any code. A group may mix "
        "topics, and a topic may be in several groups or in none. People decide what is a code."
    )
    wide = max(len(group.code) for group in found.groups)
    lines = [
        f"  {group.code:{wide}}  {group.n_answers:6,}  {', '.join(group.words[:5])}\n"
        f"  {'':{wide}}          {quote(group.examples[0], 80)}"
        for group in found.groups
    ]
    return _paragraphs(wrap([said, honest]), "\n".join(lines))


def suggestion_advice(codebook: Path, draft: Path | None, column: str) -> str:
    """What people do with a draft."""
    if draft is None:
        return f"Read the examples in {codebook}; --assign draft.csv gives each answer its groups."
    return (
        f"Correct the column {column} of {draft}, then\n"
        f"  nldd fit {draft} --text ... --labels {column} -o model.nldd"
    )


def suggestion_record(found: CodeSuggestions) -> dict[str, Any]:
    """What :func:`render_suggestion` says, for JSON."""
    counts = {"rows": found.n_rows, "answers": found.n_answers, "in_no_group": found.n_left}
    return {**counts, "notes": list(found.notes), "groups": [asdict(g) for g in found.groups]}


def fit_record(step: FitResult, quality: Evaluation, triage: Triage) -> dict[str, Any]:
    """What :func:`render_fit` says, for JSON."""
    return {
        "columns": asdict(step.model.columns),
        **_table_record(step),
        **asdict(summarise(step.model.labels, step.model.Y)),
        "scores": [asdict(score) for score in quality.scores],
        "triage": triage_record(triage),
    }


def _table_record(table: EvaluatedAnswers | FitResult) -> dict[str, Any]:
    n, n_set_aside = table.n_coded, table.n_set_aside
    return {"rows": table.n_rows, "coded": n, "set_aside": n_set_aside, "notes": table.notes}


def triage_record(triage: Triage) -> dict[str, Any]:
    """The triage table for JSON."""
    return {**asdict(triage), "selection": selection_record(triage.selection)}


def evaluation_record(
    quality: Evaluation, kept: GuaranteeCheck, table: EvaluatedAnswers
) -> dict[str, Any]:
    """What :func:`render_evaluation` says, for JSON."""
    return {
        **_table_record(table),
        "unknown_labels": list(quality.unknown_labels),
        "scores": [asdict(score) for score in quality.scores],
        "promise": {**asdict(kept), "selection": selection_record(kept.selection)},
        "calibration": asdict(quality.calibration),
        "by_label": [asdict(score) for score in quality.by_label],
        "confusions": [asdict(pair) for pair in quality.confusions],
    }


def classifier_record(model: Any, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`render_classifier` says, for JSON."""
    known = {name.rstrip("_"): getattr(model, name, None) for name in CLASSIFIER_SAYS}
    return {
        "settings": str(model),
        "labels": [str(name) for name in model.label_names_],
        **{name: None if said is None else str(said) for name, said in known.items()},
        "manifest": dict(manifest),
    }


def model_record(model: CodingModel, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`render_model` says, for JSON."""
    regression = model.classifier.regression_
    names = ("beta", "standard_errors", "n_pairs")
    return {
        "columns": asdict(model.columns),
        **asdict(summarise(model.labels, model.Y)),
        "drawn": len(model.tested),
        "coefficients": {name: getattr(regression, name) for name in names},
        "history": [asdict(event) for event in model.history],
        "manifest": dict(manifest),
    }
