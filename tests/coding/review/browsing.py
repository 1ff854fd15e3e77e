"""The page of a review in a real browser: what it shows, asks for and complains of."""

from contextlib import ExitStack, contextmanager

from coding.review.made_review import log_of, said_in
from coding.review.serve_made import serving

PATIENCE_MS = 15_000
SAVED = "#saved:text-is('saved')"
NOTICE = "#problems .notice"


class Visit:
    """One tab on one review.

    `complaints` are errors of the page, `asked` all addresses, `opened` dialogs of the browser.
    """

    def __init__(self, browser, running, **look):
        self.running, self.path = running, running.review.desk.store.path
        self.host = f"http://127.0.0.1:{running.port}/"
        self.context = browser.new_context(accept_downloads=True, **look)
        self.context.set_default_timeout(PATIENCE_MS)
        self.complaints, self.asked, self.opened = [], [], []
        self.page = self.tab(running.address)
        self.page.wait_for_selector(".answer, .finished")

    def tab(self, url=None):
        """Another tab of the same browser, which has the cookie."""
        page = self.context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", self._dismiss)
        page.goto(url or self.host)
        return page

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _dismiss(self, dialog):
        self.opened.append(dialog.message)
        dialog.dismiss()

    def go(self, route, wait_for):
        """Show a view such as ``#/list``, and wait until something is there."""
        self.page.goto(f"{self.host}{route}")
        self.page.wait_for_selector(wait_for)
        return self.page

    @property
    def entries(self):
        """The log."""
        return log_of(self.path)

    @property
    def decisions(self):
        """What the log says: item, action, and where that left it."""
        return [
            (e.item, e.action, e.after.state, sorted(e.after.codes or ())) for e in self.entries
        ]

    @property
    def acts(self):
        return [(entry.item, entry.action) for entry in self.entries]

    @property
    def suggested(self):
        """The codes that the machine suggested first."""
        return {item: sorted(said.codes) for item, said in said_in(self.path).items()}


@contextmanager
def visiting(browser, path, *, width=1100, height=760, dark=False, **serve):
    """A server on a store, and a tab on it."""
    look = {"viewport": {"width": width, "height": height}}
    look |= {"color_scheme": "dark" if dark else "light", "has_touch": width < 500}
    with ExitStack() as stack:
        served = serving(path, **{"show": ("age", "region"), **serve})
        visit = Visit(browser, stack.enter_context(served), **look)
        stack.callback(visit.context.close)
        yield visit


def play(page, *script):
    """Press keys; `@3` waits for answer 3, `saved` for the server, and `>a text` types that."""
    for part in script:
        if part.startswith(">"):
            page.keyboard.type(part[1:])
            continue
        for step in part.split():
            if step == "saved":
                page.wait_for_selector(SAVED)
            elif step.startswith("@"):
                page.wait_for_selector(f"#answer-title:text-is('Answer {step[1:]}')")
            else:
                page.keyboard.press(step)


def on(page):
    """The codes that are on."""
    return sorted(page.locator(".code[aria-pressed=true] .code-name").all_inner_texts())
