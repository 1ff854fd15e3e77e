"""The requests of the review page: Starlette's routes over a desk.

What a request may hold, the parameters of the function say that answers it.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from traceback import print_exception
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nldd.coding.review import views as views
from nldd.coding.review.desk import ACTS, ORDERS, Act, Conflict, Desk, UnknownItemError
from nldd.coding.review.records import CODE, SimilarCodeError
from nldd.coding.review.store import Store
from nldd.exceptions import InputError, NLDDError

if TYPE_CHECKING:
    from nldd.coding.review.rounds import Learner

PAGE = Path(__file__).with_name("page")
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
EXPORTS = {"csv": "csv", "xlsx": "xlsx", "jsonl": "jsonl", "label-studio": "json"}
MOST_VIEWS, MOST_ROWS, MOST_ACTED, LONGEST = 100, 1000, 500, 5000
LARGEST = 2**53  # up to here, numbers of a page are exact
UID = re.compile("[A-Za-z0-9_-]{1,100}")
Answer = Callable[..., Any]

# Not as Windows may have them, where any program can say what a file is.
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class BadRequestError(InputError):
    """A request that no page of ours sends."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="reload the page; if it stays so, report it")


# The first kind that an error is of decides; after 503, the disk, the page tries again.
STATUS: dict[type[NLDDError], int] = {
    SimilarCodeError: 409,
    Conflict: 409,
    UnknownItemError: 404,
    BadRequestError: 400,
    InputError: 422,
    NLDDError: 503,
}


def _is_number(value: Any, low: int = 0, high: int = LARGEST) -> bool:
    return type(value) is int and low <= value <= high


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _is_list(value: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(is_valid, value))


def _is_seen(row: Any) -> bool:
    return isinstance(row, dict) and all(_is_number(row.get(name)) for name in ("item", "seen"))


# What a field must be, by its name, which means the same in all requests.
FIELDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("item", "seen", "round", "after", "offset"), _is_number),
    **dict.fromkeys(("code", "search", "undoes", "note"), _is_text),
    "order": ORDERS.__contains__,
    "state": tuple(views.LISTS).__contains__,
    "kind": tuple(EXPORTS).__contains__,
    "n": partial(_is_number, low=1, high=MOST_VIEWS),
    "limit": partial(_is_number, low=1, high=MOST_ROWS),
    "ids": lambda value: _is_list(value, _is_number) and len(value) <= MOST_VIEWS,
    # The sender's own name for an act; the log puts numbers behind it, after a colon.
    "uid": lambda value: _is_text(value) and UID.fullmatch(value) is not None,
    "action": ACTS.__contains__,
    "codes": lambda value: _is_list(value, _is_text),
    "items": lambda value: _is_list(value, _is_seen),
    "seconds": lambda value: type(value) in (int, float, type(None)),
    "sure": lambda value: isinstance(value, bool),
}


def read_query(given: Mapping[str, str]) -> dict[str, Any]:
    """The fields of an address, as JSON has them: text, numbers, or a list of numbers."""
    found: dict[str, Any] = dict(given)
    for name, text in given.items():
        if FIELDS.get(name) is not _is_text:
            with suppress(ValueError, RecursionError):
                found[name] = json.loads(f"[{text}]" if name == "ids" else text)
    return found


def read_object(body: bytes) -> dict[str, Any]:
    """A JSON object whose text can be kept: no NaN, no halves of characters."""
    try:
        found = json.loads(body.decode("utf-8"))
        # Halves of characters and what is no number can be written in JSON, and nowhere else.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise BadRequestError("The request is not JSON in UTF-8.") from None
    if not isinstance(found, dict):
        raise BadRequestError("The request is not a JSON object.")
    return found


def read_arguments(answer: Answer, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function from the fields of a request, each checked by `FIELDS`."""
    found = {}
    for name, parameter in signature(answer).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            return dict(given)
        if parameter.annotation is Act:
            return {name: Act(**read_arguments(Act, given))}
        found[name] = value = given.get(name, parameter.default)
        if value is Parameter.empty or not FIELDS[name](value):
            raise BadRequestError(f"The request lacks {name}, or it cannot be used.")
    return found


class ReviewApp:
    """Answers the requests of the page: what is asked, by whom the guard has looked after.

    One thread does one thing at the desk at a time, in the order of the requests, so that two tabs
    cannot come between each other's reading and writing.
    """

    def __init__(self, desk: Desk, learner: "Learner | None" = None, every: int = 0) -> None:
        self.desk, self.learner, self.every = desk, learner, every
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="review")
        self._tried = 0  # decisions when the machine last began to learn

    def app(self) -> Starlette:
        """The routes; each answers its own mistakes and those of who asks."""
        shown: list[Answer] = [views.study_view, views.before_view, views.items_view]
        shown += [views.alike_view, views.list_view, views.disagreements_view]
        asked: Sequence[Answer] = (self.status, self.next)
        done: Sequence[Answer] = (self.decide, self.decide_many, self.undo, self.codes, self.learn)
        slow: Sequence[Answer] = (self.agreement, self.export)
        files = {f"/static/{file.name}": _read_page(file) for file in PAGE.iterdir()}
        files["/"] = files["/static/index.html"]
        routes = [Route(path, partial(_page, page)) for path, page in files.items()]
        for view in shown:
            name = view.__name__.removesuffix("_view")
            routes.append(self._route("GET", name, partial(view, self.desk)))
        routes += [self._route("GET", answer.__name__, answer) for answer in asked]
        routes += [self._route("POST", answer.__name__, answer) for answer in done]
        routes += [self._route("PATCH", "settings", self.settings)]
        # These read the store by themselves.
        routes += [self._route("GET", a.__name__, a, in_turn=False) for a in slow]
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        return app

    def close(self) -> None:
        """Wait for what is being written, and close the store."""
        self._worker.shutdown(wait=True)
        if self.learner is not None:
            self.learner.stop()
        self.desk.store.close()

    def _route(self, way: str, name: str, answer: Answer, in_turn: bool = True) -> Route:
        async def respond(request: Request) -> Response:
            work = partial(self._answer, answer, in_turn, request, await request.body())
            pool = self._worker if in_turn else None
            return await asyncio.get_running_loop().run_in_executor(pool, work)

        return Route(f"/api/{name}", respond, methods=[way])

    def _answer(self, answer: Answer, in_turn: bool, request: Request, body: bytes) -> Response:
        """What a function says to a request, or what is wrong with that."""
        try:
            asks = request.method not in CHANGING
            given = read_query(request.query_params) if asks else read_object(body)
            arguments = read_arguments(answer, given)
            if in_turn:
                self.desk.follow()  # what others wrote
            found = answer(**arguments)
            return found if isinstance(found, Response) else JSONResponse(found)
        except NLDDError as error:
            return self._refuse(error)
        except Exception as error:
            print_exception(error, file=sys.stderr)
            message = f"this is a mistake in nldd: {type(error).__name__}."
            return error_response(500, message, "see the terminal, and report what it prints")

    def _refuse(self, error: NLDDError) -> Response:
        """Why something was not done, and what the page shows for the coder to decide again."""
        status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
        more: views.View = {}
        if isinstance(error, SimilarCodeError):
            more = {"like": error.like}
        elif isinstance(error, Conflict):  # another tab was first: what is there now
            rows = [r for r in views.disagreements_view(self.desk) if r["item"] in error.items]
            more = {**self._now(error.items), "row": rows[0] if rows else None}
        return error_response(status, str(error), error.hint, **more)

    # What is asked for.

    def agreement(self) -> views.View | None:
        """How far coders agree."""
        from nldd.coding.review.decisions import agreement_of  # only where somebody asks

        with Store.open(self.desk.store.path, write=False) as store:
            found = agreement_of(store)
        # Not the answers on which they disagree: a coder sees of those what they have decided.
        return None if found is None else found.to_dict() | {"disagreements": []}

    def export(self, kind: str = "csv") -> Response:
        """The coded table as a file."""
        from nldd.coding.review.exchange import write_export  # tables: only where somebody asks

        path, table = self.desk.store.path, Path(self.desk.study.table)
        with tempfile.TemporaryDirectory() as folder, Store.open(path, write=False) as store:
            out = Path(folder) / f"coded.{EXPORTS[kind]}"
            write_export(store, out)
            body = out.read_bytes()
        # The name of the table is known to the browser alone: it may be any text.
        name = quote(f"{table.stem}.{out.name}", safe="")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(body, media_type="application/octet-stream", headers=headers)

    def status(self) -> views.View:
        """How far the work is."""
        learning = {"state": "idle", "message": "", "every": self.every}
        if self.learner is not None:
            found = self.learner.poll()
            learning |= {"state": found.state, "message": found.message}
        return views.status_view(self.desk, learning)

    def next(self, order: str = "file", after: int = 0, n: int = 10) -> views.View:
        """The next open answers behind one."""
        items = self.desk.next_items(order, after, n)
        return {"items": views.item_views(self.desk, items), "status": self.status()}

    # What is done.

    def decide(self, act: Act) -> views.View:
        """One answer: codes, or skipped, flagged, settled."""
        return self._acted(self.desk.decide(act))

    def decide_many(
        self, uid: str, items: Sequence[Mapping[str, int]], codes: Sequence[str], round: int = 0
    ) -> views.View:
        """The same codes for several answers."""
        seen = {row["item"]: row["seen"] for row in items}
        n, conflicts = self.desk.decide_many(Act(uid, 0, 0, CODE, codes, round=round), seen)
        got = [item for item in seen if item not in set(conflicts)]
        return {**self._acted(got), "n": n, "conflicts": conflicts}

    def undo(self, uid: str, undoes: str = "") -> views.View:
        """The last act, taken back; if it is the one that was named."""
        return self._acted(self.desk.undo(uid, undoes))

    def codes(self, code: str, sure: bool = False) -> views.View:
        """A new code, of which the coder may be sure that it is new."""
        kept = self.desk.add_code(code, sure)
        return {"code": kept, "codes": views.codes_view(self.desk)}

    def learn(self) -> views.View:
        """Let the machine learn now."""
        if self.learner is not None:
            self.learner.start()
        return self.status()

    def settings(self, **changes: Any) -> views.View:
        """What has changed of the coder's choices."""
        self.desk.change_settings(changes)
        return {}

    def _acted(self, items: Sequence[int]) -> views.View:
        """Answers as they are after an act; the machine learns after every so many decisions."""
        n_decided = self.desk.n_agreed
        since = n_decided - max(self._tried, views.n_learned(self.desk))
        if self.learner is not None and 0 < self.every <= since and self.learner.start():
            self._tried = n_decided
        return {**self._now(items), "status": self.status()}

    def _now(self, items: Sequence[int]) -> views.View:
        found = views.item_views(self.desk, items[:MOST_ACTED])
        return {"items": found, "item": found[0] if found else None}


def _read_page(file: Path) -> Response:
    return Response(file.read_bytes(), media_type=TYPES.get(file.suffix, "text/html"))


async def _page(page: Response, request: Request) -> Response:
    return page


def error_response(status: int, error: str, hint: str, **more: Any) -> JSONResponse:
    """A request that cannot be done: why, and what to do."""
    return JSONResponse({"error": error, "hint": hint, **more}, status)
