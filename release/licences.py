"""The table of licences in docs/licences.md, made of the metadata that is installed.

``python release/licences.py`` writes it anew; a test compares it.
"""

from collections.abc import Iterable

from dependencies import ROOT, Dependency, run_time_dependencies

PAGE = ROOT / "docs" / "licences.md"
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
