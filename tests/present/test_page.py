"""A page as text and its figures: what stands in it, what cannot act in it, and files."""

import os
import re
from html.parser import HTMLParser

import pytest

from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.present.drawing import make_figure
from nldd.present.page import Figure, Page, Section, render_page, save_figure, svg
from nldd.present.table import Table, TableEntry
from nldd.present.text import KEPT, printable
from present.sample_page import DATASETS, PAYLOADS, PICTURE, hostile_page, sample_page

CALM = "quite calm"


@pytest.fixture(scope="module")
def sample(yeast):
    return sample_page(*yeast)


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


def test_page_has_every_value_note_and_caption_once_in_place(sample):
    outline = Outline(render_page(sample))
    table = sample.sections[1].tables[0]
    for row in (*table.rows, *table.foot):
        for cell in row:
            assert (cell.text if isinstance(cell, TableEntry) else cell) in outline.text
            assert not isinstance(cell, TableEntry) or cell.under in outline.text
    for note in table.notes:
        assert note in outline.text
    assert len(outline.all("strong")) == len(DATASETS)
    assert len(outline.all("td")) == 11 * 9 + 2 * 3
    scopes = [attributes["scope"] for attributes in outline.all("th")]
    assert scopes.count("col") == 10 + 4
    assert scopes.count("row") == 11 + 2
    assert re.findall(r"<b>((?:Table|Figure) \d)\.</b>", render_page(sample)) == [
        *("Table 1", "Figure 1", "Table 2", "Figure 2", "Figure 3", "Figure 4")
    ]


def test_cells_become_strong_and_small_and_numbers_are_aligned():
    table = Table("t", "T", ("D", "F", "Who"), (("a", TableEntry("0.5", True, "0.4"), "BR"),))
    html = render_page(Page("P", sections=(Section("S", tables=(table,)),)))
    assert '<td class="number"><strong>0.5</strong> <small>0.4</small></td>' in html
    assert '<th scope="row">a</th>' in html
    assert "<td>BR</td>" in html
    assert '<th scope="col" class="number">F</th>' in html
    assert "tfoot" not in html.partition("</style>")[2]


def test_contents_link_to_every_section_table_and_figure(sample):
    outline = Outline(render_page(sample))
    ids = {attributes["id"] for _, attributes in outline.elements if "id" in attributes}
    links = [attributes["href"] for attributes in outline.all("a")]
    assert links == [
        *("#content", "#section-1", "#hamming", "#table-hamming_loss", "#figure-ranks", "#how"),
        *("#table-weights", "#figure-cube", "#figure-choice", "#figure-share"),
    ]
    assert {link.removeprefix("#") for link in links} <= ids


def test_page_is_alone_it_names_no_other_file_and_holds_no_script(sample):
    html = render_page(sample)
    outline = Outline(html)
    tags = {tag for tag, _ in outline.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base"}
    policy = outline.all("meta")[1]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
    assert outline.all("link") == [{"rel": "icon", "href": "data:,"}]
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


def test_contents_have_the_first_sentence_of_a_caption():
    figure = Figure("f", "Ranks, best on the left. Friedman's test: p = 0.1.", PICTURE, "ranks")
    html = render_page(Page("t", sections=(Section("s", figures=(figure,)),)))
    assert re.search(r'<a href="#figure-f">.*</span> Ranks, best on the left</a>', html)


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


def drawing(name="NLDD"):
    return CriticalDifferenceDisplay([name, "BR"], [1.2, 1.8], [(0, 1)], "T").plot().figure_


def ids_of(text):
    return re.findall(r'\bid="([^"]*)"', text)


def test_equal_figures_give_equal_text():
    assert svg(drawing(), "f") == svg(drawing(), "f")
    assert svg(drawing(), "f") != svg(drawing("CBM"), "f")


def test_text_is_one_element_without_date_comments_style_sheet_or_letters():
    text = svg(drawing("--><b>NLDD"), "f")
    assert text.startswith("<svg ") and text.endswith("</svg>")
    assert text.count("<svg") == 1
    for absent in ("<?", "<!", "<style", "<metadata", "<text", "NLDD", "atplotlib", "<b>"):
        assert absent not in text
    assert 'style="stroke-linejoin: round; stroke-linecap: butt"' in text[:200]
    assert Figure("f", "", text, "").width == pytest.approx(7.2 * 96)


def test_ids_begin_with_the_prefix_and_every_reference_has_one():
    text = svg(drawing(), "ranks")
    assert len(ids_of(text)) == len(set(ids_of(text))) > 10
    assert all(name.startswith("ranks-") for name in ids_of(text))
    references = re.findall(r'(?:href="#|url\(#)([^")]*)', text)
    assert references
    assert set(references) <= set(ids_of(text))


def test_a_picture_inside_a_figure_stays_a_picture():
    drawn = make_figure((6.4, 4.8))
    drawn.subplots().imshow([[0, 1], [1, 0]])
    text = svg(drawn, "image")
    assert 'xlink:href="data:image/png;base64,' in text
    assert Figure("f", "", text, "").width == pytest.approx(6.4 * 96)


def test_saved_files_are_whole_equal_and_alone(tmp_path):
    folder = tmp_path / "new" / "figures"
    vector, raster = save_figure(drawing(), folder, "ranks.f-measure")
    assert sorted(path.name for path in folder.iterdir()) == [
        "ranks.f-measure.png",
        "ranks.f-measure.svg",
    ]
    assert vector.read_text() == (
        f'<?xml version="1.0" encoding="utf-8"?>\n{svg(drawing(), "ranks.f-measure")}\n'
    )
    content = raster.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 7.2 * 150
    assert b"atplotlib" not in content
    save_figure(drawing(), folder, "ranks.f-measure")
    assert raster.read_bytes() == content


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "ranks.svg").write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(drawing(), tmp_path, "ranks")
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.svg"]
    assert (tmp_path / "ranks.svg").read_text() == "old"


def test_settings_of_the_user_are_left_as_they_were():
    from matplotlib import rcParams

    before = dict(rcParams)
    svg(drawing(), "f")
    assert dict(rcParams) == before
