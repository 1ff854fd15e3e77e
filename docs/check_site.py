"""Check the built site: no broken link, nothing from elsewhere, a page for every public name.

``python docs/check_site.py docs/_build/html`` prints what is wrong, one line each, and then fails.
Links to other sites are counted and not followed, as that takes a network.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from api_reference import public_names
from reference_pages import page_name

# Attributes by which a browser loads something without being asked.
LOADS = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "srcset"),
    ("img", "srcset"),
}
LOADING_LINKS = {"stylesheet", "preload", "icon", "shortcut icon", "modulepreload", "prefetch"}
WITHIN = {"data", "mailto"}  # schemes that need no file
IN_STYLE = re.compile(r"""(?:url\(|@import\s+)["']?([^"')\s;]+)""")


@dataclass
class Page(HTMLParser):
    """What a page can be asked for (`anchors`), links to (`links`) and loads (`loads`)."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of a tag."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.loads |= {values[name] for name in values if (tag, name) in LOADS}
        if tag == "link" and values.get("rel") in LOADING_LINKS and "href" in values:
            self.loads.add(values["href"])
        elif tag == "a" and "href" in values:
            self.links.add(values["href"])


def read_page(path: Path) -> Page:
    """Parse one page."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def leaves(address: str) -> bool:
    """Whether an address is on another site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in {"", *WITHIN}


def stays(address: str) -> bool:
    """Whether an address is a file of the site."""
    return not leaves(address) and urlsplit(address).scheme not in WITHIN


def broken(path: Path, address: str, pages: dict[Path, Page]) -> bool:
    """Whether a link of the page at `path` leads to no file, or to no place on its page."""
    parts = urlsplit(address)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return not target.is_file()
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].anchors


def complaints(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """All that is wrong with the pages and style sheets below `site`."""
    for path, page in pages.items():
        shown = path.relative_to(site)
        own = {address for address in page.links | page.loads if stays(address)}
        yield from (f"{shown}: broken: {link}" for link in sorted(own) if broken(path, link, pages))
        yield from (f"{shown}: loads {load}" for load in sorted(page.loads) if leaves(load))
    for path in sorted(site.rglob("*.css")):
        for address in filter(leaves, IN_STYLE.findall(path.read_text("utf-8"))):
            yield f"{path.relative_to(site)}: loads {address}"


def missing_names(site: Path) -> Iterator[str]:
    """Public names that have no page, or none that shows an example."""
    for each in public_names():
        path = site / "api" / f"{page_name(each)}.html"
        if not path.is_file():
            yield f"{each.package}.{each.name}: no page"
        elif "&gt;&gt;&gt;" not in path.read_text("utf-8"):
            yield f"{each.package}.{each.name}: no example on its page"


def main(site: Path) -> int:
    """Print what is wrong and what was looked at; the exit code."""
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path: read_page(path) for path in files}  # the theme's templates are no pages
    found = [*complaints(site, pages), *missing_names(site)]
    away = {link for page in pages.values() for link in page.links if leaves(link)}
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, of which")
    print(f"{len(away)} lead to other sites and were not followed. {len(found)} complaints.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
