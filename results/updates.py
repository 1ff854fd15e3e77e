"""Does the promise hold after updates, and what do they bring?

Simulated studies, in which the probability of every label is known. A study starts with 250 coded
answers, drawn at random. Then 400 new ones come: 50 of them are drawn at random for people, who
also code up to 150 of those that the model leaves to them at a target of 0.8. All of these join the
model, the 50 as drawn, and so do those of a second batch. After each step the true accuracy of what
the model would code by itself is found, on 10,000 further answers whose labels' probabilities are
known: by thresholds tested on the drawn answers alone (`drawn`), as nldd does it, and on all
answers of the model (`all`), as it once did.

``python results/updates.py`` runs the studies that are missing, appends one line a study to
``results/promise/updates.jsonl``, and writes the table to ``docs/promise.md``.
"""

import json
import re
import sys
from itertools import product
from pathlib import Path
from warnings import simplefilter

import numpy as np
from scipy.special import expit

from nldd.coding import Answers, CodeColumns, Columns, Settings, add_answers, fit_coding_model

RECORD = Path(__file__).parent / "promise" / "updates.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "promise.md"
N_STUDIES, N_FIRST, N_BATCH, N_DRAWN, MOST_REVIEWED, N_NEW = 1000, 250, 400, 50, 150, 10_000
N_UPDATES = 2
TARGETS = (0.8, 0.9)
WAYS = ("drawn", "all")
LETTERS = "wxyz"
COLUMNS = Columns((), CodeColumns(("codes",)), numeric=tuple("abcdef"))
SLOPES = np.random.default_rng(99).normal(size=(6, 4)) * 4


def draw(rng, n: int):
    """Answers, which are six numbers each, their codes, and the probability of each label."""
    X = rng.normal(size=(n, 6))
    P = expit(X @ SLOPES)
    Y = rng.random(P.shape) < P
    codes = [{LETTERS[j] for j in np.flatnonzero(row)} for row in Y]
    return Answers([""] * n, X, [()] * n), codes, P


def let_through(found, selection):
    """Which predictions a selection codes by itself."""
    limit = -1.0 if selection.limit is None else selection.limit
    return found.doubt(selection.rank_by) <= limit


def promises(model, new, P) -> list[list]:
    """For each target and way: answers tested, share of these and of new ones, true accuracy."""
    found = model.code(new)
    # Labels that the model has never seen are not predicted.
    Y = np.zeros(P.shape)
    Y[:, [LETTERS.index(name) for name in model.labels]] = found.Y
    right = np.where(Y == 1, P, 1 - P).prod(axis=1)
    records = []
    for target in TARGETS:
        for rows in (model.tested, slice(None)):
            selection = model.validation.select(model.Y, target, rows=rows)
            auto = let_through(found, selection)
            accuracy = round(float(right[auto].mean()), 6) if auto.any() else None
            shares = round(selection.share, 4), round(float(auto.mean()), 4)
            records.append([selection.n_answers, *shares, accuracy])
    return records


def run_study(number: int) -> dict:
    """One study: the promises of its first model, and after each update."""
    rng = np.random.default_rng(number)
    new, _, P = draw(np.random.default_rng(10**6 + number), N_NEW)
    answers, codes, _ = draw(rng, N_FIRST)
    model = fit_coding_model(answers, codes, COLUMNS, Settings(10, number, 1))
    steps = [promises(model, new, P)]
    for _ in range(N_UPDATES):
        batch, codes, _ = draw(rng, N_BATCH)
        # Answers of a batch come in no order, so that the first are as good as drawn.
        review = ~let_through(model.code(batch), model.select(TARGETS[0]))
        review[:N_DRAWN] = False
        taken = np.append(np.arange(N_DRAWN), np.flatnonzero(review)[:MOST_REVIEWED])
        given, drawn = [codes[i] for i in taken], (taken < N_DRAWN).tolist()
        model = add_answers(model, batch[taken], given, drawn=drawn)
        steps.append(promises(model, new, P))
    return {"study": number, "steps": steps}


def read() -> list[dict]:
    """The studies that are there."""
    return list(map(json.loads, RECORD.read_text().splitlines())) if RECORD.exists() else []


def rows(records: list[dict]) -> list[dict]:
    """For each step, target and way: how often a promise was made and broken, and the shares."""
    found = []
    for step in range(N_UPDATES + 1):
        for position, (target, way) in enumerate(product(TARGETS, WAYS)):
            cells = [record["steps"][step][position] for record in records]
            tested, _, share, accuracy = zip(*cells, strict=True)
            made = [value for value in accuracy if value is not None]
            found.append(
                {
                    "target": target,
                    "updates": step,
                    "way": way,
                    "tested": float(np.mean(tested)),
                    "made": len(made),
                    "share": float(np.mean(share)),
                    "accuracy": float(np.mean(made)),
                    "broken": sum(value < target for value in made),
                    "studies": len(cells),
                }
            )
    return sorted(found, key=lambda row: row["target"])


def table(records: list[dict]) -> str:
    """All of it in Markdown."""
    lines = [
        "| target | updates | tested on | answers tested | promise made | coded automatically "
        "| right, truly | promise broken |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows(records):
        tested = {"drawn": "answers drawn at random", "all": "all answers, as before"}[row["way"]]
        n = row["studies"]
        lines.append(
            f"| {row['target']:g} | {row['updates']} | {tested} | {row['tested']:.0f} | "
            f"{100 * row['made'] / n:.1f} % | {100 * row['share']:.1f} % | {row['accuracy']:.3f} | "
            f"{100 * row['broken'] / n:.1f} % |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and write the table."""
    simplefilter("ignore")
    done = {record["study"] for record in read()}
    for number in range(int(sys.argv[1]) if sys.argv[1:] else N_STUDIES):
        if number not in done:
            line = json.dumps(run_study(number), separators=(",", ":"))
            with RECORD.open("a") as stream:
                stream.write(f"{line}\n")
            print(number, flush=True)
    text = table(read())
    print(text)
    mark = r"(<!-- updates -->\n).*?(<!-- end -->)"
    PAGE.write_text(re.sub(mark, rf"\1{text}\2", PAGE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    main()
