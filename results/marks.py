"""What the programs that write pages share: marked parts, lines that are wrapped, light pictures.

The text of a page is written by hand; what stands between ``<!-- NAME -->`` and ``<!-- end -->`` is
made from records: lines of their own, or a number within a line, which it must not begin. The
programs of ``benchmarks`` use this file too.
"""

import re
import textwrap
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 100
MARKED = re.compile(r"<!-- (?!end)([\w -]+?) -->(\n?).*?<!-- end -->", re.DOTALL)
# Of a picture as matplotlib writes it: what nobody sees, and what can be said once for all.
LEFT_OUT = (
    (r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", ""),
    (r'<g id="[^"]*">', "<g>"),
    (r" transform=\"rotate\(-?0 [^)]*\)\"", ""),
    (r"; font-family: [^;\"]*", ""),
    (r"(<style[^>]*>)\*\{", r"\1*{font-family: 'DejaVu Sans', Verdana, sans-serif; "),
    (r"\s*\n\s*(?=[A-Zz\"])", " "),
)


def names(page: Path) -> list[str]:
    """The marks of a page, in order."""
    return [match[1] for match in MARKED.finditer(page.read_text("utf-8"))]


def fill(page: Path, texts: dict[str, str]) -> None:
    """Put each text between its marks, which must be there."""
    if missing := texts.keys() - set(names(page)):
        raise ValueError(f"{page.name} has no mark for {', '.join(sorted(missing))}; add one.")

    def section(match: re.Match[str]) -> str:
        if match[1] not in texts:
            return match[0]
        return f"<!-- {match[1]} -->{match[2]}{texts[match[1]].rstrip()}{match[2]}<!-- end -->"

    page.write_text(MARKED.sub(section, page.read_text("utf-8")), "utf-8")


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    """Rows in Markdown below a head whose columns are parted by bars."""
    rule = "|---" * (head.count("|") + 1) + "|"
    return "\n".join([f"| {head} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def wrapped(text: str) -> str:
    """Lines of prose and of lists broken at `WIDTH`; rows of tables stay whole."""
    return "\n".join(line if line.startswith("|") else _broken(line) for line in text.split("\n"))


def _broken(line: str) -> str:
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def save_light(figure: Any, path: Path) -> None:
    """The figure as SVG with its letters as text, no outlines around them, and few digits."""
    from matplotlib import rc_context

    for text in (text for axes in figure.axes for text in axes.texts):
        text.set_path_effects([])
    drawn = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "nldd"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    path.write_text(_lightened(drawn.getvalue()), "utf-8")


def _lightened(svg: str) -> str:
    svg = svg[svg.index("<svg") :]
    for pattern, instead in LEFT_OUT:
        svg = re.sub(pattern, instead, svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\d+\.\d+", _short, tag[0]), svg)
    for number, style in enumerate(sorted(set(re.findall(r'style="([^"]*)"', svg)))):
        svg = svg.replace(f'style="{style}"', f'class="s{number}"')
        svg = svg.replace("</style>", f"\n.s{number}{{{style}}}</style>")
    return "\n".join(line.strip() for line in svg.splitlines()) + "\n"


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
