r"""Tables for LaTeX that compile and fit a page, whatever stands in them.

The widths of columns are estimated from those of Computer Modern. A table that is too wide for the
text of an article is set smaller, then its long texts are broken into lines, then its columns are
parted into panels one below the other, on as many pages as that takes. A panel that is too long for
a page becomes a ``longtable``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import ceil
from unicodedata import normalize

from nldd.present.table import (
    Row,
    Table,
    TableEntry,
    as_entry,
    one_line,
    right_aligned,
    to_csv,
    to_markdown,
)

# Points of an article of 10 points: the width of its text less a reserve of 4 %, as one of 11
# points has less room for its letters; the height of a page less caption, rules and the higher
# lines of 12 points.
WIDTH, HEIGHT = 330.0, 400.0
# The width of one column, where a document has two.
COLUMN = 230.0
# Sizes with the width of their letters relative to 10 points, and the height of a line.
SIZES = {"": (1.0, 12.0), r"\small": (0.925, 11.0), r"\footnotesize": (0.85, 9.5)}
SMALLEST = r"\footnotesize"
SECOND_LINE = 0.8
GAP = 6.0
# A column of texts that is wider has lines of its own, of this width or more.
TEXT = 90.0
# A head over narrower cells is broken into lines of this width.
HEAD = 35.0
# A word of a head that is wider is broken anywhere.
LONGEST_HEAD = 70.0
# Words of more letters may be broken anywhere.
LONGEST_WORD = 14

# In Computer Modern of 10 points; all others as a capital.
LETTER_WIDTHS = {
    **dict.fromkeys("ijl.,:;!|'`[]", 2.9),
    **dict.fromkeys("f -", 3.4),
    **dict.fromkeys("rst()I", 4.0),
    **dict.fromkeys("cez", 4.5),
    **dict.fromkeys("ago0123456789*/$?", 5.0),
    **dict.fromkeys("bdhknpquvxyJS_", 5.6),
    **dict.fromkeys("mwMW%#", 9.3),
}
CAPITAL, FOREIGN = 7.8, 27.0
BOLD = 1.16

LETTER = (
    r"\providecommand{\nlddletter}[2]"
    r"{\ifdefined\Umathchar\char#1\else{\scriptsize U+#2}\fi}"
)
NEEDS = r"% Needs \usepackage{booktabs}."
LONG_NEEDS = (
    r"% Needs \usepackage{booktabs,longtable}; in two columns, between \onecolumn and \twocolumn."
)
BREAK = "\u200b"
ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c"
# Not letters with accents, but known to LaTeX in all its encodings as well.
KNOWN = "\u00df\u00e6\u0153\u00f8\u0142\u0131\u00c6\u0152\u00d8\u0141\u00e7\u00c7\u2013\u2014"
KNOWN += "\u2018\u2019\u201c\u201d\u2026\u00a7\u00b6\u2020\u2021\u00a9\u00a3\u00a1\u00bf"
SYMBOLS = {
    **{"\u00b1": "pm", "\u00d7": "times", "\u2264": "leq", "\u2265": "geq", "\u2260": "neq"},
    **{"\u2192": "rightarrow", "\u2190": "leftarrow", "\u221e": "infty", "\u00b7": "cdot"},
}
# "[" and "*" would be read as arguments of the "\\" that ends the row before.
CHARACTERS = {
    BREAK: r"\allowbreak{}",
    "\\": r"\textbackslash{}",
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", '"': r"{\char34}", "[": "{[}", "*": "{*}"},
    **{"\u2212": "$-$", "\u00b0": r"$^\circ$", "\u00a0": "~"},
    **{symbol: f"$\\{name}$" for symbol, name in SYMBOLS.items()},
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


def to_latex(table: Table) -> str:
    r"""A table for LaTeX, with the title as caption, to be read by ``\input``.

    Its first line says which packages it needs: booktabs, and longtable if it has more rows than a
    page. Second lines of cells are a row of their own in ``\scriptsize``. It fits the width of the
    text of an article of 10 to 12 points; in a document of two columns it spans both.

    Parameters
    ----------
    table : Table
        No character of it means anything to LaTeX.

    Returns
    -------
    str
        Ends with a newline.

    Examples
    --------
    >>> from nldd.present.latex import to_latex
    >>> from nldd.present.table import TableEntry, Table
    >>> table = Table("t", "Losses", ("Data", "BR"), (("yeast", TableEntry("0.19", bold=True)),))
    >>> lines = to_latex(table).splitlines()
    >>> print(lines[0])
    % Needs \usepackage{booktabs}.
    >>> print(*(line for line in lines if "yeast" in line))
    yeast & \textbf{0.19} \\
    """
    layout = choose_layout(table)
    body = "\n".join(_long(table, layout) if layout.long else _floating(table, layout))
    letter = (LETTER,) if r"\nlddletter" in body else ()
    return "\n".join([LONG_NEEDS if layout.long else NEEDS, *letter, body]) + "\n"


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How a table is set.

    Attributes
    ----------
    size : str
        Command of the size of letters; empty for that of the text.
    heads : tuple of tuple of str
        Lines of the head of each column.
    pages : tuple of tuple of tuple of int
        Panels of each page: columns that stand side by side, beginning with the row names. The
        last page has none if there is no room for the notes below them.
    lines : dict of int to float
        Columns whose texts are broken into lines, with their widths in points.
    width : float
        Of the widest panel, in points.
    long : bool
        Whether a panel has more rows than a page.
    """

    size: str
    heads: tuple[tuple[str, ...], ...]
    pages: tuple[tuple[tuple[int, ...], ...], ...]
    lines: dict[int, float]
    width: float
    long: bool


def choose_layout(table: Table) -> TableLayout:
    """The largest letters with which all columns stand side by side, else the fewest panels."""
    columns = tuple(range(len(table.head)))
    bodies = {size: _body_widths(table, factor) for size, (factor, _) in SIZES.items()}
    heads = tuple(
        head_lines(head, max(body, HEAD)) for head, body in zip(table.head, bodies[""], strict=True)
    )
    widths = {}
    for size, (factor, _) in SIZES.items():
        over = [factor * max(map(text_width, lines)) for lines in heads]
        widths[size] = list(map(max, bodies[size], over))
        if _total(widths[size], columns) <= WIDTH:
            return _layout(table, size, heads, (columns,), {}, widths[size])
    lines = _broken(table, widths[SMALLEST])
    for j, width in lines.items():
        for found in widths.values():
            found[j] = width
    panels = _panels(widths[SMALLEST])
    fits = (s for s in SIZES if max(_total(widths[s], panel) for panel in panels) <= WIDTH)
    # Texts in lines are notes rather than numbers: small letters keep the rows low.
    size = SMALLEST if lines else next(fits, SMALLEST)
    return _layout(table, size, heads, panels, lines, widths[size])


def _body_widths(table: Table, factor: float) -> list[float]:
    """Width of the widest cell of each column in points, its head not counted."""
    rows, columns = (*table.rows, *table.foot), range(len(table.head))
    return [max((_cell_width(row[j], factor) for row in rows), default=0.0) for j in columns]


def _cell_width(cell: TableEntry | str, factor: float) -> float:
    entry = as_entry(cell)
    first = factor * text_width(entry.text) * (BOLD if entry.bold else 1)
    return max(first, SECOND_LINE * text_width(entry.under))


def text_width(text: str) -> float:
    """About how wide a text is in points, at 10 points of Computer Modern; rather too wide."""
    return sum(LETTER_WIDTHS.get(c, CAPITAL if _has_font(c) else FOREIGN) for c in one_line(text))


def head_lines(head: str, width: float) -> tuple[str, ...]:
    """A head in lines of at most this width, broken between words; the longest words anywhere.

    >>> head_lines("Ensemble of classifier chains", 60)
    ('Ensemble of', 'classifier', 'chains')
    """
    lines, most = [""], max(width, LONGEST_HEAD)
    # Words end at a space, which is kept with them, or behind a sign.
    for word in re.findall(r"[^\s_/-]*[_/-]+\s?|[^\s_/-]+\s?", one_line(head)):
        if lines == [""] or text_width((lines[-1] + word).rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
        while text_width(lines[-1].rstrip()) > most and len(lines[-1]) > 1:
            n = next(n for n in range(len(lines[-1]), 0, -1) if text_width(lines[-1][:n]) <= most)
            lines[-1:] = [lines[-1][:n], lines[-1][n:]]
    return tuple(line.strip() for line in lines)


def _total(widths: Sequence[float], columns: Sequence[int]) -> float:
    return sum(widths[j] for j in columns) + GAP * (len(columns) - 1)


def _broken(table: Table, widths: Sequence[float]) -> dict[int, float]:
    """Widths of the columns whose texts are broken: the room that the others leave, shared out."""
    numeric = right_aligned(table)
    wide = [j for j, width in enumerate(widths) if width > TEXT and not numeric[j]]
    room = WIDTH - GAP * (len(widths) - 1)
    room -= sum(width for j, width in enumerate(widths) if j not in wide)
    lines = {}
    if room < 0 and 0 not in wide:
        # Names of rows of the foot, such as "average rank", may be longer than all others.
        factor, _ = SIZES[SMALLEST]
        lines[0] = max([HEAD, *(_cell_width(row[0], factor) for row in table.rows)])
        lines = lines if lines[0] < widths[0] else {}
    # The narrowest first: what it does not need is left to the others.
    for n_taken, j in enumerate(sorted(wide, key=lambda j: widths[j])):
        lines[j] = min(widths[j], max(room / (len(wide) - n_taken), TEXT))
        room -= lines[j]
    return lines


def _panels(widths: Sequence[float]) -> tuple[tuple[int, ...], ...]:
    """As few groups of columns as fit, of about equal size; each begins with the row names."""
    last = len(widths)
    for n_panels in range(1, last):
        ends = [1 + k * (last - 1) // n_panels for k in range(n_panels + 1)]
        panels = tuple((0, *range(start, end)) for start, end in pairwise(ends))
        if max(_total(widths, panel) for panel in panels) <= WIDTH:
            return panels
    return tuple((0, j) for j in range(1, last)) or ((0,),)


def _layout(
    table: Table,
    size: str,
    heads: tuple[tuple[str, ...], ...],
    panels: tuple[tuple[int, ...], ...],
    lines: dict[int, float],
    widths: Sequence[float],
) -> TableLayout:
    """The layout with its width, and the panels on pages."""
    factor, line = SIZES[size]

    def n_lines(row: Row, panel: Sequence[int]) -> int:
        cells = {j: as_entry(row[j]) for j in panel}
        # A quarter more for what stays blank at the ends of lines.
        broken = [1.25 * factor * text_width(cells[j].text) / lines[j] for j in lines if j in cells]
        return ceil(max([1, *broken])) + any(cell.under for cell in cells.values())

    def height(panel: Sequence[int]) -> float:
        n = sum(n_lines(row, panel) for row in (*table.rows, *table.foot))
        return line * (n + 2 + max(len(heads[j]) for j in panel))

    small, below = SIZES[SMALLEST]
    notes = below * sum(1 + ceil(small * text_width(note) / WIDTH) for note in table.notes)
    heights = list(map(height, panels))
    pages = [list(panels[:1])]
    taken = heights[0]
    for panel, more in zip(panels[1:], heights[1:], strict=True):
        if taken + more > HEIGHT:
            pages.append([])
            taken = 0.0
        pages[-1].append(panel)
        taken += more
    if taken + notes > HEIGHT:
        pages.append([])
    width = max(_total(widths, panel) for panel in panels)
    return TableLayout(size, heads, tuple(map(tuple, pages)), lines, width, max(heights) > HEIGHT)


def _floating(table: Table, layout: TableLayout) -> Iterator[str]:
    # In a document of one column the star changes nothing.
    kind = "table*" if layout.width > COLUMN else "table"
    for number, panels in enumerate(layout.pages):
        yield from ((r"\addtocounter{table}{-1}",) if number else ())
        yield from (rf"\begin{{{kind}}}[ht]", r"\centering", _caption(table, number))
        yield rf"\par\smallskip{layout.size}\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}"
        for panel in panels:
            yield from ((r"\par\medskip",) if panel != panels[0] else ())
            yield rf"\begin{{tabular}}{{{_columns(table, layout, panel)}}}"
            yield from (r"\toprule", _head(table, layout, panel), r"\midrule")
            yield from _body(table, layout, panel)
            yield from (r"\bottomrule", r"\end{tabular}")
        yield from (_notes(table) if number == len(layout.pages) - 1 else ())
        yield rf"\end{{{kind}}}"


def _long(table: Table, layout: TableLayout) -> Iterator[str]:
    """Panels one after the other, each over as many pages as it takes; heads are repeated."""
    yield rf"{{\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}{layout.size}"
    for number, panel in enumerate(chain.from_iterable(layout.pages)):
        yield from ((r"\addtocounter{table}{-1}",) if number else ())
        yield rf"\begin{{longtable}}{{{_columns(table, layout, panel)}}}"
        yield rf"{_caption(table, number)}\\"
        head = r"\toprule", _head(table, layout, panel), r"\midrule"
        yield from (*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot")
        yield from _body(table, layout, panel)
        yield r"\end{longtable}"
    yield from _notes(table)
    yield "}"


def _caption(table: Table, number: int) -> str:
    """The title, at its first place with the label, and in the list of tables there only."""
    title = breakable(table.title)
    if number:
        return rf"\caption[]{{{title} (continued)}}"
    return rf"\caption{{{title}}}\label{{tab:{table.key}}}"


def _columns(table: Table, layout: TableLayout, panel: Sequence[int]) -> str:
    letters = ["r" if number else "l" for number in right_aligned(table)]
    for j, width in layout.lines.items():
        letters[j] = rf"p{{{width / WIDTH:.3f}\linewidth}}"
    return f"@{{}}{''.join(letters[j] for j in panel)}@{{}}"


def _head(table: Table, layout: TableLayout, panel: Sequence[int]) -> str:
    """Heads of several lines are small tables of their own, set on the last line."""
    numeric = right_aligned(table)
    cells = []
    for j in panel:
        lines = [escape_latex(line) for line in layout.heads[j]]
        if j in layout.lines:
            cells.append(rf"\raggedright {breakable(table.head[j])}")
        elif len(lines) == 1:
            cells.append(lines[0])
        else:
            rows, side = r"\\".join(lines), "r" if numeric[j] else "l"
            cells.append(rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{rows}\end{{tabular}}")
    return f"{' & '.join(cells)} {_end(layout)}"


def _end(layout: TableLayout) -> str:
    # In ragged lines "\\" ends a line and not a row.
    return r"\tabularnewline" if layout.lines else r"\\"


def _body(table: Table, layout: TableLayout, panel: Sequence[int]) -> Iterator[str]:
    def rows(found: Sequence[Row]) -> Iterator[str]:
        for row in found:
            entries = {j: as_entry(row[j]) for j in panel}
            first = (_cell(entry, j in layout.lines) for j, entry in entries.items())
            yield f"{' & '.join(first)} {_end(layout)}"
            if any(entry.under for entry in entries.values()):
                unders = (escape_latex(entry.under) for entry in entries.values())
                second = (rf"{{\scriptsize {under}}}" if under else "" for under in unders)
                yield f"{' & '.join(second)} {_end(layout)}"

    yield from rows(table.rows)
    if table.foot:
        yield r"\midrule"
        yield from rows(table.foot)


def _cell(entry: TableEntry, in_lines: bool) -> str:
    text = breakable(entry.text) if in_lines else escape_latex(entry.text)
    text = rf"\textbf{{{text}}}" if entry.bold and text else text
    return rf"\raggedright {text}" if in_lines and text else text


def _notes(table: Table) -> Iterator[str]:
    for note in table.notes:
        yield rf"\par\smallskip{{\footnotesize\raggedright {breakable(note)}\par}}"


def breakable(text: str) -> str:
    """Text for LaTeX in which long words, such as settings and paths, may be broken.

    >>> print(breakable("a_b (estimator=None)"))
    a\\_b (\\allowbreak{}estimator=\\allowbreak{}None)
    """

    def part(match: re.Match[str]) -> str:
        word = re.sub(r"([(,=_/.:;\\-])(?=[\w'\"])|([a-z0-9])(?=[A-Z])", rf"\g<0>{BREAK}", match[0])
        pieces = word.split(BREAK)
        step = LONGEST_WORD
        return BREAK.join(
            BREAK.join(piece[at : at + step] for at in range(0, len(piece), step) or [0])
            for piece in pieces
        )

    return _escape(re.sub(rf"\S{{{LONGEST_WORD + 1},}}", part, one_line(text)))


def escape_latex(text: str) -> str:
    """Text on one line in which no character means anything to LaTeX; minus signs are set as such.

    Letters that pdfLaTeX has no font for are set by XeLaTeX and LuaLaTeX, and shown by their code
    otherwise.
    """
    return _escape(one_line(text))


def _escape(text: str) -> str:
    escaped = "".join(map(_character, text))
    escaped = re.sub(r"(?<![\w.-])-(?=\.?\d)", "$-$", escaped)
    # Two of these in a row would be set as one other character: -- as a dash, `` as a quote.
    return re.sub(r"([-`',])(?=\1)", r"\1{}", escaped)


def _character(c: str) -> str:
    if not _has_font(c):
        return rf"\nlddletter{{{ord(c)}}}{{{ord(c):04X}}}"
    return CHARACTERS.get(c, c)


def _has_font(c: str) -> bool:
    """Whether pdfLaTeX can set a character in the encoding that it begins with."""
    if c.isascii() or c in CHARACTERS or c in KNOWN:
        return True
    parts = normalize("NFD", c)
    return c < "\u0180" and len(parts) == 2 and parts[0].isascii() and parts[1] in ACCENTS


# The forms in which a report writes its tables, by the endings of the files.
RENDERERS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
