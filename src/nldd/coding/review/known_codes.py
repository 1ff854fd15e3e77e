"""The codes of a review: those of its model, those that people have added, what became of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import category

from nldd._wording import quote
from nldd.coding.code_slips import close_code
from nldd.coding.review.records import Study
from nldd.exceptions import InputError

LONGEST_CODE = 200


class SimilarCodeError(InputError):
    """A new code looks like some that are known."""

    def __init__(self, message: str, like: Sequence[str], *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.like = list(like)


class KnownCodes:
    """Codes that may be given, by all of their names.

    A later round may be by a model that has other codes: those of others that have joined it, and
    what its codebook has made of some. Who gives a code that has become another gives that.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._names = {code for code, *_ in study.codes}
        self._added: list[str] = []
        self._of_people: set[str] = set()
        self._of_model: frozenset[str] = frozenset()
        self._becomes: Mapping[str, str] = {}

    def take(self, codes: Iterable[str]) -> None:
        """Take codes as known."""
        for code in codes:
            if code not in self._names:
                self._names.add(code)
                self._added.append(code)

    def add(self, codes: Iterable[str]) -> None:
        """Take codes that people have added."""
        new = list(codes)
        self.take(new)
        self._of_people.update(new)

    def follow(self, facts: Mapping[str, Any]) -> None:
        """Take the codes of the model of a round, and what its codebook has made of others."""
        self._of_model = frozenset(facts.get("codes", ()))
        self._becomes = facts.get("becomes", {})
        self.take(facts.get("codes", ()))

    @property
    def listed(self) -> list[tuple[str, str, str, bool]]:
        """Each code with its name and description, and whether people have added it."""
        known = [(code, name, about, False) for code, name, about in self.study.codes]
        model = self._of_model - self._of_people
        known += [(code, "", "", code not in model) for code in self._added]
        return [code for code in known if code[0] not in self._becomes]

    def current(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Codes as they are called now, each once, in their order."""
        return tuple(dict.fromkeys(self._becomes.get(code, code) for code in codes))

    def chosen(self, codes: frozenset[str]) -> frozenset[str]:
        """The codes that somebody gives, as they are called now; unknown ones are refused."""
        if unknown := sorted(codes - self._names):
            message = f"There is no code {quote(unknown[0])} in this review."
            raise InputError(message, hint="choose one of the list, or add it as a new code first")
        return frozenset(self.current(codes))

    def check_new(self, code: str, sure: bool) -> None:
        """Refuse a new code that cannot be one, or looks like a known one and nobody is sure."""
        self._check_name(code)
        if self.study.marks:
            message = f"{quote(code)} cannot be added: each code of this table has its own column."
            hint = "flag the answer with a note; then add a column to the coded table, and fit anew"
            raise InputError(message, hint=hint)
        if not sure and (like := close_code(code, sorted(self._names))):
            message = f"There is a code {quote(like)}, which looks like {quote(code)}."
            raise SimilarCodeError(message, [like], hint="take that one, or add this as another")

    def _check_name(self, code: str) -> None:
        marks = [mark for mark in self.study.separator.strip() if mark in code]
        hint = "write a short name of letters and digits"
        if not code or not code.isprintable():
            raise InputError("A code needs a name that can be printed.", hint=hint)
        if len(code) > LONGEST_CODE:
            message = f"A code has at most {LONGEST_CODE} characters; this one has {len(code):,}."
            raise InputError(message, hint=hint)
        # As people write where no code applies.
        is_dash = all(category(letter).startswith("P") for letter in code)
        if marks or is_dash or code == self.study.none:
            what = f"{marks[0]!r} separates codes" if marks else "that says that no code applies"
            message = f"{quote(code)} cannot be a code: in the table, {what}."
            raise InputError(message, hint="write it in another way")

    def __contains__(self, code: str) -> bool:
        return code in self._names
