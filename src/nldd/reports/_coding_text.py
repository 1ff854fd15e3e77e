"""Coding models, triage tables and coded answers as text, and as records for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nldd.coding import (
    Audit,
    CodedAnswers,
    CodingModel,
    Counts,
    Evaluation,
    Sample,
    Selection,
    Step,
    Summary,
    Triage,
    summarise,
)
from nldd.reports._text import about, aligned, percent, round_percent, several, visible

RIGHT = {"subset": "answers with all codes right", "hamming": "labels that are right"}
SHOWN_LABELS = 30
SHOWN_SCORES = ("subset_accuracy", "hamming_loss", "multilabel_accuracy", "f_measure", "micro_f")


def render_fit(step: Step, quality: Evaluation, made: Triage) -> str:
    """What fit understood, how good the model is, and the triage table."""
    summary = summarise(step.model.labels, step.model.Y)
    return "\n\n".join(
        [
            f"{_columns_text(step.model)}\n{_table_text(step.table, summary)}",
            _labels_text(step.model),
            _quality_text(quality, "Quality, by cross-validation"),
            render_triage(made),
        ]
    )


def fit_record(step: Step, quality: Evaluation, made: Triage) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "columns": asdict(step.model.columns),
        "rows": step.table.n_rows,
        "coded": len(step.table.codes),
        "set_aside": step.table.n_set_aside,
        **asdict(summarise(step.model.labels, step.model.Y)),
        "scores": [asdict(score) for score in quality.scores],
        "triage": triage_record(made),
        "notes": step.table.notes,
    }


def _columns_text(model: CodingModel) -> str:
    kinds = {
        "text": model.columns.text,
        "numbers": model.columns.numeric,
        "categories": model.columns.categorical,
    }
    said = [f"{kind} {names_text(names)}" for kind, names in kinds.items() if names]
    return f"Coded from: {'; '.join(said)}"


def _table_text(table: CodedAnswers, summary: Summary) -> str:
    lines = [
        f"{several(table.n_rows, 'row')}: {len(table.codes)} coded, "
        f"{table.n_set_aside} without codes set aside",
        f"{several(len(summary.labels), 'code')}, {summary.cardinality:.2f} an answer; "
        f"{several(summary.n_labelsets, 'distinct combination')}, "
        f"{summary.n_seen_once} of them seen once",
    ]
    if summary.n_without_code:
        lines.append(f"{several(summary.n_without_code, 'answer')} with no code at all")
    return "\n".join(lines)


def _labels_text(model: CodingModel) -> str:
    counts = summarise(model.labels, model.Y).labels
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(visible(name), str(count)) for name, count in ordered[:SHOWN_LABELS]]
    more = len(ordered) - SHOWN_LABELS
    lines = ["Codes and how many answers carry them", aligned(rows, right=[1], indent=2)]
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])


def _quality_text(quality: Evaluation, title: str) -> str:
    by_key = {score.key: score for score in quality.scores}
    rows = [
        (score.name, f"{score.value:.3f}", f"{score.low:.3f} to {score.high:.3f}")
        for score in (by_key[key] for key in SHOWN_SCORES)
    ]
    return "\n".join([f"{title} (95 % interval)", aligned(rows, right=[1], indent=2)])


def render_triage(made: Triage) -> str:
    """The table, then the promise."""
    rest = (
        ""
        if made.human_accuracy == 1
        else f", people are right in {round_percent(made.human_accuracy)} of the rest"
    )
    head = ("theta up to", "automatic", "right", "95 % interval", "combined", "")
    rows = [
        (
            f"{row.threshold:.4f}",
            percent(row.share),
            percent(row.accuracy),
            f"{percent(row.low)} to {percent(row.high)}",
            percent(row.combined),
            "<- holds the target" if row.chosen else "",
        )
        for row in made.rows
    ]
    return "\n".join(
        [
            f"Triage: {RIGHT[made.measure]}{rest}",
            aligned([head, *rows], right=range(5), indent=2),
            "",
            _promise_text(made.selection, made.measure),
        ]
    )


def _promise_text(selection: Selection, measure: str) -> str:
    if selection.threshold is None:
        return render_unsupported(selection, measure)
    return (
        f"With theta up to {selection.threshold:.4f}, {percent(selection.share)} of the answers "
        f"are coded automatically and {percent(selection.accuracy or 0)} of these are right;\n"
        f"at least {round_percent(selection.target)} in the long run, with "
        f"{round_percent(selection.confidence)} confidence."
    )


def render_unsupported(selection: Selection, measure: str) -> str:
    """Why there is no threshold, and what it would take."""
    said = (
        f"{several(selection.n_answers, 'coded answer')} cannot show that any automatic codes are "
        f"{round_percent(selection.target)} right with {round_percent(selection.confidence)} "
        "confidence, so all answers go to people."
    )
    if selection.needed is None:
        return (
            f"{said}\nHow many would do cannot be told from these: even their surest codes are not "
            "right often enough.\nMore answers make better codes; or lower the target, or make "
            "the codes easier to tell apart."
        )
    return f"{said}\nAbout {about(selection.needed)} coded answers would do, or a lower target."


def triage_record(made: Triage) -> dict[str, Any]:
    """The triage table for JSON."""
    return {
        "measure": made.measure,
        "human_accuracy": made.human_accuracy,
        "rows": [asdict(row) for row in made.rows],
        "selection": selection_record(made.selection),
    }


def selection_record(selection: Selection) -> dict[str, Any]:
    """A threshold for JSON."""
    return {**asdict(selection), "share": selection.share}


def render_counts(
    counts: Counts, threshold: float | None, selection: Selection | None, measure: str
) -> str:
    """How many answers got which status, and why."""
    n = counts.n_rows
    auto, review = (percent(k / n if n else 0) for k in (counts.n_auto, counts.n_review))
    lines = [f"{several(n, 'answer')}: {counts.n_auto} coded automatically ({auto})"]
    if threshold is not None:
        lines[0] += f", theta up to {threshold:.4f}"
    if selection is not None and selection.threshold is not None:
        lines.append(
            f"  at least {round_percent(selection.target)} of these are right "
            f"({RIGHT[measure]}), with {round_percent(selection.confidence)} confidence"
        )
    lines.append(f"{counts.n_review} for people ({review})")
    if counts.n_coded:
        lines.append(f"{counts.n_coded} had codes already and were left alone (status: coded)")
    rows = [(str(count), reason) for reason, count in counts.why.most_common()]
    return "\n".join([*lines, *([aligned(rows, right=[0], indent=2)] if rows else [])])


def counts_record(
    counts: Counts, threshold: float | None, selection: Selection | None
) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "rows": counts.n_rows,
        "auto": counts.n_auto,
        "review": counts.n_review,
        "coded": counts.n_coded,
        "why": dict(counts.why),
        "threshold": threshold,
        "selection": None if selection is None else selection_record(selection),
        "notes": counts.notes,
    }


def render_update(step: Step, made: Triage) -> str:
    """What joined the model, and the new triage table."""
    event = step.model.history[-1]
    before = step.model.history[-2] if len(step.model.history) > 1 else event
    return "\n\n".join(
        [
            f"{several(event.n_added, 'coded answer')} joined the model, "
            f"{event.n_set_aside} without codes set aside\n"
            f"Now {several(event.n_answers, 'answer')}, {several(event.n_labels, 'code')}, "
            f"{several(event.n_labelsets, 'distinct combination')}\n"
            f"All codes right, by cross-validation: {percent(event.subset_accuracy)} "
            f"(before: {percent(before.subset_accuracy)})",
            render_triage(made),
        ]
    )


def render_model(model: CodingModel, manifest: Mapping[str, Any], path: Path) -> str:
    """All that a model file says about itself."""
    columns, codes = model.columns, model.columns.codes
    listed = (
        f"{visible(codes.names[0])}, separated by {codes.separator!r}"
        if codes.listed
        else f"{len(codes.names)} columns of 0 and 1"
    )
    summary = summarise(model.labels, model.Y)
    facts = [
        ("text", names_text(columns.text)),
        ("numbers", names_text(columns.numeric)),
        ("categories", names_text(columns.categorical)),
        ("codes in", listed),
        ("answers", str(len(model.answers))),
        ("combinations", f"{summary.n_labelsets} distinct, {summary.n_seen_once} seen once"),
        ("features", str(model.classifier.n_features_in_)),
    ]
    versions = [
        (visible(name), visible(str(value))) for name, value in manifest["versions"].items()
    ]
    history = [
        (
            visible(event.time),
            visible(event.action),
            visible(event.file),
            f"+{event.n_added}",
            str(event.n_answers),
            percent(event.subset_accuracy),
            visible(event.sha256[:12]),
        )
        for event in model.history
    ]
    head = ("time", "", "file", "added", "answers", "all right", "sha256")
    return "\n\n".join(
        [
            "\n".join([f"Model {path}", aligned(facts, indent=2)]),
            _labels_text(model),
            "Weights of the two distances\n" + str(model.classifier.regression_),
            "\n".join(["Versions", aligned(versions, indent=2)]),
            "\n".join(["History", aligned([head, *history], right=[3, 4, 5], indent=2)]),
        ]
    )


def names_text(names: Sequence[str]) -> str:
    """Names in a row, or a dash."""
    return ", ".join(map(visible, names)) or "-"


def model_record(model: CodingModel, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The same for JSON."""
    regression = model.classifier.regression_
    return {
        "columns": asdict(model.columns),
        **asdict(summarise(model.labels, model.Y)),
        "coefficients": {
            "beta": regression.beta,
            "standard_errors": regression.standard_errors,
            "n_pairs": regression.n_pairs,
        },
        "history": [asdict(event) for event in model.history],
        "manifest": dict(manifest),
    }


def render_sample(drawn: Sample, out: Path) -> str:
    """What was drawn, and what to do with it."""
    return (
        f"{drawn.n_sample} of {several(drawn.n_auto, 'automatic code')} drawn at random: {out}\n"
        "Write yes or no in the column nldd_check of each row, then run\n"
        f"  nldd audit {out}"
    )


def render_audit(found: Audit) -> str:
    """The verified accuracy."""
    lines = [
        f"{found.n_right} of {several(found.n_checked, 'checked answer')} right: "
        f"{percent(found.accuracy)} ({percent(found.low)} to {percent(found.high)}, exact 95 % "
        "interval)"
    ]
    if found.n_open:
        lines.append(f"{several(found.n_open, 'row')} not checked yet")
    return "\n".join(lines)
