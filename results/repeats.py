"""Is the accuracy guarantee met with repeated answers, and after many refits?

Simulated studies, in which the probability of every code is known. An answer has 6 to 9 words of a
vocabulary of 40. Each of 4 codes has three words that call for it; five words may, or not.
A study starts with 250 coded answers. The true accuracy of what is coded automatically follows from
the known probabilities of 2,000 new answers. "Not met": it is below the target.

- **Repeats.** None, half, or all of the answers are in the table twice, with ids or without.
  Copies have the codes of the first row, or those of a second coder (drawn anew). Without ids, the
  accuracy is also found for 500 new respondents who use the words of an answer in the table.
- **Refits.** Before each of 5 (20) refits 40 (15) answers drawn at random and 40 (15) of those
  sent to review are added. Three ways to use them: `handed on` is what nldd does; `full level`
  tests each fit at the whole level and always uses the newest; `own share` hands no level on.

``python results/repeats.py run`` runs the studies that are missing, with two processes, appends
one line per study to ``results/promise/repeats.jsonl`` and ``refits.jsonl``; without an argument,
the program writes the tables of all records to ``docs/promise.md``.
"""

import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from warnings import simplefilter

import marks
import numpy as np
from scipy.special import expit

from nldd.coding import Answers, Settings, add_answers, fit_coding_model
from nldd.coding._guarantee import GuaranteeTest, Spending
from nldd.coding._repeated_rows import settle_repeats
from nldd.coding._training_table import CodedAnswers

FOLDER = Path(__file__).parent / "promise"
RECORDS = {"repeats": FOLDER / "repeats.jsonl", "refits": FOLDER / "refits.jsonl"}
PAGE = marks.DOCS / "promise.md"
TARGETS, CONFIDENCE, N_FOLDS = (0.8, 0.9), 0.9, 5
N_FIRST, N_NEW, N_SEEN = 250, 2000, 500
CELLS = [
    (share, ids, agreeing)
    for share, ids, agreeing in product((0, 50, 100), (True, False), (True, False))
    if share or agreeing
]
N_STUDIES = 300
# Answers of each kind that are added before a refit, and studies, by the number of refits.
REFITS = {5: (40, 300), 20: (15, 100)}
WAYS = ("handed on", "full level", "own share")
CODES, N_WORDS = "pqrs", 40


def make_weights(seed: int) -> tuple[list[str], np.ndarray]:
    """A vocabulary, and what each word adds to the log-odds of each code."""
    rng = np.random.default_rng(seed)
    letters = list("abcdefghijklmnoprstuvwz")
    words = ["".join(rng.choice(letters, 5)) for _ in range(N_WORDS)]
    weights = np.zeros((N_WORDS, 4))
    for code in range(4):
        weights[3 * code : 3 * code + 3, code] = rng.uniform(11, 16, 3)
    weights[-5:] = rng.uniform(2, 9, (5, 4))
    return words, weights


INTERCEPT = -6.5
WORDS, WEIGHTS = make_weights(2027)
# After each refit, the tests of all earlier fits are looked at again, with the same results.
GuaranteeTest.select = lru_cache(1000)(GuaranteeTest.select)


def draw_texts(rng, n: int) -> tuple[list[str], np.ndarray]:
    """Texts, and the probability of each code."""
    X, texts = np.zeros((n, N_WORDS)), []
    for row in X:
        chosen = rng.choice(N_WORDS, rng.integers(6, 10), replace=False)
        row[chosen] = 1
        texts.append(" ".join(WORDS[j] for j in chosen))
    return texts, expit(INTERCEPT + X @ WEIGHTS)


def draw_codes(rng, P: np.ndarray) -> list[set[str]]:
    """Codes by their probabilities."""
    return [{CODES[j] for j in np.flatnonzero(row)} for row in rng.random(P.shape) < P]


def true_accuracy(found, P: np.ndarray) -> np.ndarray:
    """Probability that all codes of each prediction are right."""
    return np.where(found.Y == 1, P, 1 - P).prod(axis=1)


def measure(found, right: np.ndarray, limit: float | None, rank_by: str) -> list:
    """Number of answers coded automatically, and their true accuracy."""
    auto = found.doubt(rank_by) <= (-1.0 if limit is None else limit)
    return [int(auto.sum()), round(float(right[auto].mean()), 6) if auto.any() else None]


def check_model(model, new: tuple, seen: tuple) -> list[list]:
    """For each target: new answers and those of known words, by the threshold of each kind."""
    assert not model.knows_words(Answers(new[0])).any()
    parts, results = [], []
    for texts, P in (new, seen):
        found = model.code(Answers(texts))
        parts.append((found, true_accuracy(found, P)))
    for target in TARGETS:
        selection = model.select(target, CONFIDENCE)
        row = []
        for (found, right), limit in zip(parts, selection.limits, strict=True):
            row += measure(found, right, limit, selection.rank_by)
        results.append([*row, selection.n_answers, selection.repeated is not None])
    return results


def run_repeats(share: int, ids: bool, agreeing: bool, study: int) -> dict:
    """One study with repeated answers."""
    rng = np.random.default_rng([share, ids, agreeing, study])
    texts, P = draw_texts(rng, N_FIRST)
    new = draw_texts(rng, N_NEW)
    codes = draw_codes(rng, P)
    n_twice = N_FIRST * share // 100
    again = codes[:n_twice] if agreeing else draw_codes(rng, P[:n_twice])
    rows = np.append(np.arange(N_FIRST), np.arange(n_twice))
    texts, codes = [texts[i] for i in rows], [*codes, *again]
    drawn = rng.integers(len(rows), size=N_SEEN)
    seen = [texts[i] for i in drawn], P[rows[drawn]]
    settings = Settings(N_FOLDS, study, 1)
    if ids:
        coders = ["A"] * N_FIRST + ["B"] * n_twice
        answers = Answers(texts, ids=[f"id{i}" for i in rows])
        numbers = list(range(1, len(rows) + 1))
        table = CodedAnswers(answers, codes, numbers, len(rows), [], coders=coders)
        table = settle_repeats(table, Path("made-up.csv"), study)
        model = fit_coding_model(
            table.answers, table.codes, settings=settings, taught=table.taught or None
        )
    else:
        model = fit_coding_model(Answers(texts), codes, settings=settings)
    record = {
        "cell": [share, ids, agreeing],
        "study": study,
        "found": check_model(model, new, seen),
    }
    if share and study % 5 == 0:
        each = Answers(texts, ids=[f"row{i}" for i in range(len(rows))])
        record["apart"] = check_model(fit_coding_model(each, codes, settings=settings), new, seen)
    return record


def use_own_shares(tests: list, target: float) -> tuple[int, object]:
    """The last fit that passes with the share of the level of its own test, and its threshold."""
    found = [
        test.select(target, CONFIDENCE, level_share=Spending(j).share)
        for j, test in enumerate(tests)
    ]
    passed = [j for j, selection in enumerate(found) if selection.automates]
    last = passed[-1] if passed else len(tests) - 1
    return last, found[last]


def check_step(model, fits: list) -> list[list]:
    """For each target and way: which fit is in use, what it codes, and its true accuracy."""
    step = []
    for target in TARGETS:
        used, selection = model.in_use(target, CONFIDENCE)
        own = use_own_shares([*model.earlier, model.test], target)
        whole = model.test.select(target, CONFIDENCE)
        for fit, found in ((len(used.earlier), selection), (len(fits) - 1, whole), own):
            step.append([fit, *measure(*fits[fit], found.limit, found.rank_by)])
    return step


def run_refits(n_refits: int, study: int) -> dict:
    """One study with refits."""
    rng = np.random.default_rng([n_refits, study])
    n_each, n_named = REFITS[n_refits][0], 0

    def draw_batch(n: int):
        nonlocal n_named
        texts, P = draw_texts(rng, n)
        answers = Answers(texts, ids=[f"id{n_named + i}" for i in range(n)])
        n_named += n
        return answers, draw_codes(rng, P)

    new, P = draw_texts(rng, N_NEW)
    model, fits, steps = None, [], []
    for refit in range(n_refits + 1):
        if model is None:
            answers, codes = draw_batch(N_FIRST)
            model = fit_coding_model(answers, codes, settings=Settings(N_FOLDS, study, 1))
        else:
            # Answers come in no order, so that the first are as good as drawn.
            answers, codes = draw_batch(10 * n_each)
            used, selection = model.in_use(TARGETS[0], CONFIDENCE)
            limit = -1.0 if selection.limit is None else selection.limit
            review = used.code(answers).doubt(selection.rank_by) > limit
            review[:n_each] = False
            taken = np.append(np.arange(n_each), np.flatnonzero(review)[:n_each])
            given, drawn = [codes[i] for i in taken], (taken < n_each).tolist()
            model = add_answers(model, answers[taken], given, drawn=drawn)
        assert len(model.earlier) == refit
        found = model.code(Answers(new))
        fits.append((found, true_accuracy(found, P)))
        steps.append(check_step(model, fits))
    return {"refits": n_refits, "study": study, "steps": steps}


def run_job(job: tuple) -> tuple[str, dict]:
    """A study of either kind."""
    simplefilter("ignore")
    kind, *rest = job
    return kind, (run_repeats if kind == "repeats" else run_refits)(*rest)


def read_records(kind: str) -> list[dict]:
    """All recorded studies of a kind."""
    path = RECORDS[kind]
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def run_missing() -> None:
    """Run and record the studies that are missing."""
    done = {("repeats", *found["cell"], found["study"]) for found in read_records("repeats")}
    done |= {("refits", found["refits"], found["study"]) for found in read_records("refits")}
    jobs = [("repeats", *cell, study) for study in range(N_STUDIES) for cell in CELLS]
    jobs += [("refits", n, study) for n, (_, n_all) in REFITS.items() for study in range(n_all)]
    jobs = [job for job in jobs if job not in done]
    with Pool(2) as pool:
        for number, (kind, record) in enumerate(pool.imap_unordered(run_job, jobs), start=1):
            with RECORDS[kind].open("a") as stream:
                stream.write(json.dumps(record, separators=(",", ":")) + "\n")
            if number % 50 == 0:
                print(number, "of", len(jobs), kind, flush=True)


def percent(values: Sequence[float], error: bool = True) -> str:
    """Share of studies, with its Monte Carlo standard error."""
    if not len(values):
        return "-"
    share = float(np.mean(values))
    spread = f" ± {100 * np.sqrt(share * (1 - share) / len(values)):.1f}" if error else ""
    return f"{100 * share:.1f}{spread} %"


def is_missed(accuracy: float | None, target: float) -> bool:
    """Find a guarantee that is given but not met."""
    return accuracy is not None and accuracy < target


def tabulate_repeats(records: list[dict]) -> str:
    """The table of repeated answers in Markdown."""
    lines = [
        "| target | answers twice | ids | codes of copies | studies | new words: coded "
        "automatically | not met | known words: coded automatically | not met "
        "| rows taken as different answers: not met |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (place, target), cell in product(enumerate(TARGETS), CELLS):
        share, ids, agreeing = cell
        studies = [record for record in records if record["cell"] == [*cell]]
        found = [record["found"][place] for record in studies]
        new, known = ([is_missed(row[i], target) for row in found] for i in (1, 3))
        apart = [record["apart"][place] for record in studies if "apart" in record]
        rates = [
            percent([row[i] / n for row in found], False) for i, n in ((0, N_NEW), (2, N_SEEN))
        ]
        copies = ("the same" if agreeing else "second coder") if share else "-"
        cells = [f"{target:g}", f"{share} %", "yes" if ids else "no", copies, str(len(found))]
        cells += [rates[0], percent(new), *(["-", "-"] if ids else [rates[1], percent(known)])]
        cells += [percent([is_missed(row[1], target) for row in apart])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def tabulate_refits(records: list[dict]) -> str:
    """The table of refits in Markdown."""
    lines = [
        "| target | refits | studies | level | coded automatically: first fit | last fit "
        "| not met: at any step | at the worst step | fell to none | earlier fit in use |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for target, n, way in product(TARGETS, REFITS, WAYS):
        place = len(WAYS) * TARGETS.index(target) + WAYS.index(way)
        found = [[s[place] for s in record["steps"]] for record in records if record["refits"] == n]
        if not found:
            continue
        rates = np.array([[step[1] / N_NEW for step in study] for study in found])
        missed = np.array([[is_missed(step[2], target) for step in study] for study in found])
        earlier = [step[0] < j for study in found for j, step in enumerate(study)]
        fell = ((rates[:, 1:] == 0) & (rates[:, :-1] > 0)).any(axis=1)
        worst = missed[:, int(missed.mean(axis=0).argmax())]
        cells = [f"{target:g}", str(n), str(len(found)), way]
        cells += [f"{100 * rates[:, j].mean():.1f} %" for j in (0, -1)]
        cells += [
            percent(missed.any(axis=1)),
            percent(worst),
            percent(fell),
            percent(earlier, False),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing if asked to, and write the tables."""
    if sys.argv[1:] == ["run"]:
        run_missing()
    tables = {"repeats": tabulate_repeats, "refits": tabulate_refits}
    marks.fill(PAGE, {kind: table(read_records(kind)) for kind, table in tables.items()})


if __name__ == "__main__":
    main()
