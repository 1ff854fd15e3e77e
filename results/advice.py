"""Is the advice right on how many coded answers a target takes, and on which target to take?

The out-of-fold predictions of whole data sets, and made-up ones, are taken as populations. The true
number is the smallest at which four of five samples, drawn with replacement, prove the target. Then
samples that are smaller and prove nothing are advised as ``nldd triage`` advises. And of samples
that are tested at seven targets, as the first table of ``nldd triage`` does it, the promises are
counted that are broken: line by line, and any of them.

``python results/advice.py`` writes ``results/promise/advice.json`` and the table of it to
``docs/promise.md``. The populations are those of ``results/promise.py``. With the word ``page`` it
writes the tables of what is recorded.
"""

import json
import sys
from pathlib import Path

import marks
import numpy as np

from nldd.coding import proven_sizes, selective_threshold
from nldd.coding._evaluation import TARGETS
from nldd.coding._selective import proven_size

FOLDER = Path(__file__).parent / "promise"
RECORD = FOLDER / "advice.json"
PAGE = marks.DOCS / "promise.md"
CASES = (
    *(("medical", 0.8), ("medical", 0.9), ("enron", 0.7), ("enron", 0.8), ("slashdot", 0.8)),
    *(("slashdot", 0.9), ("yeast", 0.7), ("yeast", 0.8), ("made up", 0.9), ("made up", 0.95)),
)
PARTS = (0.3, 0.6, 0.9)
N_SAMPLES, N_TRIALS, N_TABLES = 100, 400, 1000
TABLE_SIZES = (300, 1000)
CONFIDENCE = 0.9


def population(name: str):
    """Doubts and whether the answers are right."""
    if name == "made up":
        rng = np.random.default_rng(1)
        error = rng.beta(0.6, 1.4, 20_000)
        return error / 1.5, (rng.random(len(error)) >= error).astype(float)
    with np.load(FOLDER / f"{name}.npz") as pool:
        return pool["doubt_subset"], pool["subset"]


def sample(rng, doubt, right, n: int):
    """So many answers, sorted by doubt."""
    drawn = rng.integers(0, len(doubt), n)
    drawn = drawn[np.argsort(doubt[drawn], kind="stable")]
    return doubt[drawn], right[drawn]


def true_number(doubt, right, target: float) -> int:
    """Fewest answers of which four in five samples prove the target, to about four percent."""
    rng = np.random.default_rng(0)

    def suffices(n: int) -> bool:
        tries = (sample(rng, doubt, right, n) for _ in range(N_TRIALS))
        proven = [proven_size(*drawn, target, 1 - CONFIDENCE)[0] > 0 for drawn in tries]
        return np.mean(proven) >= 0.8

    n = 20
    while not suffices(n):
        n += n // 3
    n -= n // 4
    while not suffices(n):
        n += n // 25 + 1
    return n


def advise(doubt, right, target: float, n: int) -> list:
    """The advice to samples of so many answers that prove nothing."""
    rng, found = np.random.default_rng(n), []
    while len(found) < N_SAMPLES:
        advice = selective_threshold(*sample(rng, doubt, right, n), target, CONFIDENCE)
        if advice.threshold is None:
            found.append(advice.needed)
    return found


def run() -> list[dict]:
    """All cases: the true number, and for each size of the samples the advice to them."""
    records = []
    for name, target in CASES:
        doubt, right = population(name)
        true = true_number(doubt, right, target)
        for part in PARTS:
            n = round(part * true)
            advice = advise(doubt, right, target, n)
            records.append({"name": name, "target": target, "true": true, "n": n, "needed": advice})
            print(rows(records)[-1], flush=True)
    return records


def run_lines() -> list[dict]:
    """Tables of targets: how often each line is broken, and any of them."""
    records = []
    for name in dict.fromkeys(name for name, _ in CASES):
        doubt, right = population(name)
        order = np.argsort(doubt, kind="stable")
        accuracy = np.cumsum(right[order]) / np.arange(1, len(right) + 1)
        for n in TABLE_SIZES:
            rng, broken = np.random.default_rng(n), []
            for _ in range(N_TABLES):
                known, came = sample(rng, doubt, right, n)
                sizes = np.array(proven_sizes(known, came, TARGETS["subset"], CONFIDENCE))
                limits = np.where(sizes > 0, known[sizes - 1], -1.0)
                last = np.searchsorted(doubt[order], limits, side="right")
                broken.append((sizes > 0) & (accuracy[last - 1] < TARGETS["subset"]))
            lines = np.sum(broken, axis=0).tolist()
            any_line = int(np.any(broken, axis=1).sum())
            records.append({"name": name, "n": n, "lines": lines, "any": any_line})
            print(records[-1], flush=True)
    return records


def lines_table(records: list[dict]) -> str:
    """How often the promises of a table of targets are broken, in Markdown."""
    heads = " | ".join(f"{target:g}" for target in TARGETS["subset"])
    lines = [f"| data set | coded answers | {heads} | any of them |", "|---" * 10 + "|"]
    for record in records:
        shares = [f"{100 * k / N_TABLES:.1f} %" for k in (*record["lines"], record["any"])]
        lines.append(f"| {record['name']} | {record['n']} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def rows(records: list[dict]) -> list[dict]:
    """How often the range holds the true number, and where its ends are in the middle."""
    found = []
    for record in records:
        true, advice = record["true"], record["needed"]
        told = [ends for ends in advice if ends is not None]
        closed = [ends for ends in told if ends[1] is not None]
        holds = [low <= true and (high is None or true <= high) for low, high in told]
        found.append(
            {
                **{key: record[key] for key in ("name", "target", "n", "true")},
                "low": float(np.median([low for low, _ in told])),
                "high": float(np.median([high or np.inf for _, high in told])),
                "open": (len(told) - len(closed)) / len(advice),
                "none": (len(advice) - len(told)) / len(advice),
                "right": sum(holds) / len(advice),
            }
        )
    return found


def table(records: list[dict]) -> str:
    """All of it in Markdown."""
    lines = [
        "| data set | target | coded answers | true number | advised from | up to | no upper end "
        "| no number | range holds the true number |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows(records):
        high = "open" if row["high"] == np.inf else f"{row['high']:.0f}"
        lines.append(
            f"| {row['name']} | {row['target']:g} | {row['n']} | {row['true']} | {row['low']:.0f} "
            f"| {high} | {row['open']:.0%} | {row['none']:.0%} | {row['right']:.0%} |"
        )
    right = np.mean([row["right"] for row in rows(records)])
    lines += ["", f"In all, the range holds the true number in {right:.0%} of the samples."]
    return "\n".join(lines).replace("%", " %") + "\n"


def main() -> None:
    """Run it, and write record and table."""
    if sys.argv[1:] != ["page"]:
        found = {"advice": run(), "lines": run_lines()}
        RECORD.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    found = json.loads(RECORD.read_text())
    marks.fill(PAGE, {"advice": table(found["advice"]), "lines": lines_table(found["lines"])})


if __name__ == "__main__":
    main()
