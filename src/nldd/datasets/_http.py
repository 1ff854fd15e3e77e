"""Ask a web server for the rest of a file: encrypted, as it is, and no byte more than expected."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse, responses
from ipaddress import ip_address
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from nldd import __version__
from nldd.exceptions import InputError, NLDDError

TIMEOUT_SECONDS = 30.0
BLOCK_BYTES = 1 << 16
# The server is busy or broken for now, rather than of another opinion.
_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504}
_ODD_LETTER = re.compile(r"[^\x21-\x7e]")
_FORM = "Give one of the form https://host/folder."
_CONTENT_RANGE = re.compile(r"bytes ([0-9]+)-[0-9]+/([0-9]+|\*)")


class BrokenTransferError(Exception):
    """The connection or the server failed; the same request may go well later."""


class StartOverError(BrokenTransferError):
    """What an earlier attempt left does not fit; the request may go well without it."""


class WrongFileError(NLDDError):
    """What came is not the file of the catalogue; nothing of it is worth keeping."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Where in the file the answer of the server begins, and its bytes from there on."""

    start: int
    blocks: Iterator[bytes]


def check_address(url: str) -> None:
    """Refuse anything but https; plain http is for servers on this very machine."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InputError(f"{url!r} is no web address ({error}). {_FORM}") from None
    if "@" in parts.netloc:
        raise InputError(f"An address with a user name or password in it is not used. {_FORM}")
    host = parts.hostname or ""
    if parts.scheme and parts.scheme != "https" and not _is_local(parts.scheme, host):
        raise InputError(
            f"Files are fetched over https only; got {url!r}. {_FORM} "
            "To use files that are on this machine already, set NLDD_DATA to their folder."
        )
    if not (parts.scheme and host and _has_port_number(parts)) or _ODD_LETTER.search(url):
        raise InputError(f"{url!r} is no web address. {_FORM}")


def _has_port_number(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def _is_local(scheme: str, host: str) -> bool:
    return scheme == "http" and _is_loopback(host)


@contextmanager
def open_at(url: str, offset: int, n_bytes: int) -> Iterator[Answer]:
    """Open `url`, a file of `n_bytes`, from byte `offset` on, or from 0 if the server insists.

    Raises
    ------
    BrokenTransferError
        Also while reading the blocks, as the next one.
    NLDDError
        The server will not give this file, or gives something else.
    """
    with _open(url, offset) as response:
        _check_encoding(response)
        start = _start(response, offset, n_bytes)
        rest = n_bytes - start
        offered = response.length
        if offered is not None and (offered > rest or (start == 0 and offered < rest)):
            raise NLDDError(f"the server offers {offered} bytes where the catalogue has {rest}")
        yield Answer(start, _blocks(response, rest))


def _open(url: str, offset: int) -> HTTPResponse:
    headers = {"User-Agent": f"nldd/{__version__}", "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    try:
        response: HTTPResponse = _opener(url).open(
            Request(url, headers=headers), timeout=TIMEOUT_SECONDS
        )
    except HTTPError as error:
        with error:
            raise _refusal(error) from error
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise NLDDError(f"the server cannot prove who it is ({error.reason})") from error
        raise BrokenTransferError(_said(error.reason)) from error
    except (OSError, HTTPException) as error:
        raise BrokenTransferError(_said(error)) from error
    return response


def _opener(url: str) -> OpenerDirector:
    """An opener without the handlers of other schemes (file, ftp, data)."""
    opener = OpenerDirector()
    # A proxy cannot reach this machine as this machine sees itself.
    proxies = ProxyHandler({}) if _is_loopback(urlsplit(url).hostname or "") else ProxyHandler()
    for handler in (
        proxies,
        HTTPHandler(),
        HTTPSHandler(),
        HttpsRedirectHandler(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


class HttpsRedirectHandler(HTTPRedirectHandler):
    """Follow redirections to https only, even from a server on this machine."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        """The request to send to `newurl` instead; other schemes are refused."""
        if urlsplit(newurl).scheme != "https":
            fp.close()
            raise NLDDError(f"the server redirects to {newurl!r}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refusal(error: HTTPError) -> Exception:
    if error.code in _TRANSIENT_STATUS:
        return BrokenTransferError(_answers(error.code))
    if error.code == 416:
        return StartOverError("the server has fewer bytes than an earlier attempt left")
    if 300 <= error.code < 400:
        return NLDDError(f"the server redirects to where nldd does not follow ({error.code})")
    return NLDDError(_answers(error.code))


def _check_encoding(response: HTTPResponse) -> None:
    # Unpacking what a server packed is how few bytes become many.
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", ""):
        raise NLDDError(f"the server sends the file packed by {encoding!r}, unasked")


def _start(response: HTTPResponse, offset: int, n_bytes: int) -> int:
    if response.status == 200:
        return 0
    if response.status != 206 or not offset:
        raise NLDDError(_answers(response.status))
    found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    if found and int(found[1]) == offset and found[2] in ("*", str(n_bytes)):
        return offset
    raise StartOverError("the server sends another range than asked for")


def _blocks(response: HTTPResponse, rest: int) -> Iterator[bytes]:
    # Where the length is not announced, only a byte too many tells that there are more.
    spare = 1 if response.length is None else 0
    while rest + spare:
        try:
            block = response.read1(min(BLOCK_BYTES, rest + spare))
        except (OSError, HTTPException) as error:
            raise BrokenTransferError(_said(error)) from error
        if not block:
            break
        rest -= len(block)
        if rest < 0:
            raise WrongFileError("the server sends more bytes than the catalogue has")
        yield block
    if rest:
        raise BrokenTransferError(f"the connection ended {rest} bytes early")


def _answers(status: int) -> str:
    return f"the server answers {status} {responses.get(status, '')}".rstrip()


def _said(error: object) -> str:
    text = str(error) or type(error).__name__
    # Some of it the server wrote; a terminal must not obey it.
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
