"""The review page: people decide the answers that the machine is not sure of, one key each.

A store (SQLite, beside the answers) holds what the model said and an append-only log of what people
decided; a server on loopback shows one answer at a time. It knows ``coding``; nothing knows it but
the command line.
"""

from typing import Any

from nldd._lazy import attach
from nldd.exceptions import MissingExtraError

_get, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _get(name)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in {"h11", "starlette", "uvicorn"}:
            raise
        message = f"The review page needs {library}, which is not installed."
        raise MissingExtraError(message, extra="review") from error
