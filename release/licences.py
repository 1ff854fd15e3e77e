"""The table of licences in docs/licences.md, made of the metadata that is installed.

``python release/licences.py`` writes it anew; ``make dist`` compares it.
"""

import re
from collections.abc import Iterable

from dependencies import ROOT, Dependency, run_time_dependencies

PAGE = ROOT / "docs" / "licences.md"
# Copyleft that would reach those who use nldd; what GCC excepts is no part of these expressions.
UNWANTED = re.compile(r"\b(A?GPL|LGPL|SSPL|BUSL|CC-BY-NC)", re.IGNORECASE)
START, END = "<!-- table of dependencies -->\n", "<!-- end of the table -->\n"


def rows(found: Iterable[Dependency]) -> list[str]:
    """A row for each package: name, licence, and what brings it."""
    return [
        f"| {each.name} | {each.licence} | {brought_by(each)} |"
        for each in sorted(found, key=lambda each: each.name.lower())
    ]


def brought_by(dependency: Dependency) -> str:
    """The extras that a package comes with, in words."""
    if dependency.parts == {"nldd"}:
        return "always"
    return ", ".join(f"`{part}`" for part in sorted(dependency.parts))


def written_rows() -> list[str]:
    """The rows that the page has now."""
    table = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    return [line for line in table.splitlines() if line.startswith("| ")][1:]


def check_licences(found: dict[str, Dependency]) -> None:
    """An error if a licence is unwanted, or if the page lacks a row."""
    if unwanted := {n: each.licence for n, each in found.items() if UNWANTED.search(each.licence)}:
        raise ValueError(f"Licences that reach those who use nldd: {unwanted}")
    # Of Windows alone; the page names it in its text.
    everywhere = [each for name, each in found.items() if name != "colorama"]
    if missing := set(rows(everywhere)) - set(written_rows()):
        raise ValueError(f"Run python release/licences.py; {PAGE.name} lacks: {missing}")


def main() -> None:
    """Write the table into its place."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    table = ["| package | licence | comes with |", "|---|---|---|"]
    table += rows(run_time_dependencies().values())
    text = before + START + "\n" + "\n".join(table) + "\n\n" + END + after
    PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
