"""The server of the review page, on loopback until Ctrl-C, and who may talk to it: one browser.

A server on loopback is reached by every page that the browser shows and every program of the
machine. So the name by which it was called must be its own (a foreign name may point here), what
changes something must come from our own page, and all but the door needs the cookie that a one-time
token becomes.
"""

import asyncio
import gc
import secrets
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from hmac import compare_digest

import uvicorn
from filelock import FileLock, Timeout
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp as App, Message, Receive, Scope, Send

from nldd.coding.review.app import CHANGING, ReviewApp, error_response
from nldd.coding.review.store import Store
from nldd.exceptions import InputError

LARGEST_BODY = 1_000_000
# So much more is read and thrown away, for the sender to hear why it is refused.
MOST_READ = 16_000_000
BODY_SECONDS = 10.0
# Wrong tokens wait, the longer the more there were; the right one does not.
WAIT_FOR_EACH, LONGEST_WAIT = 0.05, 2.0
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
CLOSED = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>nldd review</title><meta name="viewport" content="width=device-width"></head><body><main>
<h1>This page needs its address</h1>
<p>An address opens the page once. The terminal in which nldd review runs shows the one that is
good now: open that. If you have just done so, reload this page.</p></main></body></html>"""
CLOSING_SECONDS = 3
# With so many connections at a time, requests are put off (503): a page of ours opens six.
MOST_CONNECTIONS = 500
# Shows a person the address of the moment.
Announce = Callable[[str], None]


class Door:
    """The token of the moment, and the cookies that earlier ones became."""

    def __init__(self, port: int, announce: Announce) -> None:
        self.port, self._announce = port, announce
        self.cookie = f"nldd_review_{port}"
        self._sessions: list[str] = []
        self._token, self.n_wrong = secrets.token_urlsafe(32), 0

    @property
    def address(self) -> str:
        """Where the page opens, once."""
        return f"http://127.0.0.1:{self.port}/?token={self._token}"

    def enter(self, token: str) -> str | None:
        """A new cookie for the token of the moment, which is then used up."""
        if not _same(token, self._token):
            self.n_wrong += 1
            return None
        self._token = secrets.token_urlsafe(32)
        self._sessions.append(secrets.token_urlsafe(32))
        self._announce(self.address)
        return self._sessions[-1]

    def knows(self, cookies: Iterable[str]) -> bool:
        """Whether a request has one of the cookies."""
        given = [found for text in cookies for found in _read_cookies(text, self.cookie)]
        # All are compared: how long it takes tells nothing.
        return sum(_same(own, kept) for own in given for kept in self._sessions) > 0


def _same(given: str, kept: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), kept.encode())


def _read_cookies(text: str, name: str) -> list[str]:
    """The cookies of a name; what others on this machine have set may hold anything else."""
    pairs = (part.partition("=") for part in text.split(";"))
    return [value.strip() for found, _, value in pairs if found.strip() == name]


class Guard:
    """Lets through to the app what is ours, with a body that is whole and small."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door
        self._hosts = {f"{name}:{door.port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on, one request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    sent.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        answer: App | None = self._refuse_foreign(request) or await self._at_door(request)
        if answer is None:
            answer = self.app
            if request.method in CHANGING:
                answer, receive = await self._take_body(request)
        await answer(scope, receive, send_guarded)

    def _refuse_foreign(self, request: Request) -> Response | None:
        """What did not call us by our name, or comes from another site's page."""
        # Each header of a name counts, should there be several.
        hosts = [host.lower() for host in request.headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            hint = "open the address as printed"
            return error_response(403, "This server has another name.", hint)
        changing = request.method in CHANGING
        if request.scope["path"] != "/" or changing:
            sites = {"same-origin"} if changing else {"same-origin", "none"}
            ours = {"sec-fetch-site": sites, "origin": {"", *self._origins}}
            given = {name: set(request.headers.getlist(name)) for name in ours}
            if any(given[name] - ours[name] for name in ours):
                hint = "use its own page"
                return error_response(403, "Another site may not use this server.", hint)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if changing and kind != "application/json":
            return error_response(415, "A request must be JSON.", "Content-Type: application/json")
        return None

    async def _at_door(self, request: Request) -> Response | None:
        """The way in by token and cookie; None for who is in."""
        path, knows = request.scope["path"], self.door.knows(request.headers.getlist("cookie"))
        if path == "/" and request.method == "GET" and "token" in request.query_params:
            session = self.door.enter(request.query_params["token"])
            answer = RedirectResponse("/", 303)
            if session is not None:
                answer.set_cookie(self.door.cookie, session, httponly=True, samesite="strict")
                return answer
            await asyncio.sleep(min(self.door.n_wrong * WAIT_FOR_EACH, LONGEST_WAIT))
            # An address of before, by who is in, leads to the page.
            return answer if knows else HTMLResponse(CLOSED, 401)
        if knows or path.startswith("/static/"):
            return None
        if path == "/":
            return HTMLResponse(CLOSED, 401)
        hint = "open the address that the terminal shows"
        return error_response(401, "This browser is not known here.", hint)

    async def _take_body(self, request: Request) -> tuple[App, Receive]:
        """The app with all of a body, or why it is not taken; no sender keeps us waiting."""
        body, n_read = bytearray(), 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in request.stream():
                    n_read += len(chunk)
                    body += chunk[: max(0, LARGEST_BODY + 1 - len(body))]
                    if n_read > MOST_READ:
                        break
        except (TimeoutError, ClientDisconnect):
            late = error_response(408, "The request did not arrive in time.", "send it again")
            late.headers["connection"] = "close"
            return late, request.receive
        if len(body) > LARGEST_BODY:
            limit = f"A request may have at most {LARGEST_BODY:,} bytes."
            return error_response(413, limit, "send less at a time"), request.receive

        async def receive_whole() -> Message:
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        return self.app, receive_whole


def listen(port: int = 0) -> socket.socket:
    """A socket on loopback; a free port unless one is named."""
    # Only by the name of its protocol asyncio sends at once: else each answer waits 40 ms.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # On Windows SO_REUSEADDR would share the port with another server, and this keeps others away.
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    found.setsockopt(socket.SOL_SOCKET, alone, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen(2048)
    except OSError as error:
        found.close()
        hint = "--port with another number, or leave it out for a free one"
        raise InputError(f"Port {port} cannot be used: {error.strerror}.", hint=hint) from error
    return found


def _listen_again(store: Store, port: int | None) -> socket.socket:
    """A socket at a port, or that of the last time if it is free.

    A tab that is still open then sends the decisions that it has not sent yet.
    """
    last = store.setting("port")
    if port is None and last:
        with suppress(InputError):
            return listen(last)
    found = listen(port or 0)
    # Where another program has the port, it is ours again once that has ended.
    if port or not last:
        store.keep("port", found.getsockname()[1])
    return found


def lock_review(store: Store) -> FileLock:
    """The lock of a review that is served; it ends with the process, however that ends.

    A browser keeps decisions that it could not send for one address. A second server would have
    another one, where they would not be found.
    """
    path = store.path.resolve()
    lock = FileLock(path.with_name(f".{path.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"{store.path.name} is open at {store.setting('address')} already."
        raise InputError(message, hint="that page, or stop the other program first") from None
    return lock


class ReviewServer:
    """A server that listens already, and answers while :meth:`run` runs."""

    def __init__(self, review: ReviewApp, port: int | None, announce: Announce) -> None:
        store = review.desk.store
        self.review, self._lock = review, lock_review(store)
        self._socket = _listen_again(store, port)
        self.port = int(self._socket.getsockname()[1])
        store.keep("address", f"http://127.0.0.1:{self.port}/")
        self.door = Door(self.port, announce)
        config = uvicorn.Config(
            Guard(review.app(), self.door),
            http="h11",
            limit_concurrency=MOST_CONNECTIONS,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="critical",  # what strangers send is nothing for the terminal
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """Where the page opens, once."""
        return self.door.address

    def run(self) -> None:
        """Serve until :meth:`stop`, or Ctrl-C; what was acknowledged is on the disk by then."""
        try:
            gc.freeze()  # the log stays: looking for garbage in it would hold up answers
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def close(self) -> None:
        """Give the port, the store and its lock away."""
        self._socket.close()
        self.review.close()
        self._lock.release()

    def stop(self) -> None:
        """End a server that runs in another thread."""
        self._server.should_exit = True
