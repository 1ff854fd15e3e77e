"""The plain truth about well-formed CSV: read it whole, with the csv module."""

import csv
from io import StringIO


def read_naively(text, separator=","):
    """Header and rows, or None for what has to be refused."""
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    while rows and is_blank(rows[0]):
        rows.pop(0)
    if not rows:
        return None
    header, rows = rows[0], rows[1:]
    width = len(header)
    if width == 1:
        while rows and not rows[-1]:
            rows.pop()
        rows = [row or [""] for row in rows]
    else:
        rows = [row for row in rows if len(row) == width or not is_blank(row)]
    if any(cell.strip(" \t\x1a\xa0") for row in rows for cell in row[width:]):
        return None
    rows = [row[:width] + [""] * (width - len(row)) for row in rows]
    return tuple(header), [tuple(row) for row in rows]


def is_blank(row):
    return not row or (len(row) == 1 and row[0] != "" and not row[0].strip(" \t\x1a\xa0"))
