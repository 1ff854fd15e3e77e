"""Pages of the reference: one for each package, and one for each name, from docstrings."""

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path

from api_reference import Entry, public_names, result_classes

ROLES = {"class": "class", "function": "func", "exception": "exc", "data": "data"}


def write_reference(folder: Path) -> None:
    """Write ``api/`` below `folder` where it differs, and delete pages of names that are gone."""
    pages = {folder / "api" / name: text for name, text in reference_pages()}
    for path in set((folder / "api").glob("*.rst")) - pages.keys():
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # or Sphinx would read it again
            path.write_text(text, "utf-8")


def reference_pages() -> Iterator[tuple[str, str]]:
    """File names and texts of all pages; a result that two packages return belongs to the first."""
    taken: set[Entry] = set()
    for package, listed in groupby(public_names(), lambda each: each.package):
        names = list(listed)
        results = [each for each in result_classes(package) if each not in taken]
        taken.update(results)
        yield f"{package}.rst", package_page(package, names, results)
        for each in (*names, *results):
            yield f"{page_name(each)}.rst", name_page(each)


def page_name(each: Entry) -> str:
    """File of a name, without its ending."""
    return f"{each.package}.{each.name}"


def package_page(package: str, names: list[Entry], results: list[Entry]) -> str:
    """What a package is for, its names with a sentence each, and what their calls return."""
    text = [*heading(package), import_module(package).__doc__ or "", "", *table(names)]
    if results:
        text += [".. rubric:: What these return", "", *table(results)]
    pages = [f"   {page_name(each)}" for each in (*names, *results)]
    currently = [f".. py:currentmodule:: {package}", ""]
    return "\n".join([*currently, *text, ".. toctree::", "   :hidden:", "", *pages, ""])


def table(entries: list[Entry]) -> list[str]:
    """Names with the first sentence of their docstrings."""
    rows = [f"   * - {link(each)}\n     - {summary(each.doc)}" for each in entries]
    return [".. list-table::", "   :widths: 40 60", "", *rows, ""]


def name_page(each: Entry) -> str:
    """The docstring of one name, and the examples of the gallery that use it."""
    full = f"{each.package}.{each.name}"
    body = data_body(full, each.doc) if each.kind == "data" else object_body(full, each.kind)
    uses = [f".. minigallery:: {full}", "   :add-heading: In the gallery", ""]
    return "\n".join([*heading(each.name), f".. currentmodule:: {each.package}", "", *body, *uses])


def object_body(full: str, kind: str) -> list[str]:
    """Directives that let autodoc write the page of a class, an exception or a function."""
    members = ["   :members:", "   :inherited-members:"] if kind == "class" else []
    return [f".. auto{kind}:: {full}", *members, ""]


def data_body(full: str, doc: str) -> list[str]:
    """A constant, whose docstring Sphinx does not see where it is imported to."""
    text = re.sub(r"(?m)^(\w[\w ]*)\n-{3,}$", r".. rubric:: \1\n", doc)
    return [f".. py:data:: {full}", "", *(f"   {line}".rstrip() for line in text.split("\n")), ""]


def link(each: Entry) -> str:
    """A cross-reference to the page of a name, which shows the name alone."""
    return f":{ROLES[each.kind]}:`~{each.package}.{each.name}`"


def summary(doc: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(doc.split("\n\n")[0].split())


def heading(text: str) -> list[str]:
    """A title of a page."""
    return [text, "=" * len(text), ""]
