"""The site's own tools: pages of the reference from docstrings, and the check of what was built."""

import pytest

from api_reference import Public, public_names
from check_site import Page, complaints, leaves, read_page, stays
from reference_pages import find_homes, page_name, reference_pages, write_reference

NAMES = [
    Public("nldd", "Model", "nldd.rooms._model", "class", "A model.\n\nMore of it."),
    Public("nldd.rooms", "LIMIT", "nldd.rooms._model", "data", "A limit.\n\nExamples\n--------\nx"),
    Public("nldd.rooms", "Model", "nldd.rooms._model", "class", "A model.\n\nMore of it."),
    Public("nldd.rooms", "model", "nldd.rooms._model", "function", "Make\na model."),
]


def test_a_name_of_two_packages_has_one_page_and_stands_in_both_tables():
    pages = dict(reference_pages(NAMES))
    assert sorted(pages) == [
        *("nldd.Model.class.rst", "nldd.rooms.LIMIT.rst", "nldd.rooms.model.rst"),
        *("nldd.rooms.rst", "nldd.rst"),
    ]
    row = "   * - :class:`~nldd.Model`\n     - A model.\n"
    assert row in pages["nldd.rst"]
    assert row in pages["nldd.rooms.rst"]
    assert "   nldd.rooms.model\n" in pages["nldd.rooms.rst"]
    assert "nldd.Model.class\n" not in pages["nldd.rooms.rst"]  # in one tree of contents only
    assert "     - Make a model.\n" in pages["nldd.rooms.rst"]


def test_sections_of_a_constant_are_no_titles_inside_of_its_page():
    page = dict(reference_pages(NAMES))["nldd.rooms.LIMIT.rst"]
    assert (
        ".. py:data:: nldd.rooms.LIMIT\n\n   A limit.\n\n   .. rubric:: Examples\n\n   x\n" in page
    )


def test_pages_of_all_names_have_names_that_differ_in_more_than_capitals():
    files = [page_name(each).lower() for each in find_homes(public_names()).values()]
    assert len(files) > 100
    assert len(set(files)) == len(files)


def test_writing_again_leaves_pages_as_they_are_and_deletes_those_of_names_that_are_gone(tmp_path):
    write_reference(tmp_path)
    pages = {path: path.stat().st_mtime_ns for path in (tmp_path / "api").iterdir()}
    (tmp_path / "api" / "nldd.gone.rst").write_text("gone")
    write_reference(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "api").iterdir()} == pages


def checked(site, **files):
    """Complaints about a site of these files, whose dots are written as double underscores."""
    for name, text in files.items():
        (site / name.replace("__", ".")).write_text(text, encoding="utf-8")
    pages = {path: read_page(path) for path in sorted(site.rglob("*.html"))}
    return list(complaints(site, pages))


def test_sound_links_are_not_complained_of(tmp_path):
    first = '<h1 id="top">A</h1><a href="b.html#caf%C3%A9">b</a><a href="#top">up</a>'
    first += '<a href="https://example.org/x">away</a><img src="data:image/png;base64,AA==">'
    second = '<p id="café">b</p><a href="a.html">a</a><a href="mailto:a@example.org">m</a>'
    assert checked(tmp_path, a__html=first, b__html=second, s__css="p { color: red }") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('<a href="c.html">', "a.html: broken: c.html"),
        ('<a href="#lost">', "a.html: broken: #lost"),
        ('<a href="a.html#lost">', "a.html: broken: a.html#lost"),
        ('<img src="lost.png">', "a.html: broken: lost.png"),
        ('<script src="https://example.org/s.js">', "a.html: loads https://example.org/s.js"),
        ('<script src="//example.org/s.js">', "a.html: loads //example.org/s.js"),
        (
            '<link rel="stylesheet" href="https://example.org/s.css">',
            "a.html: loads https://example.org/s.css",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, complaint):
    assert checked(tmp_path, a__html=text) == [complaint]


def test_style_sheets_load_nothing_from_elsewhere(tmp_path):
    style = "@import 'https://example.org/a.css'; p { background: url(https://example.org/b.png) }"
    assert checked(tmp_path, s__css=style) == [
        "s.css: loads https://example.org/a.css",
        "s.css: loads https://example.org/b.png",
    ]


def test_addresses_are_of_the_site_or_elsewhere_or_neither():
    addresses = ["a.html", "https://example.org", "//example.org", "data:x", "mailto:a@b", "#x"]
    assert [leaves(address) for address in addresses] == [False, True, True, False, False, False]
    assert [stays(address) for address in addresses] == [True, False, False, False, False, True]
    assert Page().links == set()
