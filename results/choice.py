"""Does "auto" find the base classifier that suits the data, and what does it cost?

NLDD with every candidate and with "auto" on the folds of the protocol `default`, with three seeds.
``python results/choice.py`` runs the cells that are missing in ``results/choice.jsonl``, one line
each, and writes the tables of ``docs/base-classifiers.md``.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from time import thread_time
from warnings import simplefilter

import marks
import numpy as np

from nldd._base import Training
from nldd._parallel import one_blas_thread
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_dataset
from nldd.bench.runner.protocol_file import load_protocol
from nldd.estimators._base_choice import candidates_for
from nldd.estimators._nldd import NLDDClassifier
from nldd.metrics._counts import row_values
from nldd.metrics._measures import PAPER_MEASURES

RECORDS = Path(__file__).parent / "choice.jsonl"
PAGE = marks.DOCS / "base-classifiers.md"
SEEDS = (0, 1, 2)
AUTO = "auto"


def read() -> list[dict]:
    """The cells that are there."""
    return (
        [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    )


def run_cell(X, Y, train, test, base, seed: int) -> dict:
    """Scores of one fold, and the processor time of fitting and predicting."""
    with one_blas_thread():
        start = thread_time()
        model = NLDDClassifier(base, random_state=seed).fit(X[train], Y[train])
        Y_pred = model.predict(X[test])
        seconds = thread_time() - start
    values = row_values(Y[test], Y_pred)
    return {
        "seconds": seconds,
        "n_test": len(test),
        "chosen": model.chosen_.name if base == AUTO else None,
        "sums": {m.key: float(values[m.key].sum()) for m in PAPER_MEASURES},
        "squares": {m.key: float((values[m.key] ** 2).sum()) for m in PAPER_MEASURES},
    }


def run(names) -> None:
    """All cells that are not there yet."""
    done = {(r["dataset"], r["seed"], r["fold"], r["base"]) for r in read()}
    for name in names:
        X, Y, _ = load_dataset(name)
        Y = np.asarray(Y, dtype=np.int8)
        candidates = candidates_for(AUTO, Training(X, Y, None, np.arange(len(Y))))
        for seed in SEEDS:
            folds = replace(load_protocol("default"), seed=seed).split(len(Y))
            for fold, (train, test) in enumerate(folds):
                for base, estimator in {**candidates, AUTO: AUTO}.items():
                    key = {"dataset": name, "seed": seed, "fold": fold, "base": base}
                    if tuple(key.values()) in done:
                        continue
                    found = run_cell(X, Y, train, test, estimator, seed + fold)
                    with RECORDS.open("a") as stream:
                        stream.write(json.dumps({**key, **found}) + "\n")
            print(name, seed, flush=True)


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


def table(found: list[dict]) -> str:
    """A line for each data set, and how often "auto" is within one standard error."""
    lines = [
        "| data set | chosen | 0/1 loss: logistic, best candidate, auto | F: the same | cost |",
        "|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["dataset"] for row in found):
        here = [row for row in found if row["dataset"] == name]
        chosen = sorted({base for row in here for base in row["chosen"]})
        cells = [
            ", ".join(f"{value:.4f}" for value in _means([r for r in here if r["measure"] == key]))
            for key in ("zero_one_loss", "f_measure")
        ]
        costs = sorted({row["cost"] for row in here})
        lines.append(
            f"| {name} | {', '.join(chosen)} | {cells[0]} | {cells[1]} | "
            f"{costs[0]:.1f} to {costs[-1]:.1f} |"
        )
    lines.append("")
    for measure in PAPER_MEASURES:
        rows = [row for row in found if row["measure"] == measure.key]
        near = sum(row["short"] <= 1 for row in rows)
        worst = max(rows, key=lambda row: row["short"])
        lines.append(
            f"- {measure.name}: within one standard error of the best candidate in {near} of "
            f"{len(rows)}; at worst {worst['short']:.1f} behind ({worst['dataset']})."
        )
    return marks.wrapped("\n".join(lines)) + "\n"


def _means(rows: list[dict]) -> tuple[float, float, float]:
    best = np.mean([row["values"][row["best"]] for row in rows])
    plain, auto = (np.mean([row["values"][base] for row in rows]) for base in ("logistic", AUTO))
    return float(plain), float(best), float(auto)


def main() -> None:
    """Run what is missing, and write the table."""
    simplefilter("ignore")
    run(sys.argv[1:] or CATALOGUE)
    marks.fill(PAGE, {"choice": table(compare(read()))})


if __name__ == "__main__":
    main()
