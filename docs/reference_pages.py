"""Pages of the reference: one for each package, and one for each public name, from docstrings.

A name that several packages share has one page, under the shortest of them.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from api_reference import Public, public_names

ROLES = {"class": "class", "function": "func", "exception": "exc", "data": "data"}


def write_reference(folder: Path) -> None:
    """Write ``api/`` below `folder` where it differs, and delete pages of names that are gone."""
    pages = {folder / "api" / name: text for name, text in reference_pages(public_names())}
    for path in set((folder / "api").glob("*.rst")) - pages.keys():
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:  # or Sphinx would read it again
            path.write_text(text, "utf-8")


def reference_pages(names: list[Public]) -> Iterator[tuple[str, str]]:
    """File names and texts of all pages."""
    homes = find_homes(names)
    for package, members in groupby(names, lambda each: each.package):
        yield f"{package}.rst", package_page(package, list(members), homes)
    for each in homes.values():
        yield f"{page_name(each)}.rst", name_page(each)


def find_homes(names: Iterable[Public]) -> dict[tuple[str, str], Public]:
    """Each object by its module and name, as it is seen from the package with the shortest name."""
    homes: dict[tuple[str, str], Public] = {}
    for each in sorted(names, key=lambda each: (len(each.package), each.package, each.name)):
        homes.setdefault((each.module, each.name), each)
    return homes


def page_name(each: Public) -> str:
    """Of a file. ``Triage`` is not that of ``triage``, even where a disk ignores capitals."""
    kind = ".class" if each.kind == "class" and each.name == each.name.capitalize() else ""
    return f"{each.package}.{each.name}{kind}"


def package_page(package: str, members: list[Public], homes: dict[tuple[str, str], Public]) -> str:
    """What a package is for, and its names with a sentence each."""
    own = [homes[each.module, each.name] for each in members]
    rows = [f"   * - {link(each)}\n     - {summary(each.doc)}" for each in own]
    pages = [f"   {page_name(each)}" for each in own if each.package == package]
    return "\n".join(
        [
            *heading(package),
            f".. automodule:: {package}",
            "   :no-members:",
            "   :no-index:",
            "",
            ".. list-table::",
            "   :widths: 40 60",
            "",
            *rows,
            "",
            ".. toctree::",
            "   :hidden:",
            "",
            *pages,
            "",
        ]
    )


def name_page(each: Public) -> str:
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


def link(each: Public) -> str:
    """A cross-reference to the page of a name, which shows the name alone."""
    return f":{ROLES[each.kind]}:`~{each.package}.{each.name}`"


def summary(doc: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(doc.split("\n\n")[0].split())


def heading(text: str) -> list[str]:
    """A title of a page."""
    return [text, "=" * len(text), ""]
