"""Running the server of the review page: uvicorn on loopback, until Ctrl-C."""

import contextlib
import gc
import socket
from collections.abc import Callable

import uvicorn
from filelock import FileLock, Timeout

from nldd.coding.review.app import ReviewApp
from nldd.coding.review.guard import Door, Guard
from nldd.coding.review.store import Store
from nldd.exceptions import InputError

CLOSING_SECONDS = 3
# With so many connections at a time, requests are put off (503): a page of ours opens six.
MOST_CONNECTIONS = 500


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
        with contextlib.suppress(InputError):
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

    def __init__(
        self,
        review: ReviewApp,
        port: int | None = None,
        announce: Callable[[str], None] = lambda address: None,
    ) -> None:
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
            with contextlib.suppress(KeyboardInterrupt):
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
