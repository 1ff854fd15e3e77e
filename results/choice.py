"""Does "auto" find the base classifier that suits the data, and what does it cost?

NLDD with every candidate and with "auto" on the folds of the protocol `default`, with three seeds.
``python results/choice.py`` runs the cells that are missing.
"""

from collections.abc import Iterable, Iterator
from time import thread_time

import marks
import numpy as np
from record_files import load, read, run_missing

from nldd._base import Training
from nldd._parallel import one_blas_thread
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.protocol_file import load_protocol
from nldd.estimators._base_classifiers import candidates_for
from nldd.estimators._nldd import NLDDClassifier
from nldd.metrics._measures import PAPER_MEASURES, row_values

PAGES = ("base-classifiers",)
SEEDS = (0, 1, 2)
AUTO = "auto"


def candidates(name: str) -> dict:
    """Base classifiers among which "auto" chooses, and itself."""
    X, Y, _ = load(name)
    return {**candidates_for(AUTO, Training(X, Y, None, np.arange(len(Y)))), AUTO: AUTO}


def cells() -> Iterator[tuple]:
    """Data set, seed, fold and base classifier of each cell."""
    for name in CATALOGUE:
        cut = load_protocol("default").split_of(name, load(name).n_samples)
        for seed in SEEDS:
            for fold in range(1 if cut.kind == "random" else cut.folds):
                yield from ((name, seed, fold, base) for base in candidates(name))


def run_cell(name: str, seed: int, fold: int, base: str) -> dict:
    """Scores of one fold, and the processor time of fitting and predicting."""
    X, Y, _ = load(name)
    cut = load_protocol("default").split_of(name, len(Y))
    train, test = cut.rows(load(name), seed)[fold]
    with one_blas_thread():
        start = thread_time()
        model = NLDDClassifier(candidates(name)[base], random_state=seed + fold)
        Y_pred = model.fit(X[train], Y[train]).predict(X[test])
        seconds = thread_time() - start
    values = row_values(Y[test], Y_pred)
    return {
        "seconds": seconds,
        "n_test": len(test),
        "chosen": model.chosen_.name if base == AUTO else None,
        "sums": {m.key: float(values[m.key].sum()) for m in PAPER_MEASURES},
        "squares": {m.key: float((values[m.key] ** 2).sum()) for m in PAPER_MEASURES},
    }


def summary(cells: list[dict], key: str) -> tuple[float, float]:
    """Mean of a measure over all test rows of the cells, and its standard error."""
    n = sum(cell["n_test"] for cell in cells)
    mean = sum(cell["sums"][key] for cell in cells) / n
    square = sum(cell["squares"][key] for cell in cells) / n
    return mean, float(np.sqrt((square - mean**2) / (n - 1)))


def compare(records: list[dict]) -> list[dict]:
    """For each data set, seed and measure: the best candidate, "auto", and how far it is."""
    found = []
    for name in CATALOGUE:
        for seed in SEEDS:
            here = [r for r in records if (r["dataset"], r["seed"]) == (name, seed)]
            by_base: dict[str, list[dict]] = {}
            for record in here:
                by_base.setdefault(record["base"], []).append(record)
            if AUTO not in by_base:
                continue
            for measure in PAPER_MEASURES:
                sign = 1 if measure.greater_is_better else -1
                values = {base: summary(cells, measure.key) for base, cells in by_base.items()}
                best = max((b for b in values if b != AUTO), key=lambda b: sign * values[b][0])
                short = sign * (values[best][0] - values[AUTO][0]) / values[best][1]
                found.append(
                    {
                        "dataset": name,
                        "seed": seed,
                        "measure": measure.key,
                        "best": best,
                        "values": {base: value[0] for base, value in values.items()},
                        "short": short,
                        "chosen": sorted({r["chosen"] for r in by_base[AUTO]}),
                        "cost": _seconds(by_base[AUTO]) / _seconds(by_base["logistic"]),
                    }
                )
    return found


def _seconds(cells: list[dict]) -> float:
    """The median over folds: the first ones compile."""
    return float(np.median([cell["seconds"] for cell in cells]))


def tables() -> dict[str, str]:
    """A line for each data set, and how often "auto" is within one standard error."""
    found, rows, gains = compare(read("choice")), [], []
    for name in dict.fromkeys(row["dataset"] for row in found):
        here = [row for row in found if row["dataset"] == name]
        chosen = sorted({base for row in here for base in row["chosen"]})
        loss, f = (
            _means([row for row in here if row["measure"] == key])
            for key in ("zero_one_loss", "f_measure")
        )
        gains.append(f[-1] - f[0])
        scores = (", ".join(f"{value:.4f}" for value in means) for means in (loss, f))
        rows.append([name, ", ".join(chosen), *scores, _span(row["cost"] for row in here)])
    head = "data set | chosen | 0/1 loss: logistic, best candidate, auto | F: the same | cost"
    lines = [marks.table(head, rows), ""]
    for measure in PAPER_MEASURES:
        rows = [row for row in found if row["measure"] == measure.key]
        near = sum(row["short"] <= 1 for row in rows)
        worst = max(rows, key=lambda row: row["short"])
        lines.append(
            f"- {measure.name}: within one standard error of the best candidate in {near} of "
            f"{len(rows)}; at worst {worst['short']:.1f} behind ({worst['dataset']})."
        )
    return {
        "choice": marks.wrapped("\n".join(lines)),
        "choice gain": f"{max(gains):.3f}".lstrip("0"),
        "choice cost": _span(row["cost"] for row in found),
    }


def _span(values: Iterable[float]) -> str:
    few, *_, many = sorted(values)
    return f"{few:.1f} to {many:.1f}"


def _means(rows: list[dict]) -> tuple[float, float, float]:
    best = np.mean([row["values"][row["best"]] for row in rows])
    plain, auto = (np.mean([row["values"][base] for row in rows]) for base in ("logistic", AUTO))
    return float(plain), float(best), float(auto)


if __name__ == "__main__":
    run_missing("choice", ("dataset", "seed", "fold", "base"), cells(), run_cell)
