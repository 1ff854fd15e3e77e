"""Is theta calibrated? Mean theta against the share of wrong labels, by decile, on nine data sets.

Every row is predicted without itself (ten folds, five from 5,000 rows on) by NLDD with its default
settings. ``python results/calibration.py`` measures the data sets that are missing in
``results/promise/calibration.json`` and draws ``docs/calibration.svg``.
"""

import json
from dataclasses import asdict
from pathlib import Path
from warnings import simplefilter

import marks
import numpy as np

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.coding.calibration import Calibration, CalibrationDisplay, calibration_deciles
from nldd.coding.cross_validation import deal_folds, join_predictions, predict_left_out
from nldd.coding.predictions import no_progress
from nldd.estimators._nldd import NLDDClassifier
from nldd.present.drawing import make_figure

HERE = Path(__file__).parent
PLACE = HERE / "promise" / "calibration.json"
PICTURE = marks.DOCS / "calibration.svg"
PAGE = marks.DOCS / "promise.md"
LARGE = 5000


def measure(name: str) -> dict:
    """Deciles of one data set."""
    X, Y, _ = load_dataset(name)
    Y = np.asarray(Y, dtype=np.int8)
    n_folds = 10 if len(Y) < LARGE else 5
    model, folds = NLDDClassifier(None, random_state=0).fit(X, Y), deal_folds(len(Y), n_folds)
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


def table(results: dict) -> str:
    """All data sets in Markdown."""
    lines = [
        "| data set | mean theta | wrong labels | mean distance of the deciles | deciles whose "
        "95 % interval holds theta |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {result['mean_theta']:.4f} | {result['hamming_loss']:.4f} | "
        f"{result['error']:.4f} | {inside(result)} of {len(result['counts'])} |"
        for name, result in results.items()
    ]
    return "\n".join(lines) + "\n"


def draw(results: dict) -> None:
    """One panel a data set."""
    figure = make_figure((10.5, 10.5))
    for ax, (name, result) in zip(figure.subplots(3, 3).flat, results.items(), strict=False):
        keys = ("expected", "observed", "counts", "lower", "upper")
        bins = Calibration(*(np.array(result[key]) for key in keys))
        CalibrationDisplay(bins, title=name).plot(ax)
    marks.save_light(figure, PICTURE)


def main() -> None:
    """Run what is missing, and print the table."""
    simplefilter("ignore")
    PLACE.parent.mkdir(exist_ok=True)
    results = json.loads(PLACE.read_text()) if PLACE.exists() else {}
    for name in CATALOGUE:
        if name not in results:
            results[name] = measure(name)
            PLACE.write_text(json.dumps(results, indent=1) + "\n")
        print(name, flush=True)
    draw(results)
    marks.fill(PAGE, {"calibration": table(results)})


if __name__ == "__main__":
    main()
