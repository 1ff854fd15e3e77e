"""JSON whose size, depth and number of containers are limited before it is used."""

import json
from typing import Any

from nldd.io._refusal import Refusal, damaged, quoted

MAX_JSON = 2**27
MAX_DEPTH = 64
# Empty lists and dicts take twenty times the memory of their text; so many are always allowed, and
# one more for each so many bytes.
FREE_CONTAINERS = 250_000
BYTES_PER_CONTAINER = 16


def json_bytes(value: Any, name: str) -> bytes:
    """`value` as JSON, always the same bytes for the same value; NaN and infinity are allowed."""
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        # Halves of surrogate pairs occur in texts of broken origin; json reads them back.
        return text.encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise Refusal(
            f"document {quoted(name)} is no JSON value: {error}",
            "Use dicts with text keys, lists, text, numbers, booleans and None only.",
        ) from error


def read_json(
    content: bytes, name: str, max_bytes: int = MAX_JSON, max_depth: int = MAX_DEPTH
) -> Any:
    """The value of a JSON member."""
    check_json(content, name, max_bytes)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(f"member {quoted(name)} is no JSON, or nested too deeply") from error
    if _is_deeper(value, max_depth):
        raise Refusal(f"member {quoted(name)} is nested more than {max_depth} levels deep")
    return value


def check_json(content: bytes, name: str, max_bytes: int = MAX_JSON) -> None:
    """Refuse text that would take much more memory than a document of ours does."""
    if len(content) > max_bytes:
        raise Refusal(
            f"member {quoted(name)} has {len(content)} bytes of JSON; at most {max_bytes} are read",
            "Keep many numbers in arrays, and fewer estimators in one list.",
        )
    n_containers = content.count(b"[") + content.count(b"{")
    if n_containers > FREE_CONTAINERS + len(content) // BYTES_PER_CONTAINER:
        raise Refusal(f"member {quoted(name)} holds {n_containers} lists and dicts, too many")


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)
