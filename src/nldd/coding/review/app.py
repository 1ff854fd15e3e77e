"""The requests of the review page: Starlette's routes over a desk.

What a request may hold, the parameters of the function say that answers it.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, signature
from mimetypes import add_type, guess_type
from pathlib import Path
from traceback import print_exception
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as quote_address

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nldd.coding.review import views as views
from nldd.coding.review.desk import ACTS, Act, Conflict, Desk, UnknownItemError
from nldd.coding.review.guard import CHANGING, error_response
from nldd.coding.review.log import CODE
from nldd.coding.review.records import SimilarCodeError
from nldd.coding.review.store import Store
from nldd.exceptions import InputError, NLDDError

if TYPE_CHECKING:
    from nldd.coding.review.learning import Learner

PAGE = Path(__file__).with_name("page")
EXPORTS = {"csv": "csv", "xlsx": "xlsx", "jsonl": "jsonl", "label-studio": "json"}
MOST_VIEWS, MOST_ROWS, MOST_ACTED = 100, 1000, 500
LARGEST = 2**53  # up to here, numbers of a page are exact
UID = re.compile("[A-Za-z0-9_-]{1,100}")
Answer = Callable[..., Any]

# Not as Windows may have them, where any program can say what a file is.
for _kind, _ending in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
    add_type(_kind, _ending)


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


@dataclass(frozen=True)
class Field:
    """What a field of a request must be, how that is checked, and how an address writes it."""

    expected: str
    is_valid: Callable[[Any], bool]
    of_text: Callable[[str], Any] = str


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 16 else text


def _whole(low: int = 0, high: int = LARGEST) -> Field:
    expected = f"a whole number from {low} to {high}"
    return Field(expected, lambda value: type(value) is int and low <= value <= high, _number)


def _text(most: int = 5000) -> Field:
    expected = f"text of at most {most:,} characters"
    return Field(expected, lambda value: isinstance(value, str) and len(value) <= most)


def _is_uid(value: Any) -> bool:
    return isinstance(value, str) and UID.fullmatch(value) is not None


def _is_seen(row: Any) -> bool:
    return isinstance(row, dict) and all(WHOLE.is_valid(row.get(key)) for key in ("item", "seen"))


def _list_of(is_valid: Callable[[Any], bool], most: int = 100_000) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) <= most and all(map(is_valid, value))
    )


def _numbers(text: str) -> list[int | str]:
    return [_number(part.strip()) for part in text.split(",")]


WHOLE = _whole()
# By their names, which mean the same in all requests.
FIELDS = {
    **dict.fromkeys(("item", "seen", "round", "after", "offset"), WHOLE),
    **dict.fromkeys(("order", "state", "code", "search", "kind", "undoes", "note"), _text()),
    "n": _whole(1, MOST_VIEWS),
    "limit": _whole(1, MOST_ROWS),
    "ids": Field(f"{MOST_VIEWS} numbers at most", _list_of(WHOLE.is_valid, MOST_VIEWS), _numbers),
    # The sender's own name for an act; the log puts numbers behind it, after a colon.
    "uid": Field("a name of 1 to 100 letters, digits, - and _", _is_uid),
    "action": Field(f"one of {', '.join(ACTS)}", ACTS.__contains__),
    "codes": Field("a list of codes", _list_of(lambda value: isinstance(value, str))),
    "items": Field("a list of answers, each with its item and what was seen", _list_of(_is_seen)),
    "seconds": Field("a number", lambda value: type(value) in (int, float, type(None))),
    "sure": Field("true or false", lambda value: isinstance(value, bool)),
}


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
    """The arguments of a function from the fields of a request, each as `FIELDS` has it."""
    found = {}
    for name, parameter in signature(answer).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            return dict(given)
        found[name] = value = given.get(name, parameter.default)
        if value is Parameter.empty or not FIELDS[name].is_valid(value):
            said = "nothing" if value is Parameter.empty else repr(value)
            shown = said if len(said) <= 60 else f"{said[:57]}..."
            raise BadRequestError(f"{name} must be {FIELDS[name].expected}; got {shown}.")
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
        shown: dict[str, Answer] = {
            "study": views.study_view,
            "before": views.before_view,
            "items": views.some_items_view,
            "alike": views.alike_view,
            "list": views.list_view,
        }
        asked: Sequence[Answer] = (self.status, self.next)
        done: Sequence[Answer] = (self.decide_many, self.undo, self.codes, self.learn)
        ways: list[tuple[str, str, Answer]] = [
            *(("GET", answer.__name__, self._in_turn(answer)) for answer in asked),
            *(("GET", name, self._in_turn(partial(v, self.desk))) for name, v in shown.items()),
            *(("POST", answer.__name__, self._in_turn(answer)) for answer in done),
            ("POST", "decide", self._in_turn(self.decide, fields=Act)),
            ("PATCH", "settings", self._in_turn(self.settings)),
        ]
        files = {file.name: _read_page(file) for file in PAGE.iterdir()}
        routes = [Route("/", partial(_page, files["index.html"]))]
        routes += [Route(f"/static/{name}", partial(_page, page)) for name, page in files.items()]
        for way, name, answer in ways:
            respond = partial(self._respond, self._worker, answer)
            routes.append(Route(f"/api/{name}", respond, methods=[way]))
        for answer in (self.disagreements, self.export):  # which take longer
            respond = partial(self._respond, None, answer)
            routes.append(Route(f"/api/{answer.__name__}", respond, methods=["GET"]))
        app = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_way})
        app.router.redirect_slashes = False
        return app

    def close(self) -> None:
        """Wait for what is being written, and close the store."""
        self._worker.shutdown(wait=True)
        if self.learner is not None:
            self.learner.stop()
        self.desk.store.close()

    async def _respond(self, pool: Executor | None, answer: Answer, request: Request) -> Response:
        body = await request.body()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, _answer, answer, request, body)

    def _in_turn(self, answer: Answer, fields: Answer | None = None) -> Answer:
        """The same at a desk that has taken in what others wrote; a conflict is an answer, too."""

        @wraps(fields or answer)
        def answer_in_turn(**given: Any) -> Any:
            self.desk.follow()
            try:
                return answer(**given)
            except Conflict as conflict:
                return self._conflict(conflict)

        return answer_in_turn

    # What is asked for.

    def disagreements(self) -> views.View:
        """How far coders agree, and where they do not."""
        agreement = _agreement(self.desk.store.path)
        rows = self._in_turn(partial(views.disagreement_rows, self.desk))
        return {"agreement": agreement, "rows": self._worker.submit(rows).result()}

    def export(self, kind: str = "csv") -> Response:
        """The coded table as a file."""
        from nldd.coding.review.export import write_export  # tables: only where somebody asks

        if kind not in EXPORTS:
            hint = f"choose one of {', '.join(EXPORTS)}"
            raise InputError(f"There is no export {kind!r}.", hint=hint)
        stem, ending = Path(self.desk.study.table).stem, EXPORTS[kind]
        path = self.desk.store.path
        with tempfile.TemporaryDirectory() as folder, Store.open(path, write=False) as store:
            out = Path(folder) / f"coded.{ending}"
            write_export(store, out, kind)
            body = out.read_bytes()
        name = quote_address(f"{stem}.coded.{ending}", safe="")
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

    def decide(self, **given: Any) -> views.View:
        """One answer: codes, or skipped, flagged, settled; by the fields of an `Act`."""
        return self._acted(self.desk.decide(Act(**given)))

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

    def _conflict(self, conflict: Conflict) -> Response:
        """Another tab was first: what is there now, for the coder to decide again."""
        rows = [r for r in views.disagreement_rows(self.desk) if r["item"] in conflict.items]
        more = {**self._now(conflict.items), "row": rows[0] if rows else None}
        return error_response(STATUS[Conflict], str(conflict), conflict.hint, **more)


def _answer(answer: Answer, request: Request, body: bytes) -> Response:
    """What a function says to a request, or what is wrong with that."""
    try:
        asked = {n: FIELDS[n].of_text(t) for n, t in request.query_params.items() if n in FIELDS}
        given = read_object(body) if request.method in CHANGING else asked
        found = answer(**read_arguments(answer, given))
        return found if isinstance(found, Response) else JSONResponse(found)
    except NLDDError as error:
        status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
        more = {"like": error.like} if isinstance(error, SimilarCodeError) else {}
        return error_response(status, str(error), error.hint, **more)
    except Exception as error:
        print_exception(error, file=sys.stderr)
        message = f"this is a mistake in nldd: {type(error).__name__}."
        return error_response(500, message, "see the terminal, and report what it prints")


def _read_page(file: Path) -> Response:
    return Response(file.read_bytes(), media_type=guess_type(file.name)[0])


async def _page(page: Response, request: Request) -> Response:
    return page


def _agreement(path: Path) -> views.View | None:
    from nldd.coding.review.merge import agreement_of  # statistics: only where somebody asks

    with Store.open(path, write=False) as store:
        found = agreement_of(store)
    # Not the answers on which they disagree: a coder sees of those what they have decided.
    return None if found is None else found.to_dict() | {"disagreements": []}


async def _no_such_way(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    hint = "the page of this server knows them"
    return error_response(
        status, f"There is no {request.method} {request.scope['path'][:100]}.", hint
    )
