"""A web server on this machine that serves files from memory, honestly or with a trick."""

import hashlib
import random
import socket
import struct
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from nldd.bench.datasets.catalogue import CatalogueEntry, CatalogueFile

PIECE = 1024


def entry_of(contents, name="toy"):
    """An entry of the catalogue for files with these contents."""
    files = tuple(
        CatalogueFile(file, len(body), hashlib.sha256(body).hexdigest(), f"https://toy.test/{file}")
        for file, body in contents.items()
    )
    return CatalogueEntry(name, "toys", "mulan", 1, 1, 1, 1.0, 1, files)


CONTENTS = {"toy.arff": random.Random(1).randbytes(200_003), "toy.xml": b"<labels/>\n"}
ROWS = CONTENTS["toy.arff"]
TOY, ONE = entry_of(CONTENTS), entry_of({"toy.arff": ROWS})


def found(folder):
    """Contents of the files in a folder, but for the lock."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


class FileServer(ThreadingHTTPServer):
    """Files by name; `tricks` answer the first requests, one each, and honesty the others.

    A trick is called with the handler and the bytes of the file, and writes the whole answer.
    """

    daemon_threads = True

    def __init__(self, files, tricks=()):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = dict(files)
        self.tricks = list(tricks)
        self.requests = []  # (name, headers)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """Say nothing: clients that hang up are what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.lstrip("/")
        self.server.requests.append((name, dict(self.headers.items())))
        if name not in self.server.files:
            self.send_error(404)
            return
        trick = self.server.tricks.pop(0) if self.server.tricks else honest
        trick(self, self.server.files[name])

    def head(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def announce(self, body):
        """The head of an honest answer, and the bytes that it promises."""
        self.head(200, Content_Length=len(body))
        return body

    def log_message(self, *_):
        pass


def honest(handler, body):
    handler.wfile.write(handler.announce(body))


def cut(n_bytes):
    """Promise everything, send `n_bytes`, and hang up."""

    def answer(handler, body):
        handler.wfile.write(handler.announce(body)[:n_bytes])

    return answer


def reset(n_bytes):
    """The same, but with the connection torn down rather than closed."""

    def answer(handler, body):
        cut(n_bytes)(handler, body)
        handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    return answer


def slow(seconds=0.002, after=lambda n_sent: None):
    """Send in small pieces with a rest after each; tell `after` how many bytes have left."""

    def answer(handler, body):
        body = handler.announce(body)
        for start in range(0, len(body), PIECE):
            handler.wfile.write(body[start : start + PIECE])
            handler.wfile.flush()
            after(min(start + PIECE, len(body)))
            time.sleep(seconds)

    return answer


def status(code, **headers):
    def answer(handler, body):
        handler.head(code, Content_Length=0, **headers)

    return answer


@contextmanager
def serve(files, tricks=()):
    server = FileServer(files, tricks)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
