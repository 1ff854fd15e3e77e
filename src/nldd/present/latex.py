r"""Tables for LaTeX by booktabs, with all text escaped."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from nldd.present.table import Row, Table, as_entry, one_line, right_aligned, to_csv

# A table of more rows becomes a longtable, which goes on over the pages.
LONG_ROWS = 40
# Columns with longer texts are set in lines.
LONG_TEXT = 50
LINES = r"p{0.4\linewidth}"
# A wider table is shrunk to the width of the text.
SHRINK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
END = r"\tabularnewline"

SYMBOLS = {
    **{"\u00b1": "pm", "\u00d7": "times", "\u2264": "leq", "\u2265": "geq", "\u2260": "neq"},
    **{"\u2192": "rightarrow", "\u2190": "leftarrow", "\u221e": "infty", "\u00b7": "cdot"},
}
# "[" and "*" would be read as arguments of the command that ends the row before.
CHARACTERS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", '"': r"{\char34}", "[": "{[}", "*": "{*}"},
        **{"\u2212": "$-$", "\u00b0": r"$^\circ$", "\u00a0": "~"},
        **{symbol: f"$\\{name}$" for symbol, name in SYMBOLS.items()},
        **{character: f"\\{character}" for character in "{}$&#%_"},
    }
)


def to_latex(table: Table) -> str:
    r"""Write a table for LaTeX, with the title as caption, to be read by ``\input``.

    The first line names the packages that it needs. Smaller lines of cells become rows of their own
    in ``\scriptsize``. A table of many rows is a ``longtable``; any other that is wider than the
    text is shrunk to it, and spans both columns of a two-column document.

    Parameters
    ----------
    table : Table
        All of its text is escaped.

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
    % Needs \usepackage{booktabs,graphicx}.
    >>> print(*(line for line in lines if "yeast" in line))
    yeast & \textbf{0.19} \tabularnewline
    """
    printed = (table.head, *table.rows, *table.foot)
    texts = [[as_entry(cell).text for cell in row] for row in printed]
    in_lines = [max(map(len, column)) > LONG_TEXT for column in zip(*texts, strict=True)]
    aligned = zip(in_lines, right_aligned(table), strict=True)
    kinds = [LINES if long else "r" if number else "l" for long, number in aligned]
    columns = f"{{@{{}}{''.join(kinds)}@{{}}}}"
    head = [r"\toprule", *_rows([table.head], in_lines), r"\midrule"]
    body = list(_rows(table.rows, in_lines))
    if table.foot:
        body += [r"\midrule", *_rows(table.foot, in_lines)]
    caption = rf"\caption{{{escape_latex(table.title)}}}\label{{tab:{table.key}}}"
    notes = [rf"\par\smallskip{{\footnotesize {escape_latex(note)}\par}}" for note in table.notes]
    if len(table.rows) > LONG_ROWS:
        head = [*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = [r"% Needs \usepackage{booktabs,longtable}.", r"{\footnotesize"]
        lines += [rf"\begin{{longtable}}{columns}", rf"{caption}\\", *head, *body]
        lines += [r"\end{longtable}", *notes, "}"]
    else:
        lines = [r"% Needs \usepackage{booktabs,graphicx}.", r"\begin{table*}[ht]", r"\centering"]
        lines += [caption, r"\par\smallskip", SHRINK, rf"\begin{{tabular}}{columns}", *head, *body]
        lines += [r"\bottomrule", r"\end{tabular}}", *notes, r"\end{table*}"]
    return "\n".join(lines) + "\n"


def _rows(rows: Sequence[Row], in_lines: Sequence[bool]) -> Iterator[str]:
    for row in rows:
        cells = []
        for cell, lines in zip(map(as_entry, row), in_lines, strict=True):
            text = escape_latex(cell.text)
            text = rf"\textbf{{{text}}}" if cell.bold and text else text
            if lines:
                # Settings are long words: they may be broken behind a sign.
                text = re.sub(r"(?<=[(,=_./])(?=[A-Za-z])", r"\\allowbreak{}", text)
                text = rf"\raggedright {text}"
            cells.append(text)
        yield f"{' & '.join(cells)} {END}"
        for below in zip_longest(
            *(as_entry(cell).under.splitlines() for cell in row), fillvalue=""
        ):
            small = (rf"{{\scriptsize {escape_latex(line)}}}" if line else "" for line in below)
            yield f"{' & '.join(small)} {END}"


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, on one line and with real minus signs.

    >>> print(escape_latex("50% of a_b, -0.5"))
    50\\% of a\\_b, $-$0.5
    """
    escaped = one_line(text).translate(CHARACTERS)
    escaped = re.sub(r"(?<![\w.-])-(?=\.?\d)", "$-$", escaped)
    # Two of these in a row would be set as one other character: -- as a dash, `` as a quote.
    return re.sub(r"([-`',])(?=\1)", r"\1{}", escaped)


# How a report writes its tables, by the endings of the files.
RENDERERS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "tex": to_latex}
