"""Fixtures of the tests of the review page: a browser, a server, desks of coders."""

from contextlib import ExitStack

import pytest

from browser import launched
from coding.review.browsing import visiting
from coding.review.made_review import make_review
from coding.review.serve_made import Client, serving
from nldd.coding.review.desk import Desk
from nldd.coding.review.store import Store


@pytest.fixture(scope="module")
def chromium():
    # Of a module, not of the session: while it is open, no other test can run an event loop.
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(chromium):
    """Open the page of a store; all that was opened is closed at the end."""
    with ExitStack() as stack:
        yield lambda path, **how: stack.enter_context(visiting(chromium, path, **how))


@pytest.fixture
def make(tmp_path):
    """A review of answers that are all for people, in the order of the file."""

    def made(n=12, order="file", **how):
        path = tmp_path / "new.review.db"
        make_review(path, n, **{"share": 0.0, **how})
        with Store.open(path) as store:
            store.keep("coder:Ann", {"order": order, "codes": "fixed"})
        return path

    return made


@pytest.fixture
def coding(visit, make):
    """Open such a review: the visit and its page; `look` says how large the window is."""

    def opened(n=12, look=None, **how):
        tab = visit(make(n, **how), **(look or {}))
        return tab, tab.page

    return opened


@pytest.fixture
def desks(tmp_path):
    """Opens desks of a review of forty answers, for coders by name."""
    path, stores = tmp_path / "new.review.db", []

    def open_desk(coder="Ann", **made):
        if not path.exists():
            make_review(path, **made)
        stores.append(Store.open(path))
        desk = Desk(stores[-1], coder, ["age"])
        desk.drawn = [item.item for item in desk.store.items() if item.drawn]
        return desk

    yield open_desk
    for store in stores:
        store.close()


@pytest.fixture
def serve(tmp_path):
    """Serve a new made-up review to a client, which knows the server."""
    with ExitStack() as stack:

        def served(n=40, folder=tmp_path, **made):
            path = folder / "new.review.db"
            make_review(path, n, **made)
            running = stack.enter_context(serving(path))
            client = Client(running.address)
            client.running = running
            stack.callback(client.close)
            return client

        yield served


@pytest.fixture(scope="module")
def store_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("review") / "new.review.db"
    make_review(path, 40, n_drawn=5)
    return path


@pytest.fixture(scope="module")
def running(store_path):
    with serving(store_path, show=["age"]) as found:
        yield found


@pytest.fixture
def client(running):
    found = Client(running.address)
    yield found
    found.close()
