"""Fixtures of the tests that look at the review page in a browser."""

from contextlib import ExitStack

import pytest

from reports.browser import launched
from review.browsing import visiting


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
