"""A server on a made-up review: `python -m coding.review.serve_made --store a.db`, from tests."""

import argparse
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from coding.review.made_review import make_review
from nldd.coding.review.app import ReviewApp
from nldd.coding.review.desk import Desk
from nldd.coding.review.server import ReviewServer
from nldd.coding.review.store import Store

JSON = {"Content-Type": "application/json"}
DECISION = {"uid": "u1", "item": 1, "seen": 0, "action": "code", "codes": ["pay"], "round": 0}
GETS = ("study", "status", "next", "before", "items", "alike", "list", "disagreements", "agreement")
GETS += ("export",)
POSTS = ("decide", "decide_many", "undo", "codes", "learn")


@contextmanager
def serving(path, coder="Ann", show=(), learner=None, every=0, port=None, announce=lambda _: None):
    """A server of this process, in another thread."""
    desk = Desk(Store.open(path), coder, show)
    running = ReviewServer(ReviewApp(desk, learner, every), port, announce)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        yield running
    finally:
        running.stop()
        thread.join()


class Client:
    """A browser's requests without a browser: one connection, with the cookie."""

    def __init__(self, address, timeout=30):
        self.host, _, query = address.removeprefix("http://").partition("/")
        self.connection = HTTPConnection(self.host, timeout=timeout)
        self.headers = {}
        if query:
            status, headers, _ = self.ask("GET", f"/{query}")
            assert status == 303
            self.headers["Cookie"] = headers["set-cookie"].partition(";")[0]

    def ask(self, method, path, body=None, headers=()):
        """Status, headers and bytes of an answer."""
        self.connection.request(method, path, body, self.headers | dict(headers))
        answer = self.connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, names, answer.read()

    def get(self, path):
        """JSON of an answer that is well."""
        status, _, body = self.ask("GET", path)
        assert status == 200, (status, body)
        return json.loads(body)

    def send(self, path, fields, method="POST"):
        """Status and JSON of what comes back."""
        status, _, body = self.ask(method, path, json.dumps(fields), JSON)
        return status, json.loads(body)

    def close(self):
        self.connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--store", type=Path, required=True, help="made if it is not there")
    given = parser.parse_args()
    if not given.store.exists():
        make_review(given.store, given.n)
    announce = partial(print, flush=True)
    running = ReviewServer(ReviewApp(Desk(Store.open(given.store), "Ann")), None, announce)
    announce(running.address)
    running.run()


if __name__ == "__main__":
    main()
