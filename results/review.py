"""How many decisions does a review take, by the order of its queue, and does the promise hold?

People are simulated by the truth. A study starts with few coded answers, drawn at random; the model
of them codes the new ones as far as it may at a target of 0.9, and leaves the rest to people. They
decide 50 at a time by the order of the page's queue; then the model is fitted anew, and says how
many of the answers that nobody has decided it would code alone. Ways to go on:

- ``file``, ``unsure``, ``alike``: the orders of the page; what people decide teaches only.
- ``audit``: 100 answers drawn at random come first, as ``--audit`` has them, then ``alike``. The
  drawn ones are tested on as well.
- ``random``: no queue; all that people code is drawn at random, and tested on.

Studies are splits of the demonstration survey (300 coded, 1,200 new) and of slashdot (600 coded,
600 new, each row as a text of its words), and made-up ones (250 coded, 1,000 new), in which the
probability of every label is known, so that broken promises can be counted.

``python results/review.py`` runs the studies that are missing.
"""

import json
from itertools import product
from typing import NamedTuple

import marks
import numpy as np
from record_files import load, read, run_missing
from scipy.special import expit

from nldd.coding.answers import Answers, Decisions
from nldd.coding.columns import CodeColumns, Columns
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model import Settings, add_answers, fit_coding_model
from nldd.coding.review.desk import QueueState
from nldd.datasets import load_survey

PAGES = ("review",)
WAYS = ("file", "unsure", "alike", "audit", "random")
SHARES = (0.6, 0.7, 0.8)
TARGET, EVERY, N_AUDIT = 0.9, 50, 100
N_STUDIES = {"survey": 4, "slashdot": 2, "made": 200}
N_CODED = {"survey": 300, "slashdot": 600, "made": 250}
N_NEW = {"survey": 1200, "slashdot": 600, "made": 1000}
# Of the made-up studies; the others go on until the last of the shares is reached.
MOST_DECIDED = 300
MADE_SHARES = (0.3, 0.4, 0.5)
LETTERS = "wxyz"
SLOPES = np.random.default_rng(99).normal(size=(6, 4)) * 4
LISTED = CodeColumns(("codes",))


class Pool(NamedTuple):
    """Answers in random order, their codes, and, where it is known, how likely each label is."""

    answers: Answers
    codes: list[set[str]]
    columns: Columns
    P: np.ndarray | None = None


def survey_pool(number: int) -> Pool:
    """The demonstration survey, shuffled."""
    rows = load_survey().rows
    rows = [rows[i] for i in np.random.default_rng(number).permutation(len(rows))]
    ages = np.array([[float(row[2]) if row[2] else np.nan] for row in rows])
    answers = Answers([row[1] for row in rows], ages, [(row[3],) for row in rows])
    columns = Columns(("answer",), LISTED, ("age",), ("region",))
    return Pool(answers, [set(row[4].split(";")) for row in rows], columns)


def slashdot_pool(number: int) -> Pool:
    """Rows of slashdot, shuffled, each as a text of its words."""
    X, Y, _ = load("slashdot")
    X, Y = X.toarray() if hasattr(X, "toarray") else np.asarray(X), np.asarray(Y)
    order = np.random.default_rng(number).permutation(len(Y))
    texts = [" ".join(f"w{j}x" for j in np.flatnonzero(X[i])) for i in order]
    codes = [{f"c{j}" for j in np.flatnonzero(Y[i])} for i in order]
    answers = Answers(texts, np.empty((len(texts), 0)), [()] * len(texts))
    return Pool(answers, codes, Columns(("answer",), LISTED))


def made_pool(number: int) -> Pool:
    """Answers of six numbers each."""
    rng, n = np.random.default_rng(number), N_CODED["made"] + N_NEW["made"]
    X = rng.normal(size=(n, 6))
    P = expit(X @ SLOPES)
    codes = [{LETTERS[j] for j in np.flatnonzero(row)} for row in rng.random(P.shape) < P]
    columns = Columns((), LISTED, numeric=tuple("abcdef"))
    return Pool(Answers([""] * n, X, [()] * n), codes, columns, P)


POOLS = {"survey": survey_pool, "slashdot": slashdot_pool, "made": made_pool}


class Sayings:
    """What the machine says of the new answers, as the page's queue asks a store for it."""

    def __init__(self, drawn: np.ndarray) -> None:
        self.drawn = drawn
        self.said: dict[int, list[tuple[int, str, str, float]]] = {0: []}

    def outlines(self) -> list[tuple[int, int, int, int]]:
        """Number, drawn, given and blank of each answer."""
        return [(i, int(drawn), 0, 0) for i, drawn in enumerate(self.drawn.tolist())]

    def suggestion_rows(self, number: int) -> list[tuple[int, str, str, float]]:
        """Number, codes, status and doubt of each answer in a round."""
        return self.said[number]


def right_codes(pool: Pool, names: list[tuple[str, ...]], places: np.ndarray) -> np.ndarray:
    """Whether predicted codes are right, or how likely they are, where that is known."""
    if pool.P is None:
        return np.array([set(own) == pool.codes[i] for own, i in zip(names, places, strict=True)])
    Y = np.array([[letter in own for letter in LETTERS] for own in names]).reshape(-1, 4)
    return np.where(Y, pool.P[places], 1 - pool.P[places]).prod(axis=1)


def run_study(data: str, number: int, way: str) -> dict:
    """One study: what each look at the page shows, and how right the automatic codes are.

    A look has the decisions so far, the answers that nobody has decided, how many of these are
    automatic, how many of them are right, and on how many answers the threshold was tested.
    """
    pool, n_coded, n_new = POOLS[data](number), N_CODED[data], N_NEW[data]
    known, new = np.arange(n_coded), np.arange(n_coded, n_coded + n_new)
    how = (pool.columns, Settings(10, number, 1))
    first = fit_coding_model(pool.answers[known], [pool.codes[i] for i in known], *how)
    drawn = np.full(n_new, way == "random")
    if way == "audit":  # answers come in no order, so that the last are as good as drawn
        drawn[-N_AUDIT:] = True
    sayings = Sayings(drawn)
    outlook = QueueState(sayings, number)
    model, decided, looks = first, np.empty(0, dtype=np.intp), []
    while True:
        rest = np.setdiff1d(np.arange(n_new), decided)
        auto, right = _say(sayings, model, pool, rest, new, len(looks))
        outlook.renew(sayings, len(looks))
        n_right = round(float(right[auto].sum()), 4)
        looks.append([len(decided), len(rest), int(auto.sum()), n_right, len(model.tested)])
        queued = np.zeros(n_new, dtype=bool)
        queued[rest[~auto]] = True
        queued[rest] |= drawn[rest]
        n_next = min(EVERY, int(queued.sum()))
        if _is_enough(data, looks[-1]) or n_next in (0, len(rest)):
            return {"looks": looks}
        order = way if way in ("file", "unsure") else "alike"
        decided = np.append(decided, outlook.ranked(queued, order)[:EVERY])
        given, marks = [frozenset(pool.codes[i]) for i in new[decided]], drawn[decided].tolist()
        model = add_answers(first, pool.answers[new[decided]], Decisions(given, drawn=marks))


def _say(sayings, model, pool, rest, new, number):
    """Code the answers that nobody has decided; which are automatic, and how right each is."""
    # At the whole level in each round, which is bolder than the page: its rounds share the level.
    found, selection = (
        model.code(pool.answers[new[rest]]),
        model.test.select(GuaranteeTarget(TARGET)),
    )
    doubt = found.doubt(selection.rank_by)
    auto = doubt <= (-1.0 if selection.limit is None else selection.limit)
    names = model.codes(found.Y)
    statuses = np.where(auto, "auto", "review").tolist()
    each = zip(rest.tolist(), map(json.dumps, names), statuses, doubt.tolist(), strict=True)
    sayings.said[number] = list(each)
    return auto, right_codes(pool, names, new[rest])


def _is_enough(data: str, look: list) -> bool:
    n_decided, n_rest, n_auto, *_ = look
    if data == "made":
        return n_decided >= MOST_DECIDED
    return n_auto >= SHARES[-1] * n_rest


def studies(data: str, way: str) -> list[list]:
    """What each look has shown in the recorded studies."""
    wanted = data, way
    return [
        record["looks"] for record in read("review") if (record["data"], record["way"]) == wanted
    ]


def stop_at(looks: list[list], share: float) -> list | None:
    """The first look at which so large a share of the answers that are left is automatic."""
    return next((look for look in looks if look[2] and look[2] >= share * look[1]), None)


def stop_at_most(looks: list[list]) -> list | None:
    """The look with the largest automatic share, as somebody chooses who knows them all."""
    found = [look for look in looks if look[2]]
    return max(found, key=lambda look: look[2] / look[1], default=None)


def rows(data: str) -> list[dict]:
    """For each way and share: decisions until then, work in all, and how right the machine is."""
    found = []
    for way in WAYS:
        for share in SHARES:
            stops = [stop_at(looks, share) for looks in studies(data, way)]
            found.append({"way": way, "share": share, **_summary(stops, N_NEW[data])})
    return found


def _summary(stops: list[list | None], n_new: int) -> dict:
    """Means over studies; in one that never comes so far, people code all answers."""
    reached = [look for look in stops if look is not None]
    accuracy = [look[3] / look[2] for look in reached]
    decided, left, auto = np.array([look[:3] if look else [n_new, 0, 0] for look in stops]).T
    return {
        "studies": len(stops),
        "reached": len(reached),
        "decisions": float(decided.mean()),
        "least": int(decided.min()),
        "most": int(decided.max()),
        "in_all": float((decided + left - auto).mean()),
        "automatic": float(auto.mean()),
        "accuracy": float(np.mean(accuracy)) if reached else None,
        "below": sum(value < TARGET for value in accuracy),
    }


def table(found: list[dict]) -> str:
    """Decisions by way and share, in Markdown."""
    head = "way | automatic share of the rest | reached | decisions until then | least to most "
    head += "| decisions in all | by the machine | right | below 0.9"
    lines = [
        [
            row["way"],
            f"{100 * row['share']:.0f} %",
            f"{row['reached']} of {row['studies']}",
            f"{row['decisions']:.0f}",
            f"{row['least']} to {row['most']}",
            *(f"{row[key]:.0f}" for key in ("in_all", "automatic")),
            "" if row["accuracy"] is None else f"{row['accuracy']:.3f}",
            str(row["below"]),
        ]
        for row in found
    ]
    return marks.table(head, lines)


def largest_table(data: str) -> str:
    """Where the shares are never reached: what was, at the look with the largest one."""
    lines = []
    for way in WAYS:
        every = studies(data, way)
        stops = [look for looks in every if (look := stop_at_most(looks)) is not None]
        largest = max((look[2] / look[1] for look in stops), default=0.0)
        lines.append([way, f"{len(stops)} of {len(every)}", f"{100 * largest:.0f} %"])
    head = "way | promise made at any look | largest automatic share of the rest"
    return marks.table(head, lines)


def promise_rows() -> list[dict]:
    """Of the made-up studies, by way and when people stop: how often a promise was broken."""
    rules = {"before the first decision": lambda looks: looks[0] if looks[0][2] else None}
    rules[f"after {MOST_DECIDED} decisions"] = lambda looks: looks[-1] if looks[-1][2] else None
    for share in MADE_SHARES:
        rules[f"at {100 * share:.0f} %"] = lambda looks, share=share: stop_at(looks, share)
    rules["where the share is largest"] = stop_at_most
    found = []
    for way in WAYS[1:]:
        every = studies("made", way)
        for name, rule in rules.items():
            stops = [look for looks in every if (look := rule(looks)) is not None]
            accuracy = [right / auto for _, _, auto, right, _ in stops]
            found.append(
                {
                    "way": way,
                    "stop": name,
                    "made": f"{len(stops)} of {len(every)}",
                    "decisions": f"{np.mean([look[0] for look in stops]):.0f}" if stops else "",
                    "accuracy": f"{np.mean(accuracy):.3f}" if stops else "",
                    "broken": sum(value < TARGET for value in accuracy),
                    "told": f"{sum(value < TARGET for value in accuracy)} of {len(every)}",
                }
            )
    return found


def tables() -> dict[str, str]:
    """The tables, and how many decisions and broken promises there were, by places in the page."""
    survey, made = rows("survey"), promise_rows()
    orders = [row["in_all"] for row in survey if row["share"] == SHARES[-1]][:3]
    shown = ("way", "stop", "made", "decisions", "accuracy", "told")
    head = "way | people stop | promise made | decisions | right, truly | promise broken"
    return {
        "review-survey": table(survey),
        "review-slashdot": largest_table("slashdot"),
        "review-promise": marks.table(head, [[row[key] for key in shown] for row in made]),
        "review best": f"{min(orders):.0f}",
        "review slowest": f"{max(orders):,.0f}",
        "review broken": str(max(row["broken"] for row in made if row["way"] != "random")),
    }


if __name__ == "__main__":
    every = (
        (data, number, way)
        for data, n in N_STUDIES.items()
        for number, way in product(range(n), WAYS[data == "made" :])
    )
    run_missing("review", ("data", "study", "way"), every, run_study)
