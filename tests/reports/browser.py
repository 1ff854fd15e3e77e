"""A headless Chromium for tests of pages, driven over two pipes by its DevTools protocol."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--no-default-browser-check", "--disable-sync", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-breakpad"),
    *("--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe"),
)
# The browser reads commands from file 3 and writes to 4; this puts ours there, and becomes it.
BECOME_BROWSER = (
    "import fcntl, os, sys;"
    "r, w = (fcntl.fcntl(int(n), fcntl.F_DUPFD_CLOEXEC, 10) for n in sys.argv[1:3]);"
    "os.dup2(r, 3); os.dup2(w, 4); os.execvp(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 60


def find_chromium():
    """Path of a Chromium; skips the test where there is none."""
    named = os.environ.get("NLDD_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs one of {', '.join(NAMES)} in PATH, or NLDD_CHROMIUM=<its path>")
    return found


class Browser:
    """One tab. What the page asks for, logs or throws is kept in `requests` and `complaints`."""

    def __init__(self, profile):
        chromium = find_chromium()
        ours, theirs = os.pipe(), os.pipe()
        self._out, self._in = ours[1], theirs[0]
        start = [sys.executable, "-c", BECOME_BROWSER, str(ours[0]), str(theirs[1])]
        self._process = subprocess.Popen(
            [*start, chromium, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._read, self._number, self._session = b"", 0, None
        self.requests, self.complaints, self._events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.close(self._out)  # the end of the commands is the end of the browser
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def open(self, url, width, height=900, dark=False, print_=False):
        """Load a page in a window of so many CSS pixels, and wait until it is there."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if print_ else "", features=[scheme])
        self.requests.clear()
        self.complaints.clear()
        self._events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._events:
            self._take(self._message())

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self):
        answer = self.call(
            "Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69
        )
        return base64.b64decode(answer["data"])

    def call(self, method, **parameters):
        """Send a command; events that come before its answer are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._take(answer)

    def _take(self, event):
        method, told = event.get("method"), event.get("params", {})
        self._events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(told)
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(told)
            raise AssertionError(f"the page opened a dialog: {told}")

    def _message(self):
        """The next message; they end with a zero byte."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            assert ready, f"Chromium said nothing for {PATIENCE} seconds"
            more = os.read(self._in, 2**16)
            assert more, "Chromium ended"
            self._read += more
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)
