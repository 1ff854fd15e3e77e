r"""A table as a record, and the record as text, CSV and LaTeX (by booktabs, all text escaped)."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import zip_longest
from textwrap import indent
from typing import TypeVar

from nldd._wording import printable
from nldd.exceptions import InputError
from nldd.present.text import align, escape_formula


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One cell of a printed table.

    Attributes
    ----------
    text : str
        Its content.
    bold : bool
        Marks the best of its row.
    under : str
        Smaller lines below it, such as a standard error.

    Examples
    --------
    >>> from nldd.present.table import TableEntry, Table, to_csv
    >>> table = Table("t", "Losses", ("data", "BR"), (("yeast", TableEntry("0.19", under="1")),))
    >>> print(to_csv(table), end="")
    data,BR
    yeast,0.19 (1)
    """

    text: str
    bold: bool = False
    under: str = ""


Item = TypeVar("Item")
Row = tuple[TableEntry | str, ...]
DataRow = tuple[str | float | int | None, ...]

# Digits among signs, with a unit of up to three letters: "-0.5", "1e-05*", "0.2 +- 0.1", "12 s".
NUMBER = re.compile(r"[\s(<>=~+\u2212-]*\.?\d[\d\s.,:%()*/e+\u00b1\u00d7\u2212-]*[A-Za-z]{,3}")

MISSING = ("", "-", "--", "n/a", "nan")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report.

    Attributes
    ----------
    key, title : str
        File name without ending (letters, digits, ``.``, ``_`` and ``-``), and the title.
    head : tuple of str
        Column heads; the first is that of the row names.
    rows, foot : tuple of rows of TableEntry or str
        The body, and the rows below it, such as average ranks.
    notes : tuple of str
        Sentences below the table.
    data_head, data : tuple of str, tuple of rows of plain values
        Long form for the CSV file; if it is empty, the CSV file holds the printed table.
    folded : bool
        Lets a page show the title alone until the reader opens the table.

    Examples
    --------
    >>> from nldd.present.table import Table, to_text
    >>> table = Table("losses", "Losses", ("data", "BR", "NLDD"), (("yeast", "0.21", "0.19"),))
    >>> print(to_text(table))
    Losses
      data     BR  NLDD
      yeast  0.21  0.19
    """

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    foot: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    data_head: tuple[str, ...] = ()
    data: tuple[DataRow, ...] = ()
    folded: bool = False

    def __post_init__(self) -> None:
        for name, rows in {"head": (*self.rows, *self.foot), "data_head": self.data}.items():
            width = len(getattr(self, name))
            for row in (row for row in rows if len(row) != width):
                raise InputError(
                    f"Table {self.key!r}: every row needs one cell for each of the {width} columns "
                    f"of its {name}; got {len(row)} cells: {row!r}."
                )


def tabulate(
    key: str,
    title: str,
    items: Iterable[Item],
    columns: Mapping[str, Callable[[Item], TableEntry | str]],
    *notes: str,
) -> Table:
    """Build a table with one row per item; `columns` has for each head what makes its cells."""
    rows = (tuple(cell(item) for cell in columns.values()) for item in items)
    return Table(key, title, tuple(columns), tuple(rows), notes=notes)


def as_entry(cell: TableEntry | str) -> TableEntry:
    return cell if isinstance(cell, TableEntry) else TableEntry(cell)


def _in_line(entry: TableEntry) -> str:
    return ", ".join(entry.under.splitlines())


def right_aligned(table: Table) -> tuple[bool, ...]:
    """Find the columns of numbers; the first one, with the row names, is never one.

    A column holds numbers if at least one of its cells in the body does, and the others are empty,
    a dash or "n/a".
    """

    def is_number(j: int) -> bool:
        texts = [as_entry(row[j]).text for row in table.rows]
        present = [text for text in texts if text.strip() not in MISSING]
        return bool(present) and all(map(NUMBER.fullmatch, present))

    return tuple(j > 0 and is_number(j) for j in range(len(table.head)))


def to_text(table: Table, columns: Sequence[int] | None = None, most: int | None = None) -> str:
    """Write a table for a terminal: its title, some of its columns, and its first rows.

    Parameters
    ----------
    table : Table
        Second lines of its cells get parentheses and a column of their own.
    columns : sequence of int, optional
        Positions of the columns to show; by default all.
    most : int, optional
        Number of rows to show; by default all.

    Returns
    -------
    str
        Lines without an end.

    Examples
    --------
    >>> from nldd.present.table import TableEntry, Table, to_text
    >>> rows = (("yeast", TableEntry("0.19", under="0.2")), ("scene", "0.1"), ("enron", "0.05"))
    >>> print(to_text(Table("t", "Losses", ("data", "BR"), rows), most=2))
    Losses
      data     BR
      yeast  0.19  (0.2)
      scene   0.1
      and 1 more
    """
    numeric, right = right_aligned(table), set()
    texts: list[list[str]] = []
    for j in range(len(table.head)) if columns is None else columns:
        cells = [as_entry(row[j]) for row in (*table.rows[:most], *table.foot)]
        if numeric[j]:
            right.add(len(texts))
        texts.append([table.head[j], *(cell.text for cell in cells)])
        if any(cell.under for cell in cells):
            texts.append(["", *(f"({_in_line(cell)})" if cell.under else "" for cell in cells)])
    lines = align(list(zip(*texts, strict=True)), right)
    n_more = 0 if most is None else len(table.rows) - most
    more = f"\n  and {n_more:,} more" if n_more > 0 else ""
    return f"{table.title}\n{indent(lines, '  ')}{more}"


def to_csv(table: Table) -> str:
    """Write the long form of a table, or the printed one, as comma-separated values.

    Parameters
    ----------
    table : Table
        No text in it becomes a formula in a spreadsheet.

    Returns
    -------
    str
        Lines end with a newline; write them to a file that is opened with ``newline=""``.

    Examples
    --------
    >>> from nldd.present.table import Table, to_csv
    >>> table = Table("t", "Losses", ("data", "BR"), (("yeast", "0.19"), ("=1+1", "n/a")))
    >>> print(to_csv(table), end="")
    data,BR
    yeast,0.19
    '=1+1,n/a
    """
    printed, plain = (table.head, *table.rows, *table.foot), (table.data_head, *table.data)
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [_csv_cell(cell) for cell in row] for row in (plain if table.data_head else printed)
    )
    return out.getvalue()


def _csv_cell(cell: TableEntry | str | float | int | None) -> str:
    if isinstance(cell, TableEntry):
        both = cell.text and cell.under
        text = f"{cell.text} ({_in_line(cell)})" if both else cell.text or _in_line(cell)
    elif isinstance(cell, float):
        # NumPy's floats are floats with a repr of their own.
        text = repr(float(cell))
    else:
        text = "" if cell is None else str(cell)
    # A lone carriage return would not be quoted, and would end the row for the reader.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if isinstance(cell, float | int) or text in MISSING else escape_formula(text)


def one_line(text: str) -> str:
    """Write text on one line; what is not printable is shown by its code."""
    return printable(" ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split()))


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
    >>> from nldd.present.table import to_latex
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
