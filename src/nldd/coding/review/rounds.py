"""A round: what a model suggests for the answers of a review, as the store keeps it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nldd.coding.coded_answers import (
    BY_PEOPLE,
    N_NEXT,
    CodedAnswers,
    CodingOptions,
    CodingSummary,
    next_labelsets,
)
from nldd.coding.guarantee import GuaranteeTarget, level_share
from nldd.coding.model import CodingModel
from nldd.coding.predictions import Predictions
from nldd.coding.review.decisions import code_columns
from nldd.coding.review.records import Suggestion
from nldd.coding.wording import failed_refit_words

N_NEAREST = 3
# Letters of a coded answer that the page shows beside another one.
MOST_SHOWN = 500


def refit_options(
    model: CodingModel, goal: GuaranteeTarget, last: Mapping[str, Any]
) -> tuple[CodingOptions, str]:
    """What a refitted model may code, tested with its share of the level after the `last` round.

    If it fails its test, nothing; then what was coded automatically stays so. A sentence says that.
    """
    found = model.test.select(goal, level_share(last["n_tests"]))
    failed = "" if found.automates else failed_refit_words(found)
    return CodingOptions(None).apply(found), failed


class Suggester:
    """Makes suggestions of what a model has found."""

    def __init__(self, model: CodingModel) -> None:
        self.model = model
        self._coded: dict[int, dict[str, Any]] = {}

    def suggest(self, coded: CodedAnswers, items: Sequence[int]) -> Iterator[Suggestion]:
        """Suggestions for answers, whose `items` these are, but for coded ones."""
        found = coded.found
        assert found.P is not None
        codes, nexts = self.model.codes(found.Y), next_labelsets(self.model, coded)
        likely = np.rint(found.P * 255).astype(np.uint8)
        doubt = np.nan_to_num(coded.doubt, nan=1.0).tolist()
        for i, status in enumerate(coded.statuses):
            if status == BY_PEOPLE:
                continue
            own = () if coded.empty[i] else codes[i]
            others = [labelset for labelset in nexts[i] if labelset != own]
            details = self._details(coded, i, others[:N_NEXT])
            yield Suggestion(items[i], own, status, doubt[i], likely[i].tobytes(), details)

    def _details(
        self, coded: CodedAnswers, i: int, others: list[tuple[str, ...]]
    ) -> dict[str, Any]:
        found, ask = coded.found, coded.ask[i]
        # The chance speaks of whole labelsets, not of codes that are settled one by one.
        chance = None if found.chance is None or coded.settled[i] else found.chance[i]
        details: dict[str, Any] = {
            "theta": float(f"{found.theta[i]:.6g}"),
            "chance": None if chance is None else float(f"{chance:.6g}"),
            "why": coded.why[i],
            "next": [] if coded.empty[i] else others,
            "nearest": [] if coded.empty[i] else self._nearest(found, i),
            "empty": bool(coded.empty[i]),
        }
        if ask is not None:
            details["ask"] = self.model.codes(ask[np.newaxis])[0]
        return details

    def _nearest(self, found: Predictions, i: int) -> list[dict[str, Any]]:
        """Coded answers that the nearest labelsets come from: each has other codes."""
        assert found.others_row is not None
        rows = [int(found.row[i]), *found.others_row[i].tolist()]
        return [self._answer(row) for row in rows[:N_NEAREST]]

    def _answer(self, row: int) -> dict[str, Any]:
        if row not in self._coded:
            (codes,) = self.model.codes(self.model.Y[row : row + 1])
            text = self.model.answers.texts[row]
            shown = text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
            self._coded[row] = {"text": shown, "codes": codes}
        return self._coded[row]


def round_facts(
    model: CodingModel,
    policy: CodingOptions,
    counts: CodingSummary,
    n_all: int,
    n_decided: int = 0,
    n_tests: int = 1,
) -> Mapping[str, Any]:
    """What a round is known by: its model, its limits, and how many the machine codes alone.

    `n_all` answers had no codes before the review, of which people have decided `n_decided`.
    """
    limits, book = policy.per_code, model.codebook
    return {
        "codes": list(model.labels),
        "becomes": {e.code: book.current(e.code) for e in book.entries if e.merged_into},
        "columns": code_columns(model),
        "threshold": policy.threshold,
        "rank_by": policy.rank_by,
        "guarantee": str(policy.guarantee or ""),
        "limits": None if limits is None else {"yes": limits.yes, "no": limits.no},
        "n_auto": counts.n_auto,
        "n_review": counts.n_people,
        "n_known": len(model.answers),
        "n_drawn": len(model.tested),
        "n_decided": n_decided,
        "share": counts.n_auto / n_all if n_all else 0.0,
        "n_tests": n_tests,
    }
