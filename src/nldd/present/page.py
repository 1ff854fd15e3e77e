"""A report as one HTML file that needs nothing else: no script, no request, no second file.

Its figures are SVG text that is the same in every run, and can be saved as files of their own.
"""

import re
from dataclasses import dataclass, field
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from nldd._files import write_atomically
from nldd._wording import printable
from nldd.present.table import Table, as_entry, right_aligned
from nldd.present.text import KEPT

DPI = 150
# Left out, so that equal figures give equal files.
NO_METADATA = {"svg": ("Creator", "Date", "Format", "Type"), "png": ("Software",)}
# Matplotlib sets these by a style sheet for "*", which would apply to the whole page.
ROOT_STYLE = "stroke-linejoin: round; stroke-linecap: butt"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a page.

    Attributes
    ----------
    key, caption : str
        The key consists of letters, digits, ``.``, ``_`` and ``-``; links find the figure at
        ``#figure-<key>``.
    svg, alt : str
        An ``<svg>`` element, as from :func:`nldd.present.page.svg`, and the same in words.
    drawing : matplotlib Figure or None
        What the element was made from, for files in other formats.
    """

    key: str
    caption: str
    svg: str
    alt: str
    drawing: Any = field(default=None, repr=False, compare=False)

    @property
    def width(self) -> float:
        """Width in CSS pixels, of which matplotlib's points are three quarters."""
        return float(self.svg.partition(' width="')[2].partition("pt")[0]) * 4 / 3


def draw(display: Any, key: str, caption: str, alt: str) -> Figure:
    """Draw a display as a figure of a page."""
    drawing = display.plot().figure_
    return Figure(key, caption, svg(drawing, key), alt, drawing)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading: sentences, then tables, then figures.

    Links find it by its `id`, which is ``section-1``, ... if empty.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Content of a page, as plain text; nothing in it is read as HTML.

    Attributes
    ----------
    title, subtitle : str
        At the top.
    facts : tuple of (str, str)
        Names and values below the title, such as ``("data sets", "9")``.
    sections : tuple of Section
        Each has a `title`, `paragraphs`, `tables`, `figures` and an `id` for links.
    foot : str
        The last line, such as how to make the page again.

    Examples
    --------
    >>> from nldd.present.page import Page
    >>> page = Page("Benchmark", facts=(("data sets", "9"),))
    >>> page.title, page.tables, page.figures
    ('Benchmark', [], [])
    """

    title: str
    subtitle: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = ()
    foot: str = ""

    @property
    def tables(self) -> list[Table]:
        """The tables of all sections."""
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        """The figures of all sections."""
        return [figure for section in self.sections for figure in section.figures]


def render_page(page: Page) -> str:
    """Write a page as the text of an HTML file.

    Examples
    --------
    >>> html = render_page(Page("Losses & gains", sections=(Section("Ranks", ("a < b",)),)))
    >>> "<title>Losses &amp; gains</title>" in html, "<p>a &lt; b</p>" in html
    (True, True)
    """
    names = {f"table-{table.key}": f"Table {n}" for n, table in enumerate(page.tables, 1)}
    names |= {f"figure-{figure.key}": f"Figure {n}" for n, figure in enumerate(page.figures, 1)}
    return str(_template().render(page=page, names=names, style=_own_file("page.css")))


def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Not what is HTML already, which is of another type.
        finalize=lambda value: printable(value, KEPT) if type(value) is str else value,
    )
    environment.globals |= {"as_entry": as_entry, "right_aligned": right_aligned}
    return environment.from_string(_own_file("page.html.jinja"))


def _own_file(name: str) -> str:
    return files("nldd.present").joinpath(name).read_text(encoding="utf-8")


def svg(figure: Any, prefix: str) -> str:
    """Write a figure as an ``<svg>`` element that can share a page with others.

    Letters are drawn as outlines, so they look the same everywhere. All ids begin with `prefix`,
    such as the key of the figure, so that those of two figures differ.
    """
    text = _rendered(figure, "svg").decode("utf-8")
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>\s*", "", text)
    text = text.replace("<svg ", f'<svg style="{ROOT_STYLE}" ', 1)
    return re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{prefix}-", text)


def save_figure(figure: Any, folder: Path | str, key: str) -> tuple[Path, Path]:
    """Write ``key.svg`` and ``key.png`` to a folder, each of them complete or not at all."""
    vector, raster = (Path(folder) / f"{key}.{ending}" for ending in ("svg", "png"))
    header = '<?xml version="1.0" encoding="utf-8"?>\n'
    write_atomically(vector, f"{header}{svg(figure, key)}\n".encode())
    write_atomically(raster, _rendered(figure, "png"))
    return vector, raster


def _rendered(figure: Any, ending: str) -> bytes:
    from matplotlib import rc_context

    buffer = BytesIO()
    metadata = dict.fromkeys(NO_METADATA[ending])
    with rc_context({"svg.hashsalt": "nldd", "svg.fonttype": "path"}):
        figure.savefig(buffer, format=ending, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
