"""Is the accuracy guarantee met with repeated answers, and after many refits?

Simulated studies, in which the probability of every code is known. An answer has 6 to 9 words of a
vocabulary of 40. Each of 4 codes has three words that call for it; five words may, or not.
A study starts with 250 coded answers. The true accuracy of what is coded automatically follows from
the known probabilities of 2,000 new answers. "Not met": it is below the target.

- **Repeats.** None, half, or all of the answers are in the table twice, with ids or without.
  Copies have the codes of the first row, or those of a second coder (drawn anew). Without ids, the
  accuracy is also found for 500 new respondents who use the words of an answer in the table.
- **Refits.** Before each of 5 (20) refits 40 (15) answers drawn at random and 40 (15) of those
  sent to review are added. Three ways to use them: `own share` is what nldd does; `full level`
  tests each fit at the whole level and always uses the newest; `handed on` lets a fit that passes
  hand its level on, and in the studies it decides what is sent to review.
- **Tests.** The same tests of fits that do not improve: an answer of doubt u is wrong with
  probability 0.6 u. Test answers pile up from 300 on, or are all new for each refit.

``python results/repeats.py`` runs the studies that are missing, with two processes.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import count, islice, product

import marks
import numpy as np
from record_files import read, run_missing
from scipy.special import expit

from nldd.coding.answers import Answers, Decisions, settle_repeats
from nldd.coding.guarantee import GuaranteeTarget, GuaranteeTest, level_share, select_in_turn
from nldd.coding.model import Settings, add_answers, fit_coding_model

PAGES = ("promise",)
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
N_TESTED = 1000
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
        selection = model.select(GuaranteeTarget(target, CONFIDENCE))
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
        given = list(map(frozenset, codes))
        decisions = Decisions(given, drawn=[True] * len(given), coders=coders)
        settled = settle_repeats(answers, decisions, study)
        model = fit_coding_model(*settled, settings=settings)
    else:
        model = fit_coding_model(Answers(texts), codes, settings=settings)
    record = {"found": check_model(model, new, seen)}
    if share and study % 5 == 0:
        each = Answers(texts, ids=[f"row{i}" for i in range(len(rows))])
        record["apart"] = check_model(fit_coding_model(each, codes, settings=settings), new, seen)
    return record


def check_step(model, fits: list) -> list[list]:
    """For each target and way: which fit is in use, what it codes, and its true accuracy."""
    step, tests = [], [*model.earlier, model.test]
    for target in TARGETS:
        ways = (hand_on(tests, target), select_in_turn(tests, GuaranteeTarget(target, CONFIDENCE)))
        kept, own = ((last_passed(found), found[last_passed(found)]) for found in ways)
        whole = (len(fits) - 1, tests[-1].select(GuaranteeTarget(target, CONFIDENCE)))
        for fit, selection in (kept, whole, own):
            step.append([fit, *measure(*fits[fit], selection.limit, selection.rank_by)])
    return step


def hand_on(tests: list, target: float) -> list:
    """Thresholds if a fit that passes hands its level on to the next; one that fails loses it."""
    carried, found = 0.0, []
    for number, test in enumerate(tests):
        carried += level_share(number)
        found.append(test.select(GuaranteeTarget(target, CONFIDENCE), carried))
        carried = carried if found[-1].automates else 0.0
    return found


def last_passed(found: list) -> int:
    """The last fit that passes, which is in use; the newest if none does."""
    return max((j for j, each in enumerate(found) if each.automates), default=len(found) - 1)


def run_refits(n_refits: int, study: int) -> dict:
    """One study with refits."""
    rng = np.random.default_rng([n_refits, study])
    n_each, names = REFITS[n_refits][0], (f"id{i}" for i in count())

    def draw_batch(n: int):
        texts, P = draw_texts(rng, n)
        return Answers(texts, ids=list(islice(names, n))), draw_codes(rng, P)

    new, P = draw_texts(rng, N_NEW)
    model, models, fits, steps = None, [], [], []
    for refit in range(n_refits + 1):
        if model is None:
            answers, codes = draw_batch(N_FIRST)
            model = fit_coding_model(answers, codes, settings=Settings(N_FOLDS, study, 1))
        else:
            # Answers come in no order, so that the first are as good as drawn.
            answers, codes = draw_batch(10 * n_each)
            kept = hand_on([*model.earlier, model.test], TARGETS[0])
            number = last_passed(kept)
            limit = -1.0 if kept[number].limit is None else kept[number].limit
            review = models[number].code(answers).doubt(kept[number].rank_by) > limit
            review[:n_each] = False
            taken = np.append(np.arange(n_each), np.flatnonzero(review)[:n_each])
            given, drawn = [frozenset(codes[i]) for i in taken], (taken < n_each).tolist()
            model = add_answers(model, answers[taken], Decisions(given, drawn=drawn))
        models.append(model)
        assert len(model.earlier) == refit
        found = model.code(Answers(new))
        fits.append((found, true_accuracy(found, P)))
        steps.append(check_step(model, fits))
    return {"steps": steps}


def run_tests(n_refits: int, fresh: bool, study: int) -> dict:
    """At which steps what is in use misses the first target, by way."""
    rng = np.random.default_rng([n_refits, fresh, study])
    n_each, target, tests = REFITS[n_refits][0], TARGETS[0], []
    doubt, luck = rng.random((2, 300 + n_each * n_refits))
    for j in range(n_refits + 1):
        if fresh:
            doubt, luck = rng.random((2, 300 + n_each * j))
        wrong = (luck < 0.6 * doubt).astype(np.intp)[: 300 + n_each * j]
        none = np.zeros(len(wrong), dtype=bool)
        tests.append(GuaranteeTest(doubt[: len(wrong)], None, wrong, 1, none))
    whole = [each.select(GuaranteeTarget(target, CONFIDENCE)) for each in tests]
    ways = [
        hand_on(tests, target),
        whole,
        select_in_turn(tests, GuaranteeTarget(target, CONFIDENCE)),
    ]
    missed = []
    for way, found in zip(WAYS, ways, strict=True):
        limits = [each.limit for each in found]
        for j, limit in enumerate(limits):
            if limit is None and j and way != "full level":
                limits[j] = limits[j - 1]
        # Of doubts up to u, a share of 0.3 u is wrong.
        below = (limit is not None and 1 - 0.3 * limit < target for limit in limits)
        missed.append("".join(str(int(each)) for each in below))
    return {"missed": missed}


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


def tabulate_repeats() -> str:
    """The table of repeated answers."""
    head = (
        "target | answers twice | ids | codes of copies | studies | new words: coded automatically "
    )
    head += "| not met | known words: coded automatically | not met "
    head += "| rows taken as different answers: not met"
    records, rows = read("repeats"), []
    for (place, target), cell in product(enumerate(TARGETS), CELLS):
        share, ids, agreeing = cell
        studies = [r for r in records if (r["share"], r["ids"], r["agreeing"]) == cell]
        found = [record["found"][place] for record in studies]
        apart = [record["apart"][place] for record in studies if "apart" in record]
        copies = ("the same" if agreeing else "second coder") if share else "-"
        cells = [f"{target:g}", f"{share} %", "yes" if ids else "no", copies, str(len(found))]
        for i, n in ((0, N_NEW), (2, N_SEEN)):
            rate = percent([row[i] / n for row in found], False)
            missed = percent([is_missed(row[i + 1], target) for row in found])
            cells += ["-", "-"] if i and ids else [rate, missed]
        rows.append([*cells, percent([is_missed(row[1], target) for row in apart])])
    return marks.table(head, rows)


def tabulate_refits() -> str:
    """The table of refits."""
    head = "target | refits | studies | level | coded automatically: first fit | last fit "
    head += "| not met: at any step | at the worst step | fell to none | earlier fit in use"
    records, rows = read("refits"), []
    for target, n, way in product(TARGETS, REFITS, WAYS):
        place = len(WAYS) * TARGETS.index(target) + WAYS.index(way)
        found = [[s[place] for s in record["steps"]] for record in records if record["refits"] == n]
        rates = np.array([[step[1] / N_NEW for step in study] for study in found])
        missed = np.array([[is_missed(step[2], target) for step in study] for study in found])
        fell = ((rates[:, 1:] == 0) & (rates[:, :-1] > 0)).any(axis=1)
        each = missed.any(axis=1), missed[:, missed.mean(axis=0).argmax()], fell
        earlier = percent([step[0] < j for study in found for j, step in enumerate(study)], False)
        cells = [f"{target:g}", str(n), str(len(found)), way]
        cells += [f"{100 * rates[:, j].mean():.1f} %" for j in (0, -1)]
        rows.append([*cells, *map(percent, each), earlier])
    return marks.table(head, rows)


def tabulate_tests() -> str:
    """The table of tests alone."""
    head = "refits | test answers | studies | " + " | ".join(f"not met: {way}" for way in WAYS)
    records, rows = read("refit-tests"), []
    for n, fresh in product(REFITS, (False, True)):
        same = [r["missed"] for r in records if (r["refits"], r["fresh"]) == (n, fresh)]
        missed = np.array([[[step == "1" for step in way] for way in r] for r in same])
        ways = [percent(missed[:, i].any(axis=1)) for i in range(len(WAYS))]
        worst = missed[:, 0, missed[:, 0].mean(axis=0).argmax()]
        kind = "all new each time" if fresh else f"{REFITS[n][0]} more each time"
        rows.append([str(n), kind, str(len(same)), *ways, percent(worst)])
    return marks.table(f"{head} | worst step: handed on", rows)


def tables() -> dict[str, str]:
    """The three tables in Markdown."""
    return {
        "repeats": tabulate_repeats(),
        "refits": tabulate_refits(),
        "tests": tabulate_tests(),
    }


if __name__ == "__main__":
    every = ((*cell, study) for study in range(N_STUDIES) for cell in CELLS)
    run_missing("repeats", ("share", "ids", "agreeing", "study"), every, run_repeats, 2)
    every = ((n, study) for n, (_, n_all) in REFITS.items() for study in range(n_all))
    run_missing("refits", ("refits", "study"), every, run_refits, 2)
    every = product(REFITS, (False, True), range(N_TESTED))
    run_missing("refit-tests", ("refits", "fresh", "study"), every, run_tests, 2)
