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

    `group` tells answers apart by their suggested codes: `groups` has these, and -1 is the group of
    answers without a suggestion. `first_auto` is what the first round said.
    """

    def __init__(self, store: Store, seed: int) -> None:
        columns = np.array(store.outlines(), dtype=np.int64).reshape(-1, 4)
        self.items: NDArray[np.int64] = columns[:, 0]
        self.drawn, self.given, self.blank = columns[:, 1:].T.astype(bool)
        self.place = {item: place for place, item in enumerate(self.items.tolist())}
        n = len(self.items)
        self._chance = random_order(n, seed)
        self._names: dict[str, int] = {}  # groups by their codes as the store has them
        self.groups: list[Codes] = []
        self.auto: Mask = np.zeros(n, dtype=bool)
        self.group: Places = np.full(n, -1, dtype=np.intp)
        self.doubt: NDArray[np.float64] = np.ones(n)
        self._first = (self.auto, self.group, self.doubt)
        # A page may have shown what an earlier round said, whose suggestions are gone by now.
        self._group_in: dict[int, Places] = {}
        self.renew(store, 0)
        self._first = (self.auto, self.group, self.doubt)
        self.first_auto = self.auto

    def __len__(self) -> int:
        return len(self.items)

    def renew(self, store: Store, round: int, current: Callable[[Codes], Codes] = tuple) -> None:
        """Take the suggestions of a round; answers that it left out keep their first ones.

        Codes that were merged since are told as what they are called now (`current`).
        """
        self.round, self.rounds = round, np.zeros(len(self), dtype=np.int64)
        auto, group, doubt = self._first
        self.auto, self.group, self.doubt = auto.copy(), group.copy(), doubt.copy()
        if found := store.suggestion_rows(round):
            items, codes, statuses, doubts = zip(*found, strict=True)
            places = np.searchsorted(self.items, np.array(items))
            self.group[places] = [self._names.setdefault(c, len(self._names)) for c in codes]
            self.auto[places] = [status == AUTO for status in statuses]
            self.doubt[places], self.rounds[places] = doubts, round
        self._group_in[round] = self.group
        self.groups = [current(tuple(json.loads(text))) for text in self._names]

    def codes_in(self, round: int, place: int) -> Codes | None:
        """The codes that were suggested in a round; None if that is not known."""
        if round not in self._group_in:
            return None
        group = self._group_in[round][place]
        return self.groups[group] if group >= 0 else ()

    def codes(self, place: int) -> Codes:
        """The codes that the machine suggests now."""
        return self.codes_in(self.round, place) or ()

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
    turned = np.roll(ranked, -1 - found[0]) if len(found) else ranked
    behind = skipped.index(after) + 1 if after is not None and after in skipped else 0
    last = np.array([*skipped[behind:], *skipped[:behind]], dtype=np.intp)
    return np.concatenate([turned[open_[turned]], last])
