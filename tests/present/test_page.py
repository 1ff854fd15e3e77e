"""A page and its figures: what stands in it, what cannot act in it or in a browser, and files."""

import os
import re
from html.parser import HTMLParser

import pytest
from matplotlib import rcParams

from browser import open_tab
from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.present.drawing import make_figure
from nldd.present.page import Figure, Page, Section, draw, render_page, save_figure, svg
from nldd.present.table import Table, TableEntry
from nldd.present.text import KEPT, printable

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="9pt"><path d="M0 0"/></svg>'
CALM = "quite calm"
PAYLOADS = (
    "<script>document.title = 'owned'</script>",
    '"><img src=x onerror="document.title = \'owned\'">',
    "'><svg onload='document.title = \"owned\"'>",
    "javascript:document.title='owned'",
    "</style><script>document.title = 'owned'</script>",
    "</title></textarea></caption><script>document.title = 'owned'</script>",
    "{{ 7 * 7 }}{% include 'x' %}",
    "<!-- --!><script>document.title = 'owned'</script>",
    "&lt;script&gt; &#60;b&#62; \x00 \u202e <style>body { display: none }</style>",
    400 * "x",
    '<iframe src="http://127.0.0.1:9/"></iframe><link rel="stylesheet" href="http://127.0.0.1:9/">',
)


def hostile_page(payload):
    """A page with the same text in every field that takes text."""
    entry = TableEntry(payload, True, payload)
    table = Table("t", payload, (payload, payload), ((payload, entry),), ((entry, payload),))
    wide = Table("w", payload, (payload,) * 6, ((payload,) * 6,), notes=(payload,), folded=True)
    figure = Figure("f", payload, PICTURE, payload)
    section = Section(payload, (payload,), (table, wide), (figure,))
    return Page(payload, payload, ((payload, payload),), (section,), payload)


class Outline(HTMLParser):
    """Elements of a page with their attributes, and its text; complains about wrong nesting."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self._open = [], "", []
        self.feed(html)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_cells_become_strong_and_small_and_numbers_are_aligned():
    entry = TableEntry("0.5", True, "\u00b1 0.1\n0.4")
    table = Table("t", "T", ("D", "F", "Who"), (("a", entry, "BR"),))
    html = render_page(Page("P", sections=(Section("S", tables=(table,)),)))
    assert '<td class="number"><strong>0.5</strong> <small>\u00b1 0.1\n0.4</small></td>' in html
    assert '<th scope="row">a</th>' in html
    assert "<td>BR</td>" in html
    assert '<th scope="col" class="number">F</th>' in html
    assert "tfoot" not in html.partition("</style>")[2]


def test_contents_link_to_every_section_table_and_figure_in_their_order():
    caption = "Ranks, best on the left. Friedman's test: p = 0.1."
    sections = (
        Section("One", ("Some words.",)),
        Section("Two", (), (Table("a", "A", ("x",), ()),), (draw(display(), "f", caption, ""),)),
        Section("Three", (), (Table("b", "B", ("x",), ()),), id="three"),
    )
    html = render_page(Page("t", sections=sections))
    outline = Outline(html)
    links = [attributes["href"] for attributes in outline.all("a")]
    assert links == [
        *("#content", "#section-1", "#section-2", "#table-a", "#figure-f"),
        *("#three", "#table-b"),
    ]
    ids = {attributes["id"] for _, attributes in outline.elements if "id" in attributes}
    assert {link.removeprefix("#") for link in links} <= ids
    assert re.findall(r"<b>((?:Table|Figure) \d)\.</b>", html) == ["Table 1", "Figure 1", "Table 2"]
    assert re.search(r'<a href="#figure-f">.*</span> Ranks, best on the left</a>', html)


def test_page_is_alone_it_names_no_other_file_and_holds_no_script():
    figure = draw(display(), "f", "F", "")
    html = render_page(Page("t", sections=(Section("s", figures=(figure,)),)))
    outline = Outline(html)
    tags = {tag for tag, _ in outline.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base"}
    policy = outline.all("meta")[1]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
    for _, attributes in outline.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert set(re.findall(r"https?://[^\"<\s]*", html)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_hostile_text_is_text(payload):
    calm, hostile = (Outline(render_page(hostile_page(text))) for text in (CALM, payload))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in calm.elements]
    assert [sorted(a) for _, a in hostile.elements] == [sorted(a) for _, a in calm.elements]
    payload = printable(payload, KEPT)
    # The contents shorten long captions.
    assert hostile.text.count(payload) >= calm.text.count(CALM) - 1 > 20
    labels = [a["aria-label"] for _, a in hostile.elements if "aria-label" in a]
    assert labels == [f"Table 1: {payload}", f"Table 2: {payload}", "Figure 1", payload]


def test_page_of_a_title_alone_has_no_contents():
    html = render_page(Page("Nothing yet"))
    assert "<h1>Nothing yet</h1>" in html
    assert not {"nav", "dl", "footer", "section"} & {tag for tag, _ in Outline(html).elements}


def display(name="NLDD"):
    return CriticalDifferenceDisplay([name, "BR"], [1.2, 1.8], [(0, 1)], "T")


def drawing(name="NLDD"):
    return display(name).plot().figure_


def test_figure_is_one_element_without_date_comments_style_sheet_or_letters():
    before = dict(rcParams)
    text = svg(drawing("--><b>NLDD"), "f")
    assert text == svg(drawing("--><b>NLDD"), "f")
    assert text.startswith("<svg ") and text.endswith("</svg>")
    assert text.count("<svg") == 1
    for absent in ("<?", "<!", "<style", "<metadata", "<text", "NLDD", "atplotlib", "<b>"):
        assert absent not in text
    assert Figure("f", "", text, "").width == pytest.approx(7.2 * 96)
    assert dict(rcParams) == before


def test_ids_begin_with_the_prefix_and_every_reference_has_one():
    text = svg(drawing(), "ranks")
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids)) > 10
    assert all(name.startswith("ranks-") for name in ids)
    references = re.findall(r'(?:href="#|url\(#)([^")]*)', text)
    assert references
    assert set(references) <= set(ids)


def test_a_picture_inside_a_figure_stays_a_picture():
    drawn = make_figure((6.4, 4.8))
    drawn.subplots().imshow([[0, 1], [1, 0]])
    assert 'xlink:href="data:image/png;base64,' in svg(drawn, "image")


def test_saved_files_are_whole_equal_and_alone(tmp_path, monkeypatch):
    folder = tmp_path / "new" / "figures"
    vector, raster = save_figure(drawing(), folder, "ranks.f-measure")
    assert sorted(folder.iterdir()) == [raster, vector]
    assert vector.read_text() == (
        f'<?xml version="1.0" encoding="utf-8"?>\n{svg(drawing(), "ranks.f-measure")}\n'
    )
    content = raster.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 7.2 * 150
    assert b"atplotlib" not in content
    save_figure(drawing(), folder, "ranks.f-measure")
    assert raster.read_bytes() == content

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(drawing("BR"), folder, "ranks.f-measure")
    assert sorted(folder.iterdir()) == [raster, vector]
    assert raster.read_bytes() == content


# A browser takes its time; `tests/coding/review/test_coding_view.py` starts one in every run.
@pytest.fixture(scope="module")
def browser():
    with open_tab() as tab:
        yield tab


@pytest.mark.slow
def test_the_browser_would_tell_of_requests_scripts_and_errors(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<title>bad</title><img src='missing.png'><p style='width: 900px'>wide</p>"
        "<script>document.title = 'owned'; console.error('no'); throw new Error('thrown')</script>"
    )
    browser.open(path.as_uri(), 360)
    assert browser.requests == [path.as_uri(), (tmp_path / "missing.png").as_uri()]
    assert "thrown" in str(browser.complaints)
    assert "error: no" in browser.complaints
    assert browser.evaluate("document.title") == "owned"
    assert browser.evaluate("document.documentElement.scrollWidth") > 360


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.slow
def test_nothing_hostile_runs_in_a_browser_or_breaks_the_page(payload, width, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_page(hostile_page(payload)), encoding="utf-8")
    browser.open(path.as_uri(), width)
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") == width
