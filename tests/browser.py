"""A headless Chromium for tests of pages, driven by Playwright."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
PATIENCE_MS = 60_000


def find_chromium():
    """Path of a Chromium; skips the test where there is none."""
    named = os.environ.get("NLDD_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs one of {', '.join(NAMES)} in PATH, or NLDD_CHROMIUM=<its path>")
    return found


@contextmanager
def launched():
    """A Chromium driven by Playwright; the test is skipped where one of them is not there."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = find_chromium()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One tab. What the page asks for, logs or throws is kept in `requests` and `complaints`."""

    def __init__(self, browser):
        self._browser, self.page = browser, None
        self.requests, self.complaints = [], []

    def open(self, url, width, height=900, dark=False, print_=False):
        """Load a page in a window of so many CSS pixels, and wait until it is there."""
        if self.page is not None:
            self.page.context.close()
        self.requests, self.complaints = [], []
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=width < 500,
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(PATIENCE_MS)
        self.page = context.new_page()
        self.page.emulate_media(media="print" if print_ else "screen")
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("dialog", self._dismiss)
        self.page.goto(url)

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page."""
        return self.page.evaluate(expression)

    def press(self, key):
        self.page.keyboard.press(key)

    def pdf(self):
        return self.page.pdf(prefer_css_page_size=True, width="8.27in", height="11.69in")

    def _dismiss(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def open_tab():
    """A tab of a browser of its own."""
    with launched() as browser:
        yield Tab(browser)
