"""The risk-coverage curve of a model, as a figure and as files."""

from pathlib import Path

from nldd.coding import CodingModel, Triage
from nldd.displays import RiskCoverageDisplay
from nldd.reports import save_figure

MEASURED = {"subset": "answers with all codes right", "hamming": "labels that are right"}


def curve(model: CodingModel, made: Triage) -> RiskCoverageDisplay:
    """Accuracy against the share that is coded automatically, with the chosen threshold."""
    right = model.evidence.right(model.Y, made.measure)
    selection = made.selection
    chosen = None
    if selection.threshold is not None and selection.accuracy is not None:
        chosen = (selection.share, selection.accuracy)
    return RiskCoverageDisplay.from_predictions(
        model.evidence.theta,
        right,
        target=selection.target,
        chosen=chosen,
        measure=MEASURED[made.measure],
    )


def save_curve(model: CodingModel, made: Triage, place: Path) -> Path:
    """Draw the curve as SVG and PNG; `place` is their name, with or without one of the endings."""
    stem = place.with_suffix("") if place.suffix.lower() in (".svg", ".png") else place
    figure = curve(model, made).plot().figure_
    return save_figure(figure, stem.parent, stem.name)[0]
