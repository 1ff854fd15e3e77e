"""The order in which people go through the answers, from what the machine says of all of them.

Columns rather than records: with 100,000 answers, a queue is sorted and searched in milliseconds.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.coding.review.store import Store
from nldd.exceptions import InputError

FILE, UNSURE, ALIKE = ORDERS = ("file", "unsure", "alike")
AUTO = "auto"

Codes = tuple[str, ...]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]


def random_order(n: int, seed: int) -> Places:
    """The rank of each of n answers in a random order, in which drawn ones come to people.

    A prefix of it is a random sample: they may stop anywhere.
    """
    return np.random.default_rng(seed).permutation(n)


class QueueState:
    """What the machine says of each answer, by its place in the table, which counts from 0.

    `group` tells answers apart by their suggested codes: `groups` has these. `first_auto` and
    `first_group` are what the first round said; -1 is the group of answers without a suggestion.
    """

    def __init__(self, store: Store, seed: int) -> None:
        columns = np.array(store.outlines(), dtype=np.int64).reshape(-1, 4)
        self.items: NDArray[np.int64] = columns[:, 0]
        self.drawn, self.given, self.blank = columns[:, 1:].T.astype(bool)
        self.place = {item: place for place, item in enumerate(self.items.tolist())}
        n = len(self.items)
        self.groups: list[tuple[str, ...]] = []
        self._known: dict[str, int] = {}
        self.round = 0
        self.auto, self.group = np.zeros(n, dtype=bool), np.full(n, -1, dtype=np.int64)
        self.doubt, self.rounds = np.ones(n), np.zeros(n, dtype=np.int64)
        self._chance = random_order(n, seed)
        self._take(store, 0)
        self.first_auto, self.first_group = self.auto.copy(), self.group.copy()
        # A page may have shown what an earlier round said, whose suggestions are gone by now.
        self._group_in = {0: self.first_group}
        self._first_doubt = self.doubt.copy()

    def __len__(self) -> int:
        return len(self.items)

    def renew(self, store: Store, round: int, current: Callable[[Codes], Codes] = tuple) -> None:
        """Take the suggestions of a later round; answers that it left out keep their first ones.

        Codes that were merged since are told as what they are called now (`current`).
        """
        self.auto, self.group = self.first_auto.copy(), self.first_group.copy()
        self.doubt, self.rounds[:] = self._first_doubt.copy(), 0
        self.round = round
        self._take(store, round)
        self._group_in[round] = self.group
        self.groups = [current(tuple(json.loads(text))) for text in self._known]

    def _take(self, store: Store, round: int) -> None:
        found = store.suggestion_rows(round)
        if not found:
            return
        items, codes, statuses, doubts = zip(*found, strict=True)
        places = np.searchsorted(self.items, np.array(items))
        self.group[places] = [self._group(text) for text in codes]
        self.auto[places] = [status == AUTO for status in statuses]
        self.doubt[places] = doubts
        self.rounds[places] = round

    def _group(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = len(self.groups)
            self.groups.append(tuple(json.loads(text)))
        return known

    def codes(self, place: int) -> tuple[str, ...]:
        """The codes that the machine suggests now."""
        return self.groups[self.group[place]] if self.group[place] >= 0 else ()

    def codes_in(self, round: int, place: int) -> tuple[str, ...] | None:
        """The codes that were suggested in a round; None if that is not known."""
        if round not in self._group_in:
            return None
        group = self._group_in[round][place]
        return self.groups[group] if group >= 0 else ()

    def first_codes(self, place: int) -> tuple[str, ...]:
        """The codes that the machine suggested in the first round."""
        return self.groups[self.first_group[place]] if self.first_group[place] >= 0 else ()

    def ranked(self, among: Mask, order: str) -> Places:
        """Places of some answers in one of the orders: drawn ones first, empty ones last."""
        places = np.flatnonzero(among)
        drawn, group = self.drawn[places], self.group[places]
        keys: list[NDArray[Any]] = []
        if order == UNSURE:
            keys = [-self.doubt[places]]
        elif order == ALIKE:
            sizes = np.bincount(group[~drawn] + 1, minlength=len(self.groups) + 1)
            keys = [self.doubt[places], group, -sizes[group + 1]]
        elif order != FILE:
            hint = f"choose one of {', '.join(ORDERS)}"
            raise InputError(f"There is no order {order!r}.", hint=hint)
        keys = [np.where(drawn, 0, key) for key in keys]
        keys += [self.blank[places] & ~drawn, np.where(drawn, self._chance[places], 0), ~drawn]
        return places[np.lexsort([places, *keys])]


def order_open_items(
    ranked: Places, after: int | None, open_: Mask, skipped: Sequence[int]
) -> Places:
    """The open ones of a queue behind a place, going round at its end; then the skipped ones.

    Those come in the order in which they were skipped, from behind the place if it is one of them.
    """
    found = np.flatnonzero(ranked == (-1 if after is None else after))
    start = int(found[0]) + 1 if len(found) else 0
    turned = np.concatenate([ranked[start:], ranked[:start]])
    behind = skipped.index(after) + 1 if after is not None and after in skipped else 0
    last = np.array([*skipped[behind:], *skipped[:behind]], dtype=np.intp)
    return np.concatenate([turned[open_[turned]], last])
