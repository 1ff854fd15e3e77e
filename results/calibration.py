"""Is theta calibrated? Mean theta against the share of wrong labels, by decile, on nine data sets.

Every row is predicted without itself (ten folds, five from 5,000 rows on) by NLDD with its default
settings. ``python results/calibration.py`` measures the data sets that are missing.
"""

from dataclasses import asdict
from typing import Any

import marks
import numpy as np
from record_files import load, read, run_missing

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.coding.calibration import Calibration, CalibrationDisplay, calibration_deciles
from nldd.coding.cross_validation import deal_folds, join_predictions, predict_left_out
from nldd.coding.predictions import no_progress
from nldd.estimators._nldd import NLDDClassifier
from nldd.present.drawing import make_figure

PAGES = ("promise",)
LARGE = 5000


def measure(name: str) -> dict:
    """Deciles of one data set."""
    X, Y, _ = load(name)
    n_folds = 10 if len(Y) < LARGE else 5
    model = NLDDClassifier(None, decision="subset", random_state=0).fit(X, Y)
    folds = deal_folds(len(Y), n_folds)
    found = join_predictions(folds, predict_left_out(model, X, Y, folds, no_progress))
    deciles = calibration_deciles(found.theta, found.n_wrong(Y), Y.shape[1])
    return {
        **{key: np.asarray(value).tolist() for key, value in asdict(deciles).items()},
        "error": deciles.error,
        "mean_theta": float(found.theta.mean()),
        "hamming_loss": float((found.Y != Y).mean()),
        "n_folds": n_folds,
    }


def inside(result: dict) -> int:
    """Deciles whose interval covers the mean theta."""
    rows = zip(result["expected"], result["lower"], result["upper"], strict=True)
    return sum(low <= theta <= high for theta, low, high in rows)


def tables() -> dict[str, str]:
    """All data sets in Markdown, and how far theta is off at most."""
    head = "data set | mean theta | wrong labels | mean distance of the deciles "
    head += "| deciles whose 95 % interval holds theta"
    found = read("calibration")
    rows = [
        [
            result["dataset"],
            *(f"{result[key]:.4f}" for key in ("mean_theta", "hamming_loss", "error")),
            f"{inside(result)} of {len(result['counts'])}",
        ]
        for result in found
    ]
    off = max(abs(result["mean_theta"] - result["hamming_loss"]) for result in found)
    return {"calibration": marks.table(head, rows), "calibration off": f"{off:.3f}"}


def pictures() -> dict[str, Any]:
    """One panel a data set."""
    figure = make_figure((10.5, 10.5))
    for ax, result in zip(figure.subplots(3, 3).flat, read("calibration"), strict=False):
        keys = ("expected", "observed", "counts", "lower", "upper")
        bins = Calibration(*(np.array(result[key]) for key in keys))
        CalibrationDisplay(bins, title=result["dataset"]).plot(ax)
    return {"calibration": figure}


if __name__ == "__main__":
    run_missing("calibration", ("dataset",), [(name,) for name in CATALOGUE], measure)
