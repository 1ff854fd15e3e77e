"""Write the tables of the pages on speed from the results of the benchmarks, and print them.

The text of the pages is written by hand; between ``<!-- NAME -->`` and ``<!-- end -->`` stands what
``benchmarks/results/NAME.json`` holds.
"""

import json
import re
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PAGES = [Path(__file__).parents[1] / "docs" / name for name in ("performance.md", "scaling.md")]


def table(name: str) -> str:
    """The answers of one benchmark in Markdown."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return "Not measured yet.\n"
    result = json.loads(path.read_text())
    rows = [("question", "figure", "bar", ""), ("---", "---", "---", "---")]
    rows += [(a["question"], a["figure"], a["bar"], a["remark"]) for a in result["answers"]]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"Measured on {result['machine']}.", "", *lines]) + "\n"


def main() -> None:
    marked = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)
    for path in PAGES:
        page = marked.sub(
            lambda found: f"<!-- {found[1]} -->\n{table(found[1])}<!-- end -->", path.read_text()
        )
        path.write_text(page)
        print("\n".join(line for line in page.splitlines() if line.startswith("|")))


if __name__ == "__main__":
    main()
