"""Write the tables of docs/results.md from the records beside this file.

The text of the page is written by hand; between ``<!-- PROTOCOL TABLE -->`` and ``<!-- end -->``
stands a table of the report of that protocol.
"""

import re
from functools import cache
from pathlib import Path

from nldd.experiments import CELLS, read_records
from nldd.reports import Table, make_report, results, to_markdown

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "results.md"
MARKED = re.compile(r"<!-- (\w+) (\w+) -->\n.*?<!-- end -->", re.DOTALL)


@cache
def tables(protocol: str) -> dict[str, Table]:
    """Tables of a protocol's report by key."""
    report = make_report(results(read_records(FOLDER / protocol / CELLS)))
    return {table.key: table for table in report.tables}


def section(found: re.Match[str]) -> str:
    """A marked part of the page with its table in it."""
    protocol, key = found.groups()
    text = to_markdown(tables(protocol)[key])
    _, body = text.split("\n", 1)  # the page has headings of its own
    body = re.sub(r"(?<= ) +|(?<=---)-+", "", body).strip()
    return f"<!-- {protocol} {key} -->\n{body}\n<!-- end -->"


def main() -> None:
    """Write the page."""
    PAGE.write_text(MARKED.sub(section, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
