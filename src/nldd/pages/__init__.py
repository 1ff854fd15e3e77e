"""Pages: tables and figures as records, and one HTML file, CSV, Markdown and LaTeX made of them."""

from nldd.pages._figure_files import save_figure, svg
from nldd.pages._page import Figure, Page, Section, render_page
from nldd.pages._table import (
    RENDERERS,
    DataRow,
    Entry,
    Row,
    Table,
    to_csv,
    to_latex,
    to_markdown,
)

__all__ = [
    "RENDERERS",
    "DataRow",
    "Entry",
    "Figure",
    "Page",
    "Row",
    "Section",
    "Table",
    "render_page",
    "save_figure",
    "svg",
    "to_csv",
    "to_latex",
    "to_markdown",
]
