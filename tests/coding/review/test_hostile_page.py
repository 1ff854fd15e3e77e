"""Answers, codes and names that are programs: on no view of the page do they run."""

import csv
import json
import sqlite3
from contextlib import closing

import pytest

from coding.review.browsing import SAVED
from coding.review.made_review import make_review
from coding.review.serve_made import Client, serving
from nldd.coding.review.records import LogEntry, Position
from nldd.coding.review.store import Store

NOW = "2026-01-02T03:04:05.678Z"
FORMULA = '=HYPERLINK("http://evil.example","x")'
HIT = "window.__xss=1"
# What would run if it were taken as markup, as an attribute, as an address, as a style, as JSON, or
# as a template; each sets a mark, opens a dialog or asks another host.
MARKUP = (
    f"<script>{HIT}</script>",
    f"<SCRIPT>{HIT}</SCRIPT>",
    f"<script >{HIT}</script >",
    f"<scr<script>ipt>{HIT}</scr</script>ipt>",
    f"</script><script>{HIT}</script>",
    f"</title><script>{HIT}</script>",
    f"</textarea><script>{HIT}</script>",
    f"</style><script>{HIT}</script>",
    f"</noscript><script>{HIT}</script>",
    f"<!--><script>{HIT}</script>-->",
    f"--><script>{HIT}</script>",
    f"]]><script>{HIT}</script>",
    f"<script src=data:text/javascript,{HIT}></script>",
    "<script src=//evil.example/x.js></script>",
    "<script type=module>import('//evil.example/x.js')</script>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><script href=data:,{HIT} /></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={HIT}></style></table></math>",
    f"<template><script>{HIT}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={HIT}>'>",
    f"<iframe srcdoc='<script>parent.{HIT[7:]}</script>'></iframe>",
    "<iframe src=javascript:parent.__xss=1></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<form action=//evil.example/><button>Go</button></form>",
    "<img src=//evil.example/x.png>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
)
EVENTS = (
    *("onload", "onerror", "onclick", "onfocus", "onmouseover", "onpointerenter", "ontoggle"),
    *("onbegin", "onanimationstart", "ontransitionend", "onwheel", "onkeydown", "oninput"),
)
ELEMENTS = (
    "<img src=x {}={}>",
    "<svg {}={}>",
    "<body {}={}>",
    "<details open {}={}>",
)
ATTRIBUTES = (
    *(ELEMENTS[i % len(ELEMENTS)].format(event, HIT) for i, event in enumerate(EVENTS)),
    f'" onmouseover="{HIT}',
    f"' onfocus='{HIT}' autofocus='",
    f'"><img src=x onerror="{HIT}">',
    f"'><svg/onload={HIT}>",
    f"` onerror=`{HIT}",
    f"x onerror={HIT} ",
    f'" style="animation-name:x" onanimationstart="{HIT}',
    f"<input autofocus onfocus={HIT}>",
    f"<select autofocus onfocus={HIT}>",
    f"<video><source onerror={HIT}></video>",
    f"<audio src=x onerror={HIT}>",
    f"<marquee onstart={HIT}>x</marquee>",
    f"<img/src=x/onerror={HIT}//",
    f"<img src=x onerror\x0c=\x0c{HIT}>",
    f"<img src=x:x onerror\t=\n'{HIT}'>",
    f"<img src=`x` onerror={HIT}>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
)
ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript://%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//evil.example/%2e%2e",
    "http://evil.example/?a=<script>",
    "../../../../etc/passwd",
    "#/item/<script>alert(1)</script>",
    "blob:http://evil.example/1",
)
STYLES = (
    "x{background:url(//evil.example/x)}",
    "</style><style>@import '//evil.example/x.css';</style>",
    "expression(alert(1))",
    "--x:url(//evil.example/y)",
    "<style>*{background-image:url(//evil.example/z)}</style>",
)
BREAKS = (
    f'"}};{HIT};//',
    f"';{HIT};'",
    f"`${{{HIT}}}`",
    f"${{{HIT}}}",
    f"{{{{constructor.constructor('{HIT}')()}}}}",
    f"{{% {HIT} %}}",
    f"<%= {HIT} %>",
    f"#{{{HIT}}}",
    f"\\u003cscript\\u003e{HIT}\\u003c/script\\u003e",
    f"\\x3cscript\\x3e{HIT}\\x3c/script\\x3e",
    f"&lt;script&gt;{HIT}&lt;/script&gt;",
    f"&#60;script&#62;{HIT}&#60;/script&#62;",
    "__proto__",
    "constructor",
    '{"__proto__": {"polluted": 1}}',
    "toString",
    FORMULA,
)
UNICODE = (
    f"\uff1cscript\uff1e{HIT}\uff1c/script\uff1e",
    f"\u2028{HIT}\u2029",
    f"\u202e<script>{HIT}</script>\u202c",
    f"\ufeff<script>{HIT}</script>",
    f"<\u200bscript>{HIT}</script>",
    f"<\u017fcript>{HIT}</\u017fcript>",
    f"\u00bcscript\u00be{HIT}\u00bc/script\u00be",
    "مرحبا<img src=x onerror=alert(1)>🚲",
)
PAYLOADS = (*MARKUP, *ATTRIBUTES, *ADDRESSES, *STYLES, *BREAKS, *UNICODE)
# Elements of which the page has none of its own, and attributes that run something.
FOREIGN = """() => [...document.querySelectorAll('*')].filter((node) =>
  node.matches('iframe, object, embed, base, img, video, audio, math, style, template, marquee')
  || [...node.attributes].some(({name, value}) => /^on|^style$/.test(name)
    || (/^(href|src|action|data|srcdoc)$/.test(name) && !/^(#|\\/(?!\\/))/.test(value)))
).map((node) => node.outerHTML.slice(0, 200))"""
RAN = "() => [window.__xss, {}.polluted, document.scripts.length]"


def test_there_are_a_hundred_payloads():
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 100


def make_hostile(path, payloads, names):
    """A review in which the payloads are answers, codes, descriptions, notes and coders.

    `names` is text for the names of the table, the model and the columns.
    """
    make_review(path, len(payloads) + 20, codes=payloads, texts=payloads, n_drawn=5)
    with closing(sqlite3.connect(path)) as database, database:
        (text,) = database.execute("SELECT value FROM meta WHERE key = 'study'").fetchone()
        study = json.loads(text)
        study |= {"table": f"{names}.csv", "model": names}
        study["header"][2:] = [f"{names} 1", f"{names} 2"]
        study["codes"] = [
            [code, payloads[(i + 1) % len(payloads)], payloads[(i + 2) % len(payloads)]]
            for i, code in enumerate(payloads)
        ]
        database.execute("UPDATE meta SET value = ? WHERE key = 'study'", (json.dumps(study),))
        # One suggestion for all that are open, so that they are alike.
        query = "UPDATE suggestions SET codes = ? WHERE status = 'review'"
        database.execute(query, (json.dumps(payloads[:1]),))
    said = [
        LogEntry(
            *(0, f"{shift}-{item}", item, coder, "code"),
            Position("done", frozenset({payloads[(item + shift) % len(payloads)]}), True, text),
            NOW,
        )
        for item, text in enumerate(payloads[:30], 1)
        for shift, coder in ((0, names), (1, payloads[item % 3]))
    ]
    with Store.open(path) as store:
        store.add(said)


class Lookout:
    """Goes through the page and keeps what ran, or stands in it and is not its own."""

    def __init__(self, tab, payloads):
        self.tab, self.page, self.payloads, self.found = tab, tab.page, payloads, []

    def look(self, where):
        ran, foreign = self.page.evaluate(RAN), self.page.evaluate(FOREIGN)
        if ran != [None, None, 1] or foreign:
            self.found.append((where, ran, foreign))

    def open(self, route, there):
        self.tab.go(route, there)
        self.look(route)

    def glance(self):
        """The first answer, the list and the disagreements."""
        self.look("first answer")
        self.open("#/list", ".list-table tbody tr")
        assert self.page.text_content("tr[data-item='1'] th a") == self.payloads[0]
        self.open("#/settle", ".settle .card")

    def stay(self):
        """Many answers, all dialogs and all moves."""
        for item in range(1, len(self.payloads) + 1, 7):
            self.open(f"#/item/{item}", f".answer >> text=Answer {item}")
        for step in ("ArrowRight", "1", "Enter", "ArrowLeft", "u", "?", "Escape", "f", "Escape"):
            self.page.keyboard.press(step)
            self.look(step)
        self.page.keyboard.press("/")
        self.page.keyboard.type("<img")
        self.look("filter")
        self.page.keyboard.press("Escape")
        self.open("#/item/0", ".answer")
        self.page.wait_for_selector(SAVED)
        self.page.keyboard.press("a")
        self.page.wait_for_selector(".alike-list li >> nth=5")
        self.look("alike")
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("+")
        self.page.fill("dialog input", f"<SCRIPT>{HIT}</SCRIPTS>")  # nearly as one that is there
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("text=Add it all the same")
        self.look("a code that looks misspelt")
        self.page.click("text=Add it all the same")
        self.page.wait_for_selector("dialog", state="detached")
        self.look("new code")
        self.open("#/list", ".list-table tbody tr")
        self.page.fill("#list-search", self.payloads[0])
        self.page.select_option("#list-code", self.payloads[-1])
        self.look("search")
        self.open("#/settle", ".settle .card")
        self.page.click("summary")
        self.page.click("text=Other codes >> nth=0")
        self.look("other codes")
        self.open("#/keys", ".help-table")
        self.page.click("#open-settings")
        self.page.check("#set-codes-fixed")
        self.look("settings")
        self.page.keyboard.press("Escape")
        self.look("keys of codes")


def check_page(visit, path, payloads, names, whole):
    make_hostile(path, payloads, names)
    tab = visit(path, coder=names, show=(f"{names} 1", f"{names} 2"), width=1300)
    lookout = Lookout(tab, payloads)
    lookout.glance()
    if whole:
        lookout.stay()
    assert lookout.found == []
    host = f"http://127.0.0.1:{tab.running.port}/"
    assert [url for url in tab.asked if not url.startswith(host)] == []
    assert tab.opened == []
    assert [text for text in tab.complaints if "Content Security Policy" in text] == []
    assert tab.page.text_content("#table") == f"{names}.csv"


@pytest.mark.slow
def test_names_and_answers_that_are_programs_do_not_run(visit, tmp_path):
    payloads = (
        MARKUP[0],
        ATTRIBUTES[0],
        f"'><svg/onload={HIT}>",
        "javascript:alert(1)",
        "__proto__",
    )
    check_page(visit, tmp_path / "new.review.db", payloads, MARKUP[0], whole=False)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_payload_runs_on_any_view(visit, tmp_path, part):
    names = " ".join(PAYLOADS[part::8]).replace("\x01", "")
    check_page(visit, tmp_path / "new.review.db", PAYLOADS, names, whole=True)


def test_the_policy_allows_nothing_unsafe_and_files_are_never_shown(tmp_path):
    path = tmp_path / "new.review.db"
    make_hostile(path, (*PAYLOADS[:20], FORMULA), PAYLOADS[0])
    with serving(path, PAYLOADS[0], announce=lambda address: None) as running:
        client = Client(running.address)
        for address in ("/", "/static/app.js", "/api/study", "/nothing"):
            _, headers, _ = client.ask("GET", address)
            policy = headers["content-security-policy"]
            assert "unsafe" not in policy and "default-src 'none'" in policy, address
            assert headers["x-content-type-options"] == "nosniff"
        for kind in ("csv", "jsonl", "label-studio"):
            status, headers, body = client.ask("GET", f"/api/export?kind={kind}")
            assert status == 200, body
            assert headers["content-disposition"].startswith("attachment;")
            assert "html" not in headers["content-type"]
            if kind == "csv":
                table = list(csv.reader(body.decode("utf-8-sig").splitlines()))
        client.close()
    assert not [cell for row in table for cell in row if cell.startswith("=")]
    assert [cell for row in table for cell in row if FORMULA in cell]
