"""The weights of both distances that NLDD learned, beside the paper's."""

from collections.abc import Sequence

import numpy as np

from nldd.reports import DataRow, Entry, Row, Table
from nldd.reports._published import PUBLISHED_COEFFICIENTS
from nldd.reports._summary import Results

NAMES = ("b0", "b1 (Dx)", "b2 (Dy)")


def coefficient_table(results: Results) -> Table | None:
    """Mean and spread of the coefficients over the folds; None without cells of NLDD."""
    rows: list[Row] = []
    data: list[DataRow] = []
    for dataset in results.datasets:
        cells = results.cells(dataset, "NLDD")
        if not cells:
            continue
        beta = np.array([cell.details["coefficients"] for cell in cells])
        errors = np.array([cell.details["coefficient_errors"] for cell in cells], dtype=float)
        # Folds share most of their rows; for one split the regression's own error is all there is.
        spread = beta.std(axis=0, ddof=1) if len(beta) > 1 else errors[0]
        told = PUBLISHED_COEFFICIENTS.get(dataset)
        entries = [
            _entry(mean, spread[k], None if told is None else told[k], relative=k > 0)
            for k, mean in enumerate(beta.mean(axis=0))
        ]
        rows.append((dataset, *entries))
        data += _data(dataset, beta.mean(axis=0).tolist(), spread.tolist(), told)
    if not rows:
        return None
    return Table(
        key="coefficients",
        title="Coefficients of NLDD, mean over the folds",
        head=("data set", *NAMES),
        rows=tuple(rows),
        notes=(
            "Log-odds of a wrong label = b0 + b1 Dx + b2 Dy. After ± is the standard deviation "
            "between folds, or the regression's standard error where there is one split; a weight "
            "that was held at 0 has none.",
        ),
        data_head=("dataset", "coefficient", "mean", "spread", "published"),
        data=tuple(data),
    )


def _entry(mean: float, spread: float, told: float | None, *, relative: bool) -> Entry:
    under = ""
    if told is not None:
        under = f"paper {told:.4f}"
        if relative and told:
            under += f", {mean / told - 1:+.0%}"
    return Entry(f"{mean:.4f}" if np.isnan(spread) else f"{mean:.4f} ± {spread:.4f}", under=under)


def _data(
    dataset: str, mean: Sequence[float], spread: Sequence[float], told: Sequence[float] | None
) -> list[DataRow]:
    return [
        (
            dataset,
            name.split()[0],
            mean[k],
            None if np.isnan(spread[k]) else spread[k],
            told[k] if told else None,
        )
        for k, name in enumerate(NAMES)
    ]
