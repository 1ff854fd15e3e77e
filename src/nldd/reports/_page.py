"""A report as one HTML file that needs nothing else: no script, no request, no second file."""

import re
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nldd.exceptions import InputError, MissingExtraError
from nldd.reports._figure_files import checked_key, picture_width
from nldd.reports._table import Table, as_entry, right_aligned

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
    """

    key: str
    caption: str
    svg: str
    alt: str

    def __post_init__(self) -> None:
        checked_key(self.key)
        picture_width(self.svg)


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


def render_page(page: Page) -> str:
    """The page as the text of an HTML file.

    Examples
    --------
    >>> html = render_page(Page("Losses & gains", sections=(Section("Ranks", ("a < b",)),)))
    >>> "<title>Losses &amp; gains</title>" in html, "<p>a &lt; b</p>" in html
    (True, True)
    """
    html = _template("page.html.jinja").render(
        page=page, sections=_numbered(page.sections), style=_markup(_own_file("page.css"))
    )
    # Quotes within any text of the page are escaped, so this finds attributes only.
    repeated = [name for name, n in Counter(re.findall(r'\sid="([^"]*)"', html)).items() if n > 1]
    if repeated:
        raise InputError(
            f"Keys and ids must differ within a page, but {repeated[0]!r} comes more than once. "
            "Give each table, figure and section its own, and each figure its own prefix in svg()."
        )
    return html


def _numbered(sections: tuple[Section, ...]) -> list[dict[str, Any]]:
    """Sections with their tables and figures, which are numbered through all of the page."""
    tables, figures = 0, 0
    views = []
    for number, section in enumerate(sections, 1):
        table_views = [_table_view(tables + n, table) for n, table in enumerate(section.tables, 1)]
        figure_views = [
            _figure_view(figures + n, figure) for n, figure in enumerate(section.figures, 1)
        ]
        tables, figures = tables + len(table_views), figures + len(figure_views)
        views.append(
            {
                "number": number,
                "id": section.id or f"section-{number}",
                "title": section.title,
                "paragraphs": section.paragraphs,
                "tables": table_views,
                "figures": figure_views,
            }
        )
    return views


def _table_view(number: int, table: Table) -> dict[str, Any]:
    return {
        "id": f"table-{table.key}",
        "name": f"Table {number}",
        "title": table.title,
        "head": table.head,
        "rows": [[as_entry(cell) for cell in row] for row in table.rows],
        "foot": [[as_entry(cell) for cell in row] for row in table.foot],
        "notes": table.notes,
        "right": right_aligned(table),
        "classes": [name for name, columns in CLASSES.items() if len(table.head) >= columns],
    }


def _figure_view(number: int, figure: Figure) -> dict[str, Any]:
    return {
        "id": f"figure-{figure.key}",
        "name": f"Figure {number}",
        "caption": figure.caption,
        "alt": figure.alt,
        # Checked at the construction of the figure to hold shapes only.
        "picture": _markup(figure.svg),
        "width": f"{picture_width(figure.svg):.0f}",
    }


def _own_file(name: str) -> str:
    return files("nldd.reports").joinpath(name).read_text(encoding="utf-8")


def _template(name: str) -> Any:
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
    return environment.from_string(_own_file(name))


def _markup(text: str) -> Any:
    """Text that is HTML already: our own style sheet, or a picture that was checked."""
    from markupsafe import Markup

    return Markup(text)
