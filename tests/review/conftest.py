"""Fixtures of the tests that look at the review page in a browser."""

from contextlib import ExitStack

import pytest

from nldd.review import Store
from reports.browser import launched
from review.browsing import visiting
from review.made_review import make_review


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
