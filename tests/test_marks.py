"""What programs that write pages share: marks are filled, prose wrapped, pictures made light."""

import re

import pytest

from programs import ROOT, program


@pytest.fixture(scope="module")
def marks():
    return program("marks")


def test_marked_parts_are_filled_and_the_rest_stays(marks, tmp_path):
    page = tmp_path / "page.md"
    empty = "<!-- c -->\n<!-- end -->\n"
    page.write_text(f"of <!-- n -->1<!-- end -->\n<!-- a b -->\n<!-- end -->\nand\n{empty}")
    assert marks.names(page) == ["n", "a b", "c"]
    for new in ("new \\1", "newer"):
        marks.fill(page, {"a b": f"{new}\n", "n": "2"})
        filled = f"<!-- a b -->\n{new}\n<!-- end -->"
        assert page.read_text() == f"of <!-- n -->2<!-- end -->\n{filled}\nand\n{empty}"
    with pytest.raises(ValueError, match=r"page\.md .* d;"):
        marks.fill(page, {"d": ""})


def test_no_line_of_a_paragraph_begins_with_a_mark():
    """The rest of such a line would be no Markdown."""
    for page in [*ROOT.glob("docs/*.md"), ROOT / "README.md"]:
        assert not re.findall(r"^ *<!-- .+ -->.", page.read_text("utf-8"), re.MULTILINE), page


def test_prose_is_wrapped_and_tables_are_not(marks):
    row, prose, item = f"| {'wide ' * 30}|", "word " * 30, f"- {'item ' * 30}"
    lines = marks.wrapped("\n".join((row, "", prose, item))).split("\n")
    assert lines[:2] == [row, ""]
    assert max(map(len, lines[2:])) <= 100
    assert " ".join(lines[2:]).split() == [*prose.split(), *item.split()]
    assert lines[-1].startswith("  item")


def test_light_pictures_keep_their_words(marks, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    axes.plot([0, 1 / 3], [0, 2 / 3], color="#0072b2")
    axes.text(0.1, 0.1, "rank 1.6667 & more")
    path = tmp_path / "picture.svg"
    marks.save_light(figure, path)
    svg = path.read_text("utf-8")
    # Places have one decimal; what is written stays as it is.
    assert ">rank 1.6667 &amp; more</text>" in svg
    assert "metadata" not in svg and "http://www.w3.org/2000/svg" in svg
    assert svg.count("#0072b2") == 1 and "stroke: #0072b2" in svg
    assert len(svg) < 12_000
    again = tmp_path / "again.svg"
    marks.save_light(figure, again)
    assert again.read_text("utf-8") == svg
