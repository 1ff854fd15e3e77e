"""What the page sends, read and checked: each field is what it must be, or a sentence says what."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from nldd.coding.review.desk import ACTS, Act
from nldd.coding.review.log import CODE
from nldd.exceptions import InputError

Fields = Mapping[str, Any]
LONGEST_NOTE, LONGEST_UID, LONGEST_NAME = 5000, 100, 1000
MOST_ITEMS, MOST_CODES, MOST_SECONDS = 10_000, 2000, 86_400.0
MOST_SETTINGS = 20_000
UID = re.compile("[A-Za-z0-9_-]+")
LARGEST = 2**53  # up to here, numbers of a page are exact
HINT = "reload the page; if it stays so, report it"


class BadRequestError(InputError):
    """A request that no page of ours sends."""


def read_object(body: bytes) -> dict[str, Any]:
    """A JSON object whose text can be kept: no NaN, no halves of characters."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
        # Halves of characters and endless numbers can be written in JSON, and nowhere else.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise BadRequestError("The request is not JSON in UTF-8.", hint=HINT) from None
    if not isinstance(found, dict):
        raise BadRequestError("The request is not a JSON object.", hint=HINT)
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def read_act(fields: Fields) -> Act:
    """What a coder does with one answer."""
    action = _text(fields, "action", most=20)
    if action not in ACTS:
        raise _wrong("action", f"one of {', '.join(ACTS)}", action)
    return Act(
        read_uid(fields),
        whole(fields, "item"),
        whole(fields, "seen"),
        action,
        _codes(fields),
        _text(fields, "note", most=LONGEST_NOTE, default=""),
        whole(fields, "round", default=0),
        _seconds(fields),
    )


def read_many(fields: Fields) -> tuple[str, dict[int, int], Act]:
    """Codes for several answers: the name of the act, what was seen of each, and the codes."""
    rows, uid = fields.get("items"), read_uid(fields)
    if not isinstance(rows, list) or len(rows) > MOST_ITEMS:
        raise _wrong("items", f"a list of at most {MOST_ITEMS:,} answers", rows)
    if not all(isinstance(row, dict) for row in rows):
        raise _wrong("items", "a list of objects with item and seen", rows)
    seen = {whole(row, "item"): whole(row, "seen") for row in rows}
    return uid, seen, Act(uid, 0, 0, CODE, _codes(fields), round=whole(fields, "round", default=0))


def read_uid(fields: Fields) -> str:
    """The sender's own name for an act; the log puts numbers behind it, after a colon."""
    uid = _text(fields, "uid", least=1, most=LONGEST_UID)
    if UID.fullmatch(uid) is None:
        raise _wrong("uid", "a name of letters, digits, - and _", uid)
    return uid


def read_undone(fields: Fields) -> str:
    """The name of the act that is to be undone; nothing if it is the last, whichever that is."""
    return _text(fields, "undoes", most=LONGEST_UID, default="")


def read_code(fields: Fields) -> tuple[str, bool]:
    """The name of a new code, and whether the coder is sure that it is new."""
    sure = fields.get("sure", False)
    if not isinstance(sure, bool):
        raise _wrong("sure", "true or false", sure)
    return _text(fields, "code", most=LONGEST_NAME), sure


def read_settings(fields: Fields) -> dict[str, Any]:
    """What a coder has chosen; the page knows what it means."""
    if len(json.dumps(fields)) > MOST_SETTINGS:
        raise _wrong("settings", f"an object of at most {MOST_SETTINGS:,} characters", "more")
    return dict(fields)


def whole_in(given: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
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
    return [whole_in({"ids": part.strip()}, "ids", 0, 0, LARGEST) for part in parts]


def whole(fields: Fields, name: str, default: int | None = None) -> int:
    """A whole number from 0 on."""
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise _wrong(name, "a whole number from 0 on", value)
    return value


def _text(
    fields: Fields, name: str, *, least: int = 0, most: int, default: str | None = None
) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise _wrong(name, f"text of {least} to {most:,} characters", value)
    return value


def _codes(fields: Fields) -> frozenset[str]:
    value = fields.get("codes")
    if value is None and fields.get("action") not in (CODE, "settle", None):
        return frozenset()
    if isinstance(value, list) and len(value) <= MOST_CODES:
        codes = [code for code in value if isinstance(code, str)]
        if len(codes) == len(value):
            return frozenset(codes)
    raise _wrong("codes", f"a list of at most {MOST_CODES:,} codes", value)


def _seconds(fields: Fields) -> float:
    """How long it took, by the page's own clock; what cannot be is taken as not known."""
    value = fields.get("seconds", 0.0)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong("seconds", "a number", value)
    known = abs(value) <= MOST_SECONDS and math.isfinite(value) and value > 0
    return float(value) if known else 0.0


def _wrong(name: str, expected: str, came: Any) -> BadRequestError:
    said = repr(came)
    shown = said if len(said) <= 60 else f"{said[:57]}..."
    return BadRequestError(f"{name} must be {expected}; got {shown}.", hint=HINT)
