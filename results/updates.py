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

``python results/updates.py slashdot`` does the same with splits of slashdot, each row as a text of
its words: 600 rows are coded first; of 1,000 others, 100 are drawn and up to 500 of those that the
model leaves to people at 0.7 join; the rest is new.
"""

import json
import sys
from itertools import product
from pathlib import Path
from warnings import simplefilter

import marks
import numpy as np
from scipy.special import expit

from nldd import load_dataset
from nldd.coding import Answers, CodeColumns, Columns, Settings, add_answers, fit_coding_model

FOLDER = Path(__file__).parent / "promise"
RECORD, SPLITS = FOLDER / "updates.jsonl", FOLDER / "updates-slashdot.jsonl"
PAGE = marks.DOCS / "promise.md"
N_STUDIES, N_FIRST, N_BATCH, N_DRAWN, MOST_REVIEWED, N_NEW = 1000, 250, 400, 50, 150, 10_000
N_UPDATES = 2
TARGETS = (0.8, 0.9)
N_SPLITS, SPLIT_FIRST, SPLIT_BATCH, SPLIT_DRAWN, SPLIT_REVIEWED = 20, 600, 1000, 100, 500
SPLIT_TARGETS = (0.7, 0.8)
TEXT = Columns(("answer",), CodeColumns(("codes",)))
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
    return look(model, found, right, TARGETS)


def look(model, found, right, targets) -> list[list]:
    """The same, of predictions of which it is known how `right` they are."""
    records = []
    for target in targets:
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


def run_split(number: int) -> dict:
    """One split of slashdot: the promises of the first model, and after an update."""
    X, Y, _ = load_dataset("slashdot")
    X, Y = X.toarray() if hasattr(X, "toarray") else np.asarray(X), np.asarray(Y)
    order = np.random.default_rng(number).permutation(len(Y))
    first, batch, new = np.split(order, [SPLIT_FIRST, SPLIT_FIRST + SPLIT_BATCH])

    def answers(places):
        texts = [" ".join(f"w{j}x" for j in np.flatnonzero(X[i])) for i in places]
        return Answers(texts, np.empty((len(texts), 0)), [()] * len(texts))

    def codes(places):
        return [{f"c{j}" for j in np.flatnonzero(Y[i])} for i in places]

    def step(model):
        found = model.code(answers(new))
        Y_pred = np.zeros((len(new), Y.shape[1]), dtype=int)
        Y_pred[:, [int(name[1:]) for name in model.labels]] = found.Y
        return look(model, found, (Y_pred == Y[new]).all(axis=1), SPLIT_TARGETS)

    model = fit_coding_model(answers(first), codes(first), TEXT, Settings(10, number, 1))
    steps = [step(model)]
    sure = let_through(model.code(answers(batch)), model.select(SPLIT_TARGETS[0]))
    review = np.flatnonzero(~sure[SPLIT_DRAWN:])[:SPLIT_REVIEWED] + SPLIT_DRAWN
    taken = batch[np.append(np.arange(SPLIT_DRAWN), review)]
    drawn = (np.arange(len(taken)) < SPLIT_DRAWN).tolist()
    steps.append(step(add_answers(model, answers(taken), codes(taken), drawn=drawn)))
    return {"study": number, "steps": steps}


def read(record: Path = RECORD) -> list[dict]:
    """The studies that are there."""
    return list(map(json.loads, record.read_text().splitlines())) if record.exists() else []


def rows(records: list[dict], targets: tuple[float, ...] = TARGETS) -> list[dict]:
    """For each step, target and way: how often a promise was made and broken, and the shares."""
    found = []
    for step in range(len(records[0]["steps"])):
        for position, (target, way) in enumerate(product(targets, WAYS)):
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


def table(records: list[dict], targets: tuple[float, ...] = TARGETS) -> str:
    """All of it in Markdown."""
    truly, broken = "right, truly", "promise broken"
    if targets != TARGETS:
        truly, broken = "right, new", "new below target"
    lines = [
        "| target | updates | tested on | answers tested | promise made | coded automatically "
        f"| {truly} | {broken} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows(records, targets):
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
    real = sys.argv[1:] == ["slashdot"]
    record, study, n = (SPLITS, run_split, N_SPLITS) if real else (RECORD, run_study, N_STUDIES)
    done = {found["study"] for found in read(record)}
    for number in range(n):
        if number not in done:
            line = json.dumps(study(number), separators=(",", ":"))
            with record.open("a") as stream:
                stream.write(f"{line}\n")
            print(number, flush=True)
    splits = table(read(SPLITS), SPLIT_TARGETS)
    marks.fill(PAGE, {"updates": table(read()), "slashdot": splits})


if __name__ == "__main__":
    main()
