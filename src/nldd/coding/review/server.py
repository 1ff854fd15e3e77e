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
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nldd.coding.review import requests as sent, views as views
from nldd.coding.review.desk import Conflict, Desk, NotLastError, UnknownItemError
from nldd.coding.review.guard import error_response
from nldd.coding.review.known_codes import SimilarCodeError
from nldd.coding.review.log import SETTLE
from nldd.coding.review.store import Store
from nldd.coding.review.verified import load_judge
from nldd.exceptions import InputError, NLDDError

KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
KINDS |= {".png": "image/png", ".ico": "image/x-icon", ".json": "application/json"}
EXPORTS = {"csv": "csv", "xlsx": "xlsx", "jsonl": "jsonl", "label-studio": "json"}
MOST_VIEWS, MOST_ROWS, MOST_ACTED = 100, 1000, 500
Handler = Callable[[Request], Awaitable[Response]]


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
        ways: list[tuple[str, str, Handler]] = [
            ("GET", "/", self.page),
            ("GET", "/static/{name:path}", self.page),
            ("GET", "/api/study", self.study),
            ("GET", "/api/status", self.status),
            ("GET", "/api/next", self.next),
            ("GET", "/api/before", self.before),
            ("GET", "/api/items", self.items),
            ("GET", "/api/alike", self.alike),
            ("GET", "/api/list", self.list),
            ("GET", "/api/disagreements", self.disagreements),
            ("GET", "/api/export", self.export),
            ("POST", "/api/decide", self.decide),
            ("POST", "/api/decide_many", self.decide_many),
            ("POST", "/api/undo", self.undo),
            ("POST", "/api/codes", self.codes),
            ("POST", "/api/learn", self.learn),
            ("PUT", "/api/settings", self.settings),
            ("PATCH", "/api/settings", self.settings),
        ]
        routes = [Route(path, self._answering(do), methods=[way]) for way, path, do in ways]
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
            except SimilarCodeError as error:
                return error_response(409, str(error), error.hint, like=error.like)
            except UnknownItemError as error:
                return error_response(404, str(error), error.hint)
            except sent.BadRequestError as error:
                return error_response(400, str(error), error.hint)
            except InputError as error:
                return error_response(422, str(error), error.hint)
            except NLDDError as error:  # the disk: the page keeps the decision and tries again
                return error_response(503, str(error), error.hint)
            except Exception as error:
                print_exception(error, file=sys.stderr)
                message = f"this is a mistake in nldd: {type(error).__name__}"
                return error_response(
                    500, f"{message}.", "see the terminal, and report what it prints"
                )

        return answer

    async def _do(self, work: Callable[[], Any]) -> Any:
        """Work at the desk, which has taken in what others wrote."""

        def followed() -> Any:
            self.desk.follow()
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._worker, followed)

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

    async def study(self, request: Request) -> Response:
        """What the review is about."""
        return PlainResponse(await self._do(lambda: views.study_view(self.desk, self.every)))

    async def status(self, request: Request) -> Response:
        """How far the work is."""
        return PlainResponse(await self._do(self._status))

    async def next(self, request: Request) -> Response:
        """The next open answers behind one."""
        given = request.query_params
        after = sent.whole_in(given, "after", 0, 0, sent.LARGEST)
        n = sent.whole_in(given, "n", 10, 1, MOST_VIEWS)

        def found() -> Any:
            items = self.desk.next_items(given.get("order", "file"), after, n)
            return {"items": views.item_views(self.desk, items), "status": self._status()}

        return PlainResponse(await self._do(found))

    async def before(self, request: Request) -> Response:
        """The answers of the queue before one, open or not."""
        given = request.query_params
        item = sent.whole_in(given, "item", 0, 0, sent.LARGEST)
        n = sent.whole_in(given, "n", 10, 1, MOST_VIEWS)

        def found() -> Any:
            items = self.desk.items_before(given.get("order", "file"), item, n)
            return {"items": views.item_views(self.desk, items)}

        return PlainResponse(await self._do(found))

    async def items(self, request: Request) -> Response:
        """Some answers by their numbers."""
        items = sent.items_in(request.query_params, MOST_VIEWS)
        found = await self._do(lambda: views.item_views(self.desk, items))
        return PlainResponse({"items": found})

    async def alike(self, request: Request) -> Response:
        """Open answers with the same suggestion."""
        item = sent.whole_in(request.query_params, "item", 0, 0, sent.LARGEST)
        return PlainResponse(await self._do(lambda: views.alike_view(self.desk, item)))

    async def list(self, request: Request) -> Response:
        """A part of the list of answers."""
        given = request.query_params
        offset = sent.whole_in(given, "offset", 0, 0, sent.LARGEST)
        limit = sent.whole_in(given, "limit", 100, 1, MOST_ROWS)
        state, order = given.get("state", "queue"), given.get("order", "file") or "file"
        what = (state, given.get("code", ""), given.get("search", ""), order, offset, limit)
        return PlainResponse(await self._do(lambda: views.list_view(self.desk, *what)))

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

    # What is done.

    async def decide(self, request: Request) -> Response:
        """One answer: codes, or skipped, flagged, settled."""
        act = sent.read_act(sent.read_object(await request.body()))

        def done() -> Response:
            try:
                self.desk.decide(act)
            except Conflict as conflict:
                return self._conflict(conflict.item, act.action)
            return self._acted([act.item], single=True)

        return await self._do(done)

    async def decide_many(self, request: Request) -> Response:
        """The same codes for several answers."""
        uid, seen, act = sent.read_many(sent.read_object(await request.body()))

        def done() -> Response:
            n, conflicts = self.desk.decide_many(uid, seen, act)
            got = [item for item in seen if item not in set(conflicts)]
            return self._acted(got[:MOST_ACTED], n=n, conflicts=conflicts)

        return await self._do(done)

    async def undo(self, request: Request) -> Response:
        """The last act, taken back; if it is the one that was named."""
        fields = sent.read_object(await request.body())
        uid, undoes = sent.read_uid(fields), sent.read_undone(fields)

        def done() -> Response:
            try:
                return self._acted(self.desk.undo(uid, undoes)[:MOST_ACTED])
            except NotLastError as error:
                return self._not_last(error.items[:MOST_ACTED])

        return await self._do(done)

    async def codes(self, request: Request) -> Response:
        """A new code."""
        code, sure = sent.read_code(sent.read_object(await request.body()))

        def done() -> Response:
            kept = self.desk.add_code(code, sure)
            return PlainResponse({"code": kept, "codes": views.codes_view(self.desk)})

        return await self._do(done)

    async def learn(self, request: Request) -> Response:
        """Let the machine learn now."""
        sent.read_object(await request.body())

        def done() -> Response:
            if self.learner is not None:
                self.learner.start()
            return PlainResponse(self._status())

        return await self._do(done)

    async def settings(self, request: Request) -> Response:
        """What the coder has chosen: all of it, or as a patch what has changed of it."""
        chosen = sent.read_object(await request.body())

        def done() -> None:
            known = self.desk.settings if request.method == "PATCH" else {}
            self.desk.keep_settings(sent.read_settings({**known, **chosen}))

        await self._do(done)
        return PlainResponse({})

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
    return {
        "coders": list(found.coders),
        "n_answers": found.n_answers,
        "n_same": found.n_same,
        **alphas,
        "codes": [asdict(code) for code in found.codes],
    }


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
