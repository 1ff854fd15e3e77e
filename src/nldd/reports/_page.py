"""A report as one HTML file that needs nothing else: no script, no request, no second file."""

import re
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from nldd.exceptions import InputError, MissingExtraError
from nldd.reports._figures import check_picture, svg
from nldd.reports._table import Table, as_entry, check_key, right_aligned

# From so many columns on, a table takes the whole width, then smaller letters.
CLASSES = {"wide": 5, "dense": 9, "very-wide": 13}


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a page.

    Attributes
    ----------
    key : str
        Letters, digits, ``.``, ``_`` and ``-``; the page has the figure at ``#figure-<key>``.
    caption : str
    svg : str
        An ``<svg>`` element, as from :func:`nldd.reports.svg`.
    alt : str
        What the picture shows, for those who cannot see it.
    drawing : matplotlib Figure or None
        What the element was made from, for files in other formats.
    """

    key: str
    caption: str
    svg: str
    alt: str
    drawing: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_key("figure", self.key)
        check_picture(self.svg)


def draw(display: Any, key: str, caption: str, alt: str) -> Figure:
    """A display of `nldd.displays` as a figure of a page."""
    drawing = display.plot().figure_
    return Figure(key, caption, svg(drawing, key), alt, drawing)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading: sentences, then tables, then figures.

    Attributes
    ----------
    title : str
    paragraphs : tuple of str
    tables : tuple of Table
    figures : tuple of Figure
    id : str
        Where links find it; ``section-1``, ... if empty.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        if self.id and not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", self.id):
            raise InputError(
                "The id of a section starts with a letter and has only letters, digits, '.', '_' "
                f"and '-'; got {self.id!r}."
            )


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on a page, as plain text; nothing in it is read as HTML.

    Attributes
    ----------
    title, subtitle : str
    facts : tuple of (str, str)
        Names and values below the title, such as ("data sets", "9").
    sections : tuple of Section
    foot : str
        The last line, such as how to make the page again.
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
    """The page as the text of an HTML file.

    Examples
    --------
    >>> html = render_page(Page("Losses & gains", sections=(Section("Ranks", ("a < b",)),)))
    >>> "<title>Losses &amp; gains</title>" in html, "<p>a &lt; b</p>" in html
    (True, True)
    """
    names = {f"table-{table.key}": f"Table {n}" for n, table in enumerate(page.tables, 1)}
    names |= {f"figure-{figure.key}": f"Figure {n}" for n, figure in enumerate(page.figures, 1)}
    html = _template().render(page=page, names=names, style=_own_file("page.css"))
    # Quotes within any text of the page are escaped, so this finds attributes only.
    repeated = [name for name, n in Counter(re.findall(r'\sid="([^"]*)"', html)).items() if n > 1]
    if repeated:
        raise InputError(
            f"Keys and ids must differ within a page, but {repeated[0]!r} comes more than once. "
            "Give each table, figure and section its own, and each figure its own prefix in svg()."
        )
    return html


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingExtraError(
            "Pages need Jinja2, which is not installed. "
            'Run: pip install "nldd[report]", or do without the page.'
        ) from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {
        "as_entry": as_entry,
        "right_aligned": right_aligned,
        "table_classes": _table_classes,
        "picture_width": check_picture,
    }
    return environment.from_string(_own_file("page.html.jinja"))


def _own_file(name: str) -> str:
    return files("nldd.reports").joinpath(name).read_text(encoding="utf-8")


def _table_classes(table: Table) -> str:
    return " ".join(name for name, columns in CLASSES.items() if len(table.head) >= columns)
