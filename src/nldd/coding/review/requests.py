"""What the page sends, read and checked: each field is what it must be, or a sentence says what."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nldd.coding.review.desk import ACTS, Act
from nldd.coding.review.log import CODE, SETTLE
from nldd.exceptions import InputError

MOST_ITEMS, MOST_CODES, MOST_SECONDS = 10_000, 2000, 86_400.0
MOST_SETTINGS = 20_000
UID = re.compile("[A-Za-z0-9_-]{1,100}")
LARGEST = 2**53  # up to here, numbers of a page are exact
HINT = "reload the page; if it stays so, report it"


class BadRequestError(InputError):
    """A request that no page of ours sends."""


class Field(NamedTuple):
    """What a field must be, how that is checked, and its value if left out (if it may be)."""

    expected: str
    is_valid: Callable[[Any], bool]
    default: Any = None


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _text(most: int, default: str | None = None) -> Field:
    expected = f"text of at most {most:,} characters"
    return Field(expected, lambda value: isinstance(value, str) and len(value) <= most, default)


def _list(most: int, of: str, is_valid: Callable[[Any], bool]) -> Field:
    def is_list(value: Any) -> bool:
        return isinstance(value, list) and len(value) <= most and all(map(is_valid, value))

    return Field(f"a list of at most {most:,} {of}", is_list)


FIELDS = {
    # The sender's own name for an act; the log puts numbers behind it, after a colon.
    "uid": Field(
        "a name of 1 to 100 letters, digits, - and _",
        lambda value: isinstance(value, str) and UID.fullmatch(value) is not None,
    ),
    "undoes": _text(100, ""),
    "item": Field("a whole number from 0 on", _is_whole),
    "seen": Field("a whole number from 0 on", _is_whole),
    "round": Field("a whole number from 0 on", _is_whole, 0),
    "action": Field(f"one of {', '.join(ACTS)}", lambda value: value in ACTS),
    "codes": _list(MOST_CODES, "codes", lambda value: isinstance(value, str)),
    "items": _list(MOST_ITEMS, "answers", lambda value: isinstance(value, dict)),
    "note": _text(5000, ""),
    "seconds": Field("a number", lambda value: type(value) in (int, float, type(None)), 0.0),
    "code": _text(1000),
    "sure": Field("true or false", lambda value: isinstance(value, bool), False),
}


def read_object(body: bytes) -> dict[str, Any]:
    """A JSON object whose text can be kept: no NaN, no halves of characters."""
    try:
        found = json.loads(body.decode("utf-8"))
        # Halves of characters and what is no number can be written in JSON, and nowhere else.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise BadRequestError("The request is not JSON in UTF-8.", hint=HINT) from None
    if not isinstance(found, dict):
        raise BadRequestError("The request is not a JSON object.", hint=HINT)
    return found


def read_fields(given: Mapping[str, Any], *names: str) -> list[Any]:
    """The values of some fields, each as `FIELDS` has it."""
    values = [given.get(name, FIELDS[name].default) for name in names]
    for name, value in zip(names, values, strict=True):
        if not FIELDS[name].is_valid(value):
            raise _wrong(name, FIELDS[name].expected, value)
    return values


def read_act(given: Mapping[str, Any]) -> Act:
    """What a coder does with one answer."""
    names = ("uid", "item", "seen", "action", "note", "round", "seconds")
    uid, item, seen, action, note, round_, took = read_fields(given, *names)
    has_codes = action in (CODE, SETTLE) or given.get("codes") is not None
    (codes,) = read_fields(given, "codes") if has_codes else [()]
    # By the page's own clock: what cannot be is taken as not known.
    seconds = float(took) if took and 0 < took <= MOST_SECONDS else 0.0
    return Act(uid, item, seen, action, frozenset(codes), note, round_, seconds)


def read_many(given: Mapping[str, Any]) -> tuple[str, dict[int, int], Act]:
    """Codes for several answers: the name of the act, what was seen of each, and the codes."""
    uid, rows, codes, round_ = read_fields(given, "uid", "items", "codes", "round")
    seen = dict(read_fields(row, "item", "seen") for row in rows)
    return uid, seen, Act(uid, 0, 0, CODE, frozenset(codes), round=round_)


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a coder has chosen; the page knows what it means."""
    if len(json.dumps(given)) > MOST_SETTINGS:
        raise _wrong("settings", f"an object of at most {MOST_SETTINGS:,} characters", "more")
    return dict(given)


def whole_in(
    given: Mapping[str, str], name: str, default: int = 0, low: int = 0, high: int = LARGEST
) -> int:
    """A whole number of the address, within limits."""
    text = given.get(name, str(default))
    plain = text.isascii() and text.isdigit() and len(text) <= 16
    if not plain or not low <= int(text) <= high:
        raise _wrong(name, f"a whole number from {low} to {high}", text)
    return int(text)


def items_in(given: Mapping[str, str], most: int) -> list[int]:
    """Numbers of answers in the address, such as ``ids=1,2``."""
    parts = given.get("ids", "").split(",")[: most + 1]
    if len(parts) > most:
        raise _wrong("ids", f"at most {most} numbers", "more")
    return [whole_in({"ids": part.strip()}, "ids") for part in parts]


def _wrong(name: str, expected: str, came: Any) -> BadRequestError:
    said = repr(came)
    shown = said if len(said) <= 60 else f"{said[:57]}..."
    return BadRequestError(f"{name} must be {expected}; got {shown}.", hint=HINT)
