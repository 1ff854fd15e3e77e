"""Evaluations of coding models as text, and as records for JSON."""

from dataclasses import asdict
from typing import Any

from nldd.coding import CodedAnswers, Evaluation, Kept
from nldd.reports._coding_text import RIGHT, names_text, render_unsupported, selection_record
from nldd.reports._text import aligned, percent, round_percent, several, visible


def render_evaluation(quality: Evaluation, kept: Kept, table: CodedAnswers) -> str:
    """All measures, calibration, the worst codes and confusions."""
    rows = [
        (score.name, f"{score.value:.4f}", f"{score.low:.4f} to {score.high:.4f}")
        for score in quality.scores
    ]
    parts = [
        f"{several(table.n_rows, 'row')}: {len(table.codes)} coded, "
        f"{table.n_set_aside} without codes set aside",
        "\n".join(["Measures (95 % interval)", aligned(rows, right=[1], indent=2)]),
        _kept_text(kept),
        _calibration_text(quality),
        _worst_text(quality),
    ]
    if quality.unknown_labels:
        names = names_text(quality.unknown_labels[:10])
        parts.insert(1, f"Codes that the model does not know, counted as missed: {names}")
    if quality.confusions:
        pairs = [
            (str(pair.count), f"{visible(pair.missed)} -> {visible(pair.predicted)}")
            for pair in quality.confusions[:10]
        ]
        parts.append("\n".join(["Confusions (missed -> predicted)", aligned(pairs, [0], 2)]))
    return "\n\n".join(parts)


def _kept_text(kept: Kept) -> str:
    if kept.selection.threshold is None:
        return f"Promise: none could be made. {render_unsupported(kept.selection, kept.measure)}"
    head = (
        f"Promise: {round_percent(kept.selection.target)} of automatic codes right "
        f"({RIGHT[kept.measure]}), with {round_percent(kept.selection.confidence)} confidence"
    )
    if kept.accuracy is None or kept.low is None or kept.high is None:
        return f"{head}\n  none of these answers is sure enough to be coded automatically"
    return (
        f"{head}\n  here {percent(kept.share)} are coded automatically and "
        f"{percent(kept.accuracy)} of these are right "
        f"({percent(kept.low)} to {percent(kept.high)})"
    )


def _calibration_text(quality: Evaluation) -> str:
    found = quality.calibration
    head = ("answers", "mean theta", "wrong labels", "95 % interval")
    rows = [
        (str(count), f"{expected:.4f}", f"{observed:.4f}", f"{low:.4f} to {high:.4f}")
        for count, expected, observed, low, high in zip(
            found.counts.tolist(),
            found.expected.tolist(),
            found.observed.tolist(),
            found.lower.tolist(),
            found.upper.tolist(),
            strict=True,
        )
    ]
    return "\n".join(
        [
            f"Calibration of theta by decile; mean distance {found.error:.4f}",
            aligned([head, *rows], right=range(4), indent=2),
        ]
    )


def _worst_text(quality: Evaluation) -> str:
    head = ("code", "answers", "predicted", "precision", "recall", "F")
    rows = [
        (
            visible(score.name),
            str(score.n_true),
            str(score.n_pred),
            f"{score.precision:.3f}",
            f"{score.recall:.3f}",
            f"{score.f:.3f}",
        )
        for score in quality.by_label[:10]
    ]
    return "\n".join(
        ["Codes that are predicted worst", aligned([head, *rows], right=range(1, 6), indent=2)]
    )


def evaluation_record(quality: Evaluation, kept: Kept, table: CodedAnswers) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "rows": table.n_rows,
        "coded": len(table.codes),
        "set_aside": table.n_set_aside,
        "unknown_labels": list(quality.unknown_labels),
        "scores": [asdict(score) for score in quality.scores],
        "promise": {**asdict(kept), "selection": selection_record(kept.selection)},
        "calibration": asdict(quality.calibration),
        "by_label": [asdict(score) for score in quality.by_label],
        "confusions": [asdict(pair) for pair in quality.confusions],
        "notes": table.notes,
    }
