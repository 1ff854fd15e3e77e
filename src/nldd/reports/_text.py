"""Words and columns of plain text."""

from collections.abc import Iterable, Sequence


def percent(share: float) -> str:
    """A share that was measured, in percent.

    Examples
    --------
    >>> percent(0.9), percent(0.12345)
    ('90.0 %', '12.3 %')
    """
    return f"{100 * share:.1f} %"


def round_percent(share: float) -> str:
    """A share that somebody asked for, in percent.

    Examples
    --------
    >>> round_percent(0.9), round_percent(0.995)
    ('90 %', '99.5 %')
    """
    return f"{100 * share:.6g} %"


def about(number: int) -> str:
    """A number of which two digits are known.

    Examples
    --------
    >>> about(2304), about(57)
    ('2300', '57')
    """
    return str(round(number, 2 - len(str(number))))


def several(count: int, noun: str) -> str:
    """A count with its noun.

    Examples
    --------
    >>> several(1, "row"), several(0, "row")
    ('1 row', '0 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def visible(name: str) -> str:
    """A name from a file; what is not printable is shown by its code."""
    return name if name.isprintable() else repr(name)


def aligned(rows: Sequence[Sequence[str]], right: Iterable[int] = (), indent: int = 0) -> str:
    """Rows of cells in columns, those of `right` flush right.

    Examples
    --------
    >>> print(aligned([("a", "1"), ("bc", "20")], right=[1]))
    a    1
    bc  20
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    to_the_right = set(right)
    lines = [
        "  ".join(
            cell.rjust(width) if j in to_the_right else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(" " * indent + line for line in lines)
