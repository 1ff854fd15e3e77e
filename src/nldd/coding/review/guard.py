"""Who may talk to the server: one browser, by a one-time token that becomes a cookie.

A server on loopback is reached by every page that the browser shows and every program of the
machine. So the name by which it was called must be its own (a foreign name may point here), what
changes something must come from our own page, and all but the door needs the cookie.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1_000_000
# So much more is read and thrown away, for the sender to hear why it is refused.
MOST_READ = 16_000_000
BODY_SECONDS = 10.0
# Wrong tokens wait, the longer the more there were; the right one does not.
WAIT_FOR_EACH, LONGEST_WAIT = 0.05, 2.0
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
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


class Door:
    """The token of the moment, and the cookies that earlier ones became."""

    def __init__(self, port: int, announce: Callable[[str], None]) -> None:
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
        names = ("127.0.0.1", "localhost")
        self._hosts = {f"{name}:{door.port}" for name in names}
        self._hosts |= set(names) if door.port == 80 else set()
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

        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
        refusal = self._refuse_foreign(scope, headers) or await self._at_door(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        if scope["method"] in CHANGING:
            body = await _read_body(receive)
            if isinstance(body, Response):
                await body(scope, receive, send_guarded)
                return
            receive = _replay(body)
        await self.app(scope, receive, send_guarded)

    def _refuse_foreign(self, scope: Scope, headers: list[tuple[str, str]]) -> Response | None:
        """What did not call us by our name, or comes from another site's page."""
        hosts = [value.lower() for name, value in headers if name == "host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return error_response(
                403, "This server has another name.", "open the address as printed"
            )
        changing = scope["method"] in CHANGING
        if scope["path"] != "/" or changing:
            sites = {"same-origin"} if changing else {"same-origin", "none"}
            ours = {"sec-fetch-site": sites, "origin": {"", *self._origins}}
            # Each of them, should there be several of one name.
            if any(value not in ours.get(name, {value}) for name, value in headers):
                return error_response(
                    403, "Another site may not use this server.", "use its own page"
                )
        kind = dict(headers).get("content-type", "").partition(";")[0].strip().lower()
        if changing and kind != "application/json":
            return error_response(415, "A request must be JSON.", "Content-Type: application/json")
        return None

    async def _at_door(self, scope: Scope, headers: list[tuple[str, str]]) -> Response | None:
        """The way in by token and cookie; None for who is in."""
        query = scope["query_string"].decode("latin-1")
        if scope["path"] == "/" and scope["method"] == "GET" and "token=" in query:
            session = self.door.enter(parse_qs(query).get("token", [""])[0])
            if session is None:
                wait = min(self.door.n_wrong * WAIT_FOR_EACH, LONGEST_WAIT)
                await asyncio.sleep(wait)
                if not self.door.knows(v for k, v in headers if k == "cookie"):
                    return HTMLResponse(CLOSED, 401)
                return RedirectResponse("/", 303)  # an address of before, by who is in
            answer = RedirectResponse("/", 303)
            how = {"httponly": True, "samesite": "strict", "path": "/"}
            answer.set_cookie(self.door.cookie, session, **how)  # type: ignore[arg-type]
            return answer
        if scope["path"].startswith("/static/"):
            return None
        if self.door.knows(value for name, value in headers if name == "cookie"):
            return None
        if scope["path"] == "/":
            return HTMLResponse(CLOSED, 401)
        hint = "open the address that the terminal shows"
        return error_response(401, "This browser is not known here.", hint)


def error_response(status: int, error: str, hint: str, **more: Any) -> JSONResponse:
    """A request that cannot be done: why, and what to do."""
    return JSONResponse({"error": error, "hint": hint, **more}, status)


async def _read_body(receive: Receive) -> bytes | Response:
    """All of a body, or why it is not taken; no sender keeps us waiting."""
    body, n_read = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            more = True
            while more and n_read <= MOST_READ:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return error_response(400, "The request ended early.", "send it again")
                chunk = message.get("body", b"")
                n_read += len(chunk)
                if n_read <= LARGEST_BODY:
                    body += chunk
                more = message.get("more_body", False)
    except TimeoutError:
        late = error_response(408, "The request did not arrive in time.", "send it again")
        late.headers["connection"] = "close"
        return late
    if n_read > LARGEST_BODY:
        limit = f"{LARGEST_BODY:,} bytes"
        return error_response(413, f"A request may have at most {limit}.", "send less at a time")
    return bytes(body)


def _replay(body: bytes) -> Receive:
    async def receive_whole() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole
