"""The requests of the review page: Starlette's routes over a desk.

One thread owns the store and does one thing at a time, so that two tabs cannot come between each
other's reading and writing; the event loop only waits.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from traceback import print_exception
from typing import Any, Protocol
from urllib.parse import quote as quote_address

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nldd.coding.review import requests as sent, views as views
from nldd.coding.review.desk import Conflict, Desk, NotLastError, UnknownItemError
from nldd.coding.review.guard import CHANGING, error_response
from nldd.coding.review.known_codes import SimilarCodeError
from nldd.coding.review.log import SETTLE
from nldd.coding.review.store import Store
from nldd.coding.review.verified import load_judge
from nldd.exceptions import InputError, NLDDError

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
KINDS[".svg"] = "image/svg+xml"
EXPORTS = {"csv": "csv", "xlsx": "xlsx", "jsonl": "jsonl", "label-studio": "json"}
MOST_VIEWS, MOST_ROWS, MOST_ACTED = 100, 1000, 500
# The first kind that an error is of decides; after 503, the disk, the page tries again.
STATUS: dict[type[NLDDError], int] = {
    SimilarCodeError: 409,
    UnknownItemError: 404,
    sent.BadRequestError: 400,
    InputError: 422,
    NLDDError: 503,
}
Handler = Callable[[Request], Awaitable[Response]]
Fields = dict[str, Any]


class Learns(Protocol):
    """What refits the model in the background, as `Learner` does."""

    def start(self) -> bool:
        """Begin, unless it runs."""

    def poll(self) -> Any:
        """How it goes: state, message and round."""

    def stop(self) -> None:
        """End it."""


class PlainResponse(JSONResponse):
    """JSON that every browser reads: what is not a number is null."""

    def render(self, content: Any) -> bytes:
        try:
            return super().render(content)
        except ValueError:
            read = partial(json.loads, parse_constant=lambda name: None)
            return super().render(read(json.dumps(content)))


class ReviewApp:
    """Answers the requests of the page: what is asked, by whom the guard has looked after."""

    def __init__(self, desk: Desk, learner: Learns | None = None, every: int = 0) -> None:
        self.desk, self.learner, self.every = desk, learner, every
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="review")
        self._pages = read_pages(files("nldd.coding.review") / "page")
        self._judged = False
        self._tried = 0  # decisions when the machine last began to learn

    def app(self) -> Starlette:
        """The routes; each answers its own mistakes and those of who asks."""
        routes = [
            Route(path, self._answering(answer), methods=["GET"])
            for path, answer in (
                ("/", self.page),
                ("/static/{name:path}", self.page),
                ("/api/disagreements", self.disagreements),
                ("/api/export", self.export),
            )
        ]
        asked = (self.study, self.status, self.next, self.before, self.items, self.alike, self.list)
        done = (self.decide, self.decide_many, self.undo, self.codes, self.learn)
        ways: list[tuple[str, str, Callable[[Any], Any]]] = [
            *(("GET", work.__name__, work) for work in asked),
            *(("POST", work.__name__, work) for work in done),
            ("PUT", "settings", self.settings),
            ("PATCH", "settings", self.change_settings),
        ]
        for way, name, work in ways:
            answer = self._answering(partial(self._at_desk, work))
            routes.append(Route(f"/api/{name}", answer, methods=[way]))
        return Starlette(routes=routes, exception_handlers={HTTPException: _no_such_way})

    def warm_up(self) -> None:
        """Load what is not needed for the first answers, in another thread."""
        if self.desk.outlook.drawn.any():
            load_judge()
            self._judged = True

    def close(self) -> None:
        """Wait for what is being written, and close the store."""
        self._worker.shutdown(wait=True)
        if self.learner is not None:
            self.learner.stop()
        self.desk.store.close()

    def _answering(self, handler: Handler) -> Handler:
        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except NLDDError as error:
                status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
                more = {"like": error.like} if isinstance(error, SimilarCodeError) else {}
                return error_response(status, str(error), error.hint, **more)
            except Exception as error:
                print_exception(error, file=sys.stderr)
                message = f"this is a mistake in nldd: {type(error).__name__}"
                return error_response(
                    500, f"{message}.", "see the terminal, and report what it prints"
                )

        return answer

    async def _at_desk(self, work: Callable[[Any], Any], request: Request) -> Response:
        """Answer by work at the desk, given what is in the address, or in the body."""
        body = await request.body()

        def work_on_request() -> Any:
            changing = request.method in CHANGING
            return work(sent.read_object(body) if changing else request.query_params)

        found = await self._do(work_on_request)
        return found if isinstance(found, Response) else PlainResponse(found)

    async def _do(self, work: Callable[[], Any]) -> Any:
        """Work at the desk, which has taken in what others wrote."""

        def follow_and_work() -> Any:
            self.desk.follow()
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._worker, follow_and_work)

    # What is asked for.

    async def page(self, request: Request) -> Response:
        """A file of the page, of those that are there when the server starts."""
        name = request.path_params.get("name", "index.html")
        found = self._pages.get(name)
        if found is None:
            return error_response(
                404, "There is no such page.", "open the address that was printed"
            )
        body, kind, tag = found
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)

    async def disagreements(self, request: Request) -> Response:
        """How far coders agree, and where they do not."""
        rows = await self._do(lambda: views.disagreement_rows(self.desk))
        agreement = await asyncio.to_thread(_agreement, self.desk.store.path)
        return PlainResponse({"agreement": agreement, "rows": rows})

    async def export(self, request: Request) -> Response:
        """The coded table as a file."""
        kind = request.query_params.get("kind", "csv")
        if kind not in EXPORTS:
            hint = f"choose one of {', '.join(EXPORTS)}"
            raise InputError(f"There is no export {kind!r}.", hint=hint)
        stem = Path(self.desk.study.table).stem
        name = quote_address(f"{stem}.coded.{EXPORTS[kind]}", safe="")
        body = await asyncio.to_thread(_export, self.desk.store.path, kind)
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(body, media_type="application/octet-stream", headers=headers)

    def study(self, given: QueryParams) -> views.View:
        """What the review is about."""
        return views.study_view(self.desk, self.every)

    def status(self, given: QueryParams) -> views.View:
        """How far the work is."""
        return self._status()

    def next(self, given: QueryParams) -> views.View:
        """The next open answers behind one."""
        after, n = sent.whole_in(given, "after"), sent.whole_in(given, "n", 10, 1, MOST_VIEWS)
        items = self.desk.next_items(given.get("order", "file"), after, n)
        return {"items": views.item_views(self.desk, items), "status": self._status()}

    def before(self, given: QueryParams) -> views.View:
        """The answers of the queue before one, open or not."""
        item, n = sent.whole_in(given, "item"), sent.whole_in(given, "n", 10, 1, MOST_VIEWS)
        items = self.desk.items_before(given.get("order", "file"), item, n)
        return {"items": views.item_views(self.desk, items)}

    def items(self, given: QueryParams) -> views.View:
        """Some answers by their numbers."""
        return {"items": views.item_views(self.desk, sent.items_in(given, MOST_VIEWS))}

    def alike(self, given: QueryParams) -> views.View:
        """Open answers with the same suggestion."""
        return views.alike_view(self.desk, sent.whole_in(given, "item"))

    def list(self, given: QueryParams) -> views.View:
        """A part of the list of answers."""
        place = sent.whole_in(given, "offset"), sent.whole_in(given, "limit", 100, 1, MOST_ROWS)
        state, order = given.get("state", "queue"), given.get("order", "file") or "file"
        what = (state, given.get("code", ""), given.get("search", ""), order)
        return views.list_view(self.desk, *what, *place)

    # What is done.

    def decide(self, given: Fields) -> Response:
        """One answer: codes, or skipped, flagged, settled."""
        act = sent.read_act(given)
        try:
            self.desk.decide(act)
        except Conflict as conflict:
            return self._conflict(conflict.item, act.action)
        return self._acted([act.item], single=True)

    def decide_many(self, given: Fields) -> Response:
        """The same codes for several answers."""
        uid, seen, act = sent.read_many(given)
        n, conflicts = self.desk.decide_many(uid, seen, act)
        got = [item for item in seen if item not in set(conflicts)]
        return self._acted(got[:MOST_ACTED], n=n, conflicts=conflicts)

    def undo(self, given: Fields) -> Response:
        """The last act, taken back; if it is the one that was named."""
        try:
            items = self.desk.undo(*sent.read_fields(given, "uid", "undoes"))
        except NotLastError as error:
            return self._not_last(error.items[:MOST_ACTED])
        return self._acted(items[:MOST_ACTED])

    def codes(self, given: Fields) -> views.View:
        """A new code, of which the coder may be sure that it is new."""
        kept = self.desk.add_code(*sent.read_fields(given, "code", "sure"))
        return {"code": kept, "codes": views.codes_view(self.desk)}

    def learn(self, given: Fields) -> views.View:
        """Let the machine learn now."""
        if self.learner is not None:
            self.learner.start()
        return self._status()

    def settings(self, given: Fields) -> views.View:
        """All that the coder has chosen."""
        self.desk.keep_settings(sent.read_settings(given))
        return {}

    def change_settings(self, given: Fields) -> views.View:
        """What has changed of the coder's choices."""
        return self.settings({**self.desk.settings, **given})

    def _status(self) -> views.View:
        learning: views.View = {"state": "idle", "message": "", "every": self.every}
        if self.learner is not None:
            found = self.learner.poll()
            learning |= {"state": found.state, "message": found.message}
        return views.status_view(self.desk, learning, self._judged)

    def _acted(self, items: Sequence[int], single: bool = False, **more: Any) -> Response:
        self._learn_in_time()
        found = views.item_views(self.desk, items)
        what = {"item": found[0]} if single else {"items": found}
        return PlainResponse({**what, **more, "status": self._status()})

    def _conflict(self, item: int, action: str) -> Response:
        """Another tab was first: what is there now, for the coder to decide again."""
        (found,) = views.item_views(self.desk, [item])
        hint = "look at it again, then decide"
        more = {}
        if action == SETTLE:
            rows = views.disagreement_rows(self.desk)
            more["row"] = next((row for row in rows if row["item"] == item), None)
        body = {"error": f"Answer {item} was changed elsewhere.", "hint": hint, "item": found}
        return PlainResponse({**body, **more}, 409)

    def _not_last(self, items: Sequence[int]) -> Response:
        """Another act came after the one to undo: what is there now."""
        found = views.item_views(self.desk, items)
        message = "Something else was decided or undone since, so this is not undone."
        body = {"error": message, "hint": "decide it again", "items": found}
        return PlainResponse({**body, "item": found[0] if found else None}, 409)

    def _learn_in_time(self) -> None:
        """Let the machine learn after every so many decisions, those of all coders."""
        facts = self.desk.rounds[self.desk.round].facts if self.desk.rounds else {}
        n_decided = self.desk.n_agreed
        since = n_decided - max(self._tried, int(facts.get("n_decided", 0)))
        if self.learner is not None and self.every and since >= self.every and self.learner.start():
            self._tried = n_decided


def read_pages(folder: Traversable) -> dict[str, tuple[bytes, str, str]]:
    """The files of the page: what they hold, of which kind they are, and a tag of their content."""
    pages = {}
    for file in folder.iterdir() if folder.is_dir() else ():
        kind = KINDS.get(Path(file.name).suffix)
        if kind is not None:
            body = file.read_bytes()
            pages[file.name] = (body, kind, f'"{sha256(body).hexdigest()[:32]}"')
    return pages


def _agreement(path: Path) -> views.View | None:
    from nldd.coding.review.merge import agreement_of  # statistics: only where somebody asks

    with Store.open(path, write=False) as store:
        found = agreement_of(store)
    if found is None:
        return None
    alphas = {"masi": found.masi._asdict(), "nominal": found.nominal._asdict()}
    counts = {"n_answers": found.n_answers, "n_same": found.n_same}
    codes = [asdict(code) for code in found.codes]
    return {"coders": list(found.coders), **counts, **alphas, "codes": codes}


def _export(path: Path, kind: str) -> bytes:
    from nldd.coding.review.export import write_export  # tables: only where somebody asks

    with tempfile.TemporaryDirectory() as name, Store.open(path, write=False) as store:
        out = Path(name) / f"coded.{EXPORTS[kind]}"
        write_export(store, out, kind)
        return out.read_bytes()


async def _no_such_way(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    hint = "the page of this server knows them"
    return error_response(status, f"There is no {request.method} {request.url.path[:100]}.", hint)
